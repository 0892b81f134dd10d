//! The least round trip, second by second.
//!
//! A flow that fills the queue makes it longer until packets are lost and then shorter, within a second or in several, but for
//! the few of Cubic's plateau. What does not change for longer is no queue: the path has become longer. Where jitter changes
//! round trips, their least stays, and they do not follow from those before (von Neumann, as in `jitter.rs`).

use thalweg_units::{Span, Time};

use super::JITTER;
use crate::feedback::Feedback;

/// The time of which a least is taken.
const TURN: Span = Span::from_secs(1);
/// So many turns in a row: two more than Cubic's plateau, where four seconds add three packets at most (RFC 9438: 0.4 of a
/// packet per cubic second, to either side).
const ALIKE: u32 = 6;
/// Round trips of a turn that lie no farther apart have not changed: a flow of Cubic that fills a queue of one round trip gives
/// up 0.6 of it (RFC 9438: 0.3 of the window).
const SPREAD: Span = Span::from_millis(15);
/// Nor have they where the mean square of their changes is as many times their variance: twice where they are independent.
const INDEPENDENT: f64 = 1.0;

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    since: Time,
    turn: Turn,
    /// The least of the first turn of those that are alike.
    level: Option<Span>,
    alike: u32,
}

/// Sums over round trips, in seconds.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    range: Option<(Span, Span)>,
    last: Option<Span>,
    count: f64,
    sum: f64,
    squares: f64,
    changes: f64,
}

impl Turn {
    fn add(&mut self, sample: Span) {
        let (least, greatest) = self.range.unwrap_or((sample, sample));
        self.range = Some((least.min(sample), greatest.max(sample)));
        let change = self.last.replace(sample).map_or(0.0, |last| (sample - last).as_secs_f64());
        let seconds = sample.as_secs_f64();
        self.count += 1.0;
        self.sum += seconds;
        self.squares += seconds * seconds;
        self.changes += change * change;
    }

    /// The least round trip of a turn in which they did not change as a queue does.
    fn steady(&self) -> Option<Span> {
        let (least, greatest) = self.range?;
        let variance = self.squares - self.sum * self.sum / self.count;
        (greatest - least <= SPREAD || self.changes >= INDEPENDENT * variance).then_some(least)
    }
}

impl Floor {
    pub(super) fn new(now: Time) -> Floor {
        Floor { since: now, turn: Turn::default(), level: None, alike: 0 }
    }

    /// The least that has not changed, as that of no queue: one of our own is drained more often.
    pub(super) fn stands(&self) -> Option<Span> {
        self.level.filter(|_| self.alike >= ALIKE)
    }

    /// Takes feedback for the round trips of frames' first packets.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let first = feedback.reports.iter().filter(|report| report.packet.place.is_some_and(|place| place.first));
        first.filter_map(|report| feedback.rtt_sample(report)).for_each(|sample| self.turn.add(sample));
        if feedback.now - self.since < TURN {
            return;
        }
        self.since = feedback.now;
        let least = core::mem::take(&mut self.turn).steady();
        let is_alike = least.zip(self.level).is_some_and(|(least, level)| (least - level).abs() <= JITTER);
        (self.level, self.alike) =
            if is_alike { (self.level, self.alike + 1) } else { (least, u32::from(least.is_some())) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::{Cause, Fate, Report};
    use crate::packet::{FramePlace, PacketId, SentPacket};
    use thalweg_units::Bytes;

    /// The least round trip that stands after ten seconds of frames each 33 ms, of which one takes so many milliseconds.
    fn stands(round_trip: impl Fn(u64) -> u64) -> Option<Span> {
        let mut floor = Floor::new(Time::ZERO);
        for frame in 0..300 {
            let sent = Time::from_millis(33 * frame);
            let mut packet = SentPacket::new(PacketId(frame), sent, Bytes::new(1000));
            packet.place = Some(FramePlace {
                frame,
                first: true,
                last: true,
                offset: Bytes::ZERO,
                captured: sent,
                keyframe: false,
            });
            let now = sent + Span::from_millis(round_trip(frame) as i64);
            let reports = [Report { packet, fate: Fate::arrived(sent + Span::from_millis(20)) }];
            floor.on_feedback(&Feedback {
                newest_delay: Some(Span::from_millis(20)),
                path_rtt: Some(now - sent),
                ..Feedback::new(now, Cause::Report, &reports)
            });
        }
        floor.stands()
    }

    #[test]
    fn a_longer_path_stands_with_jitter_or_without_and_a_queue_that_is_filled_again_and_again_does_not() {
        assert_eq!(stands(|_| 120), Some(Span::from_millis(120)));
        // Uniform between 0 and 49, in no order.
        let jittery = stands(|frame| 120 + frame * 7919 % 50);
        assert!(jittery.is_some_and(|least| least < Span::from_millis(126)), "{jittery:?}");
        // It fills by 60 ms in a second, and by 60 ms in four.
        assert_eq!(stands(|frame| 100 + frame % 30 * 2), None);
        assert_eq!(stands(|frame| 100 + frame % 120 / 2), None);
    }
}
