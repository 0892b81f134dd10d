//! How clearly a sender is worse than its references, and in what respect.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::measure::Figures;

/// The runs of a scenario with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// The seed.
    pub seed: u64,
    /// The sender under test.
    pub tested: Figures,
    /// The references that can play the scenario.
    pub references: Vec<Figures>,
}

/// In what respect a sender is worse.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// Its name in files.
    pub name: &'static str,
    /// The value that is compared.
    pub(super) value: fn(&Figures) -> f64,
    /// How much worse the first value is than the second, a reference's: 0 when alike, 1 when clearly so.
    worse: fn(f64, f64) -> f64,
    /// True where more is better.
    pub(super) is_high_good: bool,
    /// The name of the figure in a case file, and its bounds by the value of the reference.
    pub(super) figure: &'static str,
    pub(super) must: fn(f64) -> [f64; 2],
    /// Kinds of moments that show it ([`Timeline::worst`](crate::explain::Timeline::worst)), the best first.
    pub(super) moments: [&'static str; 2],
}

const UNUSED: &str = "most capacity left unused";
const FREEZES: &str = "longest freezes";

/// Every term: weights of 1 make a third of the rate, a decibel, four times the latency and three seconds alike.
#[rustfmt::skip]
pub const TERMS: [Term; 5] = [
    Term {
        name: "rate", value: |of| of.rate_mbps / of.could_mbps.max(LEAST), worse: |ours, theirs| octaves(theirs, ours) / THIRD,
        is_high_good: true, figure: "rate_share", must: |theirs| [0.7 * theirs, 1.02], moments: [UNUSED, FREEZES],
    },
    Term {
        name: "screen", value: |of| of.screen_db, worse: |ours, theirs| theirs - ours,
        is_high_good: true, figure: "screen", must: |theirs| [theirs - 0.5, 60.0], moments: [FREEZES, UNUSED],
    },
    Term {
        name: "delay", value: |of| of.delay_p95_ms, worse: |ours, theirs| if ours > IN_TIME_MS { octaves(ours, theirs) / 2.0 } else { 0.0 },
        is_high_good: false, figure: "delay_p95", must: |theirs| [0.0, theirs / 0.7], moments: ["latest frames", "deepest queue of the link"],
    },
    Term {
        name: "frozen", value: |of| of.frozen_s, worse: |ours, theirs| (ours - theirs) / 3.0,
        is_high_good: false, figure: "frozen_s", must: |theirs| [0.0, theirs / 0.7 + 0.5], moments: [FREEZES, UNUSED],
    },
    Term {
        name: "recovery", value: |of| of.recovery_s, worse: |ours, theirs| octaves(1.0 + ours, 1.0 + theirs) / 2.0,
        is_high_good: false, figure: "recover_s", must: |theirs| [0.0, theirs / 0.7 + 1.0], moments: [UNUSED, FREEZES],
    },
];

/// A third is clearly worse: log2 of 3.
const THIRD: f64 = 1.6;
/// Below this latency more of it is no fault, in ms.
const IN_TIME_MS: f64 = 200.0;
/// Values below this are alike.
const LEAST: f64 = 1e-3;
/// A reference that has less than this of what it could have says nothing about the sender.
const FEASIBLE: f64 = 0.5;
/// A sender with no more packets a picture than this, and less than half of what it could have, is dead.
const DEAD: f64 = 1.3;
/// The share of lost packets above which a sender overfills the link.
const FULL: f64 = 0.1;

fn octaves(above: f64, below: f64) -> f64 {
    libm::log2(above.max(LEAST) / below.max(LEAST))
}

/// The state of a sender in the last third: `full` of losses, `dead` at about a packet a picture, `low` below half of what
/// it could have, or `well`.
fn state(of: &Figures) -> &'static str {
    match of.rate_mbps < 0.5 * of.could_mbps {
        _ if of.loss > FULL => "full",
        true if of.packets_a_picture <= DEAD => "dead",
        true => "low",
        false => "well",
    }
}

/// How a sender did in a scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// How clearly it is worse: 0 when alike, 1 at clearly; the least of all seeds.
    pub worse: f64,
    /// True if a reference has half of what it could have, with every seed.
    pub feasible: bool,
    /// The name of the largest term of the first seed.
    pub term: String,
    /// The state in the last third of the first seed.
    pub state: String,
    /// The cause of its rate there ([`Figures::cause`]).
    pub cause: String,
}

impl Verdict {
    /// The kind of failure: term, state and cause.
    pub fn signature(&self) -> String {
        format!("{self}-{}", self.cause)
    }

    /// Its largest term.
    pub fn term(&self) -> &'static Term {
        TERMS.iter().find(|term| term.name == self.term).unwrap_or(&TERMS[0])
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.term, self.state)
    }
}

/// Judges the runs of a scenario with the weights of terms, 1 where absent: of each seed, every term is against the best
/// of the references. `None` if there is no run, or one without a reference.
pub fn judge(runs: &[Played], weights: &BTreeMap<String, f64>) -> Option<Verdict> {
    let largest = |run: &Played| {
        let worse = |term: &Term| {
            let ours = (term.value)(&run.tested);
            let each = run.references.iter().map(|theirs| (term.worse)(ours, (term.value)(theirs)));
            weights.get(term.name).unwrap_or(&1.0) * each.fold(0.0, f64::max)
        };
        // Of equals the first.
        let best = |best: (f64, &'static str), next: (f64, &'static str)| if next.0 > best.0 { next } else { best };
        TERMS.iter().map(|term| (worse(term), term.name)).reduce(best).filter(|_| !run.references.is_empty())
    };
    let each: Vec<_> = runs.iter().map(largest).collect::<Option<_>>()?;
    let is_feasible = |run: &Played| run.references.iter().any(|of| of.rate_mbps >= FEASIBLE * of.could_mbps);
    let first = &runs.first()?.tested;
    Some(Verdict {
        worse: (each.iter().map(|(worse, _)| *worse).fold(f64::INFINITY, f64::min) * 1e4).round() / 1e4,
        feasible: runs.iter().all(is_feasible),
        term: each.first()?.1.into(),
        state: state(first).into(),
        cause: first.cause.clone(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A sender that has all of 2 Mbps.
    pub(crate) fn well() -> Figures {
        Figures {
            rate_mbps: 1.8,
            could_mbps: 2.0,
            packets_a_picture: 6.25,
            loss: 0.0,
            screen_db: 12.0,
            delay_p95_ms: 100.0,
            frozen_s: 0.0,
            recovery_s: 1.0,
            cause: "steady".into(),
        }
    }

    fn worse(tested: Figures, references: &[Figures]) -> Verdict {
        judge(&[Played { seed: 1, tested, references: references.to_vec() }], &BTreeMap::new()).unwrap()
    }

    #[test]
    fn each_term_is_nothing_when_alike_or_better_and_one_when_clearly_worse() {
        let same = worse(well(), &[well()]);
        assert_eq!((same.worse, same.state.as_str(), same.feasible), (0.0, "well", true));
        let better = Figures { rate_mbps: 2.0, screen_db: 14.0, recovery_s: 0.0, ..well() };
        assert_eq!(worse(better, &[well()]).worse, 0.0);
        for (tested, term, wanted) in [
            // log2(1.8 / 0.6) / 1.6, the third that is clearly worse.
            (Figures { rate_mbps: 0.6, ..well() }, "rate", 0.9906),
            (Figures { screen_db: 10.5, ..well() }, "screen", 1.5),
            (Figures { delay_p95_ms: 400.0, ..well() }, "delay", 1.0),
            (Figures { frozen_s: 4.5, ..well() }, "frozen", 1.5),
            // log2((1 + 15) / (1 + 1)) / 2.
            (Figures { recovery_s: 15.0, ..well() }, "recovery", 1.5),
        ] {
            let verdict = worse(tested, &[well()]);
            assert_eq!((verdict.term.as_str(), verdict.worse), (term, wanted));
        }
        // Late beside an even faster one, and in time.
        let fast = Figures { delay_p95_ms: 20.0, ..well() };
        assert_eq!(worse(Figures { delay_p95_ms: 199.0, ..well() }, &[fast]).worse, 0.0);
    }

    #[test]
    fn the_best_reference_and_the_better_seed_count_and_one_that_fails_itself_proves_nothing() {
        let slow = Figures { rate_mbps: 0.9, ..well() };
        let third = Figures { rate_mbps: 0.6, ..well() };
        assert_eq!(worse(third.clone(), &[slow.clone(), well()]).worse, 0.9906);
        let run = |seed, tested: &Figures| Played { seed, tested: tested.clone(), references: vec![well()] };
        let both = judge(&[run(1, &third), run(2, &slow)], &BTreeMap::new()).unwrap();
        assert_eq!((both.worse, both.term.as_str()), (0.625, "rate"));
        assert!(!worse(third.clone(), &[slow]).feasible);
        assert_eq!(judge(&[Played { seed: 1, tested: third, references: Vec::new() }], &BTreeMap::new()), None);
        let deaf = BTreeMap::from([("rate".to_string(), 0.0)]);
        assert_eq!(judge(&[run(1, &Figures { rate_mbps: 0.1, ..well() })], &deaf).unwrap().worse, 0.0);
    }

    #[test]
    fn the_state_is_that_of_the_last_third() {
        let of = |rate_mbps, packets_a_picture, loss| state(&Figures { rate_mbps, packets_a_picture, loss, ..well() });
        assert_eq!(of(0.19, 0.66, 0.0), "dead");
        assert_eq!(of(0.9, 3.1, 0.0), "low");
        assert_eq!(of(1.7, 5.9, 0.2), "full");
        assert_eq!(of(1.2, 4.2, 0.05), "well");
        // A slow link that is used has few packets a picture too.
        assert_eq!(state(&Figures { rate_mbps: 0.19, could_mbps: 0.2, packets_a_picture: 0.66, ..well() }), "well");
    }
}
