//! Probes by target: where a program has no packets to probe with, what it sends while its target is raised is the
//! probe.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use thalweg_control::{Probe, SendLimits};
use thalweg_units::{Bytes, Rate, Span, Time};

use crate::packets::{Joined, Outcome};

/// The min duration of a probe (`kDefaultMinProbeDuration`, probe_controller.cc).
const MIN_DURATION: Span = Span::from_millis(15);
/// The max duration while no report comes: some of the longest report intervals in use (100 ms).
const MAX_DURATION: Span = Span::from_millis(500);
/// The least share of the probe's rate at which packets sent during a raise count as a probe: a program that did not
/// follow has measured its own rate, not the path's.
const FOLLOWED: f64 = 0.8;
/// A report whose packets arrived at less than this share of the rate at which they left shows that the path is full
/// (kMinRatioForUnsaturatedLink, probe_bitrate_estimator.cc), ...
const FULL: f64 = 0.9;
/// ... if they were delayed by more than jitter (specs/rmcat.md 1: a deviation of 5 ms), ...
const JITTER: Span = Span::from_millis(10);
/// ... and for this long no raise is worth the queue that it adds: a probe of a few packets becomes one of a whole report
/// interval here. As long as the controller waits for a probe's result (kMaxWaitingTimeForProbingResult).
const FULL_FOR: Span = Span::from_secs(1);
/// Max raises whose packets are not all known.
const REMEMBERED: usize = 8;

/// A raise of the target.
#[derive(Debug, Clone, Copy)]
struct Raise {
    probe: Probe,
    since: Time,
    /// Its earliest end.
    until: Time,
    /// When it ended; [`Time::NEVER`] while it lasts.
    ended: Time,
    /// The path is full: nothing is raised.
    declined: bool,
}

/// The raises, the newest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raises {
    raises: VecDeque<Raise>,
    /// When a report last showed that the path is full.
    full: Option<Time>,
}

impl Raises {
    /// With a report: ends the raise that has lasted long enough, and begins that of the controller's next probe. A raise
    /// lasts from one report to another, since that is when a program reads its target.
    pub(crate) fn on_report(&mut self, now: Time, limits: &SendLimits) {
        if self.present().is_some_and(|raise| now < raise.until) {
            return;
        }
        self.end(now);
        let newest = self.raises.back().map(|raise| raise.probe.cluster);
        let Some(probe) = limits.probe.filter(|probe| newest.is_none_or(|newest| probe.cluster > newest)) else {
            return;
        };
        if self.raises.len() == REMEMBERED {
            self.raises.pop_front();
        }
        let duration = probe.rate.time_for(probe.bytes).max(MIN_DURATION);
        let declined = self.full.is_some_and(|full| now - full < FULL_FOR);
        self.raises.push_back(Raise { probe, since: now, until: now + duration, ended: Time::NEVER, declined });
    }

    /// Ends a raise during which no report came.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        if self.next_timeout() <= now {
            self.end(now);
        }
    }

    fn present(&self) -> Option<&Raise> {
        self.raises.back().filter(|raise| !raise.ended.is_set())
    }

    fn end(&mut self, now: Time) {
        if let Some(raise) = self.raises.back_mut().filter(|raise| !raise.ended.is_set()) {
            raise.ended = now;
        }
    }

    /// The rate on the wire that the present raise asks for.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.present().filter(|raise| !raise.declined).map(|raise| raise.probe.rate)
    }

    /// When the present raise ends if no report comes.
    pub(crate) fn next_timeout(&self) -> Time {
        self.present().map_or(Time::NEVER, |raise| raise.since + MAX_DURATION)
    }

    /// Says which packets of a report belong to a probe. Of a raise that the program did not follow or that was declined
    /// only the first does: so the controller learns that this probe is over, and measures nothing.
    pub(crate) fn mark(&mut self, now: Time, joined: &mut [Joined]) {
        if is_full(joined) {
            self.full = Some(now);
        }
        for raise in &self.raises {
            let inside = |one: &Joined| one.departed >= raise.since && one.departed < raise.ended;
            let mut members: Vec<&mut Joined> = joined.iter_mut().filter(|one| inside(one)).collect();
            let (Some(first), Some(last)) = (members.first(), members.last()) else { continue };
            let bytes = members.iter().skip(1).map(|one| one.departure.size).sum::<Bytes>();
            let followed =
                !raise.declined && bytes.per(last.departed - first.departed) >= raise.probe.rate.scale(FOLLOWED);
            let count = if followed { members.len() } else { 1 };
            for member in &mut members[..count] {
                member.departure.probe = Some(raise.probe.cluster);
            }
        }
    }
}

/// Returns true if a report shows that its packets queued one behind the other.
fn is_full(joined: &[Joined]) -> bool {
    let arrived = |one: &Joined| match one.outcome {
        Outcome::Arrived { at, .. } => Some((one.departed, at)),
        Outcome::Missing | Outcome::Lost => None,
    };
    let (first, last) = (joined.iter().find_map(arrived), joined.iter().rev().find_map(arrived));
    let Some(((left, came), (last_left, last_came))) = first.zip(last) else { return false };
    let (sending, arriving) = (last_left - left, last_came - came);
    arriving - sending > JITTER && sending < arriving.scale(FULL)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// 900 kbps for at least 5 packets of 1200 bytes, which take 53 ms.
    fn limits(cluster: u32) -> SendLimits {
        let rate = Rate::from_kbps(900);
        let probe = Probe::new(cluster, rate, 5, Bytes::new(6000), Span::ZERO);
        let mut limits = SendLimits::of_rate(Rate::from_kbps(300));
        limits.probe = Some(probe);
        limits
    }

    /// Packets of 1200 bytes that left so far apart.
    fn sent(from: u64, until: u64, apart: u64) -> Vec<Joined> {
        let at = (from..until).step_by(apart as usize);
        at.map(|at| Joined::new(at, Bytes::new(1200), MS(at), Outcome::Missing)).collect()
    }

    fn marked(joined: &[Joined]) -> Vec<u64> {
        joined.iter().filter(|one| one.departure.probe == Some(1)).map(|one| one.departure.key).collect()
    }

    #[test]
    fn what_left_during_a_raise_is_the_probe_if_the_program_followed() {
        let mut raises = Raises::default();
        raises.on_report(MS(100), &limits(1));
        assert_eq!(raises.rate(), Some(Rate::from_kbps(900)));
        raises.on_report(MS(150), &limits(2));
        assert_eq!(raises.rate(), Some(Rate::from_kbps(900)), "it has not lasted 53 ms");
        // 1200 bytes each 10 ms are 960 kbps, each 40 ms 240.
        let (mut followed, mut not) = (sent(80, 160, 10), sent(80, 200, 40));
        raises.mark(MS(200), &mut followed);
        raises.mark(MS(200), &mut not);
        assert_eq!(marked(&followed), [100, 110, 120, 130, 140, 150]);
        assert_eq!(marked(&not), [120], "the probe has begun, and measures nothing");
        raises.on_report(MS(200), &SendLimits::of_rate(Rate::from_kbps(300)));
        assert_eq!(raises.rate(), None);
        let mut later = sent(180, 230, 10);
        raises.mark(MS(250), &mut later);
        assert_eq!(marked(&later), [180, 190]);
    }

    #[test]
    fn a_raise_ends_after_half_a_second_without_a_report_and_is_not_repeated() {
        let mut raises = Raises::default();
        raises.on_report(MS(100), &limits(1));
        assert_eq!(raises.next_timeout(), MS(600));
        raises.on_timeout(MS(599));
        assert!(raises.rate().is_some());
        raises.on_timeout(MS(600));
        assert_eq!((raises.rate(), raises.next_timeout()), (None, Time::NEVER));
        raises.on_report(MS(700), &limits(1));
        assert_eq!(raises.rate(), None);
    }

    #[test]
    fn nothing_is_raised_for_a_second_after_packets_queued_and_the_controller_learns_that_the_probe_is_over() {
        let mut raises = Raises::default();
        // Ten packets each 10 ms, which arrive each 20 ms.
        let arrive = |each: u64| {
            let mut packets = sent(0, 100, 10);
            for one in &mut packets {
                let at = MS(20 + one.departed.as_millis() / 10 * each);
                one.outcome = Outcome::Arrived { at, ce: false };
            }
            packets
        };
        assert!(!is_full(&arrive(11)) && is_full(&arrive(20)));
        raises.mark(MS(200), &mut arrive(20));
        raises.on_report(MS(200), &limits(1));
        assert_eq!(raises.rate(), None);
        let mut members = sent(200, 300, 10);
        raises.mark(MS(300), &mut members);
        assert_eq!(marked(&members), [200]);
        raises.on_report(MS(300), &limits(1));
        raises.on_report(MS(1200), &limits(2));
        assert_eq!(raises.rate(), Some(Rate::from_kbps(900)));
    }
}
