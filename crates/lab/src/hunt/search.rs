//! The search: scenarios drawn at random, then others made of the worst (mu + lambda).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thalweg_units::Random;

use super::genome::Genome;
use super::objective::{Played, Verdict};
use super::plan::Plan;

/// How many scenarios are proposed at a time: each knows of those before its batch, however many are played at once.
pub const BATCH: usize = 16;
/// How many of the worst are parents.
const PARENTS: usize = 32;
/// Parents that are compared for each place.
const TOURNAMENT: usize = 3;
/// The share of a batch that may come of a kind that has its scenario.
const OF_A_KNOWN_KIND: usize = 5;
/// Children that are tried until one was not played.
const CHANGES: usize = 8;
/// Clearly worse.
const FOUND: f64 = 1.0;

/// A scenario that was played: a line of the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Its number, from 1; of a scenario tried to make another smaller, that one's.
    pub evaluation: usize,
    /// How many were tried before to make that one smaller, and it; absent in the search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<usize>,
    /// The scenario.
    pub genes: Genome,
    /// Its runs, one for each seed: further ones only where the first is worth it.
    pub runs: Vec<Played>,
    /// The judgement; none where no reference can play it.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
}

impl Evaluation {
    /// How much worse the sender is; 0 in a scenario that proves nothing.
    pub fn worse(&self) -> f64 {
        self.verdict.as_ref().filter(|verdict| verdict.feasible).map_or(0.0, |verdict| verdict.worse)
    }

    /// The kind of failure, if it is as clear as `least` with each of so many seeds.
    pub fn kind(&self, least: f64, seeds: usize) -> Option<String> {
        let verdict = self.verdict.as_ref().filter(|_| self.worse() >= least && self.runs.len() == seeds)?;
        Some(verdict.signature())
    }
}

/// A kind of failure that was found, by numbers of evaluations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// The first.
    pub first: usize,
    /// The worst.
    pub worst: usize,
    /// The shortest: what is made smaller.
    pub shortest: usize,
}

/// A search with what was played so far.
#[derive(Debug)]
pub struct Search<'a> {
    plan: &'a Plan,
    played: Vec<Evaluation>,
    kinds: BTreeMap<String, Kind>,
}

impl<'a> Search<'a> {
    /// A search that has played nothing.
    pub fn new(plan: &'a Plan) -> Search<'a> {
        Search { plan, played: Vec::new(), kinds: BTreeMap::new() }
    }

    /// Everything played, in order.
    pub fn played(&self) -> &[Evaluation] {
        &self.played
    }

    /// The kinds that were found, by signature.
    pub fn kinds(&self) -> &BTreeMap<String, Kind> {
        &self.kinds
    }

    /// The evaluation of a number.
    pub fn at(&self, number: usize) -> Option<&Evaluation> {
        self.played.get(number.checked_sub(1)?)
    }

    /// The next scenarios with their numbers; none at the end.
    pub fn next(&self) -> Vec<(usize, Genome)> {
        let begin = self.played.len();
        let random = (self.plan.random * self.plan.evaluations as f64).round() as usize;
        let parents = self.parents();
        let mut of_a_known_kind = 0;
        let numbers = begin + 1..=self.plan.evaluations.min(begin + BATCH);
        let proposed = numbers.map(|number| {
            let mut chance = self.plan.seed.child("hunt").child(&number.to_string()).random();
            if number <= random || parents.is_empty() {
                return (number, self.plan.draw(&mut chance));
            }
            let (mut parent, mate) = (self.chosen(&parents, &mut chance), self.chosen(&parents, &mut chance));
            let is_known = |one: &Evaluation| one.kind(FOUND, self.plan.seeds.len()).is_some();
            if is_known(parent) && of_a_known_kind >= BATCH / OF_A_KNOWN_KIND {
                let others: Vec<&Evaluation> = parents.iter().copied().filter(|one| !is_known(one)).collect();
                if others.is_empty() {
                    return (number, self.plan.draw(&mut chance));
                }
                parent = self.chosen(&others, &mut chance);
            }
            of_a_known_kind += usize::from(is_known(parent));
            // A change may come to nothing.
            let is_new = |genes: &Genome| self.played.iter().all(|one| one.genes != *genes);
            let mut child = || self.plan.child(&parent.genes, &mate.genes, &mut chance);
            let found = (0..CHANGES).map(|_| child()).find(is_new);
            (number, found.unwrap_or_else(|| self.plan.draw(&mut chance)))
        });
        proposed.collect()
    }

    /// The archive, and the worst of all.
    fn parents(&self) -> Vec<&Evaluation> {
        let mut worst: Vec<&Evaluation> = self.played.iter().filter(|one| one.worse() > 0.0).collect();
        // Stable: of equals the earlier.
        worst.sort_by(|one, other| other.worse().total_cmp(&one.worse()));
        worst.truncate(PARENTS);
        let kinds = self.kinds.values().flat_map(|kind| [kind.worst, kind.shortest]);
        worst.extend(kinds.filter_map(|number| self.at(number)));
        worst
    }

    fn chosen<'b>(&self, parents: &[&'b Evaluation], random: &mut Random) -> &'b Evaluation {
        let mut drawn = || parents[random.below(parents.len() as u64) as usize];
        let first = drawn();
        (1..TOURNAMENT).map(|_| drawn()).fold(first, |best, next| if next.worse() > best.worse() { next } else { best })
    }

    /// Adds the next evaluation, in order of numbers. Returns true if it is the first of its kind.
    pub fn add(&mut self, evaluation: Evaluation) -> bool {
        let number = self.played.len() + 1;
        let found = evaluation.kind(FOUND, self.plan.seeds.len());
        self.played.push(evaluation);
        let Some(kind) = found else { return false };
        let is_new = !self.kinds.contains_key(&kind);
        let mut known = self.kinds.remove(&kind).unwrap_or(Kind { first: number, worst: number, shortest: number });
        let of = |number: usize| &self.played[number - 1];
        if of(number).worse() > of(known.worst).worse() {
            known.worst = number;
        }
        if of(number).genes.size() < of(known.shortest).genes.size() {
            known.shortest = number;
        }
        self.kinds.insert(kind, known);
        is_new
    }
}
