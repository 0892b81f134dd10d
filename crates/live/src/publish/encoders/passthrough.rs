//! Frames that were not encoded for one viewer: of a file that is encoded already, of somebody who sends, or of an encoder
//! that several share.
//!
//! To a viewer's sender they are like those of an encoder that does not keep to its target. What it cannot send it leaves
//! out, and so is what could not be decoded without that.

use std::collections::VecDeque;

use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_session::Encoded;
use thalweg_units::{Bytes, Rate, Span, Time};

/// Frames sent to a viewer to which others may refer: more than any pattern reaches back.
const REMEMBERED: usize = 8;
/// A viewer may be sent as much at once as its target gives in this time, so that one large frame leaves no other out;
/// and so much more than its target before frames are left out to which others refer. The default buffer of a
/// conventional encoder's rate control is as long (libwebrtc: `rc_buf_initial_sz`).
const DEPTH: Span = Span::from_millis(500);

/// A frame with its place in its stream.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// The number of its picture.
    pub(crate) picture: u64,
    /// Its number in the stream, one higher each time.
    pub(crate) number: u64,
    /// The number of the frame that it refers to; `None` for a keyframe.
    pub(crate) refers_to: Option<u64>,
    /// True if others may refer to it.
    pub(crate) is_reference: bool,
    pub(crate) encoded: Encoded,
}

impl Frame {
    /// A frame of a file: each refers to the one before.
    pub(crate) fn of_file(number: u64, encoded: &Encoded) -> Frame {
        let refers_to = (!encoded.frame.keyframe).then(|| number.wrapping_sub(1));
        Frame { picture: number, number, refers_to, is_reference: true, encoded: encoded.clone() }
    }
}

/// Frame that can be sent to one viewer.
#[derive(Debug)]
pub(crate) enum Choice<'a> {
    /// This frame.
    Frame(&'a Frame),
    /// No frame now: its rate does not suffice for the one there is.
    Nothing,
    /// None before the next keyframe.
    KeyframeNeeded,
}

/// Which frames of a stream can be sent to one viewer.
#[derive(Debug, Default)]
pub(crate) struct Passthrough {
    /// Frames sent, the last ones.
    sent: VecDeque<u64>,
    /// The frame that the engine decides about: its number, its size, and whether it is a keyframe.
    offered: Option<(u64, Bytes, bool)>,
    /// Where frames are left out that exceed its target.
    allowance: Option<Allowance>,
}

impl Passthrough {
    /// Passthrough of a stream whose frames are left out where they exceed a viewer's target.
    pub(crate) fn within_target() -> Passthrough {
        Passthrough { allowance: Some(Allowance::default()), ..Passthrough::default() }
    }

    /// The newest of `frames`, which are in order, that the viewer can decode and the plan allows. One that it missed
    /// while it could send nothing may come late: where frames follow to which no other refers, it leaves out some of
    /// those and is level again.
    pub(crate) fn offer<'a>(
        &mut self,
        now: Time,
        frames: impl DoubleEndedIterator<Item = &'a Frame>,
        plan: &EncodePlan,
    ) -> Choice<'a> {
        self.offered = None;
        let last = self.sent.back().copied();
        let is_decodable = |frame: &Frame| match frame.refers_to {
            Some(number) => !plan.keyframe && self.sent.contains(&number),
            None => true,
        };
        let mut new = frames.rev().take_while(|frame| last.is_none_or(|last| frame.number > last)).peekable();
        if new.peek().is_none() {
            return Choice::Nothing;
        }
        let Some(frame) = new.find(|frame| is_decodable(frame)) else { return Choice::KeyframeNeeded };
        if let (Some(allowance), Some(Target::Rate(target))) = (&mut self.allowance, plan.targets.first()) {
            allowance.grow(now, *target);
            if !allowance.covers(frame) {
                return Choice::Nothing;
            }
        }
        self.offered = Some((frame.number, frame.encoded.frame.size, frame.encoded.frame.keyframe));
        Choice::Frame(frame)
    }

    /// Records whether the frame just offered is sent.
    pub(crate) fn commit(&mut self, sent: bool) {
        let Some((number, size, keyframe)) = self.offered.take().filter(|_| sent) else { return };
        self.sent.push_back(number);
        if self.sent.len() > REMEMBERED {
            self.sent.pop_front();
        }
        if let Some(allowance) = &mut self.allowance {
            allowance.spend(size, keyframe);
        }
    }
}

/// How many bytes a viewer may be sent: what its target gives, less what it was sent.
#[derive(Debug, Default)]
struct Allowance {
    since: Option<Time>,
    bytes: f64,
    /// Bytes of the target in [`DEPTH`]: the most that may be sent at once, and owed.
    depth: f64,
}

impl Allowance {
    fn grow(&mut self, now: Time, target: Rate) {
        self.depth = target.over(DEPTH).as_f64();
        let gained = self.since.map_or(self.depth, |since| target.over(now - since).as_f64());
        self.bytes = (self.bytes + gained).min(self.depth);
        self.since = Some(now);
    }

    /// A keyframe may be larger than all that may be owed: what follows it would be left out, and need another.
    fn spend(&mut self, size: Bytes, keyframe: bool) {
        self.bytes -= size.as_f64();
        if keyframe {
            self.bytes = self.bytes.max(-self.depth / 2.0);
        }
    }

    /// A frame that others need may be owed, so that they need not be left out too.
    fn covers(&self, frame: &Frame) -> bool {
        if frame.is_reference { self.bytes > -self.depth } else { self.bytes >= frame.encoded.frame.size.as_f64() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sender::frames::EncodedFrame;
    use thalweg_units::Size;

    const INTERVAL: Span = Span::from_millis(33);

    fn encoded(keyframe: bool, size: usize) -> Encoded {
        let bytes = Bytes::new(size as u64);
        let frame = EncodedFrame::new(bytes, Size::HD).with(|frame| frame.keyframe = keyframe);
        Encoded { frame, data: vec![0; size].into() }
    }

    fn plan(keyframe: bool, kbps: u64) -> EncodePlan {
        let targets = vec![Target::Rate(Rate::from_kbps(kbps))];
        EncodePlan::new(targets, Size::HD, INTERVAL).with(|plan| plan.keyframe = keyframe)
    }

    #[test]
    fn after_a_frame_of_a_file_that_was_left_out_nothing_goes_until_a_keyframe() {
        let mut pass = Passthrough::default();
        let mut send = |number, keyframe, wanted: bool, sent: bool| {
            let frame = Frame::of_file(number, &encoded(keyframe, 3));
            let offer = pass.offer(Time::ZERO, [&frame].into_iter(), &plan(wanted, 500));
            let offered = matches!(offer, Choice::Frame(_));
            pass.commit(sent);
            offered
        };
        assert!(!send(0, false, true, true), "a stream begins with a keyframe");
        assert!(send(1, true, true, true));
        assert!(send(2, false, false, true));
        assert!(send(3, false, false, false), "the engine leaves it out");
        assert!(!send(4, false, false, true));
        assert!(send(5, true, false, true));
        assert!(!send(7, false, false, true), "6 was never asked for");
        assert!(send(8, true, false, true));
        assert!(!send(9, false, true, true), "a keyframe is wanted and cannot be made");
    }

    /// A stream of two layers: a keyframe, then every second frame refers to the one two before and is needed, and the
    /// others refer to the one before and are not.
    fn stream(length: u64, size: usize) -> Vec<Frame> {
        let frame = |number: u64| Frame {
            picture: number,
            number,
            refers_to: number.checked_sub(if number.is_multiple_of(2) { 2 } else { 1 }),
            is_reference: number.is_multiple_of(2),
            encoded: encoded(number == 0, size),
        };
        (0..length).map(frame).collect()
    }

    /// The numbers of the frames sent to a viewer with this target, which asks at the pictures for which `asks`.
    fn sent(kbps: u64, asks: impl Fn(u64) -> bool) -> Vec<u64> {
        // 1000 bytes in 33 ms: 242 kbps.
        let stream = stream(300, 1000);
        let mut pass = Passthrough::within_target();
        let mut numbers = Vec::new();
        for picture in (0..stream.len()).filter(|picture| asks(*picture as u64)) {
            let now = Time::ZERO + INTERVAL * picture as i64;
            let cached = &stream[picture.saturating_sub(7)..=picture];
            if let Choice::Frame(frame) = pass.offer(now, cached.iter(), &plan(false, kbps)) {
                numbers.push(frame.number);
                pass.commit(true);
            }
        }
        numbers
    }

    #[test]
    fn a_viewer_whose_target_is_below_the_rate_is_sent_all_that_others_need_and_some_of_the_rest() {
        assert_eq!(sent(250, |_| true).len(), 300);
        let some = sent(180, |_| true);
        assert!((200..250).contains(&some.len()), "{}", some.len());
        assert_eq!(some.iter().filter(|number| number.is_multiple_of(2)).count(), 150);
        assert!(sent(130, |_| true).iter().filter(|number| number.is_multiple_of(2)).count() == 150);
    }

    #[test]
    fn one_whose_target_does_not_suffice_for_those_stops_and_waits_for_a_keyframe() {
        let few = sent(40, |_| true);
        let last = *few.last().unwrap();
        assert!((10..150).contains(&last), "{last}");
        assert!((0..=last).step_by(2).all(|number| few.contains(&number)), "{few:?}");
    }

    #[test]
    fn a_viewer_that_paused_goes_on_where_it_stopped_and_is_level_again_soon() {
        let all = sent(500, |picture| !(20..24).contains(&picture));
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
        assert!((0..300).step_by(2).all(|number| all.contains(&number)), "{all:?}");
        assert!((40..300).all(|number| all.contains(&number)), "level again");
        // What it missed is gone: it needs a keyframe.
        assert_eq!(sent(500, |picture| !(20..40).contains(&picture)).len(), 20);
    }
}
