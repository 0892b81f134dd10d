//! An [`Estimator`] as a controller of ours.

use thalweg_control::Cause;
use thalweg_control::{Controller, Feedback, PaddingLimit, SendLimits, SentPacket};
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
        limits.padding = PaddingLimit::up_to(self.estimator.padding());
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

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_control::{PacketId, Probe, Report};
    use thalweg_units::{Bytes, Rate};

    /// Always wants to be called, and the same probe.
    struct Impatient;

    impl Estimator for Impatient {
        fn on_reports(&mut self, _: Time, _: &[Report]) {}

        fn target(&self) -> Rate {
            Rate::from_kbps(1000)
        }

        fn next_timeout(&self) -> Time {
            Time::ZERO
        }

        fn probe(&self) -> Option<Probe> {
            let (rate, spacing) = (Rate::from_kbps(2000), Span::from_millis(2));
            Some(Probe::new(3, rate, 5, Bytes::new(6000), spacing))
        }
    }

    #[test]
    fn a_timeout_for_the_present_comes_a_millisecond_later_and_a_probe_that_has_begun_is_not_asked_for_again() {
        let mut adapted = Adapted::new(Box::new(Impatient));
        adapted.on_timeout(Time::from_millis(7));
        assert_eq!(adapted.next_timeout(), Time::from_millis(8));
        assert_eq!(adapted.limits().probe.map(|probe| probe.cluster), Some(3));
        assert_eq!(
            (adapted.limits().capacity, adapted.limits().pacing),
            (Rate::from_kbps(1000), Rate::from_kbps(1100))
        );
        let mut packet = SentPacket::new(PacketId(0), Time::from_millis(8), Bytes::new(1200));
        packet.probe = Some(3);
        adapted.on_sent(&packet);
        assert_eq!(adapted.limits().probe, None);
    }

    #[test]
    fn silence_is_no_report() {
        let packet = SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(1200));
        let lost = [Report::new(packet, thalweg_control::Fate::Lost)];
        let mut deaf = Adapted::new(Box::new(Deaf));
        deaf.on_feedback(&Feedback::new(Time::from_millis(9), Cause::Report, &[]));
        deaf.on_feedback(&Feedback::new(Time::from_millis(9), Cause::FeedbackTimeout, &lost));
    }

    struct Deaf;

    impl Estimator for Deaf {
        fn on_reports(&mut self, _: Time, _: &[Report]) {
            unreachable!("nothing was reported");
        }

        fn target(&self) -> Rate {
            Rate::from_kbps(1000)
        }
    }
}
