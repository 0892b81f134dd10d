//! RoCC (Agarwal et al., NSDI 2024; specs/rocc.md): the window is the bytes acknowledged in the last (1 + gamma) min
//! round-trip times, plus a constant.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Span, Time, above, above_to, check};

use crate::controller::{Controller, Decision, SendLimits};
use crate::decisions::Decisions;
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::MSS;

/// RoCC's parameters, by the paper's symbols.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// gamma: the history spans (1 + gamma) min round-trip times (Vidaptive: 0.5; the authors' kernel module: 1).
    pub gamma: f64,
    /// alpha: the constant added to the window (two packets, kernel module).
    pub alpha: Bytes,
    /// Min window.
    pub min_window: Bytes,
    /// Window before feedback.
    pub initial_window: Bytes,
    /// The srtt assumed before the first sample.
    pub srtt_before_samples: Span,
    /// How long the min round trip stays valid without another near it. Then half of the window is taken for two round
    /// trips, which empties the queue of the rule's own making, and the min of these is the path's: a path that has become
    /// longer for good would otherwise be used at a fraction for ever. `None` for never, as in the paper and the kernel
    /// module. 10 s: BBR's RTpropFilterLen.
    pub rtt_min_lasts: Option<Span>,
    /// When alone on a path, pace slower if the share of the history that was lost exceeds this (64/1024).
    pub loss_share: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            gamma: 0.5,
            alpha: MSS * 2,
            min_window: MSS * 2,
            initial_window: MSS * 10,
            srtt_before_samples: Span::from_millis(100),
            rtt_min_lasts: Some(Span::from_secs(10)),
            loss_share: 0.0625,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: Time,
    acked: Bytes,
    lost: Bytes,
    app_limited: bool,
}

/// The window is halved, to find the path's own round trip.
#[derive(Debug, Clone, Copy)]
struct Search {
    since: Time,
    until: Time,
    /// The window before.
    window: Bytes,
    /// The min round trip of packets sent since then.
    least: Option<Span>,
}

/// RoCC's state.
#[derive(Debug, Clone)]
pub struct Rocc {
    config: Config,
    cwnd: Bytes,
    srtt: Span,
    rtt_min: Option<Span>,
    /// When a round trip near `rtt_min` was last seen.
    confirmed: Time,
    search: Option<Search>,
    /// The longest wait of a packet's feedback for its report, smoothed.
    held: Span,
    history: VecDeque<Entry>,
    acked: Bytes,
    lost: Bytes,
    /// The number of app-limited entries in the history.
    limited: usize,
    first_ack: Option<Time>,
    decisions: Decisions,
}

impl Rocc {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When gamma is not positive or a window is smaller than a packet.
    pub fn new(config: Config) -> Result<Rocc, ConfigError> {
        check("rocc.gamma", config.gamma).within(above_to(0.0, 10.0), "0.5")?;
        if let Some(lasts) = config.rtt_min_lasts {
            check("rocc.rtt_min_lasts", lasts).within(above(Span::ZERO), "10s")?;
        }
        check("rocc windows", format_args!("min {}, initial {}", config.min_window, config.initial_window)).is(
            config.min_window >= MSS && config.initial_window >= config.min_window,
            "1500B <= min_window <= initial_window",
        )?;
        Ok(Rocc {
            cwnd: config.initial_window,
            srtt: config.srtt_before_samples,
            config,
            rtt_min: None,
            confirmed: Time::ZERO,
            search: None,
            held: Span::ZERO,
            history: VecDeque::new(),
            acked: Bytes::ZERO,
            lost: Bytes::ZERO,
            limited: 0,
            first_ack: None,
            decisions: Decisions::default(),
        })
    }

    /// hist = (1 + gamma) R_min, plus the wait for reports where they are batched, so that gamma R_min is left for
    /// growth (specs/rocc.md 4, "ACK aggregation larger than gamma R_min").
    fn span(&self) -> Span {
        self.rtt_min.unwrap_or(self.srtt).scale(1.0 + self.config.gamma) + self.held
    }

    fn push(&mut self, entry: Entry) {
        self.acked += entry.acked;
        self.lost += entry.lost;
        self.limited += usize::from(entry.app_limited);
        self.history.push_back(entry);
    }

    /// Drops entries outside (now - hist, now].
    fn expire(&mut self, now: Time) {
        let span = self.span();
        while let Some(entry) = self.history.front().copied().filter(|entry| entry.at + span <= now) {
            self.history.pop_front();
            self.acked -= entry.acked;
            self.lost -= entry.lost;
            self.limited -= usize::from(entry.app_limited);
        }
    }

    fn update(&mut self, now: Time) {
        self.expire(now);
        let mut window = self.acked + self.config.alpha;
        let young = self.first_ack.is_some_and(|first| now - first < self.span());
        // Never shrink on a history that is not full yet or that contains app-limited entries.
        if young || self.limited > 0 {
            window = window.max(self.cwnd);
        }
        self.cwnd = window.max(self.config.min_window);
    }

    /// Takes the round trip of a packet sent at `sent`. One that leaves half of the queue that the rule makes is near the
    /// min.
    fn on_round_trip(&mut self, now: Time, sent: Time, rtt: Span) {
        let min = self.rtt_min.unwrap_or(rtt);
        if rtt <= min.scale(1.0 + self.config.gamma / 2.0) {
            self.confirmed = now;
        }
        self.rtt_min = Some(min.min(rtt));
        if let Some(search) = self.search.as_mut().filter(|search| sent >= search.since) {
            search.least = Some(search.least.map_or(rtt, |least| least.min(rtt)));
        }
        self.first_ack.get_or_insert(now);
    }

    /// Searches for the min round trip where none near it was seen for long; see [`Config::rtt_min_lasts`].
    fn follow_path(&mut self, now: Time) {
        let Some(search) = self.search else {
            if self.rtt_min.is_some() && self.config.rtt_min_lasts.is_some_and(|lasts| now - self.confirmed >= lasts) {
                self.search = Some(Search { since: now, until: now + self.srtt * 2, window: self.cwnd, least: None });
                self.cwnd = self.cwnd.scale(0.5).max(self.config.min_window);
            }
            return;
        };
        self.cwnd = search.window.scale(0.5).max(self.config.min_window);
        let Some(least) = search.least.filter(|_| now >= search.until) else { return };
        if now - self.confirmed > now - search.since {
            let from = search.window.per(self.srtt);
            let why = "no round trip was near the min for too long";
            self.decisions.push(Decision { at: now, what: "take a longer path", why, from, to: from });
            self.rtt_min = Some(least);
        }
        // The history has half a window; it is full again after its span.
        (self.confirmed, self.search, self.cwnd, self.first_ack) = (now, None, search.window, Some(now));
    }
}

impl Controller for Rocc {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if feedback.cause == Cause::FeedbackTimeout {
            let from = self.cwnd.per(self.srtt);
            (self.cwnd, self.search) = (self.config.min_window, None);
            let to = self.cwnd.per(self.srtt);
            self.decisions.push(Decision { at: now, what: "collapse", why: "no feedback for too long", from, to });
            return;
        }
        if let Some(srtt) = feedback.srtt {
            self.srtt = srtt;
        }
        if let Some(held) = feedback.reports.iter().filter_map(|report| feedback.held(report)).max() {
            self.held += (held - self.held) / 8;
        }
        let newest = feedback.reports.iter().filter_map(|report| report.arrival()).max();
        let mut last = self.history.back().map_or(Time::ZERO, |entry| entry.at);
        for report in feedback.reports {
            let (acked, lost) = match report.fate {
                Fate::Arrived { .. } => (report.packet.size, Bytes::ZERO),
                Fate::Lost => (Bytes::ZERO, report.packet.size),
            };
            if let Some(rtt) = feedback.rtt_sample(report) {
                self.on_round_trip(now, report.packet.at, rtt);
            }
            // The packets of a batch are spread by their arrival times; otherwise the history would be bursty
            // (specs/rocc.md 7).
            let at = match (report.arrival(), newest) {
                (Some(arrival), Some(newest)) => (now - (newest - arrival)).max(last),
                _ => last.max(Time::ZERO),
            };
            last = at;
            self.push(Entry { at, acked, lost, app_limited: report.packet.app_limited });
        }
        self.update(now);
        self.follow_path(now);
    }

    fn limits(&self) -> SendLimits {
        let seen = (self.acked + self.lost).as_f64();
        let lossy = self.lost.as_f64() > self.config.loss_share * seen;
        let pacing = if lossy {
            self.cwnd.per(self.srtt).scale(1.125 / 2.0)
        } else {
            self.cwnd.per(self.rtt_min.unwrap_or(self.srtt))
        };
        let window = self.search.map_or(self.cwnd, |search| search.window);
        SendLimits { window: Some(self.cwnd), capacity: window.per(self.srtt), ..SendLimits::of_rate(pacing) }
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("cwnd_bytes", self.cwnd.as_f64());
        see("rtt_min_ms", self.rtt_min.unwrap_or(Span::ZERO).as_millis_f64());
        see("acked_bytes", self.acked.as_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Rate;

    fn rocc(gamma: f64) -> Rocc {
        let mut rocc = Rocc::new(Config { gamma, ..Config::default() }).unwrap();
        rocc.rtt_min = Some(Span::from_millis(50));
        rocc.first_ack = Some(Time::ZERO);
        rocc
    }

    fn ack(rocc: &mut Rocc, at_ms: u64, app_limited: bool) {
        rocc.push(Entry { at: Time::from_millis(at_ms), acked: MSS, lost: Bytes::ZERO, app_limited });
        rocc.update(Time::from_millis(at_ms));
    }

    #[test]
    fn the_window_is_what_arrived_in_the_history_and_a_constant() {
        let mut rocc = rocc(0.5);
        (0..=10).for_each(|i| ack(&mut rocc, 10 * i, false));
        assert_eq!(rocc.cwnd, Bytes::new(15_000));
        ack(&mut rocc, 300, false);
        assert_eq!(rocc.cwnd, Bytes::new(4_500));
    }

    #[test]
    fn a_history_cut_short_by_the_application_never_shrinks_the_window() {
        let mut rocc = rocc(0.5);
        (0..=10).for_each(|i| ack(&mut rocc, 10 * i, false));
        ack(&mut rocc, 300, true);
        assert_eq!(rocc.cwnd, Bytes::new(15_000));
    }

    #[test]
    fn on_a_full_link_the_window_settles_at_the_worked_numbers() {
        for (gamma, kbps, window) in [(0.5, 6000, 59_250.0), (0.5, 1000, 12_375.0), (1.0, 6000, 78_000.0)] {
            let mut rocc = rocc(gamma);
            let gap = Rate::from_kbps(kbps).time_for(MSS);
            let mut at = Time::ZERO;
            for _ in 0..400 {
                at += gap;
                rocc.push(Entry { at, acked: MSS, lost: Bytes::ZERO, app_limited: false });
                rocc.update(at);
            }
            assert!((rocc.cwnd.as_f64() - window).abs() <= 1500.0, "{gamma} {kbps}: {}", rocc.cwnd);
        }
    }
}
