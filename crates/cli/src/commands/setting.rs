//! `--set`: one parameter of schemes or of the scenario, by its path in run.toml.

use std::str::FromStr;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg_lab::Scenario;
use thalweg_sender::{Scheme, SenderFactory};
use toml::{Table, Value};

use crate::suggest::Unknown;

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Setting {
    /// Its path below the root, such as `controller.copa.delta`.
    path: Vec<String>,
    root: Root,
    value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Root {
    Scheme,
    Scenario,
}

impl Root {
    const fn name(self) -> &'static str {
        match self {
            Root::Scheme => "scheme",
            Root::Scenario => "scenario",
        }
    }
}

const EXAMPLE: &str = "scheme.controller.copa.delta=0.5";

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let wrong = || {
            format!(
                "'{text}' is no parameter with a value: write its path in run.toml, from scheme or scenario on, as in {EXAMPLE}"
            )
        };
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        let mut parts = path.trim().split('.').map(String::from);
        let root = match parts.next().as_deref() {
            Some("scheme") => Root::Scheme,
            Some("scenario") => Root::Scenario,
            _ => return Err(wrong()),
        };
        let path: Vec<String> = parts.collect();
        if path.is_empty() || path.iter().any(String::is_empty) {
            return Err(wrong());
        }
        // What is no TOML value, such as 20ms, is a text.
        let read = format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
        Ok(Setting { path, root, value: read.unwrap_or_else(|| Value::String(value.trim().into())) })
    }
}

impl Setting {
    /// The parameter at a dotted path below the root.
    pub(super) fn new(root: Root, path: &str, value: Value) -> Setting {
        Setting { path: path.split('.').map(String::from).collect(), root, value }
    }

    /// The value that `of` has; `None` if it has no such parameter.
    pub(super) fn current(&self, of: &impl Serialize) -> anyhow::Result<Option<Value>> {
        let mut whole = Value::try_from(of)?;
        let Some((parent, name)) = self.parent(&mut whole) else { return Ok(None) };
        Ok(match parent {
            Value::Table(table) => table.get(name).cloned(),
            Value::Array(list) => name.parse().ok().and_then(|place: usize| list.get(place)).cloned(),
            _ => None,
        })
    }

    fn name(&self) -> String {
        format!("{}.{}", self.root.name(), self.path.join("."))
    }

    /// `of` with this parameter; `None` if it has no table for it.
    fn on<T: Serialize + DeserializeOwned>(&self, of: &T) -> anyhow::Result<Option<T>> {
        let mut whole = Value::try_from(of)?;
        let Some(place) = self.parent(&mut whole) else { return Ok(None) };
        match place {
            (Value::Table(table), name) => drop(table.insert(name.into(), self.value.clone())),
            (Value::Array(list), place) => match place.parse().ok().and_then(|place: usize| list.get_mut(place)) {
                Some(item) => *item = self.value.clone(),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
        let read: Result<T, _> = whole.try_into();
        let changed = match read {
            Ok(changed) => changed,
            // Of its own name; a field in its value is a wrong value.
            Err(error)
                if self
                    .path
                    .last()
                    .is_some_and(|name| error.message().starts_with(&format!("unknown field `{name}`"))) =>
            {
                return Ok(None);
            }
            Err(error) => bail!("{}={}: {}", self.name(), self.value, error.message()),
        };
        // A name that the type does not know, and does not refuse, is gone again.
        let is_known = self.parent(&mut Value::try_from(&changed)?).is_some_and(|(parent, name)| match parent {
            Value::Table(table) => table.contains_key(name),
            _ => true,
        });
        Ok(is_known.then_some(changed))
    }

    /// The table or list that has the parameter, and its name there.
    fn parent<'a>(&'a self, whole: &'a mut Value) -> Option<(&'a mut Value, &'a str)> {
        let (name, above) = self.path.split_last()?;
        let parent = above.iter().try_fold(whole, |value, part| match value {
            Value::Table(table) => table.get_mut(part),
            Value::Array(list) => list.get_mut(part.parse::<usize>().ok()?),
            _ => None,
        })?;
        Some((parent, name))
    }

    /// The error that `of` has no such parameter.
    pub(super) fn unknown_in(&self, of: &impl Serialize) -> anyhow::Error {
        match Value::try_from(of) {
            Ok(value) => self.unknown(std::iter::once(&value)).into(),
            Err(error) => error.into(),
        }
    }

    fn unknown<'a>(&self, all: impl Iterator<Item = &'a Value>) -> Unknown {
        let mut names = Vec::new();
        all.for_each(|value| leaves(self.root.name(), value, &mut names));
        let names = names.iter().map(String::as_str);
        Unknown::new("parameter", &self.name(), names, "a run's run.toml has all of its scheme and scenario")
    }
}

/// The paths of all values.
fn leaves(path: &str, value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Table(table) => table.iter().for_each(|(name, value)| leaves(&format!("{path}.{name}"), value, names)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(place, value)| leaves(&format!("{path}.{place}"), value, names));
        }
        _ => names.push(path.into()),
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
    match setting.root {
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
                    && let Some(changed) = setting.on::<Scheme>(known)?
                {
                    // Now, instead of after the runs before it.
                    changed.parts(thalweg_units::Size::HD).map_err(|error| anyhow!("{}: {error}", setting.name()))?;
                    (*scheme, is_known) = (Arc::new(changed), true);
                }
            }
        }
    }
    if is_known {
        return Ok(());
    }
    let all: Vec<Value> = match setting.root {
        Root::Scenario => scenarios.iter().map(Value::try_from).collect::<Result<_, _>>()?,
        Root::Scheme => {
            schemes.iter().filter_map(|scheme| scheme.as_scheme()).map(Value::try_from).collect::<Result<_, _>>()?
        }
    };
    Err(setting.unknown(all.iter()).into())
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
        set(EXAMPLE, &mut both, &mut []).unwrap();
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
        assert!(refused("scenario.clock_ofset=20ms").contains("did you mean scenario.clock_offset"));
        let wrong = refused("scheme.controller.copa.delta=fast");
        assert!(wrong.contains("fast") && wrong.contains("expected f64"), "{wrong}");
        let word = refused("scenario.ssim=fast");
        assert!(word.contains("unknown variant `fast`"), "{word}");
        let range = refused("scheme.controller.copa.delta=-1");
        assert!(range.contains("delta") && range.contains("must be"), "{range}");
        for text in ["copa.delta=1", "scheme", "scheme.=1", "scheme=1"] {
            assert!(refused(text).contains(EXAMPLE), "{text}");
        }
    }
}
