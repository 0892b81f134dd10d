//! When packets say ECT(1): while the path carries it (libwebrtc's `Ect1Policy`, specs/l4s.md 1.4).
//!
//! Some paths clear the field, and some drop what has it. The first shows in a report, after which nothing says ECT(1)
//! until the route changes. The second shows by silence: packets leave as ECT(1), and no report comes.

use thalweg_units::{ConfigError, Ecn, Span, Time, above, check};

use crate::feedback::{Cause, Fate, Feedback};
use crate::packet::SentPacket;

/// The policy's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PolicyConfig {
    /// For how long ECT(1) is sent without a report before the path is taken to drop it, as long as no packet with the
    /// field has arrived (500 ms).
    pub drop_before: Span,
    /// ... and once one has (5 s).
    pub drop_after: Span,
    /// The most that a pause between two packets counts (200 ms).
    pub gap: Span,
    /// When it is tried once more after that (10 s).
    pub retry: Span,
}

impl Default for PolicyConfig {
    fn default() -> PolicyConfig {
        PolicyConfig {
            drop_before: Span::from_millis(500),
            drop_after: Span::from_secs(5),
            gap: Span::from_millis(200),
            retry: Span::from_secs(10),
        }
    }
}

impl PolicyConfig {
    /// # Errors
    /// When a time is not longer than 0.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (name, span, example) in [
            ("ecn.drop_before", self.drop_before, "500ms"),
            ("ecn.drop_after", self.drop_after, "5s"),
            ("ecn.gap", self.gap, "200ms"),
            ("ecn.retry", self.retry, "10s"),
        ] {
            check(name, span).within(above(Span::ZERO), example)?;
        }
        Ok(())
    }
}

/// See the module.
///
/// ```
/// use thalweg_control::ecn::{Ect1Policy, PolicyConfig};
/// use thalweg_units::Ecn;
///
/// let policy = Ect1Policy::new(PolicyConfig::default());
/// assert_eq!(policy.ecn(), Ecn::Ect1);
/// ```
#[derive(Debug, Clone)]
pub struct Ect1Policy {
    config: PolicyConfig,
    bleaches: bool,
    drop_detected: Option<Time>,
    retried: bool,
    /// True if a packet has arrived with the field since the route changed.
    preserved: bool,
    /// For how long ECT(1) has been sent since the last report.
    sending: Span,
    last: Option<Time>,
}

impl Ect1Policy {
    /// The policy of a new path.
    pub const fn new(config: PolicyConfig) -> Ect1Policy {
        Ect1Policy {
            config,
            bleaches: false,
            drop_detected: None,
            retried: false,
            preserved: false,
            sending: Span::ZERO,
            last: None,
        }
    }

    /// The ECN field of the next packet.
    pub const fn ecn(&self) -> Ecn {
        if self.bleaches || self.drop_detected.is_some() { Ecn::NotCapable } else { Ecn::Ect1 }
    }

    /// Returns true if the path clears the field.
    pub const fn bleaches(&self) -> bool {
        self.bleaches
    }

    /// Returns true if the path is taken to drop packets for the field.
    pub const fn drops(&self) -> bool {
        self.drop_detected.is_some()
    }

    /// A packet left.
    pub fn on_sent(&mut self, packet: &SentPacket) {
        let now = packet.at;
        if !self.retried && self.drop_detected.is_some_and(|at| now - at > self.config.retry) {
            (self.retried, self.drop_detected, self.sending) = (true, None, Span::ZERO);
        }
        if packet.ecn == Ecn::Ect1 {
            self.sending += self.last.map_or(Span::ZERO, |last| (now - last).min(self.config.gap));
            let most = if self.preserved { self.config.drop_after } else { self.config.drop_before };
            if self.drop_detected.is_none() && self.sending > most {
                self.drop_detected = Some(now);
            }
        }
        self.last = Some(now);
    }

    /// A report came.
    pub fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.cause != Cause::Report {
            return;
        }
        self.sending = Span::ZERO;
        for report in feedback.reports.iter().filter(|report| report.packet.ecn == Ecn::Ect1) {
            match report.fate {
                Fate::Arrived { ecn: Ecn::NotCapable, .. } => self.bleaches = true,
                Fate::Arrived { ecn: Ecn::Ect1 | Ecn::Ce, .. } => self.preserved = true,
                Fate::Arrived { ecn: Ecn::Ect0, .. } | Fate::Lost => {}
            }
        }
    }

    /// Passes what a chart of a run shows.
    pub fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("sends_ect1", f64::from(u8::from(self.ecn() == Ecn::Ect1)));
    }

    /// Packets take another route from now on.
    pub fn on_route_changed(&mut self) {
        *self = Ect1Policy::new(self.config);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feedback::Report;
    use crate::packet::PacketId;
    use thalweg_units::Bytes;

    const MS: fn(u64) -> Time = Time::from_millis;

    fn policy() -> Ect1Policy {
        Ect1Policy::new(PolicyConfig::default())
    }

    /// A packet leaves each 20 ms within [from, to) ms, as the policy says; returns how many said ECT(1).
    fn send(policy: &mut Ect1Policy, from: u64, to: u64) -> usize {
        let sent = (from..to).step_by(20).map(|ms| {
            let packet = SentPacket { ecn: policy.ecn(), ..SentPacket::new(PacketId(ms), MS(ms), Bytes::new(1200)) };
            policy.on_sent(&packet);
            packet.ecn
        });
        sent.filter(|ecn| *ecn == Ecn::Ect1).count()
    }

    fn report(policy: &mut Ect1Policy, ms: u64, sent: Ecn, fate: Fate) {
        let packet = SentPacket { ecn: sent, ..SentPacket::new(PacketId(0), MS(0), Bytes::new(1200)) };
        policy.on_feedback(&Feedback::new(MS(ms), Cause::Report, &[Report { packet, fate }]));
    }

    fn arrived(ecn: Ecn) -> Fate {
        Fate::Arrived { at: MS(0), ecn, was_lost: false }
    }

    #[test]
    fn one_packet_without_its_field_ends_it_until_the_route_changes() {
        let mut policy = policy();
        send(&mut policy, 0, 60);
        report(&mut policy, 60, Ecn::Ect1, arrived(Ecn::NotCapable));
        assert!(policy.bleaches() && send(&mut policy, 60, 60_000) == 0);
        policy.on_route_changed();
        assert_eq!(send(&mut policy, 60_000, 60_100), 5);
    }

    #[test]
    fn a_packet_that_was_sent_without_the_field_proves_nothing() {
        let mut policy = policy();
        report(&mut policy, 0, Ecn::NotCapable, arrived(Ecn::NotCapable));
        report(&mut policy, 0, Ecn::Ect1, Fate::Lost);
        assert_eq!(policy.ecn(), Ecn::Ect1);
    }

    #[test]
    fn half_a_second_without_a_report_ends_it_and_one_retry_after_ten_seconds_is_all() {
        let mut policy = policy();
        // The first packet begins the time: 26 later ones exceed 500 ms.
        assert_eq!(send(&mut policy, 0, 9_000), 27);
        assert!(policy.drops());
        assert_eq!(send(&mut policy, 9_000, 10_500), 0);
        // From the packet after 10.52 s on, for 500 ms once more; then never again.
        let again = send(&mut policy, 10_500, 60_000);
        assert!((25..=27).contains(&again), "{again}");
    }

    #[test]
    fn once_a_packet_has_arrived_with_the_field_five_seconds_are_waited_and_pauses_do_not_count() {
        let mut policy = policy();
        report(&mut policy, 0, Ecn::Ect1, arrived(Ecn::Ce));
        assert_eq!(send(&mut policy, 0, 8_000), 252);
        let mut policy = self::policy();
        // Two packets a second: each pause counts 200 ms.
        let sent = (0..3).map(|number| send(&mut policy, 500 * number, 500 * number + 1)).sum::<usize>();
        assert!(sent == 3 && !policy.drops());
    }

    #[test]
    fn a_report_begins_the_time_anew() {
        let mut policy = policy();
        for ms in (0..5_000).step_by(400) {
            assert_eq!(send(&mut policy, ms, ms + 400), 20);
            report(&mut policy, ms + 400, Ecn::Ect1, Fate::Lost);
        }
        assert!(!policy.drops());
    }
}
