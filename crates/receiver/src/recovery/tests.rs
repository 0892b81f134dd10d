use std::collections::BTreeSet;

use super::*;
use proptest::prelude::*;
use thalweg_units::Seed;

type Counting = Recovery<(), ()>;

#[derive(Debug, Clone)]
enum Came {
    Media(u64),
    Fec(Protected),
}

fn fec(sequences: impl IntoIterator<Item = u64>) -> Came {
    Came::Fec(Protected::of(sequences).unwrap())
}

/// The packets recovered as these arrive.
fn recovered(recovery: &mut Counting, came: impl IntoIterator<Item = Came>) -> Vec<u64> {
    let mut recovered = Vec::new();
    for came in came {
        match came {
            Came::Media(sequence) => recovery.on_media(sequence, ()),
            Came::Fec(protects) => recovery.on_fec(protects, ()),
        }
        while let Some((sequence, ())) = recovery.next() {
            recovery.on_media(sequence, ());
            recovered.push(sequence);
        }
    }
    recovered
}

#[test]
fn one_loss_anywhere_among_the_protected_is_made_good() {
    for lost in 10..20 {
        let mut recovery = Counting::default();
        let came = (10..20).filter(|sequence| *sequence != lost).map(Came::Media);
        assert_eq!(recovered(&mut recovery, came.chain([fec(10..20)])), [lost]);
        assert_eq!(recovery.waiting(), 0);
    }
}

#[test]
fn what_comes_after_the_fec_packet_completes_it() {
    let mut recovery = Counting::default();
    assert_eq!(recovered(&mut recovery, [Came::Media(0), fec(0..4), Came::Media(2)]), [0u64; 0]);
    // A retransmission of one recovers the other (specs/fec.md 5, example 3).
    assert_eq!(recovered(&mut recovery, [Came::Media(3)]), [1]);
    assert_eq!(recovered(&mut recovery, [Came::Media(1), Came::Media(4), fec([1, 3])]), [0u64; 0]);
    assert_eq!(recovery.waiting(), 0);
}

#[test]
fn one_packet_recovered_recovers_the_next() {
    let mut recovery = Counting::default();
    let waiting = [Came::Media(0), Came::Media(5), fec([0, 1, 2]), fec([2, 3]), fec([3, 4, 5])];
    assert_eq!(recovered(&mut recovery, waiting), [0u64; 0]);
    assert_eq!(recovered(&mut recovery, [Came::Media(1)]), [2, 3, 4]);
}

#[test]
fn fec_packets_whose_packets_are_long_past_are_forgotten() {
    let mut recovery = Counting::default();
    assert_eq!(recovered(&mut recovery, [Came::Media(0), fec([1, 2])]), [0u64; 0]);
    assert_eq!(recovered(&mut recovery, [Came::Media(MEDIA)]), [0u64; 0]);
    assert_eq!(recovery.waiting(), 1);
    assert_eq!(recovered(&mut recovery, [Came::Media(MEDIA + 1), Came::Media(2)]), [0u64; 0]);
    assert_eq!(recovery.waiting(), 0);
}

#[test]
fn fec_packets_of_any_numbers_take_bounded_memory() {
    let mut random = Seed::new(7).child("forged").random();
    let mut recovery = Counting::default();
    for sequence in 0..20_000u64 {
        let mask = u128::from(random.bits() >> random.below(64)) << random.below(64) | 1 << random.below(109);
        let first = if random.chance(0.3) { random.bits() } else { sequence.saturating_sub(random.below(120)) };
        let forged = Protected::new(first, mask).map(Came::Fec);
        recovered(&mut recovery, [Came::Media(sequence)].into_iter().chain(forged));
        assert!(recovery.waiting() <= FEC_PACKETS && recovery.media.len() == MEDIA as usize);
    }
}

#[test]
fn what_stays_lost_under_one_fec_packet_for_so_many_is_what_the_formula_says() {
    // specs/fec.md 5, example 4: p (1 - (1 - p)^N) of the packets are lost after recovery, for one loss in twenty.
    for (members, residual) in [(5, 0.01131), (14, 0.02562)] {
        let mut random = Seed::new(3).child("losses").random();
        let (mut recovery, mut here) = (Counting::default(), 0u64);
        let groups = 600_000 / members;
        for first in (0..groups).map(|group| group * members) {
            for sequence in first..first + members {
                if !random.chance(0.05) {
                    recovery.on_media(sequence, ());
                    here += 1;
                }
            }
            if !random.chance(0.05) {
                here += recovered(&mut recovery, [fec(first..first + members)]).len() as u64;
            }
        }
        let lost = 1.0 - here as f64 / (groups * members) as f64;
        assert!((lost / residual - 1.0).abs() < 0.02, "{lost} of packets, one for {members}");
    }
}

proptest! {
    #[test]
    fn what_is_recovered_is_what_peeling_leaves_nothing_of(
        begin in 0u64..100_000,
        sets in prop::collection::vec(prop::collection::btree_set(0u64..60, 1..20), 1..30),
        lost in prop::collection::btree_set(0u64..60, 0..30),
        order in any::<u64>(),
    ) {
        let arrive = (0..60).filter(|place| !lost.contains(place));
        let mut came: Vec<Came> = arrive.map(|place| Came::Media(begin + place)).collect();
        came.extend(sets.iter().map(|set| fec(set.iter().map(|place| begin + place).collect::<Vec<_>>())));
        // In any order.
        let mut random = Seed::new(order).random();
        (1..came.len()).rev().for_each(|last| came.swap(last, random.below(last as u64 + 1) as usize));
        let made: BTreeSet<u64> = recovered(&mut Counting::default(), came).into_iter().collect();
        // Packets recovered before their own arrival may be among them.
        let mut missing: BTreeSet<u64> = lost;
        while let Some(found) = sets.iter().find_map(|set| {
            let mut left = set.iter().filter(|place| missing.contains(place));
            left.next().filter(|_| left.next().is_none())
        }) {
            prop_assert!(made.contains(&(begin + found)), "{found} was not recovered");
            missing.remove(found);
        }
        prop_assert!(missing.iter().all(|place| !made.contains(&(begin + place))));
    }
}
