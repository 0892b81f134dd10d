//! Detects whether the marking queue is a classic one (RFC 3168), which takes ECT(1) for ECT(0) and marks late
//! (specs/l4s.md 1.5): a flow that answers its few marks by their share takes several times what others get.

use alloc::vec::Vec;

use thalweg_units::{ConfigError, Span, Time, above, above_to, check};

use crate::estimate::BaseDelay;
use crate::feedback::{Fate, Feedback};

/// The delay of the empty path is the min over so many bins of a minute, as SCReAM has it.
const BASE_BINS: usize = 10;
const BASE_BIN: Span = Span::from_secs(60);
/// The score is counted up to this.
const MOST: u32 = 5;

/// When a queue is taken for a classic one, and what answers its marks then.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ClassicConfig {
    /// A second counts for a classic queue if the median queueing delay of its marked packets is above this (5 ms; a base
    /// station that marks by a ramp of 5 to 20 ms looks classic to it), and against it if not.
    pub delay: Span,
    /// From this score on the answer is the classic one (3, of 0 to 5) ...
    pub enter: u32,
    /// ... and at this one the scalable one again (0).
    pub leave: u32,
    /// Factor on the window or rate after a classic answer, applied once in a smoothed round trip (BETA_ECN, 0.8).
    pub beta: f64,
}

impl Default for ClassicConfig {
    fn default() -> ClassicConfig {
        ClassicConfig { delay: Span::from_millis(5), enter: 3, leave: 0, beta: 0.8 }
    }
}

impl ClassicConfig {
    /// # Errors
    /// When a parameter is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("classic.delay", self.delay).within(above(Span::ZERO), "5ms")?;
        check("classic.enter", self.enter).within(1..=MOST, "3")?;
        check("classic.leave", self.leave).within(0..self.enter, "0")?;
        check("classic.beta", self.beta).within(above_to(0.0, 1.0), "0.8")
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Classic {
    config: ClassicConfig,
    base: BaseDelay,
    /// One-way delays of the marked packets of this second, by two clocks.
    marked: Vec<Span>,
    /// When this second began.
    since: Option<Time>,
    score: u32,
    is_classic: bool,
}

impl Classic {
    /// Starts with a path of which nothing is known.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: ClassicConfig) -> Result<Classic, ConfigError> {
        config.check()?;
        Ok(Classic {
            config,
            base: BaseDelay::new(BASE_BINS, BASE_BIN),
            marked: Vec::new(),
            since: None,
            score: 0,
            is_classic: false,
        })
    }

    /// A report came.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        for report in feedback.reports {
            let Fate::Arrived { at, .. } = report.fate else { continue };
            let delay = at - report.packet.at;
            self.base.add(feedback.now, delay);
            if report.fate.is_marked() {
                self.marked.push(delay);
            }
        }
        let since = *self.since.get_or_insert(feedback.now);
        if feedback.now - since >= Span::from_secs(1) {
            self.since = Some(feedback.now);
            self.judge();
        }
    }

    /// A second is over; one without marks says nothing.
    fn judge(&mut self) {
        let middle = self.marked.len() / 2;
        let (Some(base), false) = (self.base.get(), self.marked.is_empty()) else { return };
        let (_, median, _) = self.marked.select_nth_unstable(middle);
        let is_late = *median - base > self.config.delay;
        self.marked.clear();
        self.score = if is_late { (self.score + 1).min(MOST) } else { self.score.saturating_sub(1) };
        self.is_classic =
            if self.is_classic { self.score > self.config.leave } else { self.score >= self.config.enter };
    }

    /// Factor after a mark by the classic answer; `None` while marks are answered by their share.
    pub fn beta(&self) -> Option<f64> {
        self.is_classic.then_some(self.config.beta)
    }

    /// Passes what a chart of a run shows.
    pub fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("classic_aqm_score", f64::from(self.score));
        see("classic_aqm", f64::from(u8::from(self.is_classic)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::{Cause, Report};
    use crate::packet::{PacketId, SentPacket};
    use thalweg_units::{Bytes, Ecn};

    /// Second after second of 100 packets on a path of 30 ms, of which each tenth is marked, by a queue of this delay in ms;
    /// `None`: none is. Returns after which of these seconds the answer is classic.
    fn seconds(delays: &[Option<i64>]) -> Vec<bool> {
        let mut classic = Classic::new(ClassicConfig::default()).unwrap();
        let mut now = Time::from_millis(1000);
        let mut answers = Vec::new();
        // The first report of a second ends the one before.
        for delay in delays.iter().chain([&None]) {
            for number in 0..100 {
                let (ecn, queue) = match delay {
                    Some(delay) if number % 10 == 9 => (Ecn::Ce, *delay),
                    _ => (Ecn::Ect1, 0),
                };
                let packet = SentPacket::new(PacketId(0), now, Bytes::new(1200));
                let fate = Fate::Arrived { at: now + Span::from_millis(30 + queue), ecn, was_lost: false };
                let report = [Report { packet, fate }];
                classic.on_feedback(&Feedback::new(now + Span::from_millis(60), Cause::Report, &report));
                now += Span::from_millis(10);
                if number == 0 {
                    answers.push(classic.beta().is_some());
                }
            }
        }
        answers.split_off(1)
    }

    #[test]
    fn three_seconds_of_late_marks_are_a_classic_queue_and_as_many_of_early_ones_are_none_again() {
        let [late, early] = [12, 1].map(Some);
        let answers = seconds(&[late, late, late, early, early, early, late]);
        assert_eq!(answers, [false, false, true, true, true, false, false]);
    }

    #[test]
    fn the_score_is_at_most_five_and_seconds_without_marks_change_nothing() {
        let [late, early] = [12, 1].map(Some);
        let mut delays = alloc::vec![late; 20];
        delays.extend([None; 20]);
        delays.extend([early; 5]);
        let answers = seconds(&delays);
        assert_eq!(answers.iter().rposition(|classic| *classic), Some(43));
        assert_eq!(answers.iter().position(|classic| *classic), Some(2));
    }

    #[test]
    fn a_shallow_queue_and_marks_now_and_then_late_are_no_classic_queue() {
        let [late, early] = [12, 4].map(Some);
        let answers = seconds(&[early, late, early, late, late, early, late, early]);
        assert!(!answers.contains(&true), "{answers:?}");
    }

    #[test]
    fn parameters_that_cannot_work_are_refused() {
        assert!(Classic::new(ClassicConfig { leave: 3, ..ClassicConfig::default() }).is_err());
        assert!(Classic::new(ClassicConfig { beta: 0.0, ..ClassicConfig::default() }).is_err());
    }
}
