use super::*;
use alloc::string::ToString;
use alloc::vec::Vec;
use proptest::prelude::*;
use thalweg_units::{Size, Span};

fn pattern(group: u32, period: u32) -> Pattern {
    Config { group, period }.build().unwrap()
}

#[test]
fn of_a_group_of_four_the_layers_and_references_are_rebera_s() {
    let pattern = pattern(4, 32);
    assert_eq!(pattern.layers(), 3);
    let layers: Vec<u8> = (0..9).map(|place| pattern.layer(place).number).collect();
    assert_eq!(layers, [0, 2, 1, 2, 0, 2, 1, 2, 0]);
    let references: Vec<Option<u32>> = (0..9).map(|place| pattern.refers_to(place)).collect();
    assert_eq!(references, [None, Some(0), Some(0), Some(2), Some(0), Some(4), Some(4), Some(6), Some(4)]);
    assert_eq!(pattern.refers_to(32), None, "a keyframe begins the next period");
    // specs/rebera.md 5: a lost frame of layer 0 takes all later ones with it, layer 1 the next one, layer 2 none.
    assert_eq!((pattern.closure(4), pattern.closure(6), pattern.closure(5)), (5..32, 7..8, 6..6));
    assert_eq!((pattern.closure(31), pattern.closure(36)), (32..32, 37..64));
}

#[test]
fn groups_of_one_and_two_have_one_and_two_layers() {
    let (chain, pairs) = (pattern(1, 5), pattern(2, 6));
    assert_eq!((0..5).map(|place| chain.layer(place)).collect::<Vec<_>>(), [Layer::default(); 5]);
    assert_eq!((chain.refers_to(3), chain.closure(3), chain.basis(3, Some(2))), (Some(2), 4..5, Basis::Latest));
    assert_eq!((0..4).map(|place| pairs.layer(place).number).collect::<Vec<_>>(), [0, 1, 0, 1]);
    assert_eq!((pairs.refers_to(2), pairs.refers_to(3)), (Some(0), Some(2)));
    assert_eq!((pairs.closure(2), pairs.closure(3)), (3..6, 4..4));
}

#[test]
fn the_base_is_the_last_frame_layer_one_is_in_a_long_term_buffer_and_odd_frames_are_nowhere() {
    let pattern = pattern(4, 8);
    let base = Buffers { last: true, long_term: None, kept_in: None, becomes_last: true, sendable: true };
    let above = Buffers { becomes_last: false, ..base };
    let kept = |frame| Some((LongTerm(0), frame));
    for (place, buffers) in [
        (1, above),
        (2, Buffers { kept_in: Some(LongTerm(0)), ..above }),
        (3, Buffers { last: false, long_term: kept(70), ..above }),
        (4, base),
        (5, above),
    ] {
        assert_eq!(pattern.basis(place, Some(70)), Basis::Buffers(buffers), "{place}");
    }
    assert_eq!(pattern.basis(8, None), Basis::Latest);
    for place in [1, 2, 3, 4] {
        let Basis::Buffers(buffers) = pattern.basis(place, None) else { panic!("{place} has no buffers") };
        assert!(!buffers.sendable);
    }
    let mut plan = EncodePlan::new(Vec::new(), Size::HD, Span::from_millis(33));
    pattern.plan(2, Some(70), &mut plan);
    assert_eq!((plan.layer, plan.keyframe), (Layer { number: 1, count: 3 }, false));
    pattern.plan(16, None, &mut plan);
    assert_eq!((plan.layer, plan.keyframe, plan.basis), (Layer { number: 0, count: 3 }, true, Basis::Latest));
}

#[test]
fn other_groups_and_periods_are_refused_with_the_fix() {
    for (group, period, word) in
        [(3, 30, "1, 2 or 4"), (8, 32, "1, 2 or 4"), (4, 30, "multiple"), (4, 0, "such as 32"), (4, 1 << 17, "65536")]
    {
        let message = Config { group, period }.build().unwrap_err().to_string();
        assert!(message.contains(word), "{group} {period}: {message}");
    }
}

proptest! {
    #[test]
    fn what_depends_on_a_frame_by_its_references_is_its_closure(
        group in prop::sample::select(&[1u32, 2, 4][..]), groups in 1u32..20, place in 0u32..400,
    ) {
        let pattern = pattern(group, group * groups);
        let begins = place / pattern.period() * pattern.period();
        let needs = |mut other: u32| loop {
            if other == place {
                return true;
            }
            match pattern.refers_to(other) {
                Some(reference) => other = reference,
                None => return false,
            }
        };
        for other in begins..begins + 2 * pattern.period() {
            prop_assert_eq!(pattern.closure(place).contains(&other), other != place && needs(other), "{}", other);
        }
    }

    #[test]
    fn no_frame_refers_to_a_layer_above_or_to_its_own_unless_it_is_the_base(
        group in prop::sample::select(&[2u32, 4][..]), place in 0u32..100,
    ) {
        let pattern = pattern(group, 40);
        let layer = pattern.layer(place);
        prop_assert!(layer.number < layer.count);
        if let Some(reference) = pattern.refers_to(place) {
            let below = pattern.layer(reference).number;
            prop_assert!(reference < place && (below < layer.number || layer.number == 0 && below == 0));
        }
    }
}
