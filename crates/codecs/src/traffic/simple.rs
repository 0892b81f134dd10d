//! The two models without a target's history: content sharing, and packets at a constant rate.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, ConfigError, Random, Rate, Span, above, check};

use super::Made;

/// A shared screen (syncodecs' SimpleContentSharing): small frames, and now and then a page. Meant for 5 fps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sharing {
    /// Max size of a frame without a change of the page, above 0.
    pub small: Bytes,
    /// Probability of a page, 0 to 1; the first frame always is one.
    pub page_probability: f64,
    /// How much larger a page is: uniform between these, at least 0.
    pub page_ratio: [f64; 2],
}

impl Default for Sharing {
    fn default() -> Sharing {
        Sharing { small: Bytes::new(1000), page_probability: 0.05, page_ratio: [20.0, 200.0] }
    }
}

impl Sharing {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let [low, high] = self.page_ratio;
        check("sharing.small", self.small).within(above(Bytes::ZERO), "1kB")?;
        check("sharing.page_probability", self.page_probability).within(0.0..=1.0, "0.05")?;
        check("sharing.page_ratio", format_args!("{low} to {high}"))
            .is(0.0 <= low && low <= high && high <= 1e6, "two numbers in order, such as [20, 200]")
    }

    /// `begun`: whether there was a frame before.
    pub(super) fn next(&self, begun: &mut bool, target: Rate, interval: Span, random: &mut Random) -> Made {
        let small = (target.as_bps_f64() * interval.as_secs_f64() / 8.0).min(self.small.as_f64());
        let is_page = !*begun || random.chance(self.page_probability);
        *begun = true;
        let ratio = if is_page { random.between(self.page_ratio[0], self.page_ratio[1]) } else { 1.0 };
        Made { bytes: Some(small * ratio), late: 0.0 }
    }
}

/// Whole packets at the target's pace (syncodecs' Perfect): a picture for which none is due gives no frame, whether
/// the plan allows it or not. Meant for 240 fps, where a frame is a packet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cbr {
    /// Payload of a packet, above 0.
    pub payload: Bytes,
}

impl Default for Cbr {
    fn default() -> Cbr {
        Cbr { payload: Bytes::new(1000) }
    }
}

impl Cbr {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("cbr.payload", self.payload).within(above(Bytes::ZERO), "1kB")
    }

    /// `due`: packets that the target has paid for.
    pub(super) fn next(&self, due: &mut f64, target: Rate, interval: Span) -> Made {
        *due += target.as_bps_f64() * interval.as_secs_f64() / 8.0 / self.payload.as_f64();
        let packets = libm::floor(*due);
        *due -= packets;
        Made { bytes: (packets > 0.0).then(|| packets * self.payload.as_f64()), late: 0.0 }
    }
}
