//! Schemes by name, with parameters of the caller's own.

use std::ffi::{c_char, c_void};

use thalweg_driver::{Config, playable};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::{RateLimits, ReceiverKind, UnknownScheme, known};
use thalweg_units::Rate;
use toml::{Table, Value};

use crate::error::{Error, THALWEG_E_CONFIG, THALWEG_E_PARSE, THALWEG_E_UNSUPPORTED, answer};
use crate::handle::caught;
use crate::text::lasting;

/// `thalweg_controller_new` takes this scheme: its controller works alone.
pub const THALWEG_FOR_CONTROLLER: u32 = 1;
/// `thalweg_engine_new` takes this scheme: it works with any receiver of today.
pub const THALWEG_FOR_ENGINE: u32 = 2;

/// Calls `each` for every scheme, with what it is in one line and what takes it (THALWEG_FOR_...). Both texts last as
/// long as the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn thalweg_schemes(
    each: Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char, about: *const c_char, takes: u32)>,
    user: *mut c_void,
) -> i32 {
    answer(caught(|| {
        let each = each.ok_or_else(|| Error::null("each"))?;
        let tell = |name: &'static str, about: &'static str, takes: u32| {
            // SAFETY: the caller's, by the rules of the header.
            unsafe { each(user, lasting(name), lasting(about), takes) };
        };
        let alone: Vec<&'static str> = playable().collect();
        for one in known() {
            let whole = if refused(&one.scheme()).is_none() { THALWEG_FOR_ENGINE } else { 0 };
            let part = if alone.contains(&one.name) { THALWEG_FOR_CONTROLLER } else { 0 };
            if whole | part != 0 {
                tell(one.name, one.about, whole | part);
            }
        }
        let named = |name: &&&str| known().iter().all(|known| known.name != **name);
        for name in alone.iter().filter(named) {
            tell(name, "RoCC, which is otherwise part of others", THALWEG_FOR_CONTROLLER);
        }
        Ok(0)
    }))
}

/// The scheme of this name, with what `toml` says instead of its own parameters.
pub(crate) fn find(name: &str, toml: Option<&str>) -> Result<Scheme, Error> {
    let scheme: Scheme = name
        .parse()
        .map_err(|unknown: UnknownScheme| Error::new(THALWEG_E_CONFIG, format_args!("scheme: {unknown}")))?;
    let Some(toml) = toml else { return Ok(scheme) };
    let unreadable = |error: &dyn std::fmt::Display| Error::new(THALWEG_E_PARSE, format_args!("toml: {error}"));
    let mut whole = Table::try_from(&scheme).map_err(|error| unreadable(&error))?;
    lay(&mut whole, toml.parse().map_err(|error| unreadable(&error))?);
    whole.try_into().map_err(|error| unreadable(&error))
}

/// Replaces what is in both.
fn lay(whole: &mut Table, part: Table) {
    for (key, value) in part {
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(part)) => lay(below, part),
            (_, value) => drop(whole.insert(key, value)),
        }
    }
}

/// Why an engine behind this interface cannot be this scheme.
pub(crate) fn refused(scheme: &Scheme) -> Option<Error> {
    let why = match scheme.receiver {
        ReceiverKind::Standard => return None,
        ReceiverKind::Measures(_) => "its receiver measures the path",
        ReceiverKind::Stateful(_) => "its receiver keeps states of the decoder",
    };
    let why = format!("'{}' needs a receiver of ours: {why}. thalweg_schemes lists the others", scheme.name);
    Some(Error::new(THALWEG_E_UNSUPPORTED, why))
}

/// A rate of the caller's.
pub(crate) fn checked(name: &str, rate: u64) -> Result<Rate, Error> {
    if rate > LARGEST {
        return Err(Error::range(
            name,
            format_args!("{rate} bit/s"),
            format_args!("at most {LARGEST}, such as 300000"),
        ));
    }
    Ok(Rate::from_bps(rate))
}

/// 1 Tbit/s.
const LARGEST: u64 = 1_000_000_000_000;

/// Rates of which those that are zero are not said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) start: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

impl Rates {
    /// With WebRTC's for those that are not said; `None` if none is.
    pub(crate) fn given(self) -> Result<Option<[Rate; 3]>, Error> {
        let Rates { start, min, max } = self;
        for (name, rate) in [("start", start), ("min", min), ("max", max)] {
            checked(name, rate)?;
        }
        let usual = Config::default();
        let max_or = if max == 0 { usual.max } else { Rate::from_bps(max) };
        let min_or = if min == 0 { usual.min.min(max_or) } else { Rate::from_bps(min) };
        let start_or = if start == 0 { usual.start.clamp(min_or, max_or.max(min_or)) } else { Rate::from_bps(start) };
        Ok((start != 0 || min != 0 || max != 0).then_some([start_or, min_or, max_or]))
    }

    /// The scheme within them.
    pub(crate) fn bound(self, scheme: Scheme) -> Result<Scheme, Error> {
        let Some([start, min, max]) = self.given()? else { return Ok(scheme) };
        let (payload, overhead) = (scheme.packets.max_payload.as_f64(), scheme.packets.overhead.as_f64());
        Ok(scheme.within(RateLimits { start, min, max, wire: max.scale((payload + overhead) / payload) })?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sender::scheme::ControllerConfig;

    #[test]
    fn parameters_replace_those_of_the_same_name_and_others_are_refused_by_name() {
        let scheme = find("gcc", Some("controller.gcc.min = '77kbps'\n[packets]\nmax_payload = '1000B'")).unwrap();
        let ControllerConfig::Gcc(gcc) = &scheme.controller else { panic!("{:?}", scheme.controller) };
        assert_eq!((gcc.min, scheme.packets.max_payload.get()), (Rate::from_kbps(77), 1000));
        assert_eq!(gcc.start, thalweg_control::gcc::Config::default().start);
        let refused = |toml| find("gcc", Some(toml)).unwrap_err();
        assert!(refused("pace = 3").message.contains("pace"), "{}", refused("pace = 3").message);
        assert_eq!(refused("[controller.gcc").code, THALWEG_E_PARSE);
        assert!(find("gccc", None).unwrap_err().message.contains("did you mean gcc"));
    }

    #[test]
    fn rates_that_are_not_said_are_webrtcs_but_never_beyond_those_that_are() {
        let given =
            |start, min, max| Rates { start, min, max }.given().unwrap().map(|all| all.map(|rate| rate.as_bps()));
        assert_eq!(given(0, 0, 0), None);
        assert_eq!(given(0, 0, 200_000), Some([200_000, 30_000, 200_000]));
        assert_eq!(given(0, 500_000, 0), Some([500_000, 500_000, 12_000_000]));
        assert_eq!(given(0, 9, 5), Some([9, 9, 5]), "left to be refused");
    }
}
