//! No order of calls, and nothing that they are passed, makes the library panic, and whatever was made can be freed.

use super::calling::{Step, names, play_controller, play_engine};
use proptest::prelude::*;
use thalweg_capi::schemes::{THALWEG_FOR_CONTROLLER, THALWEG_FOR_ENGINE};

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..64, 2 => 0u64..100_000, 1 => any::<u64>()]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let later = prop_oneof![
        8 => 0u64..50_000_000,
        2 => 0u64..5_000_000_000,
        1 => any::<u64>(),
    ];
    let bytes = prop::collection::vec(any::<u8>(), 0..48);
    let step = (any::<u8>(), [number(), number(), number(), number()], later, 0u8..40, bytes);
    let step = step.prop_map(|(call, numbers, later, wrong, bytes)| Step { call, numbers, later, wrong, bytes });
    prop::collection::vec(step, 1..80)
}

/// A thousand cases take a second.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases.max(1000), failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn calls_on_a_controller_in_any_order_are_answered(
        steps in steps(),
        scheme in any::<prop::sample::Index>(),
        mode in 0..2i32,
        start in number(),
    ) {
        let names = names(THALWEG_FOR_CONTROLLER);
        play_controller(scheme.get(&names).as_c_str(), None, mode, start, &steps);
    }

    #[test]
    fn calls_on_an_engine_in_any_order_are_answered(
        steps in steps(),
        scheme in any::<prop::sample::Index>(),
        own in any::<bool>(),
        unnamed in any::<bool>(),
        numbers in prop::collection::vec(number(), 5..20),
    ) {
        let names = names(THALWEG_FOR_ENGINE);
        let scheme = (!own || !unnamed).then(|| scheme.get(&names).as_c_str());
        prop_assert!(play_engine(scheme, None, own.then_some(numbers), &steps));
    }
}
