//! The receiver's half: a capacity estimate from the spacing of arriving frames (specs/cnadu.md 3).

use thalweg_units::{Rate, Span, Time};

use super::ReceiverConfig;
use crate::estimate::WindowedMin;
use crate::packet::SentPacket;
use crate::reporting::{Frame, Frames};

/// A clock jump larger than this invalidates the times measured by that clock.
const JUMP: Span = Span::from_secs(2);

/// The receiver's report, apart from losses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ReceiverReport {
    /// C.
    pub(super) capacity: Rate,
    /// x: the ratio of arrival intervals to capture intervals; `None` if there were no two frames to compare.
    pub(super) stretch: Option<f64>,
    /// Number of frames that missed their playout, and number of frames.
    pub(super) missed: u32,
    pub(super) frames: u32,
}

impl ReceiverReport {
    /// f.
    pub(super) fn missed_share(&self) -> f64 {
        f64::from(self.missed) / f64::from(self.frames.max(1))
    }
}

/// The state of the receiver.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    config: ReceiverConfig,
    frames: Frames,
    last: Option<Frame>,
    /// Min of arrival time minus capture time, by two clocks, over a window.
    reference: WindowedMin<Span>,
    newest: Time,
    lateness: Span,
    /// For the current report: total time between captures and between arrivals, over pairs without a keyframe.
    taken: Span,
    arrived: Span,
    missed: u32,
    count: u32,
    /// True if the frames of the last report arrived stretched.
    stretched: bool,
    capacity: Rate,
}

impl Receiver {
    pub(super) fn new(config: ReceiverConfig, start: Rate) -> Receiver {
        Receiver {
            config,
            frames: Frames::default(),
            last: None,
            reference: WindowedMin::default(),
            newest: Time::ZERO,
            lateness: Span::ZERO,
            taken: Span::ZERO,
            arrived: Span::ZERO,
            missed: 0,
            count: 0,
            stretched: false,
            capacity: start,
        }
    }

    /// Takes a packet that arrived at `at` by the receiver's clock, on a path whose min round trip is `min_rtt`.
    pub(super) fn on_arrival(&mut self, at: Time, packet: &SentPacket, min_rtt: Span) {
        if self.last.is_some() && (at - self.newest).abs() > JUMP {
            self.frames.clear();
            self.last = None;
            self.reference = WindowedMin::default();
            self.newest = at;
        }
        self.newest = self.newest.max(at);
        if let Some(frame) = self.frames.on_arrival(at, packet) {
            self.on_frame(frame, min_rtt);
        }
    }

    fn on_frame(&mut self, frame: Frame, min_rtt: Span) {
        let delay = frame.arrived - frame.captured;
        self.reference.add(self.newest, delay, self.config.reference);
        self.lateness = delay - self.reference.get().unwrap_or(delay);
        self.count += 1;
        self.missed += u32::from(self.lateness > self.config.deadline - min_rtt / 2);
        // A keyframe is late because of its size.
        if let Some(last) = self.last.replace(frame).filter(|last| !last.keyframe && !frame.keyframe) {
            self.taken += frame.captured - last.captured;
            self.arrived += frame.arrived - last.arrived;
        }
    }

    /// How long before its playout the newest frame arrived: the playout delay that NADU reports.
    pub(super) fn playout_delay(&self) -> Span {
        self.config.deadline - self.lateness
    }

    /// C of the last report.
    pub(super) fn capacity(&self) -> Rate {
        self.capacity
    }

    /// Makes the report that is due; `received` is G, the rate that arrived in time.
    pub(super) fn report(&mut self, received: Rate) -> ReceiverReport {
        let (missed, frames) = (core::mem::take(&mut self.missed), core::mem::take(&mut self.count));
        let (taken, arrived) = (core::mem::take(&mut self.taken), core::mem::take(&mut self.arrived));
        let stretch = (taken > Span::ZERO).then(|| arrived.ratio(taken));
        self.capacity = self.estimate(received, missed, stretch);
        ReceiverReport { capacity: self.capacity, stretch, missed, frames }
    }

    fn estimate(&mut self, received: Rate, missed: u32, stretch: Option<f64>) -> Rate {
        let stretched = stretch.is_some_and(|stretch| stretch > 1.0 + self.config.tolerance);
        let twice = core::mem::replace(&mut self.stretched, stretched) && stretched;
        match stretch {
            _ if missed > 0 => received.scale(self.config.missed_share),
            Some(stretch) if twice => received.scale(1.0 / stretch),
            Some(_) if !stretched => {
                let before = self.capacity.min(received.scale(self.config.max_of_received));
                received.max(before).scale(self.config.growth)
            }
            _ => self.capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reporting::tests::packet_of;

    const KBPS: fn(u64) -> Rate = Rate::from_kbps;

    /// Frames captured every 33.3 ms and arriving every `apart_us`; frame `key` is a keyframe that takes 100 ms longer.
    fn frames(receiver: &mut Receiver, clock: &mut (u64, u64), count: u64, apart_us: u64, key: Option<u64>) {
        for number in 0..count {
            clock.0 += 33_300;
            clock.1 += apart_us;
            let is_key = key == Some(number);
            let packet = packet_of(0, 1000, is_key);
            let place = packet.place.map(|place| crate::FramePlace { captured: Time::from_micros(clock.0), ..place });
            let late = if is_key { 100_000 } else { 0 };
            let at = Time::from_micros(clock.1 + late);
            receiver.on_arrival(at, &SentPacket { place, ..packet }, Span::from_millis(100));
        }
    }

    fn receiver() -> (Receiver, (u64, u64)) {
        (Receiver::new(ReceiverConfig::default(), KBPS(128)), (0, 9_000_000))
    }

    #[test]
    fn frames_a_tenth_too_far_apart_twice_are_the_capacity() {
        // specs/cnadu.md 7, example 1: captured every 33.3 ms, arriving every 36.7 ms: 200 / 1.102 kbps, there rounded
        // to 1.10.
        let (mut receiver, mut clock) = receiver();
        frames(&mut receiver, &mut clock, 15, 36_630, None);
        let first = receiver.report(KBPS(200));
        assert_eq!(first.capacity, KBPS(128), "once is a short-lived event");
        frames(&mut receiver, &mut clock, 15, 36_630, None);
        let reported = receiver.report(KBPS(200));
        assert!((reported.stretch.unwrap() - 1.10).abs() < 1e-9, "{reported:?}");
        assert!((reported.capacity.as_kbps_f64() - 181.8).abs() < 0.05, "{reported:?}");
    }

    #[test]
    fn missed_playouts_leave_85_percent_of_what_arrives() {
        // Example 3: 4 of 50 frames.
        let (mut receiver, mut clock) = receiver();
        frames(&mut receiver, &mut clock, 47, 33_300, None);
        clock.1 += 351_000;
        frames(&mut receiver, &mut clock, 4, 33_300, None);
        let reported = receiver.report(KBPS(200));
        // The fifty-first frame is not complete yet.
        assert_eq!((reported.missed, reported.frames, reported.capacity), (3, 50, KBPS(170)));
        assert_eq!(receiver.playout_delay(), Span::from_millis(49));
    }

    #[test]
    fn frames_in_time_let_it_grow_to_at_most_half_as_much_again_as_arrives() {
        let (mut receiver, mut clock) = receiver();
        let mut report = |received| {
            frames(&mut receiver, &mut clock, 15, 33_300, None);
            receiver.report(KBPS(received)).capacity
        };
        assert_eq!(report(150), Rate::from_bps(157_500));
        assert_eq!(report(150), Rate::from_bps(165_375));
        let settled = (0..20).map(|_| report(150)).last().unwrap();
        assert_eq!(settled, Rate::from_bps(236_250));
    }

    #[test]
    fn a_key_frame_and_the_frame_after_it_say_nothing() {
        let (mut receiver, mut clock) = receiver();
        frames(&mut receiver, &mut clock, 15, 33_300, Some(14));
        frames(&mut receiver, &mut clock, 2, 33_300, None);
        assert!((receiver.report(KBPS(200)).stretch.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(Receiver::new(ReceiverConfig::default(), KBPS(128)).report(KBPS(200)).stretch, None);
    }

    #[test]
    fn a_clock_that_jumps_is_no_lateness() {
        let (mut receiver, mut clock) = receiver();
        frames(&mut receiver, &mut clock, 15, 33_300, None);
        clock.1 += 60_000_000;
        frames(&mut receiver, &mut clock, 15, 33_300, None);
        let reported = receiver.report(KBPS(200));
        assert_eq!(reported.missed, 0);
        assert!((reported.stretch.unwrap() - 1.0).abs() < 1e-9);
    }
}
