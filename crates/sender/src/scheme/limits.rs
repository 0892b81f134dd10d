//! Schemes as an application needs them: within the rates that it allows, and for frames that are made elsewhere.

use thalweg_units::{Bytes, ConfigError, Rate, Span, check};

use super::{ControllerConfig, FramesConfig, Scheme};
use crate::frames::rate_targeted::EncoderBounds;

/// Limits that an application gives a scheme for its video, as RFC 8867's cases do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// The encoder's min rate.
    pub min: Rate,
    /// The rate at which sending begins.
    pub start: Rate,
    /// The encoder's max rate.
    pub max: Rate,
    /// The rate on the wire at which the controller need not look for more: `max` and what headers and audio add.
    pub wire: Rate,
}

/// The round trip over which a rate becomes a window before one was measured, as in the engine (specs/vidaptive.md C3).
const ASSUMED_ROUND_TRIP: Span = Span::from_millis(100);
/// Copa and RoCC count windows in packets of this many bytes (specs/copa.md).
const PACKET: Bytes = Bytes::new(1500);

impl Scheme {
    /// The same scheme for frames that are encoded elsewhere and sent unchanged: none is left out because others wait, since
    /// all of them up to the next keyframe would be lost with it. A queue that is thrown away as a whole still is.
    #[must_use]
    pub fn for_encoded_frames(mut self) -> Scheme {
        if let FramesConfig::RateTargeted(config) = &mut self.frames {
            config.safeguards.pause = None;
        }
        self
    }

    /// The same scheme within these rates: its controller begins at `start` and never needs more than `wire`, its
    /// encoder stays between `min` and `max`, and padding never fills more than `wire`.
    ///
    /// # Errors
    /// When the rates are not in order.
    pub fn within(&self, limits: RateLimits) -> Result<Scheme, ConfigError> {
        let RateLimits { min, start, max, wire } = limits;
        check("rate limits", format_args!("min {min}, start {start}, max {max}, on the wire {wire}"))
            .is(Rate::ZERO < min && min <= start && start <= max && max <= wire, "0 < min <= start <= max <= wire")?;
        let mut scheme = self.clone();
        match &mut scheme.controller {
            ControllerConfig::Fixed(config) => config.rate = config.rate.clamp(min, wire),
            ControllerConfig::Copa(config) => {
                let packets = start.over(ASSUMED_ROUND_TRIP).as_f64() / PACKET.as_f64();
                config.initial_window = packets.max(config.min_window);
            }
            // Its window begins small and doubles each round trip; it has no rate to begin at.
            ControllerConfig::Rocc(_) => {}
            ControllerConfig::Gcc(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Bbr(config) => {
                (config.start, config.min_rate) = (start, config.min_rate.min(min));
            }
            ControllerConfig::Scream(config) => config.start = start,
            ControllerConfig::ScreamLibwebrtc(config) => config.start = start,
            ControllerConfig::Nada(config) => (config.start, config.min, config.max) = (start, min, wire),
            ControllerConfig::Sqp(config) => (config.initial, config.min) = (start, config.min.min(min)),
            ControllerConfig::Pudica(config) => {
                (config.initial, config.min, config.max) = (start, config.min.min(min), wire);
            }
            ControllerConfig::Camel(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Fbra(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Rrtcc(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Cnadu(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Tfrc(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Belabox(config) => (config.start, config.min) = (start, config.min.min(min)),
            ControllerConfig::Openpilot(config) => (config.start, config.low) = (start, config.low.min(min)),
            ControllerConfig::Salsify(config) => config.start = start,
            ControllerConfig::Rebera(config) => config.start = start,
            ControllerConfig::Thalweg(config) => config.start = start,
        }
        let bounds = EncoderBounds { min, max, demand: (wire > max).then_some(wire) };
        match &mut scheme.frames {
            FramesConfig::EveryFrame => {}
            FramesConfig::LateChoice(config) => config.max_rate = Some(max),
            FramesConfig::Budgeted(config) => config.max_rate = Some(max),
            FramesConfig::RateTargeted(config) => config.encoder = bounds,
            FramesConfig::Selection(config) => config.encoder = bounds,
        }
        if let Some(padding) = &mut scheme.padding {
            padding.cap = padding.cap.min(wire);
        }
        Ok(scheme)
    }

    /// The same scheme with this weight among flows of its kind; `None` if its controller knows no weights (NADA's
    /// priority is one, RFC 8698 section 4.3).
    pub fn weighted(&self, weight: f64) -> Option<Scheme> {
        let mut scheme = self.clone();
        match &mut scheme.controller {
            ControllerConfig::Nada(config) => config.rate.priority *= weight,
            _ => return None,
        }
        Some(scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{budgeted, late_choice};
    use alloc::string::ToString;
    use thalweg_control::Demand;
    use thalweg_units::Size;

    fn limits() -> RateLimits {
        let [min, start, max, wire] = [150, 150, 1500, 1594].map(Rate::from_kbps);
        RateLimits { min, start, max, wire }
    }

    #[test]
    fn a_frame_that_is_encoded_already_is_not_left_out_because_others_wait() {
        for name in ["vidaptive", "thalweg:conventional"] {
            let known: Scheme = name.parse().unwrap();
            let FramesConfig::RateTargeted(before) = known.frames.clone() else { panic!("{name}") };
            assert!(before.safeguards.pause.is_some(), "{name}");
            let FramesConfig::RateTargeted(after) = known.for_encoded_frames().frames else { panic!("{name}") };
            assert_eq!((after.safeguards.pause, after.safeguards.reset), (None, before.safeguards.reset), "{name}");
        }
    }

    #[test]
    fn every_scheme_begins_where_it_is_told_and_asks_for_no_more_than_the_wire_carries() {
        for known in super::super::known() {
            let scheme = known.scheme().within(limits()).unwrap();
            let frames = scheme.frames.build(Size::HD).unwrap();
            if let Some(demand) = frames.demand() {
                assert_eq!(demand, Demand { min: limits().min, max: limits().wire }, "{}", known.name);
            }
            if let FramesConfig::LateChoice(late_choice::Config { max_rate, .. })
            | FramesConfig::Budgeted(budgeted::Config { max_rate, .. }) = &scheme.frames
            {
                assert_eq!(*max_rate, Some(limits().max), "{}", known.name);
            }
            let start = scheme.controller.build().unwrap().limits().capacity;
            assert!(start <= limits().wire, "{} begins at {start}", known.name);
        }
    }

    #[test]
    fn rates_out_of_order_are_refused_with_the_order() {
        let gcc: Scheme = "gcc".parse().unwrap();
        let problem = gcc.within(RateLimits { start: Rate::from_kbps(2000), ..limits() }).unwrap_err().to_string();
        assert!(problem.contains("start 2Mbps") && problem.contains("min <= start <= max"), "{problem}");
    }
}
