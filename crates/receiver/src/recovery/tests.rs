use std::collections::BTreeSet;

use super::*;
use proptest::prelude::*;
use thalweg_sender::repair::parity::symbol;
use thalweg_units::{Random, Seed, Time};

/// Media packet `sequence` of a stream of frames of five packets.
fn fragment(sequence: u64) -> Fragment {
    let frame = sequence / 5;
    Fragment {
        frame,
        picture: 2 * frame,
        captured: Time::from_millis(33 * frame),
        index: (sequence % 5) as u16,
        count: 5,
        offset: 1000 * (sequence % 5) as u32,
        length: 1000 + frame as u32,
        keyframe: frame == 0,
        layer: 0,
        depends_on: frame.checked_sub(1),
        transition: None,
    }
}

fn media(sequence: u64) -> Content {
    Content::Media { sequence, fragment: fragment(sequence) }
}

fn parity(sequences: impl IntoIterator<Item = u64> + Clone) -> Content {
    let fragments: Vec<Fragment> = sequences.clone().into_iter().map(fragment).collect();
    Content::Parity { protects: Protected::of(sequences).unwrap(), symbol: Symbol::Sum(Sum::of(&fragments)) }
}

fn made(recovery: &mut Recovery, contents: impl IntoIterator<Item = Content>) -> Vec<u64> {
    let made = contents.into_iter().flat_map(|content| recovery.on_packet(&content));
    made.map(|(sequence, made)| {
        assert_eq!(made, fragment(sequence));
        sequence
    })
    .collect()
}

#[test]
fn one_loss_anywhere_among_the_protected_is_made_good() {
    for lost in 10..20 {
        let mut recovery = Recovery::default();
        let came = (10..20).filter(|sequence| *sequence != lost).map(media);
        assert_eq!(made(&mut recovery, came.chain([parity(10..20)])), [lost]);
        assert!(recovery.parities.is_empty());
    }
}

#[test]
fn what_comes_after_the_parity_completes_it() {
    let mut recovery = Recovery::default();
    assert_eq!(made(&mut recovery, [media(0), parity(0..4), media(2)]), [0u64; 0]);
    // A repeat of the one makes the other (specs/fec.md 5, example 3).
    let repeat = Content::Retransmission { of: 3, fragment: fragment(3) };
    assert_eq!(made(&mut recovery, [repeat]), [1]);
    assert_eq!(made(&mut recovery, [media(1), media(4), parity([1, 3])]), [0u64; 0]);
    assert!(recovery.parities.is_empty());
}

fn block(sequences: core::ops::Range<u64>, count: u8) -> Vec<Content> {
    let fragments: Vec<Fragment> = sequences.clone().map(fragment).collect();
    let protects = Protected::of(sequences).unwrap();
    symbol::encode(&fragments, count).into_iter().map(|symbol| Content::Parity { protects, symbol }).collect()
}

#[test]
fn of_a_block_as_many_packets_are_made_as_parity_packets_came() {
    let mut recovery = Recovery::default();
    let parities = block(0..10, 4);
    let came = [0, 2, 3, 5, 6, 8, 9].map(media);
    assert_eq!(made(&mut recovery, came), [0u64; 0]);
    assert_eq!(made(&mut recovery, [parities[3], parities[0], parities[0]]), [0u64; 0]);
    assert_eq!(made(&mut recovery, [parities[2]]), [1, 4, 7]);
    assert_eq!(recovery.blocks.len(), 0);
    // Made of sums, a packet counts for a block.
    let more = block(10..14, 2);
    assert_eq!(made(&mut recovery, [more[1], more[0], media(10)]), [0u64; 0]);
    assert_eq!(made(&mut recovery, [parity([10, 12])]), [11, 12, 13]);
}

#[test]
fn a_block_that_contradicts_what_came_makes_nothing() {
    let mut recovery = Recovery::default();
    let parities = block(0..10, 4);
    let wrong = |content: Content| match content {
        Content::Parity { protects, symbol: Symbol::OfBlock { index, count, mut words } } => {
            words[0] ^= 1 << 40;
            Content::Parity { protects, symbol: Symbol::OfBlock { index, count, words } }
        }
        other => other,
    };
    let came = (0..10).filter(|sequence| ![1, 4].contains(sequence)).map(media);
    assert_eq!(made(&mut recovery, came.chain([parities[0], wrong(parities[1])])), [0u64; 0]);
    assert_eq!(recovery.blocks.len(), 0);
}

#[test]
fn one_packet_made_makes_the_next() {
    let mut recovery = Recovery::default();
    let waiting = [media(0), media(5), parity([0, 1, 2]), parity([2, 3]), parity([3, 4, 5])];
    assert_eq!(made(&mut recovery, waiting), [0u64; 0]);
    assert_eq!(made(&mut recovery, [media(1)]), [2, 3, 4]);
}

#[test]
fn parity_whose_packets_are_long_past_is_forgotten() {
    let mut recovery = Recovery::default();
    assert_eq!(made(&mut recovery, [media(0), parity([1, 2])]), [0u64; 0]);
    assert_eq!(made(&mut recovery, [media(MEDIA)]), [0u64; 0]);
    assert_eq!(recovery.parities.len(), 1);
    assert_eq!(made(&mut recovery, [media(MEDIA + 1), media(2)]), [0u64; 0]);
    assert!(recovery.parities.is_empty());
}

#[test]
fn what_stays_lost_under_one_parity_packet_for_so_many_is_what_the_formula_says() {
    // specs/fec.md 5, example 4: p (1 - (1 - p)^N) of the packets, for one loss in twenty.
    for (members, residual) in [(5, 0.01131), (14, 0.02562)] {
        let mut random = Seed::new(3).child("losses").random();
        let (mut recovery, mut here) = (Recovery::default(), 0u64);
        let groups = 600_000 / members;
        for first in (0..groups).map(|group| group * members) {
            for sequence in first..first + members {
                if !random.chance(0.05) {
                    recovery.on_packet(&media(sequence));
                    here += 1;
                }
            }
            if !random.chance(0.05) {
                here += recovery.on_packet(&parity(first..first + members)).len() as u64;
            }
        }
        let lost = 1.0 - here as f64 / (groups * members) as f64;
        assert!((lost / residual - 1.0).abs() < 0.02, "{lost} of packets, one for {members}");
    }
}

/// Parity of random masks over the packets around `newest`, some with sums of nothing at all.
fn forged(random: &mut Random, newest: u64) -> Content {
    let mask = u128::from(random.bits() >> random.below(64)) << random.below(64) | 1 << random.below(109);
    let first = match random.below(4) {
        0 => random.bits() >> random.below(64),
        1 => newest + random.below(1000),
        _ => newest.saturating_sub(random.below(120)),
    };
    let protects = Protected::new(first, mask).unwrap_or_else(|| Protected::of([first]).unwrap());
    let mut sum = Sum::default();
    if random.chance(0.5) {
        // Not of those that the mask names.
        (0..random.below(6)).for_each(|_| sum.add(&fragment(newest.saturating_sub(random.below(50)))));
    } else {
        sum = Sum::from_words(std::array::from_fn(|_| random.bits() >> random.below(64)));
    }
    if random.chance(0.3) {
        let (index, count, words) = (random.bits() as u8, random.bits() as u8 % 6, sum.words());
        return Content::Parity { protects, symbol: Symbol::OfBlock { index: index % 5, count, words } };
    }
    Content::Parity { protects, symbol: Symbol::Sum(sum) }
}

#[test]
fn forged_parity_makes_nothing_that_contradicts_what_came_and_takes_no_memory() {
    let mut random = Seed::new(7).child("forged").random();
    let mut recovery = Recovery::default();
    let mut made = 0;
    for sequence in 0..200_000 {
        if random.chance(0.7) {
            recovery.on_packet(&media(sequence));
        }
        for (sequence, fragment) in recovery.on_packet(&forged(&mut random, sequence)) {
            made += 1;
            assert!(fragment.index < fragment.count && sequence.abs_diff(recovery.newest.unwrap()) < MEDIA);
        }
        assert!(recovery.blocks.len() <= 16);
        assert!(recovery.parities.len() <= PARITIES && recovery.media.len() == MEDIA as usize);
    }
    println!("{made} packets made of forged parity");
    // Among others the sum of one packet that did not come, which no one can tell from a true one.
    assert!(made < 2_000, "{made}");
}

proptest! {
    #[test]
    fn what_is_made_is_what_was_sent_and_parity_of_one_missing_packet_makes_it(
        begin in 0u64..100_000,
        sets in prop::collection::vec(prop::collection::btree_set(0u64..60, 1..20), 1..30),
        lost in prop::collection::btree_set(0u64..60, 0..30),
        order in any::<u64>(),
    ) {
        let arrive = (0..60).filter(|place| !lost.contains(place));
        let mut came: Vec<Content> = arrive.map(|place| media(begin + place)).collect();
        came.extend(sets.iter().map(|set| parity(set.iter().map(|place| begin + place).collect::<Vec<_>>())));
        // In any order.
        let mut random = Seed::new(order).random();
        (1..came.len()).rev().for_each(|last| came.swap(last, random.below(last as u64 + 1) as usize));
        let made: BTreeSet<u64> = made(&mut Recovery::default(), came).into_iter().collect();
        // Packets made before they came may be among them; the others are what peeling leaves nothing of.
        let mut missing: BTreeSet<u64> = lost;
        while let Some(found) = sets.iter().find_map(|set| {
            let mut left = set.iter().filter(|place| missing.contains(place));
            left.next().filter(|_| left.next().is_none())
        }) {
            prop_assert!(made.contains(&(begin + found)), "{found} was not made");
            missing.remove(found);
        }
        prop_assert!(missing.iter().all(|place| !made.contains(&(begin + place))));
    }
}
