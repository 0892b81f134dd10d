//! Seeds: how often something is played, and with which chances.

use std::str::FromStr;

use thalweg_units::Seed;

#[derive(Debug, clap::Args)]
pub(crate) struct Seeds {
    /// The seed of every random choice, or several: 1..10 (both ends played), 1,4,9
    #[arg(long)]
    seed: Option<List>,
    /// Play so many seeds, one after another from --seed: rows are then means with their 95 % intervals
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
struct List(Vec<u64>);

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<List, String> {
        let wrong = || {
            format!(
                "'{text}' is no seed: write a number, a range such as 1..10 (both ends played), or a list such as 1,4,9"
            )
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        let mut seeds = Vec::new();
        for part in text.split(',') {
            match part.split_once("..") {
                Some((from, to)) => {
                    let (from, to) = (number(from)?, number(to)?);
                    if from > to || to - from >= 10_000 {
                        return Err(wrong());
                    }
                    seeds.extend(from..=to);
                }
                None => seeds.push(number(part)?),
            }
        }
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < seeds.len() { Err(format!("'{text}' has a seed twice")) } else { Ok(List(seeds)) }
    }
}

impl Seeds {
    /// Whether any was named.
    pub(crate) fn is_given(&self) -> bool {
        self.seed.is_some() || self.runs.is_some()
    }

    /// The seeds, from `default` on if none was named.
    pub(crate) fn list(&self, default: Seed) -> anyhow::Result<Vec<Seed>> {
        let named = self.seed.as_ref().map_or(vec![default.get()], |List(seeds)| seeds.clone());
        let numbers = match (self.runs, &named[..]) {
            (None, _) => named,
            (Some(runs), [first]) => (*first..).take(runs as usize).collect(),
            (Some(runs), several) if several.len() as u64 == runs => named,
            (Some(runs), several) => {
                anyhow::bail!(
                    "--runs {runs} and --seed with {} seeds: give one of them, or a single seed",
                    several.len()
                )
            }
        };
        Ok(numbers.into_iter().map(Seed::new).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_numbers_ranges_and_lists() {
        assert_eq!("7".parse(), Ok(List(vec![7])));
        assert_eq!("1..3".parse(), Ok(List(vec![1, 2, 3])));
        assert_eq!("1,4..5, 9".parse(), Ok(List(vec![1, 4, 5, 9])));
        for wrong in ["", "a", "3..1", "1..", "1,,2", "-1", "1..100000", "2,1..3"] {
            assert!(wrong.parse::<List>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn runs_count_from_the_seed() {
        let seeds = |seed: Option<&str>, runs| {
            let seeds = Seeds { seed: seed.map(|text| text.parse().unwrap()), runs };
            seeds.list(Seed::new(5)).map(|list| list.into_iter().map(Seed::get).collect::<Vec<_>>()).ok()
        };
        assert_eq!(seeds(None, None), Some(vec![5]));
        assert_eq!(seeds(None, Some(2)), Some(vec![5, 6]));
        assert_eq!(seeds(Some("8"), Some(2)), Some(vec![8, 9]));
        assert_eq!(seeds(Some("1,2"), Some(2)), Some(vec![1, 2]));
        assert_eq!(seeds(Some("1,2"), Some(3)), None);
    }
}
