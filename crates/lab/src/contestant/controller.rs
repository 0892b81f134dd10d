//! An [`Estimator`] as a controller of ours.

use thalweg_control::feedback::Cause;
use thalweg_control::{Controller, Feedback, SendLimits, SentPacket};
use thalweg_units::{Span, Time};

use super::estimator::Estimator;

/// The min time between two timeouts: one that asks for the present again would stop virtual time. libwebrtc's pacer,
/// which has the most frequent timer of a WebRTC sender, works every 5 ms.
const MIN_INTERVAL: Span = Span::from_millis(1);

pub(super) struct Adapted {
    estimator: Box<dyn Estimator>,
    last_timeout: Time,
    /// The last probe cluster that has begun.
    begun: Option<u32>,
}

impl Adapted {
    pub(super) fn new(estimator: Box<dyn Estimator>) -> Adapted {
        Adapted { estimator, last_timeout: Time::ZERO, begun: None }
    }
}

impl Controller for Adapted {
    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        // Without a report there is none: other stacks do not make up losses from silence.
        if feedback.cause == Cause::Report && !feedback.reports.is_empty() {
            self.estimator.on_reports(feedback.now, feedback.reports);
        }
    }

    fn limits(&self) -> SendLimits {
        let mut limits = SendLimits::of_rate(self.estimator.target());
        limits.pacing = self.estimator.pacing();
        limits.padding_rate = self.estimator.padding();
        limits.probe = self.estimator.probe().filter(|probe| Some(probe.cluster) > self.begun);
        limits.window = self.estimator.window();
        limits
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        self.begun = self.begun.max(packet.probe);
        self.estimator.on_sent(packet);
    }

    fn on_timeout(&mut self, now: Time) {
        self.last_timeout = now;
        self.estimator.on_timeout(now);
    }

    fn next_timeout(&self) -> Time {
        self.estimator.next_timeout().max(self.last_timeout + MIN_INTERVAL)
    }

    fn failure(&self) -> Option<&str> {
        self.estimator.failure()
    }
}
