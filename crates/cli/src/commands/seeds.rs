//! Seeds: how often something is played, and with which chances.

use std::str::FromStr;

use thalweg_lab::seeds::seeds;
use thalweg_units::Seed;

#[derive(Debug, clap::Args)]
pub(crate) struct Seeds {
    /// Seed of every random choice, or several: 1..10 (inclusive), 1,4,9
    #[arg(long)]
    seed: Option<List>,
    /// Number of seeds to play, from --seed on; rows are then means with their 95 % intervals
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: Option<u64>,
}

#[derive(Debug, Clone, PartialEq)]
struct List(Vec<u64>);

impl FromStr for List {
    type Err = String;

    fn from_str(text: &str) -> Result<List, String> {
        seeds(text).map(List)
    }
}

impl Seeds {
    /// Returns true if any was named.
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
