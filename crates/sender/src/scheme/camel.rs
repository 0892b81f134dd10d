//! Camel (specs/camel.md): frames leave in bursts, and the capacity that the bursts measure is the encoder's target.

use thalweg_control::LossDetectionConfig;
use thalweg_control::camel::{self, Bins, BurstLengthConfig};
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, Span};

use super::{ControllerConfig, FeedbackStyle, Scheme, gcc};
use crate::frames::{Share, rate_targeted::Reserve};
use crate::{pacing, repair};

/// The length of the bursts that the paper's Figure 13 compares with (specs/camel.md 8, C9).
const FIXED_BURST: Bytes = Bytes::new(20_480);
/// A burst of fewer packets measures nothing if one of them is lost (specs/camel.md 1, required).
const PACKETS_PER_BURST: u16 = 4;

fn with(config: camel::Config, share: Share) -> Scheme {
    let scheme = Scheme {
        controller: ControllerConfig::Camel(config),
        // The drain rule is for Camel's fall-back to GCC; it does not apply to bursts.
        pacing: pacing::Config { drain_within: Some(Span::from_secs(2)), ..pacing::Config::default() },
        // FEC and retransmissions as Camel section 5.3 implies them, at the shares of specs/camel.md 6.1.
        repair: Some(repair::Config {
            fec: Some(repair::fec::Config::default()),
            budget: Some(repair::BudgetConfig::default()),
            round_trip_from: repair::RoundTripFrom::Request,
            ..repair::Config::default()
        }),
        feedback: FeedbackStyle::TwccOnRequest,
        packets: PacketSizes { per_burst: PACKETS_PER_BURST, ..PacketSizes::default() },
        loss_detection: LossDetectionConfig::default(),
        ..gcc::webrtc()
    };
    scheme.reserving(Reserve::Drain(share))
}

/// With the readings of specs/camel.md.
pub(super) fn camel() -> Scheme {
    with(camel::Config::default(), Share::default())
}

/// With the paper's equations as printed.
pub(super) fn of_the_paper() -> Scheme {
    with(camel::Config::paper_literal(), Share::PAPER)
}

/// Without headroom: the encoder may fill the target (equation 6), less what drains the sender's queue.
pub(super) fn no_headroom() -> Scheme {
    with(camel::Config::default(), Share { headroom: 1.0, ..Share::default() })
}

/// With losses by the size of the burst instead of the offset in it (specs/camel.md 4, reading (b)).
pub(super) fn burst_sizes() -> Scheme {
    let length = BurstLengthConfig { bins: Bins::BurstSizes, ..BurstLengthConfig::default() };
    with(camel::Config { burst_length: length, ..camel::Config::default() }, Share::default())
}

/// Without the bursting-length controller and so without its fall-back to GCC: what Figure 13 compares with.
pub(super) fn fixed_burst() -> Scheme {
    let length = BurstLengthConfig {
        min: FIXED_BURST,
        first: FIXED_BURST,
        max: FIXED_BURST,
        margin: 1.0,
        margin_at_min: 1.0,
        ..BurstLengthConfig::default()
    };
    with(camel::Config { burst_length: length, ..camel::Config::default() }, Share::default())
}

/// With bursts shortened when their end loses 2 % more than their beginning. With the paper's 10 % a burst's last
/// packets keep needing retransmission: behind 6 KB of queue the picture freezes for 20 % of the time instead of 8 %
/// (docs/papers/camel.md, Figure 13).
pub(super) fn careful() -> Scheme {
    let length = BurstLengthConfig { margin: 0.02, ..BurstLengthConfig::default() };
    with(camel::Config { burst_length: length, ..camel::Config::default() }, Share::default())
}
