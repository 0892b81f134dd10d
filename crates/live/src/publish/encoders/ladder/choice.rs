//! Which rates a few encoders should have for the steps that viewers want.

use super::steps::{COUNT, IN_OCTAVE};

/// Costs are in steps: a viewer that wants a step and is sent one below it loses one.
pub(super) type Cost = u64;

/// The base layer of two has this part of the rate (libwebrtc's `SimulcastRateAllocator`: 60 %): a viewer whose step is at
/// most this many below what it is sent can still be sent that.
const BASE_LAYER: usize = 3 * IN_OCTAVE / 4;
/// The cost of a step too many, for which frames are left out. It is not more, or a few viewers whose controllers have
/// just backed off would slow all others down.
const TOO_MANY: Cost = 2;
/// The cost of a viewer who cannot be sent even the base layer: as much as half the rate for six others, so that one on
/// a bad path pulls down no larger audience.
const HOPELESS: Cost = 6 * IN_OCTAVE as Cost;
/// Least gain of another encoder: half the rate for one viewer.
pub(super) const ENCODER: Cost = IN_OCTAVE as Cost;

/// The cost of a viewer that wants step `wanted` and is sent step `sent`.
pub(super) fn cost(wanted: usize, sent: usize) -> Cost {
    match sent.checked_sub(wanted) {
        None | Some(0) => (wanted - sent) as Cost,
        Some(more) if more <= BASE_LAYER => TOO_MANY * more as Cost,
        Some(more) => HOPELESS + more as Cost,
    }
}

/// The step among `steps` that costs a viewer least, as an index: of two, the lower.
pub(super) fn best(wanted: usize, steps: &[usize]) -> Option<usize> {
    (0..steps.len()).min_by_key(|index| (cost(wanted, steps[*index]), steps[*index]))
}

/// The step that costs these viewers least together.
pub(super) fn best_for(wanted: &[usize]) -> usize {
    let sum = |step: usize| wanted.iter().map(|wanted| cost(*wanted, step)).sum::<Cost>();
    (0..COUNT).min_by_key(|step| (sum(*step), *step)).unwrap_or(0)
}

/// The steps for these viewers, at most `most` and at least one, in order: those that cost them least together, fewer if
/// another gains little. There is at least one viewer.
pub(super) fn choose(wanted: &[usize], most: usize) -> Vec<usize> {
    let mut sorted = wanted.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let count = |step: &usize| wanted.iter().filter(|wanted| *wanted == step).count() as Cost;
    let counts: Vec<Cost> = sorted.iter().map(count).collect();
    // Viewers of one encoder are neighbours: groups[from][to] is the cost of the best step, and the step, for
    // sorted[from..to].
    let group = |from: usize, to: usize| {
        let sum = |step: usize| (from..to).map(|at| counts[at] * cost(sorted[at], step)).sum::<Cost>();
        (0..COUNT).map(|step| (sum(step), step)).min().unwrap_or((0, 0))
    };
    let all = sorted.len();
    let groups: Vec<Vec<(Cost, usize)>> =
        (0..all).map(|from| (0..=all).map(|to| if to > from { group(from, to) } else { (0, 0) }).collect()).collect();
    // The cheapest steps for sorted[..to], with one encoder more in each turn.
    let mut cheapest: Vec<Option<(Cost, Vec<usize>)>> = vec![None; all + 1];
    cheapest[0] = Some((0, Vec::new()));
    let mut found: Option<(Cost, Vec<usize>)> = None;
    for _ in 0..most.min(all) {
        let one_more = |to: usize| {
            let after = |from: usize| {
                let (before, steps) = cheapest[from].as_ref()?;
                let (cost, step) = groups[from][to];
                Some((before + cost + ENCODER, [&steps[..], &[step]].concat()))
            };
            (0..to).filter_map(after).min()
        };
        cheapest = (0..=all).map(one_more).collect();
        found = found.into_iter().chain(cheapest[all].clone()).min();
    }
    found.map_or_else(|| vec![0], |(_, steps)| steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_encoder_serves_most_and_two_serve_two_kinds() {
        assert_eq!(choose(&[20; 50], 4), [20], "alike");
        assert_eq!(choose(&[20, 20, 20, 8, 8, 8], 4), [8, 20]);
        assert_eq!(choose(&[20, 20, 20, 8, 8, 8], 1), [8]);
        assert_eq!(choose(&[4, 12, 20, 28], 3).len(), 3);
    }

    #[test]
    fn one_viewer_on_a_bad_path_does_not_pull_down_ten_but_two_of_three() {
        let mut wanted = vec![20; 10];
        wanted.push(2);
        assert_eq!(choose(&wanted, 1), [20]);
        assert_eq!(choose(&wanted, 2), [2, 20]);
        assert_eq!(choose(&[20, 20, 2], 1), [2]);
    }

    #[test]
    fn rates_that_are_nearly_alike_share_an_encoder_at_what_costs_them_least() {
        assert_eq!(choose(&[20, 20, 21, 21], 2), [20]);
        assert_eq!(choose(&[20, 22, 21, 19], 1), [20]);
    }

    #[test]
    fn a_viewer_takes_the_highest_not_above_what_it_wants_or_else_the_lowest() {
        assert_eq!(best(12, &[4, 10, 16]), Some(1));
        assert_eq!(best(2, &[4, 10, 16]), Some(0));
        assert_eq!(best(30, &[4, 10, 16]), Some(2));
        assert_eq!(best(2, &[]), None);
    }
}
