//! Settings by the application, as the element's properties have them.

use thalweg_driver::{Config, Driver, RTP_OVERHEAD};
use thalweg_sender::Scheme;
use thalweg_sender::frames::rate_targeted::{self, TargetBase};
use thalweg_sender::frames::{headroom, safeguards};
use thalweg_sender::scheme::FramesConfig;
use thalweg_sender::{pacing, padding};
use thalweg_units::{Bytes, ConfigError, Rate, Span};

/// RTP's header as webrtcbin sends it: 12 bytes and the extension with the transport-wide number (docs/gstreamer.md).
/// Encoders are given rates without it.
pub(crate) const RTP_HEADER: Bytes = Bytes::new(20);

/// Time within which queued packets leave, whatever the rate, unless the scheme has a rule of its own or keeps the path
/// full: webrtcsink's encoder goes on with the old target for some pictures, and at the pace of a target that fell to a
/// tenth they would wait for seconds. `scream` has a tenth to a third less P95 on Verizon-LTE-short.up with it, at the
/// same bits (docs/gstreamer.md).
const DRAIN_WITHIN: Span = Span::from_millis(150);

/// Settings by the application.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Settings {
    /// The name of the scheme.
    pub(crate) scheme: String,
    /// bit/s, as encoders count.
    pub(crate) start: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
    /// Packets leave as they come.
    pub(crate) unpaced: bool,
    /// The queue is thrown away when a packet has waited longer; `None` never does that.
    pub(crate) max_queue: Option<Span>,
    /// Padding may be sent.
    pub(crate) padding: bool,
}

impl Default for Settings {
    /// The bitrates of `rtpgccbwe` (docs/gstreamer.md). No max queue, as that element has none: a queue that is dropped costs a
    /// keyframe, which makes the next queue where the rate has fallen; docs/gstreamer.md has figures.
    fn default() -> Settings {
        Settings {
            scheme: "gcc".to_owned(),
            start: 2_048_000,
            min: 1000,
            max: 8_192_000,
            unpaced: false,
            max_queue: None,
            padding: true,
        }
    }
}

/// A scheme, taken apart for a pacer in front of which somebody else's encoder works.
#[derive(Debug, Clone)]
pub(crate) struct Parts {
    pub(crate) driver: Driver,
    pub(crate) pacing: pacing::Config,
    /// Keeps the path full (Vidaptive's dummies).
    pub(crate) dummies: Option<padding::Dummies>,
    /// Sets the encoder's target to the pacing rate instead of the driver's.
    pub(crate) at_pace: bool,
    /// The share of the pacing rate that the encoder gets.
    pub(crate) headroom: Option<headroom::Headroom>,
    /// When to hold pictures back.
    pub(crate) safeguards: safeguards::Safeguards,
}

impl Settings {
    /// Min, start and max in order: `max` counts where they contradict each other, as webrtcsink sets them one by one.
    pub(crate) fn rates(&self) -> (Rate, Rate, Rate) {
        let max = self.max.max(1);
        let min = self.min.clamp(1, max);
        let [min, start, max] = [min, self.start.clamp(min, max), max].map(|rate| Rate::from_bps(rate.into()));
        (min, start, max)
    }

    /// The parts of the scheme.
    ///
    /// # Errors
    /// For an unknown name, and for a scheme that needs more than this element can do.
    pub(crate) fn parts(&self) -> Result<Parts, ConfigError> {
        let scheme = thalweg_driver::scheme(&self.scheme)?;
        if !self.padding && scheme.padding.is_some() {
            return Err(ConfigError::because(format!(
                "'{}' keeps the path full with padding: set padding=true, or name one of {}",
                self.scheme,
                thalweg_driver::playable().collect::<Vec<_>>().join(", "),
            )));
        }
        let (min, start, max) = self.rates();
        let config = Config::new(start, min, max).with_overhead(RTP_OVERHEAD + RTP_HEADER);
        // The padding is this element's: the rest is a controller alone.
        let driver = Driver::of_scheme(&Scheme { padding: None, padding_content: None, ..scheme.clone() }, config)?;
        let frames = match &scheme.frames {
            FramesConfig::RateTargeted(frames) => frames.clone(),
            _ => rate_targeted::Config::default(),
        };
        Ok(Parts {
            driver,
            pacing: drained(&scheme),
            dummies: scheme.padding.map(|dummies| padding::Config { cap: max, ..dummies }.build()).transpose()?,
            at_pace: frames.base != TargetBase::CapacityLessOverhead,
            headroom: frames.headroom.map(headroom::Config::build).transpose()?,
            safeguards: frames.safeguards.build()?,
        })
    }
}

/// The scheme's pacing, by which frames of an encoder that makes more than it was asked for do not wait long.
fn drained(scheme: &Scheme) -> pacing::Config {
    let backlogged = scheme.padding.is_some();
    let drain_within = scheme.pacing.drain_within.or((!backlogged).then_some(DRAIN_WITHIN));
    pacing::Config { drain_within, ..scheme.pacing }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(scheme: &str) -> Settings {
        Settings { scheme: scheme.to_owned(), ..Settings::default() }
    }

    #[test]
    fn every_scheme_of_a_controller_is_played_and_those_that_only_need_padding_beside_it() {
        for name in thalweg_driver::playable().chain(["vidaptive", "copa+dummy"]) {
            assert!(of(name).parts().is_ok(), "{name}: {:?}", of(name).parts().err());
        }
        let vidaptive = of("vidaptive").parts().unwrap();
        assert!(vidaptive.dummies.is_some() && vidaptive.headroom.is_some());
        assert!(of("gcc").parts().unwrap().dummies.is_none());
    }

    #[test]
    fn what_the_element_cannot_do_is_refused_with_the_reason_and_what_there_is() {
        for (settings, why) in [
            (of("salsify"), "late from several candidates"),
            (of("rebera"), "plans groups of frames"),
            (of("gccc"), "gccc"),
            (Settings { padding: false, ..of("vidaptive") }, "set padding=true"),
        ] {
            let refused = settings.parts().unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn rates_that_contradict_each_other_are_put_in_order_below_max() {
        let rates = |min, start, max| {
            let (min, start, max) = Settings { min, start, max, ..Settings::default() }.rates();
            (min.as_bps(), start.as_bps(), max.as_bps())
        };
        assert_eq!(rates(1000, 2_048_000, 8_192_000), (1000, 2_048_000, 8_192_000));
        assert_eq!(rates(5000, 2_048_000, 3000), (3000, 3000, 3000));
        assert_eq!(rates(500, 100, 3000), (500, 500, 3000));
        assert_eq!(rates(0, 0, 0), (1, 1, 1));
    }
}
