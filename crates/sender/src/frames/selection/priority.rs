//! Which frame of a group is worth most: the base first, then the frames that halve the gaps most evenly.

use alloc::vec::Vec;

use thalweg_types::layers::Pattern;

/// The places of an intra period by their worth, most valuable first: pi_0 (specs/rebera.md 5).
///
/// First the base layer in coding order; then layer 1, spread over the period; then, for each further layer, the frames
/// that refer to the layer below, in that layer's order, then those that refer to the layer below that, and so on.
pub fn by_worth(pattern: &Pattern) -> Vec<u32> {
    let places_of = |layer: u8| (0..pattern.period()).filter(move |place| pattern.layer(*place).number == layer);
    let mut layers: Vec<Vec<u32>> = Vec::new();
    for layer in 0..pattern.layers() {
        let places: Vec<u32> = places_of(layer).collect();
        layers.push(match layer {
            0 => places,
            1 => spread(places.len()).into_iter().map(|place| places[place]).collect(),
            _ => {
                let parents = layers.iter().rev().flatten();
                let of = |parent: &u32| places.iter().copied().find(|place| pattern.refers_to(*place) == Some(*parent));
                parents.filter_map(of).collect()
            }
        });
    }
    layers.into_iter().flatten().collect()
}

/// An order of 0..count: the last first, then those that halve the remaining gaps, and the rest from the end. This rule
/// gives the paper's order.
fn spread(count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = count.checked_sub(1).into_iter().collect();
    let mut step = (count / 2).checked_ilog2().map_or(0, |log| 1 << log);
    while step >= 2 {
        for place in (step - 1..count).step_by(2 * step) {
            if !order.contains(&place) {
                order.push(place);
            }
        }
        step /= 2;
    }
    for place in (0..count).rev() {
        if !order.contains(&place) {
            order.push(place);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_types::layers::Config;

    fn order(period: u32, group: u32) -> Vec<u32> {
        by_worth(&Config { group, period }.build().unwrap())
    }

    #[test]
    fn the_orders_are_the_papers() {
        let of_32 = [
            0, 4, 8, 12, 16, 20, 24, 28, 30, 14, 6, 22, 26, 18, 10, 2, 31, 15, 7, 23, 27, 19, 11, 3, 1, 5, 9, 13, 17,
            21, 25, 29,
        ];
        assert_eq!(order(32, 4), of_32);
        assert_eq!(order(8, 4), [0, 4, 6, 2, 7, 3, 1, 5]);
        assert_eq!(order(16, 4), [0, 4, 8, 12, 14, 6, 10, 2, 15, 7, 11, 3, 1, 5, 9, 13]);
    }

    #[test]
    fn fewer_layers_have_shorter_rules() {
        assert_eq!(order(4, 1), [0, 1, 2, 3]);
        assert_eq!(order(8, 2), [0, 2, 4, 6, 7, 3, 5, 1]);
        assert_eq!(order(4, 4), [0, 2, 3, 1]);
    }

    proptest! {
        #[test]
        fn every_frame_is_there_once_and_after_what_it_refers_to(groups in 1u32..60, log in 0u32..3) {
            let group = 1 << log;
            let pattern = Config { group, period: groups * group }.build().unwrap();
            let order = by_worth(&pattern);
            let rank = |place: u32| order.iter().position(|other| *other == place).unwrap();
            for place in 0..groups * group {
                prop_assert!(pattern.refers_to(place).is_none_or(|parent| rank(parent) < rank(place)));
            }
            prop_assert_eq!(order.len() as u32, groups * group);
        }
    }
}
