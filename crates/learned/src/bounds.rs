//! Bounds on a policy's setting.

use thalweg_control::{Demand, MSS, SendLimits, Signal};
use thalweg_units::{Bytes, Rate};

use crate::Setting;

/// Pacing above the rate, so that a frame of the mean size takes two thirds of its interval (docs/learning.md).
const PACING: f64 = 1.5;
/// A window of two packets at least: with fewer, a report of each at a time would be the pace.
const MIN_WINDOW: Bytes = Bytes::new(2 * MSS.get());

/// Bounds by the application's demand and the receiver's limit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bounds {
    demand: Option<Demand>,
    receiver: Option<Rate>,
}

impl Bounds {
    pub(crate) fn on_demand(&mut self, demand: Demand) {
        self.demand = Some(demand);
    }

    pub(crate) fn on_signal(&mut self, signal: Signal) {
        if let Signal::ReceiverLimit(limit) = signal {
            self.receiver = limit;
        }
    }

    /// The send limits of a setting. The receiver's limit does not take the rate below what the application needs, as in
    /// GCC.
    pub(crate) fn limits(&self, setting: Setting) -> SendLimits {
        let allowed = self.receiver.map_or(setting.rate, |limit| setting.rate.min(limit));
        let rate = self.demand.map_or(allowed, |demand| allowed.min(demand.max).max(demand.min));
        let mut limits = SendLimits::of_rate(rate);
        limits.pacing = rate.scale(PACING);
        limits.window = setting.window.map(|window| window.max(MIN_WINDOW));
        limits
    }
}
