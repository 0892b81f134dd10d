//! Verdict on a figure's published numbers: computed, so that no page can claim more than was measured.

use std::fmt;

use super::{Claim, Order, Published, Spread};

/// How many of a figure's published numbers and rankings came out here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Verdict {
    /// Published numbers.
    pub numbers: usize,
    /// Those that hold here; one that no run answers does not.
    pub held: usize,
    /// The rankings of three or more schemes by a published number over a link, and the orders that the paper states.
    pub rankings: Vec<Ranking>,
}

/// Schemes from the highest value to the lowest.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The link; `None` for the mean over all.
    pub link: Option<&'static str>,
    /// The key of the number.
    pub key: &'static str,
    /// The paper's order.
    pub paper: Vec<(&'static str, f64)>,
    /// Ours.
    pub ours: Vec<(&'static str, f64)>,
}

impl Ranking {
    /// Returns true if no two schemes that the paper ranks are in the opposite order here.
    pub fn is_kept(&self) -> bool {
        let ours = |scheme| self.ours.iter().find(|(known, _)| *known == scheme).map_or(f64::NAN, |(_, value)| *value);
        self.paper.windows(2).all(|pair| pair[0].1 == pair[1].1 || ours(pair[0].0) >= ours(pair[1].0))
    }
}

impl Verdict {
    /// Compares published numbers with `ours`.
    pub fn of(published: &[Published], ours: impl Fn(&Published) -> Option<Spread>) -> Verdict {
        let published: Vec<&Published> = published.iter().filter(|known| known.claim != Claim::Elsewhere).collect();
        let value = |known: &Published| ours(known).map(|spread| spread.mean);
        let held = published.iter().filter(|known| value(known).is_some_and(|ours| known.holds(ours))).count();
        let mut rankings: Vec<Ranking> = Vec::new();
        for &known in &published {
            if rankings.iter().any(|ranking| (ranking.link, ranking.key) == (known.link, known.key)) {
                continue;
            }
            let is_of = |other: &&Published| (other.link, other.key) == (known.link, known.key);
            let of: Vec<&Published> = published.iter().copied().filter(is_of).collect();
            let answers: Option<Vec<_>> = of.iter().map(|known| Some((known.scheme, value(known)?))).collect();
            let paper = falling(of.iter().map(|known| (known.scheme, known.value)).collect());
            // One bound for all, such as "too much", ranks nothing.
            let differ = paper.iter().any(|(_, value)| *value != paper[0].1);
            if let Some(answers) = answers.filter(|answers| answers.len() > 2 && differ) {
                rankings.push(Ranking { link: known.link, key: known.key, paper, ours: falling(answers) });
            }
        }
        Verdict { numbers: published.len(), held, rankings }
    }

    /// Adds the orders that the paper states, `ours` giving our value of a scheme and a key.
    #[must_use]
    pub fn with_orders(
        mut self,
        orders: &[Order],
        ours: impl Fn(&'static str, &'static str) -> Option<f64>,
    ) -> Verdict {
        for Order { key, falling: schemes } in orders {
            // The paper's place, from the last, stands for the number that it does not print.
            let paper = schemes.iter().rev().enumerate().map(|(place, scheme)| (*scheme, place as f64)).collect();
            let value = |scheme: &&'static str| (*scheme, ours(scheme, key).unwrap_or(f64::NAN));
            let ours = falling(schemes.iter().map(value).collect());
            self.rankings.push(Ranking { link: None, key, paper: falling(paper), ours });
        }
        self
    }

    /// Rankings that are as the paper's.
    pub fn kept(&self) -> usize {
        self.rankings.iter().filter(|ranking| ranking.is_kept()).count()
    }
}

fn falling(mut values: Vec<(&'static str, f64)>) -> Vec<(&'static str, f64)> {
    values.sort_by(|a, b| b.1.total_cmp(&a.1));
    values
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { numbers, held, rankings } = self;
        let (kept, ranked) = (self.kept(), rankings.len());
        match () {
            () if *numbers == 0 && ranked == 0 => return f.write_str("no number to compare with"),
            () if *numbers == 0 => {
                let came_out = if kept == ranked {
                    "reproduced"
                } else if kept > 0 {
                    "in part"
                } else {
                    "not"
                };
                return write!(f, "{came_out}: {kept} of {ranked} rankings");
            }
            () if held == numbers && kept == ranked => write!(f, "reproduced: {held} of {numbers} numbers")?,
            () if ranked > 0 && kept == ranked => write!(f, "order only: {held} of {numbers} numbers")?,
            () if *held > 0 => write!(f, "in part: {held} of {numbers} numbers")?,
            () => write!(f, "not: {held} of {numbers} numbers")?,
        }
        if ranked > 0 { write!(f, ", {kept} of {ranked} rankings") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ours: [f64; 3]) -> Verdict {
        let published = [
            Published::new(None, "a", "key", 100.0),
            Published { claim: Claim::AtLeast, ..Published::new(None, "b", "key", 50.0) },
            Published { claim: Claim::Within(0.5), ..Published::new(None, "c", "key", 10.0) },
        ];
        let place = |known: &Published| published.iter().position(|other| other == known).unwrap();
        Verdict::of(&published, |known| Some(Spread { mean: ours[place(known)], sigma: None, runs: 1 }))
    }

    #[test]
    fn a_figure_is_reproduced_when_each_number_is_what_the_paper_claims_of_it() {
        assert_eq!(of([110.0, 50.0, 15.0]).to_string(), "reproduced: 3 of 3 numbers, 1 of 1 rankings");
        assert_eq!(of([111.0, 49.0, 4.0]).to_string(), "order only: 0 of 3 numbers, 1 of 1 rankings");
        assert_eq!(of([110.0, 120.0, 4.0]).to_string(), "in part: 2 of 3 numbers, 0 of 1 rankings");
        assert_eq!(of([1.0, 2.0, 3.0]).to_string(), "not: 0 of 3 numbers, 0 of 1 rankings");
    }

    #[test]
    fn one_bound_for_three_schemes_ranks_nothing() {
        let published = ["a", "b", "c"]
            .map(|scheme| Published { claim: Claim::AtLeast, ..Published::new(None, scheme, "key", 0.0) });
        let verdict = Verdict::of(&published, |_| Some(Spread { mean: 1.0, sigma: None, runs: 1 }));
        assert_eq!(verdict.to_string(), "reproduced: 3 of 3 numbers");
    }

    #[test]
    fn an_order_without_numbers_is_judged_by_ours() {
        let orders = [Order { key: "key", falling: &["a", "b"] }, Order { key: "key", falling: &["c", "a"] }];
        let verdict = |c: f64| {
            let ours = |scheme: &str, _: &str| {
                Some(match scheme {
                    "a" => 2.0,
                    "b" => 1.0,
                    _ => c,
                })
            };
            Verdict::of(&[], |_| None).with_orders(&orders, ours).to_string()
        };
        assert_eq!(verdict(3.0), "reproduced: 2 of 2 rankings");
        assert_eq!(verdict(1.0), "in part: 1 of 2 rankings");
        assert_eq!(verdict(f64::NAN), "in part: 1 of 2 rankings");
        assert_eq!(Verdict::of(&[], |_| None).with_orders(&orders, |_, _| None).to_string(), "not: 0 of 2 rankings");
    }

    #[test]
    fn a_number_that_no_run_answers_does_not_hold() {
        let published = [Published::new(None, "a", "key", 100.0)];
        assert_eq!(Verdict::of(&published, |_| None).to_string(), "not: 0 of 1 numbers");
        assert_eq!(Verdict::of(&[], |_| None).to_string(), "no number to compare with");
    }

    #[test]
    fn a_number_of_a_sender_that_is_not_to_be_had_is_in_no_verdict() {
        let published = [
            Published::new(None, "a", "key", 100.0),
            Published { claim: Claim::Elsewhere, ..Published::new(None, "other", "key", 50.0) },
        ];
        let ours = |_: &Published| Some(Spread { mean: 100.0, sigma: None, runs: 1 });
        assert_eq!(Verdict::of(&published, ours).to_string(), "reproduced: 1 of 1 numbers");
    }

    #[test]
    fn a_number_within_the_deviation_that_the_paper_prints_holds() {
        let published = Published { sigma: Some(30.0), ..Published::new(None, "a", "key", 100.0) };
        assert!(published.holds(129.0) && !published.holds(131.0));
    }
}
