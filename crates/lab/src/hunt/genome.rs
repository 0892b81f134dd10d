//! A scenario as the numbers that make it, and how these are drawn, changed and kept in their ranges.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thalweg_units::Random;

use super::genes::{FEATURES, Feature, Gene, Scale, gene};
use super::plan::Plan;
use super::steps::{self, Step, log_uniform, rounded};

/// A scenario: the steps of its rate, and the numbers of the features that it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Genome {
    /// The steps of the rate, at least one; the last stays.
    pub steps: Vec<Step>,
    /// The numbers of its features, by name.
    #[serde(flatten)]
    pub genes: BTreeMap<String, f64>,
}

/// Deviation of the logarithm of a number that is changed.
const CHANGE: f64 = 0.3;

impl Genome {
    /// A number of it, if it has the feature.
    pub fn value(&self, name: &str) -> Option<f64> {
        self.genes.get(name).copied()
    }

    /// Returns true if it has a feature.
    pub fn has(&self, feature: &Feature) -> bool {
        self.genes.contains_key(feature.key())
    }

    /// The rate that stays, in kbit/s.
    pub fn base_kbps(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.rate_kbps)
    }

    /// How much there is to it: steps, and features that the simplest scenario has not.
    pub fn size(&self) -> usize {
        let features = FEATURES.iter().filter(|feature| !feature.is_always() && self.has(feature));
        self.steps.len() + features.count()
    }

    pub(super) fn without(&self, feature: &Feature) -> Genome {
        let mut genome = self.clone();
        genome.genes.retain(|name, _| feature.genes.iter().all(|gene| gene.name != name));
        let plain = feature.genes.iter().zip(feature.plain);
        genome.genes.extend(plain.map(|(gene, value)| (gene.name.to_string(), *value)));
        genome
    }

    /// The same with a feature of another, or without it where that has none of the group.
    fn with_group_of(&self, other: &Genome, group: &str) -> Genome {
        let mut genome = self.clone();
        for feature in FEATURES.iter().filter(|feature| feature.group == group) {
            genome.genes.retain(|name, _| feature.genes.iter().all(|gene| gene.name != name));
            let taken = feature.genes.iter().filter_map(|gene| Some((gene.name.to_string(), other.value(gene.name)?)));
            genome.genes.extend(taken);
        }
        genome
    }
}

impl Plan {
    /// A scenario drawn at random.
    pub fn draw(&self, random: &mut Random) -> Genome {
        let steps = steps::drawn(random, self.until_s());
        let mut genome = Genome { steps, genes: BTreeMap::new() };
        let mut groups: Vec<&str> = FEATURES.iter().map(|feature| feature.group).collect();
        groups.dedup();
        for group in groups {
            let mut place = random.unit();
            let feature = FEATURES.iter().filter(|feature| feature.group == group).find(|feature| {
                place -= self.share(feature);
                place < 0.0
            });
            feature.into_iter().for_each(|feature| self.add(feature, &mut genome, random));
        }
        self.kept(genome)
    }

    fn add(&self, feature: &Feature, genome: &mut Genome, random: &mut Random) {
        for gene in feature.genes {
            let (low, high) = self.range(gene);
            let value = match gene.scale {
                Scale::Linear => random.between(low, high),
                Scale::Log => log_uniform(random, low, high.min(self.most(gene, genome, high)).max(low)),
                Scale::OneOf(values) => {
                    let values: Vec<f64> = self.allowed(gene, values).collect();
                    values[random.below(values.len() as u64) as usize]
                }
            };
            genome.genes.insert(gene.name.into(), value);
        }
    }

    /// The highest value of a number whose range depends on others.
    fn most(&self, gene: &Gene, genome: &Genome, high: f64) -> f64 {
        match gene.name {
            // What the rate carries in two seconds.
            "queue.kb" => genome.base_kbps() / 4.0,
            // The link goes on between two halts.
            "halts.lasts_ms" => genome.value("halts.each_s").map_or(high, |each| 800.0 * each),
            _ => high,
        }
    }

    /// The same scenario with every number in its range.
    pub(super) fn kept(&self, mut genome: Genome) -> Genome {
        genome.steps = steps::kept(genome.steps, self.until_s());
        let before = genome.clone();
        for (name, value) in &mut genome.genes {
            let Some(gene) = gene(name) else { continue };
            let (low, high) = self.range(gene);
            let high = high.min(self.most(gene, &before, high)).max(low);
            let distance = |known: &f64| (known - *value).abs();
            *value = match gene.scale {
                Scale::OneOf(values) => {
                    let allowed = self.allowed(gene, values);
                    allowed.min_by(|one, other| distance(one).total_cmp(&distance(other))).unwrap_or(low)
                }
                Scale::Linear | Scale::Log => rounded(value.clamp(low, high)),
            };
        }
        genome
    }

    /// A scenario made of another by one to three changes; parts of `mate` may be taken.
    pub fn child(&self, parent: &Genome, mate: &Genome, random: &mut Random) -> Genome {
        let mut genome = parent.clone();
        for _ in 0..=random.below(3) {
            self.change(&mut genome, mate, random);
            genome = self.kept(genome);
        }
        genome
    }

    fn change(&self, genome: &mut Genome, mate: &Genome, random: &mut Random) {
        let place = |random: &mut Random, count: usize| random.below(count as u64) as usize;
        let count = genome.steps.len();
        match random.below(7) {
            0 | 1 => self.perturb(genome, random),
            2 if count > 1 => {
                let (one, other) = (place(random, count), place(random, count));
                let rate = genome.steps[one].rate_kbps;
                genome.steps[one].rate_kbps = genome.steps[other].rate_kbps;
                genome.steps[other].rate_kbps = rate;
            }
            3 if count > 1 => drop(genome.steps.remove(place(random, count - 1))),
            4 => genome.with_mates_part(mate, random),
            5 => {
                let feature = &FEATURES[place(random, FEATURES.len())];
                if feature.is_always() || self.share(feature) == 0.0 {
                    self.perturb(genome, random);
                } else if genome.has(feature) {
                    *genome = genome.without(feature);
                } else {
                    // In place of the one of its group.
                    *genome =
                        genome.with_group_of(&Genome { steps: Vec::new(), genes: BTreeMap::new() }, feature.group);
                    self.add(feature, genome, random);
                }
            }
            // A step is put in.
            _ if count < steps::MOST => {
                let base = genome.base_kbps();
                let (rate, lasts) = (base * log_uniform(random, 0.03, 2.0), log_uniform(random, 0.5, 10.0));
                genome.steps.insert(place(random, count), Step::from((rate, lasts)));
            }
            _ => self.perturb(genome, random),
        }
    }

    /// Changes one number, each as likely as any other.
    fn perturb(&self, genome: &mut Genome, random: &mut Random) {
        let factor = libm::exp(CHANGE * random.normal());
        let in_steps = 2 * genome.steps.len() - 1;
        let place = random.below((in_steps + genome.genes.len()) as u64) as usize;
        if place < in_steps {
            let step = &mut genome.steps[place / 2];
            *if place.is_multiple_of(2) { &mut step.rate_kbps } else { &mut step.lasts_s } *= factor;
        } else if let Some((name, value)) = genome.genes.iter_mut().nth(place - in_steps) {
            match gene(name).map(|gene| gene.scale) {
                Some(Scale::OneOf(values)) => *value = values[random.below(values.len() as u64) as usize],
                _ => *value *= factor,
            }
        }
    }
}

impl Genome {
    /// Takes the steps or a group of features of another.
    fn with_mates_part(&mut self, mate: &Genome, random: &mut Random) {
        let place = random.below(FEATURES.len() as u64 + 1) as usize;
        match FEATURES.get(place) {
            Some(feature) => *self = self.with_group_of(mate, feature.group),
            None => self.steps.clone_from(&mate.steps),
        }
    }
}
