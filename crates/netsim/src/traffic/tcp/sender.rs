//! The sender.

use thalweg_units::{Bytes, Ecn, Span, Time};

use super::config::{Acknowledging, Congestion, ConnectionConfig};
use super::cubic::Cubic;
use super::hystart::{Growth, HyStart};
use super::outstanding::{Acknowledged, Outstanding};
use super::prague::Prague;
use super::receiver::DELAY;
use super::round_trip::RoundTrip;
use super::segment::{Acknowledgement, Segment};

/// How many windows a paced sender sends per round trip, in slow start and after it (Linux's `tcp_pacing_ss_ratio` and
/// `tcp_pacing_ca_ratio`).
const PACED_SLOW_START: f64 = 2.0;
const PACED: f64 = 1.2;
/// Prague's after slow start.
const PACED_PRAGUE: f64 = 1.0;

/// Event that the timer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    Off,
    Probe(Time),
    Retransmission(Time),
}

/// A recovery from a loss, or from a mark where marks count as losses, which lasts until everything sent before it began is acknowledged.
#[derive(Debug, Clone, Copy)]
struct Recovery {
    until: u64,
    /// True if it began with a timeout: then the window grows during it.
    timed_out: bool,
}

/// Segment that leaves next even if the window is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgent {
    /// The first segment of a recovery (RFC 6675 section 5 step 4.3).
    Repetition,
    Probe,
}

/// The sender of one connection. Its owner polls it after every call until it returns `None`.
#[derive(Debug, Clone)]
pub struct Sender {
    config: ConnectionConfig,
    connection: u32,
    cubic: Cubic,
    prague: Option<Prague>,
    hystart: Option<HyStart>,
    round_trip: RoundTrip,
    outstanding: Outstanding,
    /// Marks that the receiver had counted when one was last answered as a loss.
    marked: u64,
    /// True if the peer has replied to the opening segment.
    opened: bool,
    /// True if the segment that opens the connection has to be sent (again).
    opening_due: bool,
    /// The next byte to send for the first time, and one past the last byte written.
    next: u64,
    end: u64,
    recovery: Option<Recovery>,
    timer: Timer,
    urgent: Option<Urgent>,
    /// When an unanswered probe was sent, and whether it was a retransmission.
    probed: Option<(Time, bool)>,
    /// When the pacer releases the next segment.
    paced: Time,
    /// When the last segment left.
    last_sent: Time,
}

impl Sender {
    /// The sender of the flow's connection with this number, with nothing to send yet.
    pub fn new(config: ConnectionConfig, connection: u32) -> Sender {
        Sender {
            config,
            connection,
            cubic: Cubic::new(config.window()),
            prague: (config.congestion == Congestion::Prague).then(Prague::new),
            hystart: config.hystart.then(|| HyStart::new(config.is_paced())),
            round_trip: RoundTrip::new(),
            outstanding: Outstanding::default(),
            marked: 0,
            opened: !config.handshake,
            opening_due: config.handshake,
            next: 0,
            end: 0,
            recovery: None,
            timer: Timer::Off,
            urgent: None,
            probed: None,
            paced: Time::ZERO,
            last_sent: Time::ZERO,
        }
    }

    /// The application writes `bytes`; [`Bytes::MAX`] for an endless source.
    pub fn write(&mut self, now: Time, bytes: Bytes) {
        let idle = self.next > 0 && self.outstanding.is_empty() && self.next == self.end;
        if idle && now - self.last_sent > self.round_trip.timeout(&self.config) {
            self.cubic.on_idle();
        }
        self.end = self.end.saturating_add(bytes.get());
    }

    /// Returns true if everything written has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.opened && self.next == self.end && self.outstanding.is_empty()
    }

    /// The congestion window.
    pub fn window(&self) -> &Cubic {
        &self.cubic
    }

    /// The smoothed round trip; `None` before the first.
    pub fn round_trip(&self) -> Option<Span> {
        self.round_trip.smoothed()
    }

    /// When [`Sender::poll`] may next return a segment if nothing else happens; [`Time::NEVER`] if not.
    pub fn next_event(&self) -> Time {
        let timer = match self.timer {
            Timer::Off => Time::NEVER,
            Timer::Probe(at) | Timer::Retransmission(at) => at,
        };
        let paces = self.config.is_paced() && self.opened && self.has_room() && self.has_segment();
        if paces { timer.min(self.paced) } else { timer }
    }

    /// The next segment to leave now.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        self.on_timer(now);
        if !self.opened {
            // With nothing to send there is no need to open the connection.
            if !self.opening_due || self.end == 0 {
                return None;
            }
            self.opening_due = false;
            self.timer = Timer::Retransmission(now + self.round_trip.timeout(&self.config));
            return Some(self.segment(now, 0, 0));
        }
        let (from, to) = self.choose(now)?;
        if self.config.is_paced() {
            self.paced = self.paced.max(now) + self.pacing_gap();
        }
        self.last_sent = now;
        Some(self.segment(now, from, to))
    }

    fn segment(&self, now: Time, from: u64, to: u64) -> Segment {
        // RFC 3168 section 6.1: neither the opening of a connection nor a retransmission says ECT.
        let is_repeated = to < self.next && self.prague.is_none();
        let ecn = if from == to || is_repeated { Ecn::NotCapable } else { self.config.ecn() };
        Segment { connection: self.connection, sent: now, from, to, ecn }
    }

    fn choose(&mut self, now: Time) -> Option<(u64, u64)> {
        match self.urgent.take() {
            Some(Urgent::Probe) => {
                let fresh = self.fresh(now);
                let probe = fresh.or_else(|| self.outstanding.repeat_last(now));
                self.probed = Some((now, fresh.is_none()));
                self.timer = Timer::Retransmission(now + self.round_trip.timeout(&self.config));
                return probe;
            }
            Some(Urgent::Repetition) => {}
            None if !self.has_room() || (self.config.is_paced() && now < self.paced) => return None,
            None => {}
        }
        let repeated = self.outstanding.repeat_lost(now);
        let chosen = repeated.or_else(|| self.fresh(now))?;
        if self.timer == Timer::Off || matches!(self.timer, Timer::Probe(_)) {
            self.set_timer(now);
        }
        Some(chosen)
    }

    /// New data.
    fn fresh(&mut self, now: Time) -> Option<(u64, u64)> {
        let (from, to) = (self.next, self.end.min(self.next.saturating_add(self.config.payload())));
        if from == to {
            return None;
        }
        self.outstanding.send(now, from, to);
        self.next = to;
        Some((from, to))
    }

    fn has_segment(&self) -> bool {
        self.outstanding.has_lost() || self.next < self.end
    }

    fn has_room(&self) -> bool {
        let window = self.config.receive_window.map_or(f64::INFINITY, f64::from).min(self.cubic.window());
        f64::from(self.outstanding.under_way()) + 1.0 <= window
    }

    /// Returns true if the receive window is the limit: then the congestion window is not tested and does not grow.
    fn is_held_by_receiver(&self) -> bool {
        self.config.receive_window.is_some_and(|window| f64::from(window) <= self.cubic.window())
    }

    fn pacing_gap(&self) -> Span {
        let Some(round_trip) = self.round_trip.smoothed() else { return Span::ZERO };
        // As in Linux: the slower pacing rate applies already in the last doubling of slow start.
        let slow_start = self.cubic.window() < self.cubic.threshold() / 2.0;
        let avoidance = if self.prague.is_some() { PACED_PRAGUE } else { PACED };
        round_trip.scale(1.0 / (self.cubic.window() * if slow_start { PACED_SLOW_START } else { avoidance }))
    }

    /// An acknowledgement arrived.
    pub fn on_acknowledgement(&mut self, now: Time, said: &Acknowledgement) {
        if said.connection != self.connection {
            return;
        }
        if !self.opened {
            self.opened = true;
            self.opening_due = false;
            self.round_trip.on_sample(now - said.echo);
            self.timer = Timer::Off;
            self.last_sent = now;
            return;
        }
        // A sender with nothing left to send and a window that is not full is application-limited.
        let filled = (self.has_segment() || !self.has_room()) && !self.is_held_by_receiver();
        let acknowledged = self.outstanding.on_acknowledgement(now, said, self.round_trip.min());
        let sample = acknowledged.advanced.then(|| now - said.echo);
        if let Some(rtt) = sample {
            self.round_trip.on_sample(rtt);
        }
        let was_recovering = self.recovery.is_some_and(|recovery| !recovery.timed_out);
        if self.recovery.is_some_and(|recovery| said.up_to >= recovery.until) {
            self.recovery = None;
        }
        let mut segments = f64::from(acknowledged.delivered);
        if let Some(prague) = &mut self.prague {
            let rtt = self.round_trip.smoothed().unwrap_or(Span::ZERO);
            let round = (said.up_to, self.next);
            let answer = prague.on_acknowledged(now, segments, said.marked, round, rtt, self.cubic.in_slow_start());
            segments = answer.growth;
            if let Some(left) = answer.left {
                self.cubic.reduce(left);
            }
        } else if said.marked > self.marked {
            self.marked = said.marked;
            if self.recovery.is_none() {
                self.cubic.on_loss((!filled).then(|| f64::from(self.outstanding.under_way())));
                self.recovery = Some(Recovery { until: self.next, timed_out: false });
            }
        }
        if self.lost_now(&acknowledged, said) && self.recovery.is_none() {
            let under_way = f64::from(self.outstanding.under_way());
            self.cubic.on_loss((!filled).then_some(under_way));
            self.recovery = Some(Recovery { until: self.next, timed_out: false });
            self.urgent = self.outstanding.has_lost().then_some(Urgent::Repetition);
        } else if !was_recovering && acknowledged.delivered > 0 {
            self.grow(now, segments, (said.up_to, sample), filled);
        }
        if acknowledged.delivered > 0 {
            self.probed = None;
            self.set_timer(now);
        }
    }

    /// Returns true if an acknowledgement reports a loss: by missing bytes, or because only the probe filled the gap at
    /// the end (RFC 8985 section 7.4.2).
    fn lost_now(&self, acknowledged: &Acknowledged, said: &Acknowledgement) -> bool {
        acknowledged.lost
            || (acknowledged.advanced && self.probed == Some((said.echo, true)) && said.up_to == self.next)
    }

    fn grow(&mut self, now: Time, segments: f64, (up_to, sample): (u64, Option<Span>), filled: bool) {
        if let (Some(hystart), true) = (&mut self.hystart, self.cubic.in_slow_start() && filled) {
            match hystart.on_acknowledged(segments, (up_to, self.next), sample) {
                Growth::By(segments) => self.cubic.grow_by(segments),
                Growth::Leave => self.cubic.leave_slow_start(),
            }
            return;
        }
        let rtt = self.round_trip.smoothed().unwrap_or(Span::ZERO);
        self.cubic.on_acknowledged(now, segments, rtt, filled);
    }

    fn set_timer(&mut self, now: Time) {
        if self.outstanding.is_empty() {
            self.timer = Timer::Off;
            return;
        }
        let timeout = self.round_trip.timeout(&self.config);
        let probes = self.config.tail_loss_probe && self.recovery.is_none() && self.probed.is_none();
        self.timer = match self.round_trip.smoothed().filter(|_| probes) {
            Some(round_trip) => {
                // RFC 8985 section 7.2: the acknowledgement of a single segment may be delayed.
                let alone = self.outstanding.under_way() == 1 && self.config.acknowledging == Acknowledging::Delayed;
                let probe_timeout = round_trip * 2 + if alone { DELAY } else { Span::ZERO };
                Timer::Probe(now + probe_timeout.min(timeout))
            }
            None => Timer::Retransmission(now + timeout),
        };
    }

    fn on_timer(&mut self, now: Time) {
        match self.timer {
            Timer::Probe(at) if at <= now => {
                self.timer = Timer::Off;
                self.urgent = Some(Urgent::Probe);
            }
            Timer::Retransmission(at) if at <= now => {
                self.round_trip.on_timeout();
                self.timer = Timer::Off;
                if !self.opened {
                    self.opening_due = true;
                    return;
                }
                let again = self.recovery.is_some_and(|recovery| recovery.timed_out);
                self.cubic.on_timeout(again);
                self.outstanding.lose_all();
                self.recovery = Some(Recovery { until: self.next, timed_out: true });
                (self.urgent, self.probed) = (None, None);
                self.paced = self.paced.min(now);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
