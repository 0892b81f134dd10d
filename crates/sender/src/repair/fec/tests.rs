use super::*;
use alloc::vec;
use proptest::prelude::*;
use thalweg_control::{Cause, Fate, PacketId, Report, SentPacket};

const ROUND_TRIPS: RoundTrips = RoundTrips { smoothed: Span::from_millis(50), path: Span::from_millis(50) };
const FRAME: Span = Span::from_millis(33);

fn fragment(frame: u64, index: u16, count: u16) -> Fragment {
    Fragment { captured: Time::ZERO + FRAME * frame as i64, ..crate::testing::fragment(frame, (index, count)) }
}

/// Sends frames of this many packets of 1100 bytes each. Returns for each frame what each FEC packet protects.
fn send(fec: &mut Fec, frames: &[u16], granted: f64) -> Vec<Vec<Vec<u64>>> {
    let mut sequence = 0;
    let mut made = Vec::new();
    for (frame, count) in frames.iter().enumerate() {
        let now = Time::ZERO + FRAME * frame as i64;
        for index in 0..*count {
            let packet = (sequence, fragment(frame as u64, index, *count));
            fec.on_media(now, packet, Bytes::new(1100), granted, ROUND_TRIPS);
            sequence += 1;
        }
        let due = core::iter::from_fn(|| fec.pop());
        made.push(due.map(|due| due.protects.iter().collect()).collect());
    }
    made
}

fn built(change: impl Fn(&mut Config)) -> Fec {
    let mut config = Config::default();
    change(&mut config);
    config.build().unwrap()
}

#[test]
fn half_of_what_is_sent_is_a_duplicate_of_every_packet() {
    // A duplicate is 28 bytes longer than the packet, so now and then there is one fewer.
    let made = send(&mut built(|_| {}), &[3, 1], 0.5);
    assert_eq!(made, [vec![vec![0], vec![1], vec![2]], vec![vec![3]]]);
}

#[test]
fn a_burst_of_losses_spreads_over_the_fec_packets_of_a_frame() {
    // 12 packets earn 0.2 * 13,200 = 2640 bytes, and an FEC packet costs 0.8 * 1128: three come nearest.
    let made = send(&mut built(|_| {}), &[12], 0.2);
    assert_eq!(made, [[[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]]);
}

#[test]
fn what_a_fec_packet_weighs_is_its_longest_packet_its_header_and_its_extensions() {
    let mut fec = built(|config| config.amount = Amount::Share(0.2));
    fec.on_media(Time::ZERO, (10, fragment(0, 0, 3)), Bytes::new(900), 0.0, ROUND_TRIPS);
    fec.on_media(Time::ZERO, (11, fragment(0, 1, 3)), Bytes::new(1100), 0.0, ROUND_TRIPS);
    assert_eq!(fec.head(), None);
    fec.on_media(Time::ZERO, (12, fragment(0, 2, 3)), Bytes::new(1000), 0.0, ROUND_TRIPS);
    let due = fec.pop().unwrap();
    assert_eq!((due.size, due.protects), (Bytes::new(1128), Protected::of([10, 11, 12]).unwrap()));
    assert_eq!(fec.pop(), None);
}

#[test]
fn packets_that_no_fec_was_due_for_come_under_the_next_within_a_round_trip() {
    let nothing: Vec<Vec<u64>> = Vec::new();
    // A frame of two earns 220 bytes, and an FEC packet costs 1015.
    let made = send(&mut built(|_| {}), &[2; 4], 0.1);
    assert_eq!(made, [nothing.clone(), nothing.clone(), vec![vec![2, 3, 4, 5]], nothing.clone()]);
    let made = send(&mut built(|config| config.reach = Span::ZERO), &[2; 4], 0.1);
    assert_eq!(made, [nothing.clone(), nothing.clone(), vec![vec![4, 5]], nothing]);
}

#[test]
fn a_long_frame_is_covered_slice_by_slice() {
    let made = send(&mut built(|config| config.packets = 10), &[25], 0.1);
    assert_eq!(made[0].len(), 3);
    assert_eq!(made[0][..2], [(0..10).collect::<Vec<_>>(), (10..20).collect()]);
    // With nothing granted, unprotected packets do not pile up.
    let mut fec = built(|config| config.packets = 10);
    assert_eq!(send(&mut fec, &[1000], 0.0), [Vec::<Vec<u64>>::new()]);
    assert_eq!(fec.uncovered.len(), 9);
}

fn for_a_residual_loss() -> Fec {
    built(|config| (config.amount, config.reach) = (Amount::Residual(0.02), Span::ZERO))
}

fn lose_a_twentieth(fec: &mut Fec) {
    let packet = SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(1000));
    for number in 0..2000 {
        let fate = if number % 20 == 0 { Fate::Lost } else { Fate::arrived(Time::ZERO) };
        fec.on_feedback(&Feedback::new(Time::ZERO, Cause::Report, &[Report::new(packet, fate)]));
    }
}

#[test]
fn losses_that_the_sender_caused_ask_for_no_fec_once_they_ended_and_later_ones_do() {
    let mut fec = for_a_residual_loss();
    lose_a_twentieth(&mut fec);
    fec.set_losses_ended(Some(Time::from_millis(1000)));
    assert_eq!(send(&mut fec, &[8], 0.0), [Vec::<Vec<u64>>::new()]);
    fec.flush();
    lose_a_twentieth(&mut fec);
    fec.set_losses_ended(Some(Time::from_millis(1000)));
    assert_eq!(send(&mut fec, &[8], 0.0)[0].len(), 3);
}

#[test]
fn fec_for_a_residual_loss_is_made_frame_by_frame_once_something_is_lost_and_is_given_to_packets_in_pairs() {
    let mut fec = for_a_residual_loss();
    assert_eq!(send(&mut fec, &[8, 3, 1], 0.0), vec![Vec::<Vec<u64>>::new(); 3]);
    fec.flush();
    lose_a_twentieth(&mut fec);
    let made = send(&mut fec, &[8, 3, 1], 0.0);
    let eight = vec![vec![0, 3, 4, 6], vec![0, 1, 4, 5, 7], vec![1, 2, 3, 5]];
    assert_eq!(made, [eight, vec![vec![8, 9, 10]], vec![vec![11]]]);
}

#[test]
fn where_duplicates_are_lost_too_there_may_be_more_than_one() {
    let made = send(&mut built(|config| config.max_per_packet = 2.0), &[2], 0.6);
    assert_eq!(made, [[vec![0], vec![1], vec![0, 1]]]);
}

#[test]
fn what_is_thrown_away_is_not_protected() {
    let mut fec = built(|_| {});
    fec.on_media(Time::ZERO, (0, fragment(0, 0, 2)), Bytes::new(1100), 0.5, ROUND_TRIPS);
    fec.flush();
    fec.on_media(Time::ZERO, (1, fragment(1, 0, 1)), Bytes::new(1100), 0.5, ROUND_TRIPS);
    assert!(core::iter::from_fn(|| fec.pop()).all(|due| due.protects == Protected::of([1]).unwrap()));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |change: &dyn Fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config.build().is_err()
    };
    assert!(refused(&|config| config.packets = 0) && refused(&|config| config.packets = 110));
    assert!(refused(&|config| config.amount = Amount::Share(0.95)));
    assert!(refused(&|config| config.amount = Amount::Residual(0.0)));
    assert!(refused(&|config| config.max_per_packet = f64::NAN));
    assert!(refused(&|config| config.reach = Span::from_millis(-1)));
}

proptest! {
    #[test]
    fn over_a_thousand_frames_the_share_of_fec_is_the_one_granted(
        // A duplicate of every packet is slightly more than half, because it is longer.
        granted in 0.01f64..0.48,
        counts in prop::collection::vec(1u16..60, 1000),
        sizes in prop::collection::vec(200u64..1200, 40),
        retransmissions in 0u64..2000,
    ) {
        let mut fec = built(|_| {});
        let (mut media, mut spent, mut sequence) = (Bytes::ZERO, Bytes::ZERO, 0u64);
        for (frame, count) in counts.iter().enumerate() {
            let now = Time::ZERO + FRAME * frame as i64;
            // The packets of a frame have nearly the same size.
            let size = Bytes::new(if *count == 1 { sizes[frame % 40] } else { 1200 });
            for index in 0..*count {
                fec.on_media(now, (sequence, fragment(frame as u64, index, *count)), size, granted, ROUND_TRIPS);
                media += size;
                sequence += 1;
            }
            spent += core::iter::from_fn(|| fec.pop()).map(|due| due.size).sum();
            // Less than what duplicates leave unspent.
            let other = Bytes::new(retransmissions / 100);
            fec.on_other(other, granted);
            media += other;
        }
        let share = spent.as_f64() / (media + spent).as_f64();
        prop_assert!((share / granted - 1.0).abs() < 0.02, "{share} of {granted}");
    }

    #[test]
    fn every_packet_of_a_frame_comes_under_fec_that_it_earned(count in 1u16..46, granted in 0.35f64..0.5) {
        let made = send(&mut built(|_| {}), &[count], granted);
        let mut covered: Vec<u64> = made[0].iter().flatten().copied().collect();
        covered.sort_unstable();
        prop_assert_eq!(covered, (0..u64::from(count)).collect::<Vec<_>>());
    }
}
