//! The record of a run.

use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use super::std;
use crate::controller::Decision;

/// The record of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    /// When a frame was captured, and the time from then to its last packet's arrival.
    pub(super) frames: Vec<(Time, Span)>,
    pub(super) arrived: Vec<(Time, Bytes)>,
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// One entry every 100 ms.
    pub(super) states: Vec<State>,
    pub(super) decisions: Vec<Decision>,
}

/// The controller's state.
#[derive(Debug, Clone, Copy)]
pub(super) struct State {
    pub(super) target: Rate,
    /// M.
    pub(super) max: Bytes,
    pub(super) in_gcc: bool,
}

impl Run {
    fn states(&self, from: f64, to: f64) -> &[State] {
        &self.states[(from * 10.0) as usize..((to * 10.0) as usize).min(self.states.len())]
    }

    pub(super) fn target_kbps(&self, from: f64, to: f64) -> f64 {
        let states = self.states(from, to);
        states.iter().map(|state| state.target.as_kbps_f64()).sum::<f64>() / states.len() as f64
    }

    /// Mean of 1 - |estimate - truth| / truth (specs/metrics.md).
    pub(super) fn accuracy(&self, truth: Rate, from: f64, to: f64) -> f64 {
        let states = self.states(from, to);
        let error = |state: &State| (state.target.as_bps_f64() / truth.as_bps_f64() - 1.0).abs();
        1.0 - states.iter().map(error).sum::<f64>() / states.len() as f64
    }

    /// Mean and 95th percentile of frame delays, in ms.
    pub(super) fn delay_ms(&self, from: f64, to: f64) -> (f64, f64) {
        let within = |at: Time| at.as_secs_f64() >= from && at.as_secs_f64() < to;
        let mut delays: Vec<f64> = self.frames.iter().filter(|f| within(f.0)).map(|f| f.1.as_millis_f64()).collect();
        delays.sort_by(f64::total_cmp);
        let mean = delays.iter().sum::<f64>() / delays.len().max(1) as f64;
        (mean, delays.get(delays.len() * 95 / 100).copied().unwrap_or(f64::INFINITY))
    }

    pub(super) fn arrived_kbps(&self, from: f64, to: f64) -> f64 {
        let within = |at: Time| at.as_secs_f64() >= from && at.as_secs_f64() < to;
        let bytes: Bytes = self.arrived.iter().filter(|a| within(a.0)).map(|a| a.1).sum();
        bytes.bits() as f64 / 1e3 / (to - from)
    }

    pub(super) fn gcc_share(&self, from: f64, to: f64) -> f64 {
        let states = self.states(from, to);
        states.iter().filter(|state| state.in_gcc).count() as f64 / states.len() as f64
    }

    pub(super) fn burst_length(&self, at: f64) -> Bytes {
        self.states[(at * 10.0) as usize].max
    }
}

/// Prints one line per second.
pub(super) fn print(what: &str, run: &Run, seconds: u64) {
    std::println!("# {what}: {} of {} packets lost", run.lost, run.sent);
    for second in 0..seconds {
        let (from, to) = (second as f64, second as f64 + 1.0);
        let (mean, late) = run.delay_ms(from, to);
        std::println!(
            "{second},{:.0},{:.0},{mean:.0},{late:.0},{},{:.1}",
            run.target_kbps(from, to),
            run.arrived_kbps(from, to),
            run.burst_length(from),
            run.gcc_share(from, to),
        );
    }
}
