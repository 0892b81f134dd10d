//! One parameter of a scheme or of a scenario, by its path in run.toml: what `--set`, a tuning file and the axes of a
//! sweep change.

use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thalweg_sender::{Scheme, SenderFactory};
use thalweg_units::Size;
use toml::{Table, Value};

/// A parameter and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Its path below the root, such as `controller.copa.delta`.
    path: Vec<String>,
    root: Root,
    value: Value,
}

/// Owner of the parameter: a table of run.toml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// The scheme.
    Scheme,
    /// The scenario.
    Scenario,
}

impl Root {
    /// Its name in run.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Root::Scheme => "scheme",
            Root::Scenario => "scenario",
        }
    }
}

/// Why a parameter cannot have its value: names both, and what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingError(String);

const EXAMPLE: &str = "scheme.controller.copa.delta=0.5";

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Setting, String> {
        let wrong = || {
            format!(
                "invalid parameter '{text}': write its path in run.toml, from scheme or scenario on, as in {EXAMPLE}"
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
    /// The parameter at a dotted path below the root, whose own name may stand before it.
    pub fn new(root: Root, path: &str, value: Value) -> Setting {
        let path = path.strip_prefix(root.name()).and_then(|below| below.strip_prefix('.')).unwrap_or(path);
        Setting { path: path.split('.').map(String::from).collect(), root, value }
    }

    /// Owner of the parameter.
    pub fn root(&self) -> Root {
        self.root
    }

    /// Its path in run.toml.
    pub fn name(&self) -> String {
        format!("{}.{}", self.root.name(), self.path.join("."))
    }

    /// The value that `of` has; `None` if it has no such parameter.
    ///
    /// # Errors
    /// When `of` has no form in TOML.
    pub fn current(&self, of: &impl Serialize) -> Result<Option<Value>, SettingError> {
        let mut whole = toml_of(of)?;
        let Some((parent, name)) = self.parent(&mut whole) else { return Ok(None) };
        Ok(match parent {
            Value::Table(table) => table.get(name).cloned(),
            Value::Array(list) => name.parse().ok().and_then(|place: usize| list.get(place)).cloned(),
            _ => None,
        })
    }

    /// `of` with this parameter; `None` if it has no table for it. A table of a scenario that is absent, such as `playout`,
    /// begins with its defaults; `none` takes away what may be absent.
    ///
    /// # Errors
    /// When the value is wrong.
    pub fn on<T: Serialize + DeserializeOwned>(&self, of: &T) -> Result<Option<T>, SettingError> {
        let mut whole = toml_of(of)?;
        if let (Root::Scenario, [table, of, ..], Value::Table(all)) = (self.root, &self.path[..], &mut whole)
            && of.parse::<usize>().is_err()
        {
            all.entry(table.as_str()).or_insert_with(|| Value::Table(Table::new()));
        }
        let Some(place) = self.parent(&mut whole) else { return Ok(None) };
        match place {
            (Value::Table(table), name) => drop(table.insert(name.into(), self.value.clone())),
            (Value::Array(list), place) => match place.parse().ok().and_then(|place: usize| list.get_mut(place)) {
                Some(item) => *item = self.value.clone(),
                None => return Ok(None),
            },
            _ => return Ok(None),
        }
        let read: Result<T, _> = whole.clone().try_into();
        let changed = match read {
            Ok(changed) => changed,
            // Of its own name; a field in its value is a wrong value.
            Err(error)
                if self.path.iter().any(|name| error.message().starts_with(&format!("unknown field `{name}`"))) =>
            {
                return Ok(None);
            }
            Err(error) => {
                let wrong = || SettingError(format!("{}={}: {}", self.name(), self.value, error.message()));
                return self.absent(whole)?.map(Some).ok_or_else(wrong);
            }
        };
        // A name that the type does not know, and does not refuse, is gone again.
        let is_known = self.parent(&mut toml_of(&changed)?).is_some_and(|(parent, name)| match parent {
            Value::Table(table) => table.contains_key(name),
            _ => true,
        });
        Ok(is_known.then_some(changed))
    }

    /// The whole without this parameter, if the value is `none` and it may be absent.
    fn absent<T: Serialize + DeserializeOwned>(&self, mut whole: Value) -> Result<Option<T>, SettingError> {
        let Some((Value::Table(table), name)) = self.parent(&mut whole) else { return Ok(None) };
        table.remove(name);
        let Some(changed) = whole.try_into::<T>().ok().filter(|_| self.value.as_str() == Some("none")) else {
            return Ok(None);
        };
        // What has a default is there again.
        Ok(self.current(&changed)?.is_none().then_some(changed))
    }

    /// A scheme with this parameter, which can be played; `None` if it has none such.
    ///
    /// # Errors
    /// When the value is wrong or out of its range.
    pub fn on_scheme(&self, scheme: &Scheme) -> Result<Option<Scheme>, SettingError> {
        let changed = self.on::<Scheme>(scheme)?;
        // Now, instead of after the runs before it.
        let built = changed.as_ref().map_or(Ok(()), |changed| changed.parts(Size::HD).map(drop));
        built.map_err(|error| SettingError(format!("{}: {error}", self.name())))?;
        Ok(changed)
    }

    /// The innermost table on the way to the parameter that `of` has, and the keys in it.
    pub fn nearest(&self, of: &impl Serialize) -> (String, Vec<String>) {
        let (mut name, mut value) = (self.root.name().to_string(), toml_of(of).ok());
        for part in &self.path {
            let next = match &value {
                Some(Value::Table(table)) => table.get(part),
                Some(Value::Array(list)) => part.parse().ok().and_then(|place: usize| list.get(place)),
                _ => None,
            };
            let Some(next @ (Value::Table(_) | Value::Array(_))) = next.cloned() else { break };
            (name, value) = (format!("{name}.{part}"), Some(next));
        }
        let keys = match value {
            Some(Value::Table(table)) => table.keys().cloned().collect(),
            Some(Value::Array(list)) => (0..list.len()).map(|place| place.to_string()).collect(),
            _ => Vec::new(),
        };
        (name, keys)
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
}

fn toml_of(of: &impl Serialize) -> Result<Value, SettingError> {
    Value::try_from(of).map_err(|error| SettingError(error.to_string()))
}
