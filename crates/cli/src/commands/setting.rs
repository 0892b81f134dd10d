//! `--set`: one parameter of schemes or of the scenario, by its path in run.toml.

use std::sync::Arc;

use serde::Serialize;
use thalweg_lab::Scenario;
pub(super) use thalweg_lab::setting::{Root, Setting};
use thalweg_sender::SenderFactory;
use toml::Value;

use crate::suggest::Unknown;

/// The error that `of` has no such parameter.
pub(super) fn unknown_in(setting: &Setting, of: &impl Serialize) -> anyhow::Error {
    match Value::try_from(of) {
        Ok(value) => unknown(setting, std::iter::once(&value)).into(),
        Err(error) => error.into(),
    }
}

fn unknown<'a>(setting: &Setting, all: impl Iterator<Item = &'a Value>) -> Unknown {
    let mut names = Vec::new();
    all.for_each(|value| leaves(setting.root().name(), value, &mut names));
    let names = names.iter().map(|(path, _)| path.as_str());
    Unknown::new("parameter", &setting.name(), names, "a run's run.toml has all of its scheme and scenario")
}

/// All values with their paths.
pub(super) fn leaves<'a>(path: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| leaves(&format!("{path}.{name}"), value, found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| leaves(&format!("{path}.{place}"), value, found));
        }
        _ => found.push((path.into(), value)),
    }
}

/// Applies a setting to each scenario, or to each scheme that has the parameter.
///
/// # Errors
/// When nothing has it, or the value is wrong.
pub(super) fn applied(
    setting: &Setting,
    scenarios: &mut [Scenario],
    schemes: &mut [Arc<dyn SenderFactory>],
) -> anyhow::Result<()> {
    let mut is_known = false;
    match setting.root() {
        Root::Scenario => {
            for scenario in scenarios.iter_mut() {
                if let Some(changed) = setting.on(scenario)? {
                    (*scenario, is_known) = (changed, true);
                }
            }
        }
        Root::Scheme => {
            for scheme in schemes.iter_mut() {
                if let Some(known) = scheme.as_scheme()
                    && let Some(changed) = setting.on_scheme(known)?
                {
                    (*scheme, is_known) = (Arc::new(changed), true);
                }
            }
        }
    }
    if is_known {
        return Ok(());
    }
    let all: Vec<Value> = match setting.root() {
        Root::Scenario => scenarios.iter().map(Value::try_from).collect::<Result<_, _>>()?,
        Root::Scheme => {
            schemes.iter().filter_map(|scheme| scheme.as_scheme()).map(Value::try_from).collect::<Result<_, _>>()?
        }
    };
    Err(unknown(setting, all.iter()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_sender::Registry;

    fn schemes(names: &[&str]) -> Vec<Arc<dyn SenderFactory>> {
        let names: Vec<_> = names.iter().map(ToString::to_string).collect();
        crate::play::schemes(&Registry::new(), &names).unwrap()
    }

    fn set(text: &str, schemes: &mut [Arc<dyn SenderFactory>], scenarios: &mut [Scenario]) -> Result<(), String> {
        let setting: Setting = text.parse()?;
        applied(&setting, scenarios, schemes).map_err(|error| error.to_string())
    }

    #[test]
    fn a_parameter_is_set_where_it_exists_and_the_rest_stays() {
        let (mut both, before) = (schemes(&["gcc", "copa"]), schemes(&["gcc", "copa"]));
        set("scheme.controller.copa.delta=0.5", &mut both, &mut []).unwrap();
        let value = |scheme: &Arc<dyn SenderFactory>| Value::try_from(scheme.as_scheme().unwrap()).unwrap();
        assert_eq!(value(&both[0]), value(&before[0]));
        let mut wanted = value(&before[1]);
        assert_ne!(wanted["controller"]["copa"]["delta"], Value::Float(0.5));
        wanted["controller"]["copa"]["delta"] = Value::Float(0.5);
        assert_eq!(value(&both[1]), wanted);

        let mut scenarios = [Scenario::over("lte-driving")];
        set("scenario.clock_offset=20ms", &mut [], &mut scenarios).unwrap();
        assert_eq!(scenarios[0].clock_offset.to_string(), "20ms");
        set("scenario.forward.hops.1.delay.delay=40ms", &mut [], &mut scenarios).unwrap();
        assert!(format!("{:?}", scenarios[0].forward.hops[1]).contains("40"), "{:?}", scenarios[0].forward);
    }

    #[test]
    fn what_no_scheme_has_is_refused_with_the_nearest_name_and_a_wrong_value_with_its_kind() {
        let refused = |text: &str| set(text, &mut schemes(&["gcc", "copa"]), &mut [Scenario::over("x")]).unwrap_err();
        let near = refused("scheme.controller.copa.detla=0.5");
        assert!(near.contains("did you mean scheme.controller.copa.delta"), "{near}");
        let two = &mut [Scenario::over("x"), Scenario::over("y")];
        let once = set("scenario.clock_ofset=20ms", &mut [], two).unwrap_err();
        assert!(
            once.contains("did you mean scenario.clock_offset") && once.matches("clock_offset").count() == 1,
            "{once}"
        );
        let wrong = refused("scheme.controller.copa.delta=fast");
        assert!(wrong.contains("fast") && wrong.contains("expected f64"), "{wrong}");
        let word = refused("scenario.ssim=fast");
        assert!(word.contains("unknown variant `fast`"), "{word}");
        let range = refused("scheme.controller.copa.delta=-1");
        assert!(range.contains("delta") && range.contains("must be"), "{range}");
        for text in ["copa.delta=1", "scheme", "scheme.=1", "scheme=1"] {
            assert!(refused(text).contains("scheme.controller.copa.delta=0.5"), "{text}");
        }
    }
}
