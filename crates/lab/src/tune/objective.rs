//! The objective: what is compared with the reference, the bars that are to be met, and one score of it all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Invalid;
use crate::metrics::{Column, every_column};
use crate::statistics::{Against, distinct, estimate};

/// Aim of a search. The score is The score is
///
/// * the comparison of `raise`: the logarithm of a ratio, or a difference,
/// * less, for each bar that is missed, its weight times by how much: the logarithm of the ratio to the bar, or the
///   difference from it,
/// * plus the weight of `links` times the share of links on which every bar holds,
/// * less ten times the share of runs that have no figure where the reference's have one, as when nothing was
///   shown.
///
/// So missed bars are mended first, and what is raised counts alone once all hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// The key of summary.json that is raised as far as the bars allow.
    pub raise: String,
    /// Bars that must be met.
    pub bars: Vec<Bar>,
    /// On how many links.
    pub links: Links,
}

/// On how many links all bars are to hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The share of links.
    pub at_least: f64,
    /// Weight of the share in the score.
    pub weight: f64,
}

/// A bound of a comparison with the reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// The key of summary.json: rates, durations and frames per second are compared by their ratio, all else by the
    /// difference.
    pub key: String,
    /// Where it is read.
    #[serde(default)]
    pub on: On,
    /// The lowest value that is good enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The highest value that is good enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Weight of a miss in the score.
    pub weight: f64,
}

/// Where a comparison is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    /// The mean over links, each counting the same: the geometric one of ratios.
    #[default]
    Mean,
    /// The link with the worst value.
    WorstLink,
}

/// One side of a bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// The lowest value that is good enough.
    AtLeast(f64),
    /// The highest.
    AtMost(f64),
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Bound::AtLeast(bound) => value >= bound,
            Bound::AtMost(bound) => value <= bound,
        }
    }
}

/// Cost in the score of a run without a figure that the reference's run has, as a share of all: more than any other
/// miss.
const LOST: f64 = 10.0;

/// Digits behind the point of scores and comparisons: enough to order them, and read back exactly.
const DIGITS: f64 = 1e6;

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The link.
    pub link: String,
    /// The seed.
    pub seed: u64,
    /// The figures by their keys; those that do not apply are absent.
    pub figures: BTreeMap<String, f64>,
}

/// A comparison with the reference: a ratio or a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The mean, the geometric one of ratios.
    pub mean: f64,
    /// The interval of 95 %; `None` for a single pair of runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
}

/// The comparisons of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkJudgement {
    /// The link.
    pub link: String,
    /// The comparisons by their keys.
    pub against: BTreeMap<String, Compared>,
    /// The bars that do not hold on it.
    pub missed: Vec<String>,
}

/// How a candidate's runs compare with the reference's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The higher, the better.
    pub score: f64,
    /// The comparisons over all links.
    pub against: BTreeMap<String, Compared>,
    /// The bars that do not hold.
    pub missed: Vec<String>,
    /// The share of links on which every bar holds.
    pub links_held: f64,
    /// Figures that the reference's runs have and these lack.
    pub lost: usize,
    /// Each link.
    pub links: Vec<LinkJudgement>,
}

impl Bar {
    /// Its bound, which is one of two.
    fn bound(&self) -> Result<Bound, Invalid> {
        match (self.at_least, self.at_most) {
            (Some(bound), None) if bound.is_finite() => Ok(Bound::AtLeast(bound)),
            (None, Some(bound)) if bound.is_finite() => Ok(Bound::AtMost(bound)),
            _ => {
                let why = "give either at_least or at_most, a finite number";
                Err(Invalid(format!("the bar of {}: {why}", self.key)))
            }
        }
    }

    /// By how much a value misses it, 0 if it does not.
    fn missed_by(&self, bound: Bound, value: f64) -> f64 {
        if bound.holds(value) {
            return 0.0;
        }
        let (Bound::AtLeast(limit) | Bound::AtMost(limit)) = bound;
        match column(&self.key).map(Column::against) {
            Ok(Against::Ratio) => (value / limit).ln().abs(),
            _ => (value - limit).abs(),
        }
    }

    /// As it is printed: `latency_p95_ms <= 0.8`.
    fn name(&self, bound: Bound) -> String {
        let on = match self.on {
            On::Mean => "",
            On::WorstLink => " on the worst link",
        };
        match bound {
            Bound::AtLeast(limit) => format!("{} >= {limit}{on}", self.key),
            Bound::AtMost(limit) => format!("{} <= {limit}{on}", self.key),
        }
    }
}

fn column(key: &str) -> Result<&'static Column, Invalid> {
    every_column().find(|column| column.key == key).ok_or_else(|| {
        let keys: Vec<&str> = every_column().map(|column| column.key).collect();
        Invalid(format!("unknown figure '{key}': expected one of {}", keys.join(", ")))
    })
}

impl Objective {
    pub(super) fn check(&self) -> Result<(), Invalid> {
        column(&self.raise)?;
        for bar in &self.bars {
            let (bound, column) = (bar.bound()?, column(&bar.key)?);
            let (Bound::AtLeast(limit) | Bound::AtMost(limit)) = bound;
            if column.against() == Against::Ratio && limit <= 0.0 {
                return Err(Invalid(format!("the bar of {}: invalid ratio {limit}: it must be above 0", bar.key)));
            }
            weight(&bar.key, bar.weight)?;
        }
        if !(0.0..=1.0).contains(&self.links.at_least) {
            return Err(Invalid(format!("links: at_least = {} must be from 0 to 1", self.links.at_least)));
        }
        weight("links", self.links.weight)
    }

    /// The columns that are compared: what is raised, then those of the bars.
    pub fn columns(&self) -> Vec<&'static Column> {
        let keys = distinct([&self.raise].into_iter().chain(self.bars.iter().map(|bar| &bar.key)));
        keys.into_iter().filter_map(|key| column(key).ok()).collect()
    }

    /// Compares runs with the reference's, by pairs of the same link and seed.
    ///
    /// # Errors
    /// When no run of the reference has one of the figures: then nothing can be compared with it.
    pub fn judge(&self, runs: &[Run], reference: &[Run]) -> Result<Judgement, Invalid> {
        let names = distinct(reference.iter().map(|run| run.link.as_str()));
        let mut links: Vec<LinkJudgement> = names
            .iter()
            .map(|link| LinkJudgement { link: (*link).into(), against: BTreeMap::new(), missed: Vec::new() })
            .collect();
        let (mut against, mut lost, mut pairs) = (BTreeMap::new(), 0, 0);
        for column in self.columns() {
            let cells: Vec<Cell> = names.iter().map(|link| Cell::of(column, link, runs, reference)).collect();
            if cells.iter().all(|cell| cell.pairs == 0) {
                let key = column.key;
                return Err(Invalid(format!(
                    "no run of the reference has {key}, or all have 0: compare another figure"
                )));
            }
            lost += cells.iter().map(|cell| cell.pairs - cell.values.len()).sum::<usize>();
            pairs += cells.iter().map(|cell| cell.pairs).sum::<usize>();
            for (link, cell) in links.iter_mut().zip(&cells) {
                if let Some(found) = compared(column, std::slice::from_ref(&cell.values)) {
                    link.against.insert(column.key.into(), found);
                }
                for (bar, bound) in self.bars_of(column)? {
                    let is_met = link.against.get(column.key).is_none_or(|found| bound.holds(found.mean));
                    if !is_met || cell.values.len() < cell.pairs {
                        link.missed.push(Bar { on: On::Mean, ..bar.clone() }.name(bound));
                    }
                }
            }
            let cells: Vec<Vec<f64>> = cells.into_iter().map(|cell| cell.values).collect();
            against.extend(compared(column, &cells).map(|found| (column.key.to_string(), found)));
        }
        let (mut missed, mut penalty) = (Vec::new(), 0.0);
        for bar in &self.bars {
            let bound = bar.bound()?;
            let value = match bar.on {
                On::Mean => against.get(&bar.key).map(|found: &Compared| found.mean),
                On::WorstLink => {
                    let each = links.iter().filter_map(|link| Some(link.against.get(&bar.key)?.mean));
                    match bound {
                        Bound::AtLeast(_) => each.min_by(f64::total_cmp),
                        Bound::AtMost(_) => each.max_by(f64::total_cmp),
                    }
                }
            };
            if value.is_none_or(|value| !bound.holds(value)) {
                missed.push(bar.name(bound));
            }
            penalty += bar.weight * value.map_or(0.0, |value| bar.missed_by(bound, value));
        }
        let held = links.iter().filter(|link| link.missed.is_empty()).count() as f64 / links.len() as f64;
        if held < self.links.at_least {
            missed.push(format!("all bars on {}% of links", round(100.0 * self.links.at_least)));
        }
        let raised = against.get(&self.raise).map_or(0.0, |found| found.mean);
        let raised = match column(&self.raise)?.against() {
            Against::Ratio if raised > 0.0 => raised.ln(),
            Against::Ratio => 0.0,
            Against::Difference => raised,
        };
        let score = raised - penalty + self.links.weight * held - LOST * lost as f64 / pairs as f64;
        Ok(Judgement { score: round(score), against, missed, links_held: round(held), lost, links })
    }

    fn bars_of(&self, column: &Column) -> Result<Vec<(&Bar, Bound)>, Invalid> {
        self.bars.iter().filter(|bar| bar.key == column.key).map(|bar| Ok((bar, bar.bound()?))).collect()
    }
}

fn weight(of: &str, weight: f64) -> Result<(), Invalid> {
    let is_one = weight.is_finite() && weight >= 0.0;
    is_one.then_some(()).ok_or_else(|| Invalid(format!("{of}: weight = {weight} must be 0 or more")))
}

/// The pairs of a link.
struct Cell {
    /// Logarithms of ratios, or differences, of the pairs that have both figures.
    values: Vec<f64>,
    /// Pairs of which the reference's run has the figure.
    pairs: usize,
}

impl Cell {
    fn of(column: &Column, link: &str, runs: &[Run], reference: &[Run]) -> Cell {
        let mut cell = Cell { values: Vec::new(), pairs: 0 };
        for base in reference.iter().filter(|run| run.link == link) {
            let Some(&theirs) = base.figures.get(column.key) else { continue };
            if column.against() == Against::Ratio && theirs <= 0.0 {
                continue;
            }
            cell.pairs += 1;
            let ours = runs.iter().find(|run| run.link == link && run.seed == base.seed);
            match (ours.and_then(|run| run.figures.get(column.key)), column.against()) {
                (Some(ours), Against::Difference) => cell.values.push(ours - theirs),
                (Some(ours), Against::Ratio) if *ours > 0.0 => cell.values.push((ours / theirs).ln()),
                _ => (),
            }
        }
        cell
    }
}

/// The comparison over cells: of ratios, what their logarithms say.
fn compared(column: &Column, cells: &[Vec<f64>]) -> Option<Compared> {
    let found = estimate(cells)?;
    let back = |value: f64| match column.against() {
        Against::Ratio => round(value.exp()),
        Against::Difference => round(value),
    };
    Some(Compared { mean: back(found.mean), interval: found.interval.map(|(low, high)| (back(low), back(high))) })
}

fn round(value: f64) -> f64 {
    (value * DIGITS).round() / DIGITS
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: &str = "video_bitrate_bps";
    const TAIL: &str = "latency_p95_ms";
    const SSIM: &str = "ssim_db";

    fn objective() -> Objective {
        let bar =
            |key: &str, at_least, at_most, weight| Bar { key: key.into(), on: On::Mean, at_least, at_most, weight };
        Objective {
            raise: RATE.into(),
            bars: vec![
                bar(RATE, Some(2.4), None, 2.0),
                bar(TAIL, None, Some(0.8), 4.0),
                bar(SSIM, Some(3.0), None, 0.5),
            ],
            links: Links { at_least: 0.8, weight: 1.0 },
        }
    }

    fn run(link: &str, seed: u64, rate: f64, tail: f64, ssim: f64) -> Run {
        let figures = [(RATE, rate), (TAIL, tail), (SSIM, ssim)].map(|(key, value)| (key.to_string(), value));
        Run { link: link.into(), seed, figures: figures.into() }
    }

    fn reference() -> [Run; 2] {
        [run("a", 1, 1e6, 100.0, 10.0), run("b", 1, 2e6, 200.0, 12.0)]
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-6
    }

    #[test]
    fn the_score_is_what_is_raised_less_the_bars_missed() {
        // Ratios of 2 and 8: 4 in the geometric mean. Of 0.5 and 2: 1. Differences of 1 and 4: 2.5.
        let ours = [run("a", 1, 2e6, 50.0, 11.0), run("b", 1, 16e6, 400.0, 16.0)];
        let found = objective().judge(&ours, &reference()).unwrap();
        assert_eq!([RATE, TAIL, SSIM].map(|key| found.against[key].mean), [4.0, 1.0, 2.5]);
        assert_eq!(found.missed, ["latency_p95_ms <= 0.8", "ssim_db >= 3", "all bars on 80% of links"]);
        let missed: Vec<usize> = found.links.iter().map(|link| link.missed.len()).collect();
        assert_eq!((missed, found.links_held, found.lost), (vec![2, 1], 0.0, 0));
        let wanted = 4f64.ln() - 4.0 * (1.0f64 / 0.8).ln() - 0.5 * 0.5;
        assert!(close(found.score, wanted), "{} {wanted}", found.score);
    }

    #[test]
    fn when_every_bar_holds_only_what_is_raised_and_the_links_count() {
        let ours = [run("a", 1, 3e6, 80.0, 13.0), run("b", 1, 6e6, 100.0, 16.0)];
        let found = objective().judge(&ours, &reference()).unwrap();
        assert!(found.missed.is_empty() && close(found.score, 3f64.ln() + 1.0), "{found:?}");
    }

    #[test]
    fn a_bar_on_the_worst_link_is_not_met_by_the_mean() {
        let mut objective = objective();
        objective.bars[1].on = On::WorstLink;
        let ours = [run("a", 1, 3e6, 10.0, 13.0), run("b", 1, 6e6, 180.0, 16.0)];
        let found = objective.judge(&ours, &reference()).unwrap();
        assert_eq!(found.missed[0], "latency_p95_ms <= 0.8 on the worst link");
        let wanted = 3f64.ln() - 4.0 * (0.9f64 / 0.8).ln() + 0.5;
        assert!(close(found.score, wanted), "{} {wanted}", found.score);
    }

    #[test]
    fn seeds_are_compared_in_pairs_and_their_spread_is_the_links_interval() {
        let reference = [1e6, 4e6].map(|rate| run("a", rate as u64, rate, 100.0, 10.0));
        let ours = [8e6, 4e6].map(|rate| run("a", if rate > 5e6 { 4_000_000 } else { 1_000_000 }, rate, 50.0, 14.0));
        // 4 and 2: the square root of 8.
        let found = objective().judge(&ours, &reference).unwrap().links[0].against[RATE];
        let (low, high) = found.interval.unwrap();
        assert!(close(found.mean, 8f64.sqrt()) && low < 2.0 && high > 4.0, "{found:?}");
    }

    #[test]
    fn runs_that_show_nothing_cost_more_than_any_bar_and_their_link_holds_none() {
        let mut ours = [run("a", 1, 3e6, 80.0, 13.0), run("b", 1, 6e6, 100.0, 16.0)];
        ours[1].figures.remove(TAIL);
        ours[1].figures.insert(RATE.into(), 0.0);
        let found = objective().judge(&ours, &reference()).unwrap();
        assert_eq!((found.lost, found.links_held, found.links[1].missed.len()), (2, 0.5, 2));
        assert!(close(found.score, 3f64.ln() + 0.5 - LOST * 2.0 / 6.0), "{found:?}");
        let mut bare = reference();
        bare.iter_mut().for_each(|run| run.figures.retain(|key, _| key != SSIM));
        assert!(
            objective().judge(&ours, &bare).unwrap_err().to_string().contains("no run of the reference has ssim_db")
        );
    }
}
