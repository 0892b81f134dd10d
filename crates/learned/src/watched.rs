//! Any controller, with an observer beside it.

use thalweg_control::{Controller, Decision, Demand, Feedback, SendLimits, SentPacket, Signal};
use thalweg_units::Time;

use crate::Outside;

/// A controller that decides as it would alone, while an [`Outside`] observes what it is given: for rows of a run that a
/// policy can learn from.
pub struct Watched {
    inner: Box<dyn Controller>,
    outside: Outside,
}

impl Watched {
    /// `inner`, watched from `outside`, which sets nothing.
    pub fn new(inner: Box<dyn Controller>, outside: Outside) -> Watched {
        Watched { inner, outside }
    }
}

impl Controller for Watched {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        self.outside.on_feedback(feedback);
        self.inner.on_feedback(feedback);
    }

    fn limits(&self) -> SendLimits {
        self.inner.limits()
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.outside.on_sent(packet);
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
        self.inner.poll_decision()
    }

    fn failure(&self) -> Option<&str> {
        self.inner.failure()
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        self.inner.inspect(see);
    }
}
