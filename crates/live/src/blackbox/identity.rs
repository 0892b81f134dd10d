//! Which picture of the camera each received frame shows, although the camera's numbers begin again with each turn of its loop.
//!
//! A sender stamps its frames with the capture times of their pictures (RFC 3550 section 5.1), so a timestamp says when the picture
//! was taken once the distance between the two clocks is known. Frames with a legible number give that distance; afterwards the
//! number says which picture it is, and the timestamp which turn of the loop, or both where the number is illegible.

use thalweg_units::{Span, Time};

use super::report::SeenPicture;

/// Video's RTP clock (RFC 3551 section 5).
const TICKS_PER_SECOND: i128 = 90_000;

/// The pictures of a camera, and how RTP timestamps relate to them.
#[derive(Debug)]
pub struct Identity {
    /// Number and time of each picture.
    taken: Vec<(Option<u64>, Time)>,
    interval: Span,
    /// A timestamp and when it was; `None` without a frame whose number was read.
    reference: Option<(u32, Time)>,
}

impl Identity {
    /// From what left the camera, one picture in `interval`, and what was decoded.
    pub fn of(captured: &[SeenPicture], received: &[SeenPicture], interval: Span) -> Identity {
        let taken: Vec<(Option<u64>, Time)> =
            captured.iter().map(|picture| picture.number).zip(times(captured)).collect();
        // The newest picture with a number is the right one wherever the latency is less than a turn of the loop.
        let known = received.iter().filter_map(|frame| {
            let (number, timestamp) = (frame.number?, frame.rtp?);
            let before = &taken[..taken.partition_point(|(_, at)| *at <= frame.at)];
            let (_, at) = before.iter().rev().find(|(each, _)| *each == Some(number))?;
            Some((timestamp, *at))
        });
        let known: Vec<(u32, Time)> = known.collect();
        let reference = known.first().copied().map(|first| {
            let mut distances: Vec<Span> = known.iter().map(|(timestamp, at)| *at - after(first, *timestamp)).collect();
            distances.sort_unstable();
            (first.0, first.1 + distances[distances.len() / 2])
        });
        Identity { taken, interval, reference }
    }

    /// When each picture was taken, in order.
    pub fn taken(&self) -> impl ExactSizeIterator<Item = Time> + '_ {
        self.taken.iter().map(|(_, at)| *at)
    }

    /// The picture that was taken at this timestamp, by its place in [`Identity::taken`].
    pub fn at(&self, timestamp: u32) -> Option<usize> {
        let at = after(self.reference?, timestamp);
        self.nearest(at, |_| true).filter(|place| (self.taken[*place].1 - at).abs() * 2 <= self.interval)
    }

    /// The picture that a received frame shows.
    pub fn shown(&self, frame: &SeenPicture) -> Option<usize> {
        let (Some(number), Some(reference), Some(timestamp)) = (frame.number, self.reference, frame.rtp) else {
            return self.at(frame.rtp?);
        };
        self.nearest(after(reference, timestamp), |each| each == Some(number))
    }

    /// The place of the picture that was taken nearest to a time, of those with a wanted number.
    fn nearest(&self, at: Time, is_wanted: impl Fn(Option<u64>) -> bool) -> Option<usize> {
        let split = self.taken.partition_point(|(_, taken)| *taken <= at);
        let wanted = |place: &usize| is_wanted(self.taken[*place].0);
        let before = (0..split).rev().find(wanted);
        let behind = (split..self.taken.len()).find(wanted);
        before.into_iter().chain(behind).min_by_key(|place| (self.taken[*place].1 - at).abs())
    }
}

/// When each picture was taken. A page reads a picture some time after that; the browser's timestamps have no such delay but count
/// from an instant of their own, which is that of the promptest reading.
fn times(captured: &[SeenPicture]) -> Vec<Time> {
    let stamped = |picture: &SeenPicture| Span::from_secs_f64(picture.timestamp / 1e6);
    let zero = captured.iter().map(|picture| picture.at.since_start() - stamped(picture)).min().unwrap_or_default();
    captured.iter().map(|picture| Time::ZERO + (zero + stamped(picture))).collect()
}

/// The time of a timestamp, which may have wrapped around since the reference.
fn after((timestamp, at): (u32, Time), of: u32) -> Time {
    let ticks = i128::from(of.wrapping_sub(timestamp) as i32);
    at + Span::from_nanos((ticks * 1_000_000_000 / TICKS_PER_SECOND) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(40);
    const LOOP: u64 = 50;

    /// Four turns of a loop of two seconds.
    fn camera() -> Vec<SeenPicture> {
        let at = |place: u64| Time::from_millis(1_000 + 40 * place);
        (0..4 * LOOP).map(|place| SeenPicture::of(Some(place % LOOP), at(place), None)).collect()
    }

    /// The frame of a picture, shown so much later; timestamps wrap around within the run.
    fn frame(place: u64, late: i64, legible: bool) -> SeenPicture {
        let rtp = (u32::MAX - 90 * 3_000).wrapping_add(90 * 40 * place as u32);
        let at = Time::from_millis(1_000 + 40 * place) + Span::from_millis(late);
        SeenPicture::of(legible.then_some(place % LOOP), at, Some(rtp))
    }

    #[test]
    fn a_frame_that_is_later_than_a_turn_of_the_loop_is_still_its_own_picture() {
        let captured = camera();
        let received: Vec<_> =
            (0..4 * LOOP).map(|place| frame(place, if place == 120 { 4_500 } else { 90 }, true)).collect();
        let identity = Identity::of(&captured, &received, INTERVAL);
        let shown: Vec<_> = received.iter().map(|frame| identity.shown(frame)).collect();
        assert_eq!(shown, (0..200).map(Some).collect::<Vec<_>>());
    }

    #[test]
    fn an_illegible_frame_is_known_by_its_timestamp() {
        let received = [frame(3, 90, true), frame(60, 90, false), frame(61, 95, true)];
        let identity = Identity::of(&camera(), &received, INTERVAL);
        assert_eq!(received.each_ref().map(|frame| identity.shown(frame)), [Some(3), Some(60), Some(61)]);
        assert_eq!(identity.at(frame(199, 0, true).rtp.unwrap()), Some(199));
        // Taken after the camera stopped.
        assert_eq!(identity.at(frame(210, 0, true).rtp.unwrap()), None);
    }

    #[test]
    fn without_a_legible_number_nothing_is_known() {
        let received = [frame(3, 90, false), SeenPicture::of(Some(5), Time::from_millis(1_300), None)];
        let identity = Identity::of(&camera(), &received, INTERVAL);
        assert_eq!(received.each_ref().map(|frame| identity.shown(frame)), [None, None]);
    }

    #[test]
    fn a_picture_that_the_page_read_late_was_taken_when_its_timestamp_says() {
        let mut captured = camera();
        captured[7].at += Span::from_millis(300);
        let times: Vec<Time> = Identity::of(&captured, &[], INTERVAL).taken().collect();
        assert_eq!(times[7], Time::from_millis(1_280));
    }
}
