//! A controller whose rate is set from outside.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thalweg_control::{Controller, Demand, Feedback, SendLimits, SentPacket, Signal};
use thalweg_units::{ConfigError, Rate, Span, Time};

use crate::bounds::Bounds;
use crate::times::Times;
use crate::{Interval, Observation, Observer, Setting};

#[derive(Debug)]
struct Shared {
    observer: Observer,
    setting: Setting,
}

/// The outside of an [`External`] controller: it observes, and it sets.
#[derive(Debug, Clone)]
pub struct Outside(Arc<Mutex<Shared>>);

impl Outside {
    /// Starts at this rate.
    pub fn new(observation: Observation, start: Rate) -> Outside {
        let setting = Setting { rate: start, window: None };
        Outside(Arc::new(Mutex::new(Shared { observer: Observer::new(observation, setting), setting })))
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first interval begins now.
    pub fn begin(&self, now: Time) {
        self.shared().observer.begin(now);
    }

    /// The sender's present setting.
    pub fn setting(&self) -> Setting {
        self.shared().setting
    }

    /// Sets the sender; it takes effect at the beginning of the interval that comes next.
    pub fn set(&self, setting: Setting) {
        self.shared().setting = setting;
    }

    /// The sender is set to this from now on, by its own controller.
    pub fn note(&self, setting: Setting) {
        self.shared().observer.set(setting);
    }

    pub(crate) fn on_feedback(&self, feedback: &Feedback<'_>) {
        self.shared().observer.on_feedback(feedback);
    }

    pub(crate) fn on_sent(&self, packet: &SentPacket) {
        self.shared().observer.on_sent(packet);
    }

    /// Ends an interval and writes the observation at its end; the next begins.
    ///
    /// # Panics
    /// If `to` does not have the observation's length.
    pub fn observe(&self, now: Time, to: &mut [f32]) -> Interval {
        let mut shared = self.shared();
        let interval = shared.observer.close(now);
        shared.observer.write(now, to);
        interval
    }
}

/// A controller whose rate is what its [`Outside`] set, from the beginning of each interval on.
#[derive(Debug, Clone)]
pub struct External {
    outside: Outside,
    times: Times,
    setting: Setting,
    bounds: Bounds,
}

impl External {
    /// The inside of `outside`, with intervals of this length.
    ///
    /// # Errors
    /// When the interval is not above zero.
    pub fn new(outside: &Outside, interval: Span) -> Result<External, ConfigError> {
        let setting = outside.setting();
        Ok(External { outside: outside.clone(), times: Times::every(interval)?, setting, bounds: Bounds::default() })
    }
}

impl Controller for External {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.outside.on_feedback(feedback);
    }

    fn limits(&self) -> SendLimits {
        self.bounds.limits(self.setting)
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.outside.on_sent(packet);
    }

    fn on_demand(&mut self, _now: Time, demand: Demand) {
        self.bounds.on_demand(demand);
    }

    fn on_signal(&mut self, _now: Time, signal: Signal) {
        self.bounds.on_signal(signal);
    }

    fn on_timeout(&mut self, now: Time) {
        self.times.pass(now);
        self.setting = self.outside.setting();
        self.outside.note(self.setting);
    }

    fn next_timeout(&self) -> Time {
        self.times.next()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("set_bps", self.setting.rate.as_bps_f64());
    }
}
