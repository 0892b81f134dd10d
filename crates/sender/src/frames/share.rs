//! The encoder's rate: the target less what keeps the sender's own queue short (specs/camel.md 6.1).

use thalweg_units::{Bytes, Rate, Span};

/// Computes the encoder's rate from Camel's target. The paper hands over the target itself; in a closed loop with an
/// encoder that fills it, the sender's queue then grows without bound, so this reduction is part of the scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Share {
    /// h: the share of the target that the encoder may fill (R).
    pub headroom: f64,
    /// tau_q: the sender's queue should drain within this time; `None` ignores the queue (R).
    #[cfg_attr(feature = "serde", serde(default))]
    pub drain_within: Option<Span>,
}

impl Default for Share {
    fn default() -> Share {
        Share { headroom: 0.95, drain_within: Some(Span::from_millis(250)) }
    }
}

impl Share {
    /// The paper's: the encoder gets the whole target.
    pub const PAPER: Share = Share { headroom: 1.0, drain_within: None };

    /// The encoder's rate, at least `min`, for a controller target of `target` while `queued` bytes wait to be sent and
    /// FEC and retransmissions take `repair`.
    pub fn rate(&self, target: Rate, queued: Bytes, repair: Rate, min: Rate) -> Rate {
        let drain = self.drain_within.map_or(Rate::ZERO, |within| queued.per(within));
        (target.scale(self.headroom) - drain - repair).max(min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_taken_off_and_the_paper_takes_off_nothing() {
        let (target, min) = (Rate::from_kbps(1000), Rate::from_kbps(50));
        let queued = Bytes::new(10_000);
        assert_eq!(Share::default().rate(target, queued, Rate::from_kbps(30), min), Rate::from_kbps(950 - 320 - 30));
        assert_eq!(Share::PAPER.rate(target, queued, Rate::ZERO, min), target);
        assert_eq!(Share::default().rate(target, Bytes::new(100_000), Rate::ZERO, min), min);
    }
}
