//! The send limits that follow from the model: the pacing rate, the window, the encoder's target and the padding.

use thalweg_units::{Bytes, Rate, Span};

use super::{Bbr, Padding, ProbeRttWindow, State};
use crate::packet::MSS;

impl Bbr {
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.config.high_gain,
            State::Drain => 1.0 / self.config.high_gain,
            State::ProbeBw => self.cycle.gain(),
            State::ProbeRtt(_) => 1.0,
        }
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.config.high_gain,
            State::ProbeBw => self.config.cwnd_gain,
            State::ProbeRtt(_) => 1.0,
        }
    }

    /// BDP = BtlBw x RTprop; `None` before both are known.
    pub(super) fn bdp(&self) -> Option<Bytes> {
        Some(self.bandwidth.get()?.over(self.round_trip.get()?))
    }

    /// The target window: the gain times BDP, the bytes that arrive while a report is awaited, and three bursts.
    pub(super) fn target(&self) -> Bytes {
        let (Some(bdp), Some(bandwidth)) = (self.bdp(), self.bandwidth.get()) else {
            return self.config.initial_window;
        };
        // Unreported arrivals are limited by the capacity of the path; until that is known, by the send rate.
        let arriving = if self.full_pipe.is_filled() { bandwidth } else { bandwidth.scale(self.pacing_gain()) };
        let unreported = arriving.over(self.held.unwrap_or(Span::ZERO));
        bdp.scale(self.cwnd_gain()) + unreported + quantum(self.pacing) * 3
    }

    /// The limit on bytes in flight for a PROBE_RTT that begins now.
    pub(super) fn little(&self) -> Bytes {
        let share = match self.config.probe_rtt.window {
            ProbeRttWindow::Min => return self.config.min_window,
            ProbeRttWindow::Share(share) => share,
        };
        self.bdp().map_or(self.config.min_window, |bdp| bdp.scale(share).max(self.config.min_window))
    }

    pub(super) fn window(&self) -> Bytes {
        let window = self.recovery.window().map_or(self.cwnd, |bound| bound.min(self.cwnd));
        if let State::ProbeRtt(probing) = self.state { window.min(probing.little()) } else { window }
    }

    /// The encoder's target, before the application's limits.
    pub(super) fn media(&self) -> Rate {
        let rate = self.bandwidth.get().map_or(self.config.start, |rate| rate.scale(self.config.target_share));
        match (self.state, self.config.probe_rtt.window) {
            (State::ProbeRtt(_), ProbeRttWindow::Share(share)) => rate.scale(share),
            _ => rate,
        }
    }

    pub(super) fn capacity(&self) -> Rate {
        let rate = self.media().min(self.demand.max.min(self.config.max_rate));
        rate.max(self.demand.min.max(self.config.min_rate)).min(self.config.max_rate)
    }

    /// Returns true if padding could find more capacity than media can: not once the path carries the application's max
    /// rate.
    pub(super) fn pads(&self) -> bool {
        let probing = match self.state {
            State::Startup => self.config.padding != Padding::Never,
            State::ProbeBw => self.config.padding == Padding::Probing && self.cycle.gain() > 1.0,
            _ => false,
        };
        probing && self.media() < self.demand.max
    }

    /// The pacing rate: until the pipe is full for the first time, never lower than before.
    pub(super) fn set_pacing(&mut self) {
        let Some(bandwidth) = self.bandwidth.get() else { return };
        let rate = bandwidth.scale(self.pacing_gain() * self.config.pacing_margin);
        if self.full_pipe.is_filled() || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// The window grows by the bytes that arrive, up to the target.
    pub(super) fn set_window(&mut self, arrived: Bytes, delivered: Bytes) {
        // PROBE_RTT and recovery set lower limits; the window itself stays until they end.
        if !matches!(self.state, State::ProbeRtt(_)) {
            let target = self.target();
            if self.full_pipe.is_filled() {
                self.cwnd = (self.cwnd + arrived).min(target);
            } else if self.cwnd < target || delivered < self.config.initial_window {
                self.cwnd += arrived;
            }
        }
        self.cwnd = self.cwnd.max(self.config.min_window);
    }
}

/// send_quantum: the bytes that leave at once, by the pacing rate. The draft's thresholds are in bits; mvfst's, in
/// bytes, are eight times as high (specs/bbr.md 4).
pub(super) fn quantum(pacing: Rate) -> Bytes {
    if pacing < Rate::from_kbps(1200) {
        MSS
    } else if pacing < Rate::from_kbps(24_000) {
        MSS * 2
    } else {
        pacing.over(Span::from_millis(1)).min(Bytes::new(65_536))
    }
}
