//! BBR v1 (Cardwell et al., CACM 2017; draft-cardwell-iccrg-bbr-congestion-control-00; specs/bbr.md): packets are paced
//! at the max delivery rate seen, with twice the bytes in flight that this rate delivers in the min round trip.
//!
//! * `bandwidth`: BtlBw, and how it ages while media limit the sender;
//! * `round_trip`: RTprop;
//! * `rounds`: round trips, counted by packets;
//! * `full_pipe`, `cycle`, `probe_rtt`: when STARTUP, the phases of PROBE_BW and PROBE_RTT end;
//! * `recovery`: the reaction to losses;
//! * `limits`: the resulting pacing rate, window and encoder's target.

mod bandwidth;
mod config;
mod cycle;
mod full_pipe;
mod limits;
mod probe_rtt;
mod recovery;
mod round_trip;
mod rounds;

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time};

use crate::controller::{Controller, Decision, Demand, PaddingLimit, SendLimits};
use crate::decisions::Decisions;
use crate::estimate::DeliveryRate;
use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::{PacketId, SentPacket};
use bandwidth::Bandwidth;
pub use config::{Ageing, BadRound, Config, Padding, ProbeRtt, ProbeRttWindow};
use cycle::{Cycle, Flight};
use full_pipe::FullPipe;
use probe_rtt::{Probing, Step};
use recovery::Recovery;
use round_trip::RoundTrip;
use rounds::{Round, Rounds};

/// BBR's state.
#[derive(Debug, Clone)]
pub struct Bbr {
    config: Config,
    state: State,
    rate: DeliveryRate,
    rounds: Rounds,
    bandwidth: Bandwidth,
    round_trip: RoundTrip,
    full_pipe: FullPipe,
    cycle: Cycle,
    recovery: Recovery,
    cwnd: Bytes,
    pacing: Rate,
    srtt: Option<Span>,
    /// The longest wait of a packet's feedback for its report, smoothed: the window must cover it, although it is not
    /// queueing delay.
    held: Option<Span>,
    demand: Demand,
    /// The last packet sent.
    newest: PacketId,
    /// True if the application limited the sender after the newest packet.
    app_limited: bool,
    /// Nothing was in flight, and no packet sent since has arrived yet.
    idle_restart: bool,
    /// BtlBw in the last decision.
    decided: Rate,
    decisions: Decisions,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt(Probing),
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Startup => "STARTUP",
            State::Drain => "DRAIN",
            State::ProbeBw => "PROBE_BW",
            State::ProbeRtt(_) => "PROBE_RTT",
        }
    }
}

impl Bbr {
    /// The controller before the first packet.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub fn new(config: Config) -> Result<Bbr, ConfigError> {
        config.check()?;
        let nominal = config.initial_window.per(config.srtt_before_samples).scale(config.high_gain);
        Ok(Bbr {
            state: State::Startup,
            rate: DeliveryRate::default(),
            rounds: Rounds::default(),
            bandwidth: Bandwidth::new(config.bandwidth_rounds, config.ageing),
            round_trip: RoundTrip::new(config.probe_rtt.after),
            full_pipe: FullPipe::new(config.full_pipe_growth, config.full_pipe_rounds),
            cycle: Cycle::new(config.cycle, config.seed.child("bbr.phase").random()),
            recovery: Recovery::default(),
            cwnd: config.initial_window,
            pacing: nominal,
            srtt: None,
            held: None,
            demand: Demand { min: Rate::ZERO, max: Rate::MAX },
            newest: PacketId::default(),
            app_limited: false,
            idle_restart: false,
            decided: Rate::ZERO,
            decisions: Decisions::default(),
            config,
        })
    }

    /// Returns true if more was sent in a round than the path carries.
    fn is_bad(&self, round: &Round) -> bool {
        let Ageing::Frozen(bad) = self.config.ageing else { return false };
        let longest = self.round_trip.get().map_or(Span::MAX, |min| min.scale(bad.round_trip));
        round.loss() > bad.loss || round.min_rtt.is_some_and(|min| min > longest)
    }

    /// Updates BtlBw; returns whether a round began, and whether its sample shows the capacity of the path.
    fn update_bandwidth(&mut self, feedback: &Feedback<'_>) -> (bool, bool) {
        let before = self.capacity();
        let ended = self.rounds.on_feedback(feedback);
        if let Some(round) = &ended {
            let bad = self.is_bad(round);
            self.bandwidth.on_round(bad);
        }
        let sample = self.rate.on_feedback(feedback);
        if let Some(sample) = &sample {
            self.bandwidth.add(sample);
            self.decide_if_far(feedback.now, sample.app_limited, before);
        }
        (ended.is_some(), sample.is_some_and(|sample| !sample.app_limited))
    }

    /// Adds a decision when BtlBw differs by a tenth from the last decision.
    fn decide_if_far(&mut self, now: Time, app_limited: bool, before: Rate) {
        let bandwidth = self.bandwidth.get().unwrap_or(self.decided);
        let away = bandwidth.as_bps_f64() / self.decided.as_bps_f64().max(1.0);
        if away > 1.1 {
            self.decided = bandwidth;
            self.decide(now, "raise BtlBw", "more was delivered than in the last rounds", before);
        } else if away < 0.9 {
            self.decided = bandwidth;
            let why = if app_limited {
                "the largest sample is too old, one limited by the application stands in"
            } else {
                "the largest sample is too old"
            };
            self.decide(now, "lower BtlBw", why, before);
        }
    }

    fn advance(&mut self, feedback: &Feedback<'_>, round_began: bool, full_path: bool) {
        let now = feedback.now;
        let (Some(bdp), Some(rt_prop), Some(bandwidth)) = (self.bdp(), self.round_trip.get(), self.bandwidth.get())
        else {
            return;
        };
        if round_began && full_path {
            self.full_pipe.on_round(bandwidth);
        }
        match self.state {
            State::Startup if self.full_pipe.is_filled() => {
                self.enter(now, State::Drain, "BtlBw has stopped growing: the pipe is full");
            }
            State::ProbeBw => {
                let counted = |fate: Fate| !matches!(fate, Fate::Arrived { was_lost: true, .. });
                let reported = feedback.reports.iter().filter(|report| counted(report.fate));
                let flight = Flight {
                    now,
                    rt_prop,
                    bdp,
                    before: feedback.in_flight + reported.map(|report| report.packet.size).sum(),
                    after: feedback.in_flight,
                    lost: feedback.reports.iter().any(|report| report.fate == Fate::Lost),
                };
                self.cycle.advance(flight);
            }
            _ => {}
        }
        if matches!(self.state, State::Drain) && feedback.in_flight <= bdp {
            self.enter(now, State::ProbeBw, "what is in flight fits the pipe: the queue is empty");
        }
    }

    fn update_round_trip(&mut self, feedback: &Feedback<'_>) {
        let now = feedback.now;
        let min = feedback.reports.iter().filter_map(|report| feedback.rtt_sample(report)).min();
        let tolerance = if self.app_limited { self.config.probe_rtt.confirmed_within } else { 1.0 };
        // Uses the RTprop that is about to be dropped: the sample that replaces it may be mostly queue.
        let little = self.little();
        let old = min.is_some_and(|min| self.round_trip.add(now, min, tolerance));
        if old && !self.idle_restart && !matches!(self.state, State::ProbeRtt(_)) {
            let probing = Probing::new(self.rounds.count(), little);
            self.enter(now, State::ProbeRtt(probing), "RTprop not confirmed for long");
        }
        if let State::ProbeRtt(probing) = &mut self.state {
            match probing.step(&self.config.probe_rtt, now, self.rounds.count(), feedback.in_flight) {
                Step::Wait => {}
                Step::Emptied => self.rounds.begin(feedback.delivered),
                Step::Done => self.leave_probe_rtt(now),
            }
        }
        self.idle_restart &= min.is_none();
    }

    fn leave_probe_rtt(&mut self, now: Time) {
        self.round_trip.confirm(now);
        let next = if self.full_pipe.is_filled() { State::ProbeBw } else { State::Startup };
        self.enter(now, next, "RTprop was looked for long enough");
    }

    fn enter(&mut self, now: Time, state: State, why: &'static str) {
        let before = self.capacity();
        if matches!(state, State::ProbeBw) {
            self.cycle.begin(now);
        }
        self.state = state;
        self.decide(now, state.name(), why, before);
    }

    fn decide(&mut self, at: Time, what: &'static str, why: &'static str, from: Rate) {
        self.decisions.push(Decision { at, what, why, from, to: self.capacity() });
    }

    fn learn_delays(&mut self, feedback: &Feedback<'_>) {
        if let Some(srtt) = feedback.srtt {
            if self.srtt.is_none() {
                let srtt = srtt.max(Span::from_millis(1));
                self.pacing = self.config.initial_window.per(srtt).scale(self.config.high_gain);
            }
            self.srtt = Some(srtt);
        }
        if let Some(held) = feedback.reports.iter().filter_map(|report| feedback.held(report)).max() {
            self.held = Some(self.held.map_or(held, |before| before + (held - before) / 8));
        }
    }

    fn on_feedback_timeout(&mut self, feedback: &Feedback<'_>) {
        let before = self.capacity();
        self.rate.on_feedback(feedback);
        self.full_pipe.forget();
        self.recovery.on_feedback_timeout(self.config.window_after_feedback_timeout, self.newest);
        self.decide(feedback.now, "hold back", "no feedback for too long", before);
    }
}

impl Controller for Bbr {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.cause == Cause::FeedbackTimeout {
            self.on_feedback_timeout(feedback);
            return;
        }
        if feedback.reports.is_empty() {
            return;
        }
        self.learn_delays(feedback);
        let (round_began, full_path) = self.update_bandwidth(feedback);
        if self.recovery.on_feedback(feedback, self.newest, round_began, self.config.min_window) {
            self.rounds.begin(feedback.delivered);
        }
        self.advance(feedback, round_began, full_path);
        self.update_round_trip(feedback);
        self.set_pacing();
        self.set_window(feedback.arrived_bytes(), feedback.delivered);
    }

    fn limits(&self) -> SendLimits {
        let pacing = self.pacing.max(self.config.min_rate).min(self.config.max_rate);
        SendLimits {
            window: Some(self.window()),
            capacity: self.capacity(),
            padding: if self.pads() { PaddingLimit::UpTo(pacing) } else { PaddingLimit::None },
            ..SendLimits::of_rate(pacing)
        }
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        if packet.in_flight == packet.size && self.app_limited {
            self.idle_restart = true;
            match (self.state, self.bandwidth.get()) {
                // No queue to drain, and no reason to probe for more.
                (State::ProbeBw, Some(bandwidth)) => self.pacing = bandwidth.scale(self.config.pacing_margin),
                (State::ProbeRtt(probing), _) if probing.has_passed(packet.at) => self.leave_probe_rtt(packet.at),
                _ => {}
            }
        }
        self.newest = packet.id;
        // With padding, the sender is not app-limited; in PROBE_RTT the path is deliberately not full.
        self.app_limited = packet.app_limited && self.config.marks_limited && !self.pads();
        let app_limited = self.app_limited || matches!(self.state, State::ProbeRtt(_));
        self.rate.on_sent(&SentPacket { app_limited, ..*packet });
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.demand = demand;
    }

    fn poll_decision(&mut self) -> Option<Decision> {
        self.decisions.pop()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("btl_bw_mbps", self.bandwidth.get().unwrap_or(Rate::ZERO).as_mbps_f64());
        see("rt_prop_ms", self.round_trip.get().unwrap_or(Span::ZERO).as_millis_f64());
        see("pacing_gain", self.pacing_gain());
        see("cwnd_gain", self.cwnd_gain());
        see("cwnd_bytes", self.window().as_f64());
        see("target_bytes", self.target().as_f64());
        see("round_count", self.rounds.count() as f64);
        see("full_bw_count", f64::from(self.full_pipe.count()));
        see("in_recovery", f64::from(u8::from(self.recovery.window().is_some())));
        see("round_loss", self.rounds.current().loss());
    }
}

#[cfg(test)]
mod tests;
