//! Contents of a hunt's file: differences from the defaults.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use thalweg_units::{Seed, Span, did_you_mean};

use super::genes::{FEATURES, Feature, Gene, Scale, gene};
use super::objective::TERMS;

/// Whom to hunt, against whom, where and for how long.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// The scheme under test, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Another program's estimator under test in place of a scheme, as NAME=COMMAND.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contestant: Option<String>,
    /// Parameters of the scheme under test and of every scenario, each as `PATH=VALUE`.
    pub set: Vec<String>,
    /// References, by name: each term is against the best of them.
    pub against: Vec<String>,
    /// Scenarios to try.
    pub evaluations: usize,
    /// The share of these that is drawn at random, before others are made of the worst.
    pub random: f64,
    /// The seed of the search.
    pub seed: Seed,
    /// The seeds of the runs: what is found is so with each.
    pub seeds: Vec<Seed>,
    /// The duration of a run. Changes are over at half of it, and its last third is judged.
    pub duration: Span,
    /// Scenarios to try to make one smaller.
    pub shrink: usize,
    /// Weights of terms by their names; 1 where absent.
    pub weights: BTreeMap<String, f64>,
    /// Shares of drawn scenarios with a feature, by its name.
    pub shares: BTreeMap<String, f64>,
    /// Ranges of numbers by their names, lowest and highest.
    pub ranges: BTreeMap<String, (f64, f64)>,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            scheme: None,
            contestant: None,
            set: Vec::new(),
            against: vec!["gcc".into()],
            evaluations: 400,
            random: 0.4,
            seed: Seed::new(1),
            seeds: vec![Seed::new(1), Seed::new(2)],
            duration: Span::from_secs(40),
            shrink: 60,
            weights: BTreeMap::new(),
            shares: BTreeMap::new(),
            ranges: BTreeMap::new(),
        }
    }
}

/// Error in a plan: its value, the accepted values, and the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

/// How many scenarios may be tried.
pub const EVALUATIONS: RangeInclusive<usize> = 1..=1_000_000;

/// The shortest run: its last third is long enough to be judged.
const SHORTEST: Span = Span::from_secs(12);
/// The longest.
const LONGEST: Span = Span::from_secs(3600);

/// Parameters that a hunt decides of every scenario, and what to write instead.
const OWN: [(&str, &str); 4] = [
    ("scenario.duration", "the hunt places changes within its own duration: write duration = '40s' in the hunt's file"),
    ("scenario.seed", "the hunt plays its own seeds: write seeds = [1, 2] in the hunt's file"),
    ("scenario.forward", "the hunt draws the link: write shares and ranges in the hunt's file (docs/hunt.md)"),
    ("scenario.reverse", "the hunt draws the way back: write shares and ranges in the hunt's file (docs/hunt.md)"),
];

impl Plan {
    /// # Errors
    /// When it cannot be followed.
    pub fn check(&self) -> Result<(), Invalid> {
        let Plan { evaluations, random, seeds, duration, .. } = self;
        let is_new = |(place, seed): (usize, &Seed)| !seeds[..place].contains(seed);
        for (holds, why) in [
            (!self.against.is_empty(), "against names nobody: write a reference, against = [\"gcc\"]".to_string()),
            (
                EVALUATIONS.contains(evaluations),
                format!("evaluations = {evaluations} must be from {} to {}", EVALUATIONS.start(), EVALUATIONS.end()),
            ),
            ((0.0..=1.0).contains(random), format!("random = {random} must be from 0 to 1")),
            (
                !seeds.is_empty() && seeds.iter().enumerate().all(is_new),
                format!("seeds = {seeds:?} must be at least one, none of them twice, such as [1, 2]"),
            ),
            (
                self.scheme.is_none() || self.contestant.is_none(),
                "scheme and contestant: either is hunted, not both: leave one out".into(),
            ),
            (
                TERMS.iter().any(|term| self.weights.get(term.name) != Some(&0.0)),
                "weights are all 0, so nothing is worse: leave out that of a term that counts".into(),
            ),
            (
                (SHORTEST..=LONGEST).contains(duration),
                format!("duration = {duration} must be from {SHORTEST} to {LONGEST}"),
            ),
        ] {
            holds.then_some(()).ok_or(Invalid(why))?;
        }
        let own = self.set.iter().find_map(|set| OWN.iter().find(|(path, _)| set.starts_with(path)).zip(Some(set)));
        if let Some(((_, instead), set)) = own {
            return Err(Invalid(format!("set = '{set}': {instead}")));
        }
        let optional = FEATURES.iter().filter(|feature| !feature.is_always()).map(|feature| feature.name);
        known("shares", self.shares.keys(), optional)?;
        known("ranges", self.ranges.keys(), FEATURES.iter().flat_map(|feature| feature.genes).map(|gene| gene.name))?;
        known("weights", self.weights.keys(), TERMS.iter().map(|term| term.name))?;
        for (name, weight) in &self.weights {
            let fits = weight.is_finite() && *weight >= 0.0;
            fits.then_some(()).ok_or_else(|| Invalid(format!("weights: {name} = {weight} must be 0 or more")))?;
        }
        for feature in FEATURES {
            let group = || FEATURES.iter().filter(|other| other.group == feature.group);
            let shares: Vec<f64> = group().map(|one| self.share(one)).collect();
            if shares.iter().any(|share| !(0.0..=1.0).contains(share)) || shares.iter().sum::<f64>() > 1.0 + 1e-9 {
                let names = group().map(|other| other.name).collect::<Vec<_>>().join(", ");
                return Err(Invalid(format!("shares: {names} are {shares:?}: each from 0 to 1, and at most 1 in sum")));
            }
        }
        let wrong = self.ranges.iter().filter_map(|(name, (low, high))| {
            let gene = gene(name)?;
            let Gene { low: least, high: most, scale, .. } = gene;
            let fits = least <= low && low <= high && high <= most;
            match scale {
                Scale::OneOf(values) if self.allowed(gene, values).next().is_none() => {
                    Some(format!("ranges: {name} = [{low}, {high}] must hold one of {values:?}"))
                }
                _ if fits => None,
                _ => Some(format!("ranges: {name} = [{low}, {high}] must be a range within [{least}, {most}]")),
            }
        });
        wrong.map(Invalid).next().map_or(Ok(()), Err)
    }

    /// The share of drawn scenarios with a feature.
    pub(super) fn share(&self, feature: &Feature) -> f64 {
        if feature.name == "rival" && self.rival().is_none() {
            return 0.0;
        }
        self.shares.get(feature.name).copied().unwrap_or(feature.share)
    }

    /// The range of a number.
    pub(super) fn range(&self, gene: &Gene) -> (f64, f64) {
        self.ranges.get(gene.name).copied().unwrap_or((gene.low, gene.high))
    }

    /// Those of a number's values that are in its range.
    pub(super) fn allowed(&self, gene: &Gene, values: &'static [f64]) -> impl Iterator<Item = f64> {
        let (low, high) = self.range(gene);
        values.iter().copied().filter(move |value| (low..=high).contains(value))
    }

    /// The scheme of another sender on the path: the first reference that any program knows by its name.
    pub(super) fn rival(&self) -> Option<&String> {
        self.against.iter().find(|name| name.parse::<thalweg_sender::Scheme>().is_ok())
    }

    /// When every change is over, in seconds: at half of a run, so that its last third is steady.
    pub(super) fn until_s(&self) -> f64 {
        self.duration.as_secs_f64() / 2.0
    }
}

/// Refuses names that a table does not have.
fn known<'a>(
    table: &str,
    names: impl Iterator<Item = &'a String>,
    known: impl Iterator<Item = &'static str>,
) -> Result<(), Invalid> {
    let known: Vec<&str> = known.collect();
    let unknown = names.into_iter().find(|name| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| {
        let near = did_you_mean(name, known.iter().copied()).map(|near| format!(": {near}")).unwrap_or_default();
        Err(Invalid(format!("{table}: unknown name '{name}'{near} (expected one of {})", known.join(", "))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let plan: Result<Plan, _> = toml::from_str(text);
        plan.map_err(|error| error.to_string())
            .and_then(|plan| plan.check().map_err(|error| error.to_string()))
            .expect_err(text)
    }

    #[test]
    fn an_empty_file_is_a_plan_and_what_cannot_be_followed_is_refused_with_the_fix() {
        let plan: Plan = toml::from_str("").unwrap();
        assert_eq!((plan.check(), &plan), (Ok(()), &Plan::default()));
        assert_eq!(toml::from_str::<Plan>(&toml::to_string(&plan).unwrap()).unwrap(), plan);
        for (text, words) in [
            ("evaluations = 0", "from 1 to 1000000"),
            ("random = 2.0", "from 0 to 1"),
            ("seeds = [1, 1]", "must be at least one, none of them twice"),
            ("seeds = []", "seeds = [] must be at least one"),
            ("scheme = 'gcc'\ncontestant = 'mine=./mine'", "either is hunted, not both"),
            ("weights = { rate = 0, screen = 0, delay = 0, frozen = 0, recovery = 0 }", "weights are all 0"),
            ("set = ['scenario.duration=10s']", "write duration = '40s'"),
            ("set = ['scenario.forward.hops=[]']", "the hunt draws the link"),
            ("ranges = { 'frame-rate.fps' = [31, 59] }", "must hold one of [15.0, 30.0, 60.0]"),
            ("shares = { xyz = 0.5 }", "unknown name 'xyz' (expected one of"),
            ("duration = '5s'", "must be from 12s to 3600s"),
            ("against = []", "against = [\"gcc\"]"),
            ("weights = { rate = -1 }", "rate = -1 must be 0 or more"),
            ("shares = { polizer = 0.5 }", "did you mean policer?"),
            ("shares = { policer = 1.5 }", "policer are [1.5]: each from 0 to 1"),
            (
                "shares = { loss = 0.5, bursts = 0.5 }",
                "loss, bursts, lossy are [0.5, 0.5, 0.1]: each from 0 to 1, and at most 1 in sum",
            ),
            ("ranges = { 'policer.share' = [0.5, 2.0] }", "a range within [0.5, 1.1]"),
            ("ranges = { 'policer.shares' = [0.5, 1.0] }", "did you mean policer.share or"),
            ("evaluation = 3", "unknown field `evaluation`"),
        ] {
            let refused = refused(text);
            assert!(refused.contains(words), "{words}: {refused}");
        }
    }
}
