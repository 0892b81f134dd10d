//! A limit that marks lower, around a controller that has no answer to them (specs/l4s.md 3.8).
//!
//! A cap, not a cut: controllers that keep maxima or acknowledged rates (BBR, GCC, Camel) would restore what was cut. Below
//! the cap their filters see a flow that is limited by its application, which they know how to ignore. In equilibrium the
//! window is 2 / alpha segments, as Prague's. SCReAM's average, which rises eight times as fast as it falls, is some three
//! times the share of marks, and beside Prague a flow with it gets a twentieth of a link (docs/l4s.md).

use alloc::boxed::Box;
use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, above, above_to, check};

use crate::controller::{Controller, Decision, Demand, SendLimits, Signal};
use crate::decisions::Decisions;
use crate::ecn::{Classic, ClassicConfig};
use crate::feedback::{Fate, Feedback};
use crate::packet::{MSS, SentPacket};

/// Parameters of the cap.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct CapConfig {
    /// The weight of a sample in the share of marks (Prague's 1/16, specs/l4s.md 3.5).
    pub gain: f64,
    /// The min interval between two samples or two answers, and the round trip below which the cap does not grow faster (25 ms: SCReAM's
    /// VIRTUAL_RTT).
    pub virtual_rtt: Span,
    /// After so many round trips without a mark there is no cap (100: SCReAM's POST_CONGESTION_DELAY_RTT).
    pub forget_after: f64,
    /// Probes exceed the cap by at most this factor (1.25) ...
    pub probe: f64,
    /// ... while the share of marks is above this (0.02).
    pub probe_above: f64,
    /// The pacing rate as a multiple of the encoder's target: with none to spare frames wait at the sender, and with much
    /// a frame alone fills a shallow queue (specs/l4s.md 3.6; 1.1).
    pub pacing: f64,
    /// How a queue is noticed that takes ECT(1) for ECT(0), so that its marks are answered as classic ones; `None`, the
    /// default as in Linux, for not at all.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub classic: Option<ClassicConfig>,
    /// Counts a loss as a share of 1, for a controller that does not answer losses (RFC 9331 section 4.3).
    pub answers_losses: bool,
}

impl Default for CapConfig {
    fn default() -> CapConfig {
        CapConfig {
            gain: 1.0 / 16.0,
            virtual_rtt: Span::from_millis(25),
            forget_after: 100.0,
            probe: 1.25,
            probe_above: 0.02,
            pacing: 1.1,
            classic: None,
            answers_losses: false,
        }
    }
}

impl CapConfig {
    /// # Errors
    /// When a parameter is out of range.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("cap.gain", self.gain).within(above_to(0.0, 1.0), "0.0625")?;
        self.classic.as_ref().map_or(Ok(()), ClassicConfig::check)?;
        check("cap.virtual_rtt", self.virtual_rtt).within(above(Span::ZERO), "25ms")?;
        check("cap.forget_after", self.forget_after).within(1.0..=1e6, "100")?;
        check("cap.probe", self.probe).within(1.0..=10.0, "1.25")?;
        check("cap.pacing", self.pacing).within(1.0..=10.0, "1.1")?;
        check("cap.probe_above", self.probe_above).within(0.0..=1.0, "0.02")
    }
}

/// The share of marked packets, from the first mark on.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    alpha: Option<f64>,
    updated: Time,
    arrived: u32,
    marked: u32,
}

impl Marks {
    fn on_arrivals(&mut self, now: Time, arrived: u32, marked: u32, interval: Span, gain: f64) {
        self.arrived += arrived;
        self.marked += marked;
        match self.alpha {
            None if self.marked == 0 => *self = Marks::default(),
            // The first mark is a sample at once: it is answered with the next report.
            None if self.arrived > 0 => self.sample(now, 1.0),
            // A late mark of a packet that arrived before is in the next sample.
            Some(_) if self.arrived > 0 && now - self.updated >= interval => self.sample(now, gain),
            _ => {}
        }
    }

    fn sample(&mut self, now: Time, gain: f64) {
        let share = (f64::from(self.marked) / f64::from(self.arrived)).min(1.0);
        let alpha = self.alpha();
        *self = Marks { alpha: Some(alpha + gain * (share - alpha)), updated: now, arrived: 0, marked: 0 };
    }

    fn alpha(&self) -> f64 {
        self.alpha.unwrap_or_default()
    }
}

/// A controller under a cap.
pub struct Capped {
    inner: Box<dyn Controller>,
    config: CapConfig,
    marks: Marks,
    /// Detector of a classic queue as the one that marks; `None` where it is not used.
    classic: Option<Classic>,
    /// In bits a second; `None` while no mark came for long.
    cap: Option<f64>,
    srtt: Span,
    last_mark: Option<Time>,
    last_answer: Option<Time>,
    last_feedback: Option<Time>,
    /// Bytes delivered on the path so far at each report of the last round trip.
    delivered: VecDeque<(Time, Bytes)>,
    decisions: Decisions,
}

impl Capped {
    /// `inner` under a cap.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(inner: Box<dyn Controller>, config: CapConfig) -> Result<Capped, ConfigError> {
        config.check()?;
        Ok(Capped {
            classic: config.classic.map(Classic::new).transpose()?,
            inner,
            config,
            marks: Marks::default(),
            cap: None,
            srtt: Span::from_millis(100),
            last_mark: None,
            last_answer: None,
            last_feedback: None,
            delivered: VecDeque::new(),
            decisions: Decisions::default(),
        })
    }

    /// Delivery rate of the path in the last round trip.
    fn delivery_rate(&mut self, now: Time, delivered: Bytes) -> f64 {
        self.delivered.push_back((now, delivered));
        while self.delivered.len() > 2 && self.delivered[1].0 + self.srtt <= now {
            self.delivered.pop_front();
        }
        let (since, before) = self.delivered[0];
        let span = (now - since).max(self.srtt);
        (delivered - before).max(MSS * 2).per(span).as_bps_f64()
    }

    fn on_marks(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        if let Some(srtt) = feedback.srtt {
            self.srtt = srtt.max(Span::from_millis(1));
        }
        let (mut arrived, marked, mut lost) = (0, feedback.marks(), false);
        for report in feedback.reports {
            lost |= report.fate == Fate::Lost;
            arrived += u32::from(report.fate != Fate::Lost);
        }
        if let Some(classic) = &mut self.classic {
            classic.on_feedback(feedback);
        }
        let delivery = self.delivery_rate(now, feedback.delivered);
        let interval = self.srtt.max(self.config.virtual_rtt);
        self.marks.on_arrivals(now, arrived, marked, interval, self.config.gain);
        let long = self.srtt.scale(self.config.forget_after);
        let is_news = self.last_mark.is_none_or(|at| now - at > long);
        if marked > 0 {
            self.last_mark = Some(now);
        }
        let elapsed = self.last_feedback.map_or(Span::ZERO, |last| now - last);
        self.last_feedback = Some(now);
        let from = self.cap;
        match self.cap {
            _ if marked > 0 && is_news => self.cap = Some(delivery),
            None => return,
            Some(_) if marked == 0 && is_news => self.cap = None,
            Some(cap) => {
                let may_answer = self.last_answer.is_none_or(|at| now - at >= self.srtt.max(self.config.virtual_rtt));
                let share = if lost && self.config.answers_losses { 1.0 } else { self.marks.alpha() };
                if may_answer && (marked > 0 || lost && self.config.answers_losses) {
                    self.last_answer = Some(now);
                    let classic = self.classic.as_ref().and_then(Classic::beta).filter(|_| marked > 0);
                    self.cap = Some(cap * classic.unwrap_or(1.0).min(1.0 - share / 2.0));
                } else {
                    let short = self.srtt.ratio(self.config.virtual_rtt).min(1.0);
                    let segments = elapsed.ratio(self.srtt) * short * short;
                    self.cap = Some(cap + MSS.per(self.srtt).as_bps_f64() * segments);
                }
            }
        }
        // The least that a sender may be held to: two segments a round trip.
        let least = (MSS * 2).per(self.srtt).as_bps_f64();
        self.cap = self.cap.map(|cap| cap.max(least));
        let rate = |cap: Option<f64>| cap.map_or(Rate::MAX, |cap| Rate::from_bps(cap as u64));
        if marked > 0 && is_news {
            let why = "packets were marked: the rate is capped at what was delivered";
            self.decisions.push(Decision { at: now, what: "cap", why, from: rate(from), to: rate(self.cap) });
        }
    }
}

impl Controller for Capped {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.inner.on_feedback(feedback);
        self.on_marks(feedback);
    }

    fn limits(&self) -> SendLimits {
        let own = self.inner.limits();
        let Some(cap) = self.cap.map(|cap| Rate::from_bps(cap as u64)) else { return own };
        let probes = self.marks.alpha() > self.config.probe_above;
        let most = cap.scale(self.config.probe);
        SendLimits {
            window: own.window.map(|window| window.min(cap.over(self.srtt) + MSS)),
            pacing: own.pacing.min(cap),
            capacity: own.capacity.min(cap.scale(1.0 / self.config.pacing)),
            // A burst fills a shallow queue whatever the rate.
            burst: None,
            probe: own.probe.map(|mut probe| {
                probe.rate = if probes { probe.rate.min(most) } else { probe.rate };
                probe
            }),
            ..own
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.inner.on_sent(packet);
    }

    fn on_demand(&mut self, now: Time, demand: Demand) {
        self.inner.on_demand(now, demand);
    }

    fn on_signal(&mut self, now: Time, signal: Signal) {
        self.inner.on_signal(now, signal);
    }

    fn obeys(&self, limit: &Signal) -> bool {
        self.inner.obeys(limit)
    }

    fn on_timeout(&mut self, now: Time) {
        self.inner.on_timeout(now);
    }

    fn next_timeout(&self) -> Time {
        self.inner.next_timeout()
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop().or_else(|| self.inner.poll_decision())
    }

    fn failure(&self) -> Option<&str> {
        self.inner.failure()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.inner.inspect(see);
        see("ce_alpha", self.marks.alpha());
        if let Some(classic) = &self.classic {
            classic.inspect(see);
        }
        if let Some(cap) = self.cap {
            see("ce_cap_kbps", cap / 1000.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::{Cause, Report};
    use crate::fixed::{self, Fixed};
    use crate::packet::PacketId;
    use thalweg_units::Ecn;

    const RTT: Span = Span::from_millis(50);

    /// A controller that wants 10 Mbps, and ten packets reported each 10 ms.
    struct Flow {
        capped: Capped,
        now: Time,
        delivered: Bytes,
    }

    impl Flow {
        fn new(config: CapConfig) -> Flow {
            let fixed = Fixed::new(fixed::Config { rate: Rate::from_kbps(10_000) }).unwrap();
            let capped = Capped::new(Box::new(fixed), config).unwrap();
            Flow { capped, now: Time::from_millis(1000), delivered: Bytes::ZERO }
        }

        /// A report of ten packets of 1250 bytes, of which these many are marked or lost; returns the pacing rate.
        fn report(&mut self, marked: usize, lost: usize) -> f64 {
            self.now += Span::from_millis(10);
            let fate = |index| match index {
                index if index < marked => Fate::Arrived { at: self.now, ecn: Ecn::Ce, was_lost: false },
                index if index < marked + lost => Fate::Lost,
                _ => Fate::Arrived { at: self.now, ecn: Ecn::Ect1, was_lost: false },
            };
            let packet = SentPacket::new(PacketId(0), self.now, Bytes::new(1250));
            let reports: alloc::vec::Vec<Report> = (0..10).map(|index| Report { packet, fate: fate(index) }).collect();
            self.delivered += Bytes::new(1250 * (10 - lost as u64));
            let mut feedback = Feedback::new(self.now, Cause::Report, &reports);
            (feedback.srtt, feedback.delivered) = (Some(RTT), self.delivered);
            self.capped.on_feedback(&feedback);
            self.capped.limits().pacing.as_mbps_f64()
        }
    }

    #[test]
    fn without_marks_there_is_no_cap_and_the_first_caps_at_what_was_delivered() {
        let mut flow = Flow::new(CapConfig::default());
        (0..20).for_each(|_| assert_eq!(flow.report(0, 1), 10.0));
        // 9 of 10 packets of 1250 bytes each 10 ms are 9 Mbps.
        let capped = flow.report(1, 1);
        assert!((capped - 9.0).abs() < 0.01, "{capped}");
        assert_eq!(flow.capped.poll_decision().unwrap().what, "cap");
    }

    #[test]
    fn marks_lower_the_cap_by_half_their_share_once_in_a_round_trip() {
        let mut flow = Flow::new(CapConfig::default());
        (0..20).for_each(|_| _ = flow.report(0, 0));
        let first = flow.report(5, 0);
        let second = flow.report(5, 0);
        assert!((second / first - 0.75).abs() < 1e-6, "{first} {second}");
        // For a round trip it grows by a segment, marks or not.
        let later: alloc::vec::Vec<f64> = (0..4).map(|_| flow.report(5, 0)).collect();
        let growth = later[3] - second;
        assert!((growth - 4.0 * 0.24 / 5.0).abs() < 1e-3, "{growth}");
        assert!(flow.report(5, 0) < later[3]);
    }

    #[test]
    fn the_share_of_marks_follows_what_is_reported_by_a_sixteenth_of_each_difference() {
        let mut marks = Marks::default();
        let shares = [(0, 0), (30, 5), (40, 10), (60, 5), (90, 0)].map(|(ms, marked)| {
            marks.on_arrivals(Time::from_millis(ms), 10, marked, Span::from_millis(25), 1.0 / 16.0);
            marks.alpha()
        });
        // 10 ms are less than an interval: the packets of that report are in the next sample.
        assert_eq!(shares, [0.0, 0.5, 0.5, 0.515625, 0.4833984375]);
    }

    #[test]
    fn after_a_hundred_round_trips_without_marks_the_cap_is_gone() {
        let mut flow = Flow::new(CapConfig::default());
        (0..20).for_each(|_| _ = flow.report(0, 0));
        (0..100).for_each(|_| _ = flow.report(10, 0));
        assert!(flow.report(0, 0) < 5.0);
        (0..505).for_each(|_| _ = flow.report(0, 0));
        assert_eq!(flow.report(0, 0), 10.0);
    }

    #[test]
    fn losses_halve_the_cap_only_where_it_answers_for_the_controller() {
        for (answers_losses, factor) in [(true, 0.5), (false, 1.0)] {
            let mut flow = Flow::new(CapConfig { answers_losses, ..CapConfig::default() });
            (0..20).for_each(|_| _ = flow.report(0, 0));
            let before = flow.report(1, 0);
            let after = flow.report(0, 1);
            assert!((after / before - factor).abs() < 0.02, "{before} {after}");
        }
    }

    #[test]
    fn a_flow_under_full_marks_keeps_two_segments_in_a_round_trip() {
        let mut flow = Flow::new(CapConfig::default());
        let least = (0..1000).map(|_| flow.report(10, 0)).fold(f64::INFINITY, f64::min);
        assert!((least - 0.48).abs() < 1e-6, "{least}");
    }
}
