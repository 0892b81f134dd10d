//! The configuration of a connection.

use thalweg_units::{Bytes, ConfigError, Ecn, Span, check};

use super::cubic::CubicConfig;
use super::segment::HEADERS;

/// How the congestion window grows and shrinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Congestion {
    /// Cubic (RFC 9438), as most hosts have it today.
    #[default]
    Cubic,
    /// Reno (RFC 5681): it grows by the segments acknowledged in slow start and by one segment in a round trip after
    /// it, and half of it is left after a loss. A recovery lasts until everything sent before it is acknowledged
    /// (NewReno, RFC 6582), with selective acknowledgements, so that several losses in a window are repaired in one
    /// round trip.
    Reno,
    /// Prague (specs/l4s.md 3.5): it says ECT(1), answers marks in proportion, grows and falls as Reno otherwise, and
    /// paces its segments.
    Prague,
}

/// When a receiver acknowledges segments that arrive in order; all others it acknowledges at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Acknowledging {
    /// Every segment, as Linux does at the start of a transfer, and as simulations do.
    #[default]
    Each,
    /// Every second segment, or after 40 ms (Linux's least delayed acknowledgement).
    Delayed,
}

/// The configuration of a connection. The defaults are those of specs/cubic.md, which are Linux's.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct ConnectionConfig {
    /// The size of a full segment, from the IP header upwards.
    pub segment: Bytes,
    /// How the congestion window grows and shrinks.
    pub congestion: Congestion,
    /// Parameters of Cubic; of these Reno and Prague have only the initial window.
    pub cubic: CubicConfig,
    /// Marks Cubic's and Reno's packets ECT(0); they answer a mark as a loss, at most once in a round trip (RFC 3168).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    pub ecn: bool,
    /// Max segments in flight, whatever the congestion window: the receive window. `None` for more than any path holds,
    /// as today's receivers offer; ns-2's senders take 20 unless configured otherwise.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub receive_window: Option<u32>,
    /// Begins a connection with a handshake that takes a round trip (specs/cubic.md 3).
    pub handshake: bool,
    /// Ends slow start when round trips grow (HyStart++, RFC 9406) and not only on a loss.
    pub hystart: bool,
    /// Paces segments over the round trip instead of sending them as acknowledgements arrive: at 2 windows per round
    /// trip in slow start, at 1.2 after it (Linux's `fq`).
    pub paced: bool,
    /// When the receiver acknowledges.
    pub acknowledging: Acknowledging,
    /// Probes an unacknowledged tail after two round trips (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// The retransmission timeout before a round trip has been measured (RFC 6298 section 2.1).
    pub first_timeout: Span,
    /// Min margin of the timeout over the smoothed round trip: 200 ms in Linux, where RFC 6298 has 1 s for the sum.
    pub min_timeout: Span,
    /// Max timeout after doubling (RFC 6298 section 2.5 allows 60 s or more).
    pub max_timeout: Span,
}

impl Default for ConnectionConfig {
    fn default() -> ConnectionConfig {
        ConnectionConfig {
            segment: Bytes::new(1500),
            congestion: Congestion::Cubic,
            cubic: CubicConfig::default(),
            ecn: false,
            receive_window: None,
            handshake: true,
            hystart: false,
            paced: false,
            acknowledging: Acknowledging::Each,
            tail_loss_probe: true,
            first_timeout: Span::from_secs(1),
            min_timeout: Span::from_millis(200),
            max_timeout: Span::from_secs(60),
        }
    }
}

impl ConnectionConfig {
    /// NewReno as ns-2 has it: at most 20 segments of 1000 bytes in flight, two of them at the beginning, and no probe
    /// of an unacknowledged tail. Losses are still found by selective acknowledgements ([`Congestion::Reno`]).
    pub fn new_reno() -> ConnectionConfig {
        ConnectionConfig {
            segment: Bytes::new(1000) + HEADERS,
            congestion: Congestion::Reno,
            cubic: CubicConfig { initial_window: 2, ..CubicConfig::default() },
            receive_window: Some(20),
            tail_loss_probe: false,
            ..ConnectionConfig::default()
        }
    }

    /// The parameters of the window.
    pub(super) fn window(&self) -> CubicConfig {
        match self.congestion {
            Congestion::Cubic => self.cubic,
            Congestion::Reno | Congestion::Prague => {
                CubicConfig { initial_window: self.cubic.initial_window, ..CubicConfig::RENO }
            }
        }
    }

    /// The ECN field of segments with new data.
    pub(super) fn ecn(&self) -> Ecn {
        match self.congestion {
            Congestion::Prague => Ecn::Ect1,
            Congestion::Cubic | Congestion::Reno if self.ecn => Ecn::Ect0,
            Congestion::Cubic | Congestion::Reno => Ecn::NotCapable,
        }
    }

    /// Returns true if segments are paced.
    pub(super) fn is_paced(&self) -> bool {
        self.paced || self.congestion == Congestion::Prague
    }

    /// Application bytes in a full segment: 1448 of 1500.
    pub(super) fn payload(&self) -> u64 {
        self.segment.saturating_sub(HEADERS).get()
    }

    /// # Errors
    /// When a field is out of range.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check("connection.segment", self.segment)
            .is((100..=65_535).contains(&self.segment.get()), "100B to 65535B, such as 1500B")?;
        for (name, timeout) in [
            ("connection.first_timeout", self.first_timeout),
            ("connection.min_timeout", self.min_timeout),
            ("connection.max_timeout", self.max_timeout),
        ] {
            check(name, timeout).within(Span::from_millis(1).., "200ms")?;
        }
        check("connection.max_timeout", self.max_timeout).within(self.min_timeout.max(self.first_timeout).., "60s")?;
        if let Some(window) = self.receive_window {
            check("connection.receive_window", window).within(1.., "20, or absent")?;
        }
        self.cubic.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_full_segment_carries_1448_bytes() {
        assert_eq!(ConnectionConfig::default().payload(), 1448);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_value_and_range() {
        let tiny = ConnectionConfig { segment: Bytes::new(60), ..Default::default() };
        let error = format!("{}", tiny.check().unwrap_err());
        assert!(error.contains("60B") && error.contains("1500B"), "{error}");
        let hasty = ConnectionConfig { max_timeout: Span::from_millis(500), ..Default::default() };
        let error = format!("{}", hasty.check().unwrap_err());
        assert!(error.contains("max_timeout is 500ms") && error.contains("60s"), "{error}");
        let shut = ConnectionConfig { receive_window: Some(0), ..Default::default() };
        assert!(format!("{}", shut.check().unwrap_err()).contains("receive_window is 0"));
        assert!(ConnectionConfig::default().check().is_ok());
    }
}
