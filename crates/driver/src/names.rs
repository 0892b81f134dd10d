//! Which schemes a controller can play alone.

use alloc::format;

use thalweg_sender::Scheme;
use thalweg_sender::scheme::{ControllerConfig, FramesConfig, UnknownScheme, known};
use thalweg_units::ConfigError;

/// Why a scheme is more than a controller that sees packets leave and arrive; `None` if it is not.
fn needs(scheme: &Scheme) -> Option<&'static str> {
    let padding = scheme.padding.is_some().then_some("it keeps the path full with padding");
    let bucket = scheme.pacing.bucket.is_some().then_some("its pacer lets a part of each frame leave at once");
    let frames = match &scheme.frames {
        FramesConfig::EveryFrame | FramesConfig::RateTargeted(_) => None,
        _ => Some("it chooses frames"),
    };
    scheme.controller.needs_its_sender().or(padding).or(bucket).or(frames)
}

/// RoCC, which is part of other schemes only: as Copa is alone.
fn rocc() -> Result<Scheme, ConfigError> {
    let controller = ControllerConfig::Rocc(Default::default());
    Ok(Scheme { name: ROCC.into(), controller, ..parse("copa")? })
}

const ROCC: &str = "rocc";

/// The scheme of this name, to be played with parameters of its own ([`Driver::of_scheme`](crate::Driver::of_scheme)).
///
/// # Errors
/// For an unknown name.
pub fn scheme(name: &str) -> Result<Scheme, ConfigError> {
    if name == ROCC { rocc() } else { parse(name) }
}

fn parse(name: &str) -> Result<Scheme, ConfigError> {
    name.parse().map_err(|unknown: UnknownScheme| ConfigError::because(unknown))
}

/// Checks that a controller can play this scheme alone.
pub(crate) fn check(scheme: &Scheme) -> Result<(), ConfigError> {
    let Some(why) = needs(scheme) else { return Ok(()) };
    let name = &scheme.name;
    Err(ConfigError::because(format!(
        "'{name}' needs more than packets and reports: {why}. Send with a thalweg_sender::Engine, or name one of {}",
        playable().collect::<alloc::vec::Vec<_>>().join(", "),
    )))
}

/// Returns true if its controller finds more capacity only by sending faster than its estimate for a while.
pub(crate) fn paces(scheme: &Scheme) -> bool {
    matches!(scheme.controller, ControllerConfig::Bbr(_))
}

/// The schemes whose controller works alone: what [`Driver::named`](crate::Driver::named) takes.
pub fn playable() -> impl Iterator<Item = &'static str> {
    known().iter().filter(|known| needs(&known.scheme()).is_none()).map(|known| known.name).chain([ROCC])
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn controllers_of_rates_and_windows_play_alone_and_those_of_frames_receivers_or_padding_do_not() {
        let playable: Vec<&str> = playable().collect();
        for name in ["gcc", "gcc:2023", "nada", "scream", "sqp", "bbr", "copa", "pudica", "tfrc", "rocc"] {
            assert!(playable.contains(&name), "{name}");
        }
        for name in [
            "rrtcc",
            "fbra",
            "rebera",
            "salsify",
            "vidaptive",
            "cnadu",
            "thalweg",
            "camel",
            "copa+dummy",
            "ace-n",
            "belabox",
        ] {
            let refused = check(&scheme(name).unwrap()).unwrap_err().to_string();
            assert!(refused.contains(&alloc::format!("'{name}' needs")) && refused.contains("nada"), "{refused}");
        }
    }
}
