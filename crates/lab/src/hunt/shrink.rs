//! Shrinking: the smallest scenario in which a sender still fails in the same way.

use super::genes::FEATURES;
use super::genome::Genome;
use super::plan::Plan;
use super::steps::{Step, digits};

/// How clear the failure must stay.
pub const KEPT: f64 = 0.8;

/// Rates that the last one becomes, in kbit/s.
const ROUND_RATES: [f64; 2] = [2000.0, 1000.0];
/// Durations are not halved below this, in seconds.
const SHORT: f64 = 1.0;

/// A stage: what may be tried to make a scenario smaller.
type Stage = fn(&Genome) -> Vec<Genome>;

const STAGES: [Stage; 6] = [without_features, without_steps, shorter, rounder, at_round_rates, plainer];

/// The smallest scenario that `fails` accepts, by greedy steps from one that it does: features and steps are left out,
/// durations halved, numbers rounded, rates scaled, and what every scenario has made plain, as long as anything succeeds.
///
/// # Errors
/// The first error of `fails`, which is not asked twice about a scenario.
pub fn shrunk<E>(plan: &Plan, genome: &Genome, mut fails: impl FnMut(&Genome) -> Result<bool, E>) -> Result<Genome, E> {
    let (mut best, mut tried) = (genome.clone(), vec![genome.clone()]);
    loop {
        let before = best.clone();
        for stage in STAGES {
            let mut candidates = stage(&best);
            while let Some(place) = candidates.iter().position(|one| !tried.contains(&plan.kept(one.clone()))) {
                let candidate = plan.kept(candidates.remove(place));
                tried.push(candidate.clone());
                if fails(&candidate)? {
                    best = candidate;
                    candidates = stage(&best);
                }
            }
        }
        if best == before {
            return Ok(best);
        }
    }
}

/// Everything that can be left out at once, then one after the other.
fn without_features(genome: &Genome) -> Vec<Genome> {
    let features = || FEATURES.iter().filter(|feature| !feature.is_always() && genome.has(feature));
    let none = features().fold(genome.clone(), |genome, feature| genome.without(feature));
    std::iter::once(none).chain(features().map(|feature| genome.without(feature))).collect()
}

fn without_steps(genome: &Genome) -> Vec<Genome> {
    let last = genome.steps.len() - 1;
    let without = |place: usize| {
        let mut genome = genome.clone();
        genome.steps.remove(place);
        genome
    };
    (0..last).map(without).collect()
}

/// All durations halved, then one after the other.
fn shorter(genome: &Genome) -> Vec<Genome> {
    let halved = |step: &mut Step| step.lasts_s = (step.lasts_s / 2.0).max(SHORT.min(step.lasts_s));
    let mut all = genome.clone();
    all.steps.iter_mut().for_each(halved);
    let one = |place: usize| {
        let mut genome = genome.clone();
        halved(&mut genome.steps[place]);
        genome
    };
    std::iter::once(all).chain((0..genome.steps.len()).map(one)).collect()
}

/// All numbers with one digit, then with two; then each. Those that are plain stay.
fn rounder(genome: &Genome) -> Vec<Genome> {
    let always = FEATURES.iter().flat_map(|feature| feature.genes.iter().zip(feature.plain));
    let is_plain = |name: &str, value: f64| always.clone().any(|(gene, plain)| gene.name == name && *plain == value);
    let count = 2 * genome.steps.len() + genome.genes.len();
    let rounded = |places: std::ops::Range<usize>, to: i32| {
        let mut genome = genome.clone();
        let steps = genome.steps.iter_mut().flat_map(|step| [&mut step.rate_kbps, &mut step.lasts_s]);
        let genes = genome.genes.iter_mut().map(|(name, value)| (is_plain(name, *value), value));
        let numbers = steps.map(|number| (false, number)).chain(genes).enumerate();
        for (_, (_, number)) in numbers.filter(|(place, (is_plain, _))| places.contains(place) && !is_plain) {
            *number = digits(*number, to);
        }
        genome
    };
    let each = (0..count).flat_map(|place| [rounded(place..place + 1, 1), rounded(place..place + 1, 2)]);
    [rounded(0..count, 1), rounded(0..count, 2)].into_iter().chain(each).collect()
}

/// All rates, and the queue with them, scaled so that the last is a round one.
fn at_round_rates(genome: &Genome) -> Vec<Genome> {
    let base = genome.base_kbps();
    if ROUND_RATES.contains(&base) {
        return Vec::new();
    }
    let scaled = |rate: f64| {
        let mut genome = genome.clone();
        genome.steps.iter_mut().for_each(|step| step.rate_kbps = digits(step.rate_kbps * rate / base, 1));
        genome.genes.entry("queue.kb".into()).and_modify(|kb| *kb = digits(*kb * rate / base, 1));
        genome
    };
    ROUND_RATES.map(scaled).into()
}

/// The features of every scenario as the simplest has them: all at once, then one after the other.
fn plainer(genome: &Genome) -> Vec<Genome> {
    let always = || FEATURES.iter().filter(|feature| feature.is_always());
    let all = always().fold(genome.clone(), |genome, feature| genome.without(feature));
    std::iter::once(all).chain(always().map(|feature| genome.without(feature))).collect()
}
