//! The share of links that each flow could have: max-min fairness, with a limit to what a flow can use.

/// A flow that takes what it gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Taker {
    /// The most that it can use; infinite for TCP.
    pub limit: f64,
    /// Its weight.
    pub weight: f64,
    /// The links that it crosses, by index.
    pub crosses: Vec<usize>,
}

/// The max-min fair share of each taker, in the unit of `links`, their capacities. All shares rise in proportion to
/// their weights until a limit or a full link stops them (water filling, specs/rmcat.md 1).
pub fn shares(links: &[f64], takers: &[Taker]) -> Vec<f64> {
    let mut shares = vec![0.0; takers.len()];
    let mut rising: Vec<bool> = takers.iter().map(|taker| taker.weight > 0.0).collect();
    while rising.contains(&true) {
        let free = |link: usize| {
            let used: f64 =
                takers.iter().zip(&shares).filter(|(taker, _)| taker.crosses.contains(&link)).map(|of| of.1).sum();
            (links[link] - used).max(0.0)
        };
        let pull = |link: usize| -> f64 {
            let there = takers.iter().zip(&rising).filter(|(taker, rises)| **rises && taker.crosses.contains(&link));
            there.map(|(taker, _)| taker.weight).sum()
        };
        let by_links = (0..links.len()).filter(|link| pull(*link) > 0.0).map(|link| free(link) / pull(link));
        let of_limits = takers.iter().zip(&shares).zip(&rising).filter(|(_, rises)| **rises);
        let by_limits = of_limits.map(|((taker, share), _)| (taker.limit - share) / taker.weight);
        let step = by_links.chain(by_limits).fold(f64::INFINITY, f64::min);
        if !step.is_finite() {
            break;
        }
        for ((share, taker), _) in shares.iter_mut().zip(takers).zip(&rising).filter(|(_, rises)| **rises) {
            *share += step * taker.weight;
        }
        let full: Vec<bool> = (0..links.len())
            .map(|link| {
                let used: f64 =
                    takers.iter().zip(&shares).filter(|(taker, _)| taker.crosses.contains(&link)).map(|of| of.1).sum();
                used >= links[link] * (1.0 - 1e-9)
            })
            .collect();
        for ((taker, share), rises) in takers.iter().zip(&shares).zip(&mut rising) {
            *rises &= *share < taker.limit * (1.0 - 1e-9) && !taker.crosses.iter().any(|link| full[*link]);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taker(limit: f64, weight: f64, crosses: &[usize]) -> Taker {
        Taker { limit, weight, crosses: crosses.to_vec() }
    }

    fn close(ours: &[f64], theirs: &[f64]) {
        assert!(ours.iter().zip(theirs).all(|(a, b)| (a - b).abs() < 1e-6), "{ours:?}, {theirs:?}");
    }

    /// specs/rmcat.md 13, example 1, and 6.1's weights.
    #[test]
    fn the_worked_examples_come_out() {
        let video = || taker(1.594, 1.0, &[0]);
        close(&shares(&[3.5], &[video(), video(), video()]), &[3.5 / 3.0; 3]);
        close(&shares(&[3.5], &[video(), video()]), &[1.594; 2]);
        let wide = |crosses: &[usize]| taker(1.594, 1.0, crosses);
        close(&shares(&[2.0, 8.0, 1.5], &[wide(&[0, 1, 2]), wide(&[0]), wide(&[2])]), &[0.75, 1.25, 0.75]);
        let weighted = |weight| taker(2.6, weight, &[0]);
        close(&shares(&[3.5], &[weighted(2.0), weighted(1.0), weighted(1.0)]), &[1.75, 0.875, 0.875]);
        close(&shares(&[2.0], &[video(), taker(f64::INFINITY, 1.0, &[0])]), &[1.0, 1.0]);
    }

    proptest! {
        #[test]
        fn no_link_is_overfull_and_nobody_could_have_more_without_another_of_no_more_having_less(
            links in proptest::collection::vec(0.1f64..10.0, 1..4),
            takers in proptest::collection::vec((0.1f64..5.0, proptest::collection::vec(any::<bool>(), 4)), 1..6),
        ) {
            let takers: Vec<Taker> = takers
                .iter()
                .map(|(limit, crosses)| {
                    let crosses: Vec<usize> = (0..links.len()).filter(|link| *link == 0 || crosses[*link]).collect();
                    taker(*limit, 1.0, &crosses)
                })
                .collect();
            let shares = shares(&links, &takers);
            let used = |link: usize| -> f64 {
                takers.iter().zip(&shares).filter(|(taker, _)| taker.crosses.contains(&link)).map(|of| of.1).sum()
            };
            prop_assert!((0..links.len()).all(|link| used(link) <= links[link] * 1.000_001));
            for (taker, share) in takers.iter().zip(&shares) {
                let stopped = taker.crosses.iter().any(|link| {
                    let full = used(*link) >= links[*link] * 0.999_999;
                    let most = takers.iter().zip(&shares).filter(|(other, _)| other.crosses.contains(link));
                    full && most.map(|of| *of.1).fold(0.0, f64::max) <= share * 1.000_001
                });
                prop_assert!(stopped || *share >= taker.limit * 0.999_999, "{} of {:?}", share, taker);
            }
        }
    }
}
