//! A grid on a machine: its jobs, in order, each with its key.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thalweg_netsim::HopConfig;
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{Seed, Span};
use toml::Value;

use super::grid::{Axis, Grid, GridError, Varied, skipped};
use super::{Cell, Files, Job, Key, matching};
use crate::inputs::{Kind, names};
use crate::named::named;
use crate::scenario::Scenario;
use crate::setting::{Root, Setting};

/// The most jobs of a sweep: their keys take 24 MB.
const MOST_JOBS: usize = 1_000_000;

/// A grid whose files are known: its jobs, numbered from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Sweep {
    grid: Grid,
    /// The values of each axis, patterns of files replaced by the files.
    values: Vec<Vec<Value>>,
    jobs: Vec<Place>,
}

/// Properties of a job known without reading its scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// Its place among all combinations.
    at: usize,
    key: Key,
    duration: Span,
}

impl Grid {
    /// Finds the files, and reads each job once: what is wrong with any of them is known before the first is played.
    /// Schemes are looked up in `registry`.
    ///
    /// # Errors
    /// When it cannot be played.
    pub fn expand(self, registry: &Registry, files: &dyn Files) -> Result<Sweep, GridError> {
        self.check()?;
        let values = self
            .axes
            .iter()
            .enumerate()
            .map(|(place, axis)| values(axis).map_err(|message| self.wrong_axis(place, message)));
        let values: Vec<Vec<Value>> = values.collect::<Result<_, _>>()?;
        let invalid = |message: String| GridError::Invalid { line: None, message };
        let count = values.iter().try_fold(1, |count: usize, list| count.checked_mul(list.len()));
        let Some(count) = count.filter(|count| *count <= MOST_JOBS) else {
            let each: Vec<String> = values.iter().map(|list| list.len().to_string()).collect();
            return Err(invalid(format!(
                "the axes have {} values, more than {MOST_JOBS} runs together: divide it into several grids",
                each.join(" x ")
            )));
        };
        let mut sweep = Sweep { grid: self, values, jobs: Vec::new() };
        let mut known: BTreeMap<Key, usize> = BTreeMap::new();
        let mut checked = BTreeSet::new();
        for place in 0..count {
            if sweep.is_skipped(place)? {
                continue;
            }
            let (scenario, sender) = sweep.made(place, registry)?;
            sweep.check(&scenario, &mut checked, files).map_err(invalid)?;
            let key = files.inputs(&scenario).and_then(|inputs| Key::of(&scenario, &inputs, &*sender));
            let key = key.map_err(invalid)?;
            if let Some(other) = known.insert(key, place) {
                let [one, other] = [other, place].map(|place| sweep.words(place));
                return Err(invalid(format!("{one} and {other} are the same run: remove one of the values")));
            }
            sweep.jobs.push(Place { at: place, key, duration: scenario.duration });
        }
        if sweep.jobs.is_empty() {
            return Err(invalid("every run is skipped: remove one of [[skip]]".into()));
        }
        Ok(sweep)
    }
}

/// The values of an axis, patterns of files replaced by the files.
fn values(axis: &Axis) -> Result<Vec<Value>, String> {
    let list = axis.list()?;
    if axis.varied() != Varied::Trace {
        return Ok(list);
    }
    let mut found: Vec<Value> = Vec::new();
    for pattern in list.iter().filter_map(Value::as_str) {
        let files = matching(pattern).map_err(|error| format!("axis trace: {pattern}: {error}"))?;
        if files.is_empty() {
            return Err(format!("axis trace: no file matches {pattern}: patterns are from the current folder"));
        }
        for file in files.into_iter().map(Value::String) {
            if found.contains(&file) {
                return Err(format!("axis trace: {file} is there twice: remove one of the patterns"));
            }
            found.push(file);
        }
    }
    Ok(found)
}

impl Sweep {
    /// The number of jobs.
    pub fn len(&self) -> u32 {
        // At most MOST_JOBS.
        self.jobs.len() as u32
    }

    /// Returns true if there are none; a sweep that was expanded has one at least.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Key of the sweep: a hash of the keys of all jobs in order.
    pub fn key(&self) -> Key {
        Key::of_all(self.jobs.iter().map(|job| job.key))
    }

    /// The key of a job; `None` beyond the last.
    pub fn key_of(&self, job: u32) -> Option<Key> {
        Some(self.jobs.get(job as usize)?.key)
    }

    /// The duration of a job's run in virtual time; zero beyond the last.
    pub fn duration_of(&self, job: u32) -> Span {
        self.jobs.get(job as usize).map_or(Span::ZERO, |job| job.duration)
    }

    /// A job with all that another machine needs to play it.
    ///
    /// # Errors
    /// When there is none of this number, or its files have gone since.
    pub fn job(&self, number: u32, registry: &Registry, files: &dyn Files) -> Result<Job, GridError> {
        let invalid = |message: String| GridError::Invalid { line: None, message };
        let Some(Place { at, key, .. }) = self.jobs.get(number as usize).copied() else {
            return Err(invalid(format!("unknown job {number}: jobs are 0 to {}", self.jobs.len() - 1)));
        };
        let (scenario, sender) = self.made(at, registry)?;
        let inputs = files.inputs(&scenario).map_err(invalid)?;
        Job::new((number, key), self.cells(number), &scenario, &inputs, &*sender).map_err(invalid)
    }

    /// The place of a job on the axes that are neither scheme, seed nor trace, by their names.
    pub fn cells(&self, job: u32) -> Vec<(String, Cell)> {
        let place = self.jobs.get(job as usize).map_or(0, |job| job.at);
        let all = self.grid.axes.iter().zip(self.at(place));
        let own = all.filter(|(axis, _)| axis.varied() == Varied::Fields);
        own.map(|(axis, value)| (axis.name().to_string(), Cell::of(value))).collect()
    }

    /// The values at a place among all combinations.
    fn at(&self, place: usize) -> Vec<&Value> {
        let mut left = place;
        let mut values: Vec<&Value> = self
            .values
            .iter()
            .rev()
            .map(|list| {
                let value = &list[left % list.len()];
                left /= list.len();
                value
            })
            .collect();
        values.reverse();
        values
    }

    fn is_skipped(&self, place: usize) -> Result<bool, GridError> {
        let values = self.at(place);
        let has = |name: &str, wanted: &Value| {
            let axis = self.grid.axes.iter().position(|axis| axis.name() == name);
            axis.is_some_and(|axis| skipped(wanted).contains(&Cell::of(values[axis])))
        };
        Ok(self.grid.skip.iter().any(|skip| skip.iter().all(|(name, wanted)| has(name, wanted))))
    }

    /// A combination in words.
    fn words(&self, place: usize) -> String {
        let each = self.grid.axes.iter().zip(self.at(place));
        each.map(|(axis, value)| format!("{} = {}", axis.name(), Cell::of(value))).collect::<Vec<_>>().join(", ")
    }

    /// The scenario and the sender of a combination.
    fn made(&self, place: usize, registry: &Registry) -> Result<(Scenario, Arc<dyn SenderFactory>), GridError> {
        let (mut scenario, mut sender) = (self.grid.scenario.clone(), None);
        let values = self.at(place);
        // Schemes first: other axes change them.
        let order = |axis: &usize| self.grid.axes[*axis].varied() != Varied::Scheme;
        let mut axes: Vec<usize> = (0..self.grid.axes.len()).collect();
        axes.sort_by_key(order);
        for number in axes {
            let (axis, value) = (&self.grid.axes[number], values[number]);
            let set = set(axis, value, &mut scenario, &mut sender, registry);
            set.map_err(|message| self.grid.wrong_axis(number, format!("axis {}: {message}", axis.name())))?;
        }
        match sender {
            Some(sender) => Ok((scenario, sender)),
            None => unreachable!("a grid without an axis of schemes is refused"),
        }
    }

    /// Refuses links that are none, each once, and what can be read only once.
    fn check(&self, scenario: &Scenario, known: &mut BTreeSet<String>, files: &dyn Files) -> Result<(), String> {
        let mut named = scenario.clone();
        for (kind, name) in names(&mut named) {
            match kind {
                Kind::Video if name == "-" => {
                    return Err("video: standard input can be read only once: name a file".into());
                }
                Kind::Trace if known.insert(name.clone()) => drop(files.trace(name, scenario)?),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Sets the value of an axis.
fn set(
    axis: &Axis,
    value: &Value,
    scenario: &mut Scenario,
    sender: &mut Option<Arc<dyn SenderFactory>>,
    registry: &Registry,
) -> Result<(), String> {
    match (axis.varied(), value) {
        (Varied::Scheme, Value::String(name)) => {
            *sender = Some(named(registry, name).map_err(|error| error.to_string())?);
        }
        (Varied::Seed, Value::Integer(seed)) => scenario.seed = Seed::new(seed.unsigned_abs()),
        (Varied::Trace, Value::String(name)) => set_trace(scenario, name)?,
        _ => axis.field.iter().try_for_each(|field| set_field(field, value, scenario, sender))?,
    }
    Ok(())
}

/// Replaces the link of the forward path, after which the scenario is named, as `thalweg compare --trace` does.
fn set_trace(scenario: &mut Scenario, name: &str) -> Result<(), String> {
    let traces = scenario.forward.hops.iter_mut().filter_map(|hop| match hop {
        HopConfig::Bottleneck { trace, .. } => Some(trace),
        _ => None,
    });
    match &mut traces.collect::<Vec<_>>()[..] {
        [trace] => {
            name.clone_into(trace);
            name.clone_into(&mut scenario.name);
            Ok(())
        }
        [] => {
            Err("the scenario's forward path has no hop with a trace: give it one, bottleneck = { trace = .. }".into())
        }
        several => Err(format!(
            "the scenario's forward path has {} hops with a trace: name the one that varies, such as \
             forward.hops.0.bottleneck.trace",
            several.len()
        )),
    }
}

/// Sets a parameter of the scenario, or of the scheme.
fn set_field(
    field: &str,
    value: &Value,
    scenario: &mut Scenario,
    sender: &mut Option<Arc<dyn SenderFactory>>,
) -> Result<(), String> {
    let missing = |setting: &Setting, (table, keys): (String, Vec<String>), page: &str| {
        let name = setting.name();
        format!("unknown {name}: {table} has {} (docs/reference/{page}.md lists all)", keys.join(", "))
    };
    let Some(path) = field.strip_prefix("scheme.") else {
        let setting = Setting::new(Root::Scenario, field, value.clone());
        let changed = setting.on(scenario).map_err(|error| error.to_string())?;
        *scenario = changed.ok_or_else(|| missing(&setting, setting.nearest(scenario), "scenario"))?;
        return Ok(());
    };
    let setting = Setting::new(Root::Scheme, path, value.clone());
    let Some(sender) = sender else { return Ok(()) };
    let Some(scheme) = sender.as_scheme() else {
        return Err(format!("{} has no parameters: leave it out by [[skip]]", sender.name()));
    };
    match setting.on_scheme(scheme).map_err(|error| error.to_string())? {
        Some(changed) => *sender = Arc::new(changed),
        None => {
            let words = missing(&setting, setting.nearest(scheme), "scheme");
            return Err(format!("{}: {words}; leave it out by [[skip]], or in a grid of its own", scheme.name));
        }
    }
    Ok(())
}
