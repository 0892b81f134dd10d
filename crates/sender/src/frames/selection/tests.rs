use alloc::vec::Vec;

use proptest::prelude::*;
use thalweg_types::layers;
use thalweg_units::Bytes;

use super::{Method, Room, Selector};

/// specs/rebera.md 9, example 4.
const SIZES: [u64; 8] = [5000, 800, 1500, 900, 2500, 850, 1600, 950];
const ESTIMATES: [f64; 3] = [2400.0, 1500.0, 850.0];

fn selector(method: Method, period: u32) -> Selector {
    let pattern = layers::Config { group: 4, period }.build().unwrap();
    Selector::new(method, Room::Elapsed, pattern, 0.75)
}

/// The places sent of a group of these sizes, and the bytes they take.
fn sent(selector: &mut Selector, sizes: &[u64], budget: u64) -> (Vec<u32>, u64) {
    selector.begin(Bytes::new(budget));
    let send = |(place, size): (u32, &u64)| selector.consider(place, Bytes::new(*size)).then_some(place);
    let sent = (0..).zip(sizes).filter_map(send).collect();
    (sent, selector.spent().get())
}

fn example(method: Method, budget: u64) -> (Vec<u32>, u64) {
    let mut selector = selector(method, 8);
    selector.set_estimates(ESTIMATES);
    sent(&mut selector, &SIZES, budget)
}

/// The time-weighted mean of the gaps between frames of a group and the next: sum d^2 / sum d.
fn mean_gap(sent: &[u32], period: u32) -> f64 {
    let ends = sent.iter().skip(1).copied().chain([period]);
    let gaps: Vec<f64> = sent.iter().zip(ends).map(|(begin, end)| f64::from(end - begin)).collect();
    gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.iter().sum::<f64>()
}

#[test]
fn dynamic_frame_selection_gives_the_table_of_the_specification() {
    let table: [(u64, &[u32], u64, f64); 5] = [
        (9_000, &[0, 4], 7_500, 4.0),
        (11_000, &[0, 2, 4, 6], 10_600, 2.0),
        (12_000, &[0, 2, 4, 6, 7], 11_550, 1.75),
        (13_000, &[0, 1, 2, 3, 4, 6], 12_300, 1.5),
        (14_200, &[0, 1, 2, 3, 4, 5, 6, 7], 14_100, 1.0),
    ];
    for (budget, places, spent, gap) in table {
        let (sent, bytes) = example(Method::Dynamic, budget);
        assert_eq!((&sent[..], bytes, mean_gap(&sent, 8)), (places, spent, gap), "{budget}");
    }
}

/// The frames before place 4 were smaller than their share. As printed, what they left is gone; otherwise it serves the
/// last base frame.
#[test]
fn what_earlier_frames_left_is_for_later_ones_only_where_it_counts_as_unspent() {
    let pattern = layers::Config { group: 4, period: 8 }.build().unwrap();
    let of = |room| {
        let mut selector = Selector::new(Method::Dynamic, room, pattern, 0.75);
        selector.set_estimates([2000.0, 100.0, 100.0]);
        sent(&mut selector, &[1000, 100, 100, 100, 2100, 100, 100, 100], 4_000)
    };
    // At place 4 the time for half of the 4000 bytes has passed, of which 1300 were spent.
    assert_eq!(of(Room::Elapsed), (alloc::vec![0, 1, 2, 3], 1_300));
    assert_eq!(of(Room::Unspent), (alloc::vec![0, 1, 2, 3, 4, 5, 6, 7], 3_700));
}

#[test]
fn the_pushes_send_what_the_specification_says() {
    let (frames, bytes) = example(Method::FramePush, 11_000);
    assert_eq!((&frames[..], bytes, mean_gap(&frames, 8)), (&[0, 1, 2, 3, 4][..], 10_700, 2.5));
    assert_eq!(example(Method::LayerPush, 11_000), (alloc::vec![0, 2, 4, 6], 10_600));
}

#[test]
fn the_first_frame_goes_whatever_it_costs_and_the_next_group_begins_afresh() {
    for method in [Method::Dynamic, Method::LayerPush, Method::FramePush] {
        let mut selector = selector(method, 8);
        assert_eq!(sent(&mut selector, &SIZES, 0), (alloc::vec![0], 5000));
        assert_eq!(sent(&mut selector, &SIZES, 100_000).0.len(), 8, "{method:?}");
    }
}

#[test]
fn what_refers_to_a_frame_that_was_left_out_is_not_sent_either() {
    let mut selector = selector(Method::Dynamic, 8);
    selector.begin(Bytes::new(100_000));
    assert!(selector.consider(0, Bytes::new(5000)) && selector.consider(1, Bytes::new(800)));
    selector.leave_out(2);
    assert!(!selector.is_possible(3) && selector.is_possible(4));
    assert!(!selector.consider(3, Bytes::new(900)) && selector.consider(4, Bytes::new(2500)));
    selector.leave_out(4);
    assert!((4..8).all(|place| !selector.is_possible(place)));
}

fn sizes() -> impl Strategy<Value = Vec<u64>> {
    let frame = |place: usize| if place.is_multiple_of(4) { 1_000u64..3_000 } else { 300..1_500 };
    (0..32).map(move |place| if place == 0 { 3_000u64..9_000 } else { frame(place) }).collect::<Vec<_>>()
}

proptest! {
    #[test]
    fn whatever_is_sent_can_be_decoded_and_keeps_to_the_budget(groups in prop::collection::vec((sizes(), 0u64..80_000), 1..6)) {
        let pattern = layers::Config::default().build().unwrap();
        let dynamic = [Room::Elapsed, Room::Unspent].map(|room| (Method::Dynamic, room));
        let pushes = [Method::LayerPush, Method::FramePush].map(|method| (method, Room::Elapsed));
        for (method, room) in dynamic.into_iter().chain(pushes) {
            let mut selector = Selector::new(method, room, pattern, 0.75);
            for (sizes, budget) in &groups {
                let (sent, spent) = sent(&mut selector, sizes, *budget);
                prop_assert!(spent <= (*budget).max(sizes[0]), "{} of {}", spent, budget);
                prop_assert_eq!(sent[0], 0);
                for place in &sent {
                    prop_assert!(pattern.refers_to(*place).is_none_or(|parent| sent.contains(&parent)), "{} of {:?}", place, sent);
                }
            }
        }
    }

    /// The remaining budget is spread: no gap is longer than the longest of frame push, which stops where the budget
    /// does.
    #[test]
    fn dynamic_selection_leaves_shorter_gaps_than_pushing_frames(
        before in sizes(), sizes in sizes(), budget in 12_000u64..80_000,
    ) {
        let gap = |method| {
            let mut selector = selector(method, 32);
            sent(&mut selector, &before, 100_000);
            mean_gap(&sent(&mut selector, &sizes, budget).0, 32)
        };
        prop_assert!(gap(Method::Dynamic) <= gap(Method::FramePush) + 1.0);
    }
}
