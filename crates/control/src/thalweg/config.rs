//! The parameters.

use thalweg_units::{Bytes, ConfigError, Rate, Span, above, above_to, check};

use super::{competing, jitter, margin, policer, start, steps, trains};

/// Parameters of the controller; the defaults were found by hand and by `thalweg tune` over the tuning set
/// (docs/thalweg.md).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long the path may need, beyond a round trip on an empty path, for what is under way: at the beginning and
    /// after a fade, and always without a margin.
    pub budget: Span,
    /// Packets that may be under way in addition at any rate, so that of two flows the slower gains on the faster.
    pub packets: f64,
    /// Packets more that may be under way for each second beside a flow that fills the queue.
    pub contended_packets: f64,
    /// The weight of a packet in the quick average of the path's service time.
    pub quick: f64,
    /// The weight of a packet in the slow one. The slower of the two rates counts.
    pub slow: f64,
    /// A packet counts as served for no longer than this, or twice the mean, unless the one before took as long: what
    /// lies beyond is an outage, which says nothing of the rate at which the path serves when it serves.
    pub longest_service: Span,
    /// Payload of a full packet.
    pub packet: Bytes,
    /// Its size on the wire.
    pub wire: Bytes,
    /// Packets that may be sent before the first is known to have arrived (TCP's initial window, RFC 6928).
    pub first_packets: u64,
    /// The capacity reported until then.
    pub start: Rate,
    /// Nothing has arrived for this long beyond a round trip although something is under way: the path has faded.
    pub silence: Span,
    /// Packets under way for longer than this without any report count as lost.
    pub forget_after: Span,
    /// Holds back packets beyond the budget in the sender, for an encoder whose frames do not keep to it.
    pub holds_packets: bool,
    /// How the budget adapts to the path; `None` for a budget that does not.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub margin: Option<margin::Config>,
    /// Short trains where frames are single packets; `None` for none.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub trains: Option<trains::Config>,
    /// How a step of the path's rate is told from its variation; `None` where averages alone count.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub steps: Option<steps::Config>,
    /// How much an empty path may delay by itself; `None` for 5 ms alone (specs/rmcat.md 1).
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub jitter: Option<jitter::Config>,
    /// The answer to losses of packets that did not wait; `None` where they are all taken for random.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub policer: Option<policer::Config>,
    /// The first packets; `None` for `first_packets` of them at once, and what the first measurement allows then.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub opening: Option<start::Config>,
    /// How a share is got beside flows that fill the queue; `None` for more packets each second alone.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub competing: Option<competing::Config>,
    /// Gives up the least delay when the path has become longer, instead of waiting until it is forgotten.
    pub rebases: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            budget: Span::from_millis(80),
            packets: 4.0,
            contended_packets: 1.0,
            quick: 0.03,
            slow: 0.025,
            longest_service: Span::from_millis(30),
            packet: Bytes::new(1140),
            wire: Bytes::new(1230),
            first_packets: 10,
            start: Rate::from_kbps(1000),
            silence: Span::from_millis(50),
            forget_after: Span::from_secs(1),
            holds_packets: false,
            margin: Some(margin::Config::default()),
            trains: Some(trains::Config::default()),
            steps: Some(steps::Config::default()),
            jitter: Some(jitter::Config::default()),
            policer: Some(policer::Config::default()),
            opening: Some(start::Config::default()),
            competing: Some(competing::Config::default()),
            rebases: true,
        }
    }
}

impl Config {
    /// Checks that every parameter is in range.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (name, value) in [
            ("thalweg.budget", self.budget),
            ("thalweg.longest_service", self.longest_service),
            ("thalweg.silence", self.silence),
            ("thalweg.forget_after", self.forget_after),
        ] {
            check(name, value).within(above(Span::ZERO), "the default")?;
        }
        for (name, value) in [("thalweg.quick", self.quick), ("thalweg.slow", self.slow)] {
            check(name, value).within(above_to(0.0, 1.0), "the default")?;
        }
        check("thalweg.packet and wire", format_args!("{} and {}", self.packet, self.wire)).is(
            self.packet > Bytes::ZERO && self.wire >= self.packet,
            "more than 0 bytes, and no less on the wire than of payload, such as 1140B and 1230B",
        )?;
        check("thalweg.packets", self.packets).within(0.0..=100.0, "4")?;
        check("thalweg.contended_packets", self.contended_packets).within(0.0..=100.0, "1")?;
        check("thalweg.first_packets", self.first_packets).within(1.., "10")?;
        check("thalweg.start", self.start).within(above(Rate::ZERO), "1Mbps")?;
        Ok(())
    }
}
