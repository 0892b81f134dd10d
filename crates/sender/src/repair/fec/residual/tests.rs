use super::*;
use alloc::vec::Vec;
use thalweg_control::{PacketId, Report, SentPacket};
use thalweg_units::{Bytes, Ecn, Time};

/// Returns true if all of `media` packets are here or recovered, of which those in the set `lost` were lost, and of
/// `fec` packets those in its bits above.
fn is_whole(media: usize, fec: usize, lost: u32) -> bool {
    let mut missing: Vec<usize> = (0..media).filter(|packet| lost & (1 << packet) != 0).collect();
    let came: Vec<usize> = (0..fec).filter(|number| lost & (1 << (media + number)) == 0).collect();
    loop {
        let of = |number: &usize| missing.iter().copied().filter(|packet| protects(*number, *packet, fec)).collect();
        let single = |under: Vec<usize>| if let [packet] = under[..] { Some(packet) } else { None };
        let Some(recovered) = came.iter().map(of).find_map(single) else { return missing.is_empty() };
        missing.retain(|packet| *packet != recovered);
    }
}

/// The probability that a frame stays incomplete, over all patterns.
fn residual(media: usize, fec: usize, loss: f64) -> f64 {
    let patterns = 0u32..1 << (media + fec);
    let probability = |lost: u32| {
        let count = f64::from(lost.count_ones());
        libm::pow(loss, count) * libm::pow(1.0 - loss, (media + fec) as f64 - count)
    };
    patterns.filter(|lost| !is_whole(media, fec, *lost)).map(probability).sum()
}

#[test]
fn any_lost_packet_is_recovered_and_in_frames_of_less_than_two_rounds_any_burst_as_long_as_a_round() {
    for fec in (1..12).step_by(2) {
        assert!((fec..20).all(|media| (0..media).all(|packet| is_whole(media, fec, 1 << packet))), "{fec}");
        let burst = (1u32 << fec) - 1;
        assert!(
            (fec..2 * fec).all(|media| (0..=media - fec).all(|first| is_whole(media, fec, burst << first))),
            "{fec}"
        );
    }
}

#[test]
fn frames_stay_incomplete_about_as_rarely_as_they_are_meant_to() {
    for (media, loss) in [(1, 0.05), (3, 0.05), (5, 0.05), (8, 0.05), (8, 0.02), (10, 0.01), (8, 0.1), (4, 0.1)] {
        let fec = Loss(loss).needs(media, 0.02);
        let residual = residual(media, fec, loss);
        assert!(residual < 0.03, "{media} packets with {fec}: {residual}");
    }
    assert!((residual(8, 3, 0.05) - 0.015).abs() < 5e-4 && (residual(8, 4, 0.05) - 0.009).abs() < 5e-4);
}

#[test]
fn larger_frames_and_more_losses_need_more_fec_and_none_needs_none() {
    let needs = |packets: usize| [0.0, 0.001, 0.01, 0.03, 0.1, 0.5].map(|loss| Loss(loss).needs(packets, 0.02));
    assert_eq!(needs(3), [0, 0, 1, 1, 3, 3]);
    assert_eq!(needs(12), [0, 0, 1, 3, 9, 12]);
    assert_eq!(Loss(1.0).needs(12, 0.02), 12);
}

#[test]
fn the_loss_is_that_of_the_last_few_hundred_packets_and_a_late_packet_counts_once() {
    let fed = |loss: &mut Loss, fate: Fate, times: u64, cause: Cause| {
        for id in 0..times {
            let packet = SentPacket::new(PacketId(id), Time::ZERO, Bytes::new(1000));
            loss.on_feedback(&Feedback::new(Time::ZERO, cause, &[Report::new(packet, fate)]), false);
        }
    };
    let came = |was_lost| Fate::Arrived { at: Time::ZERO, ecn: Ecn::NotCapable, was_lost };
    let mut loss = Loss::default();
    for _ in 0..200 {
        fed(&mut loss, Fate::Lost, 1, Cause::Report);
        fed(&mut loss, came(true), 1, Cause::Report);
        fed(&mut loss, came(false), 19, Cause::Report);
    }
    assert!((loss.0 - 0.05).abs() < 0.005, "{loss:?}");
    fed(&mut loss, Fate::Lost, 1000, Cause::FeedbackTimeout);
    assert!((loss.0 - 0.05).abs() < 0.005, "{loss:?}");
    fed(&mut loss, came(false), 1000, Cause::Report);
    assert!(loss.0 < 0.002, "{loss:?}");
}

#[test]
fn a_late_packet_does_not_count_where_it_is_taken_back() {
    let lost = |takes_back: bool| {
        let mut loss = Loss::default();
        for id in 0..1000 {
            let packet = SentPacket::new(PacketId(id), Time::ZERO, Bytes::new(1000));
            for fate in [Fate::Lost, Fate::late(Time::ZERO), Fate::arrived(Time::ZERO), Fate::arrived(Time::ZERO)] {
                loss.on_feedback(&Feedback::new(Time::ZERO, Cause::Report, &[Report::new(packet, fate)]), takes_back);
            }
        }
        loss.0
    };
    assert!((0.3..0.36).contains(&lost(false)), "{}", lost(false));
    assert!(lost(true) < 0.01, "{}", lost(true));
}
