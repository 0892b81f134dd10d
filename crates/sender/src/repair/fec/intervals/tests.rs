use alloc::vec::Vec;

use super::super::{Amount, Config, RoundTrips};
use super::*;
use crate::testing::fragment;
use thalweg_types::Fragment;
use thalweg_units::Bytes;

/// Reports once a second make the smoothed round trip long; it does not show how long FEC takes to arrive.
const ROUND_TRIPS: RoundTrips = RoundTrips { smoothed: Span::from_millis(600), path: Span::from_millis(100) };

fn asked(config: Config) -> Fec {
    let mut fec = Config { amount: Amount::Asked, ..config }.build().unwrap();
    fec.set_interval(Some(5));
    fec
}

/// One packet per frame at 30 fps. Returns for each FEC packet after which packet it was due and what it protects.
fn one_packet_frames(fec: &mut Fec, frames: u64, keyframes: u64) -> Vec<(u64, Vec<u64>)> {
    let mut made = Vec::new();
    for number in 0..frames {
        let now = Time::from_millis(33 * number);
        let (keyframe, layer) = (number < keyframes, (number % 2) as u8);
        let fragment = Fragment { captured: now, length: 500, keyframe, layer, ..fragment(number, (0, 1)) };
        fec.on_media(now, (number, fragment), Bytes::new(574), 0.0, ROUND_TRIPS);
        while let Some(due) = fec.pop() {
            made.push((number, due.protects.iter().collect()));
        }
    }
    made
}

#[test]
fn there_is_one_packet_after_every_five_whatever_frames_they_are_of() {
    let made = one_packet_frames(&mut asked(Config::default()), 12, 0);
    assert_eq!(made, [(4, (0..5).collect()), (9, (5..10).collect::<Vec<_>>())]);
}

#[test]
fn a_group_is_closed_while_its_oldest_packet_is_still_of_use() {
    let mut fec = asked(Config { deadline: Some(Span::from_millis(400)), ..Config::default() });
    fec.set_interval(Some(14));
    // 400 ms less half a round trip of 100 ms: packet 0 is useful until 350 ms, so the frame at 330 ms is the last
    // before that.
    let made = one_packet_frames(&mut fec, 12, 0);
    assert_eq!(made, [(10, (0..11).collect::<Vec<_>>())]);
}

#[test]
fn nothing_is_made_unless_it_is_asked_for() {
    let mut fec = asked(Config::default());
    fec.set_interval(None);
    assert_eq!(one_packet_frames(&mut fec, 20, 0), []);
    fec.set_interval(Some(2));
    assert_eq!(one_packet_frames(&mut fec, 2, 0).len(), 1);
}

#[test]
fn keyframes_and_lower_layers_are_protected_more_if_they_weigh_more() {
    let made = one_packet_frames(&mut asked(Config { keyframe_weight: 5.0, ..Config::default() }), 7, 2);
    assert_eq!(made, [(0, alloc::vec![0]), (1, alloc::vec![1]), (6, (2..7).collect())]);
    // The base layer counts two and a half times, the rest not at all.
    let config = Config { layer_weights: [2.5, 0.0, 0.0, 0.0], ..Config::default() };
    let made = one_packet_frames(&mut asked(config), 4, 0);
    assert_eq!(made, [(2, alloc::vec![0, 2])]);
}
