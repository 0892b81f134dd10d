use alloc::vec::Vec;

use proptest::prelude::*;
use thalweg_control::{Acknowledgement, History, LossDetectionConfig, SentPacket};

use super::*;
use crate::testing::fragment;

const SRTT: Span = Span::from_millis(50);
const ROOM: Bytes = Bytes::new(10_000);

/// A sender's media and the receiver's reports on it.
struct World {
    redundant: RedundantPadding,
    history: History,
    next: u64,
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

impl World {
    fn new(config: Config) -> World {
        let redundant = config.build(PacketSizes::default()).unwrap();
        World { redundant, history: History::new(LossDetectionConfig::default()), next: 0 }
    }

    /// A frame of this many packets is captured and leaves at once.
    fn send(&mut self, now: Time, frame: u64, packets: u16) {
        for index in 0..packets {
            let (id, size) = (PacketId(self.next), Bytes::new(1074));
            self.history.on_sent(SentPacket::new(id, now, size));
            let fragment = Fragment { captured: now, ..fragment(frame, (index, packets)) };
            self.redundant.on_media(now, id, (self.next, fragment), size);
            self.next += 1;
        }
    }

    /// The receiver reports which of `packets` arrived.
    fn report(&mut self, now: Time, packets: core::ops::Range<u64>, came: impl Fn(u64) -> bool) {
        let reported: Vec<_> = packets.map(|id| Acknowledgement::new(PacketId(id), came(id).then_some(now))).collect();
        let feedback = self.history.on_report(now, &reported, None);
        self.redundant.on_feedback(&feedback);
    }

    /// The content of the padding packet that leaves now.
    fn next(&mut self, now: Time) -> Option<Content> {
        let (content, _) = self.redundant.head(now, SRTT, ROOM)?;
        self.redundant.on_sent(&content);
        Some(content)
    }

    fn sum(&mut self, now: Time) -> Option<Vec<u64>> {
        match self.next(now) {
            Some(Content::Fec { protects, .. }) => Some(protects.iter().collect()),
            other => {
                assert_eq!(other, None);
                None
            }
        }
    }
}

#[test]
fn the_first_sums_take_packets_far_apart_and_the_second_neighbours() {
    let mut world = World::new(Config { max_group: 3, fec_packets: 2, ..Config::default() });
    world.send(at(0), 0, 6);
    let fec_packets: Vec<_> = core::iter::from_fn(|| world.sum(at(1))).collect();
    assert_eq!(fec_packets, [[0, 2, 4], [1, 3, 5], [0, 1, 2], [3, 4, 5]]);
}

#[test]
fn what_has_arrived_is_in_no_sum_and_a_sum_is_of_as_many_as_lose_one() {
    let mut world = World::new(Config::default());
    world.send(at(0), 0, 20);
    // No losses: FEC packets over 14 at most, so the 20 packets get two of ten each.
    assert_eq!(world.sum(at(1)), Some((0..20).step_by(2).collect()));
    world.report(at(50), 0..20, |_| true);
    assert_eq!(world.sum(at(51)), None);
    // A fifth is lost for a long time: FEC packets over five.
    for frame in 1..100 {
        world.send(at(50 * frame), frame, 20);
        world.report(at(50 * frame + 40), world.next - 20..world.next, |id| id % 5 != 0);
    }
    assert!((world.redundant.loss() - 0.2).abs() < 0.02, "{}", world.redundant.loss());
    world.send(at(5000), 100, 10);
    assert_eq!(world.sum(at(5001)).map(|sum| sum.len()), Some(5));
}

#[test]
fn nothing_is_made_that_would_come_after_the_frame_is_due() {
    let mut world = World::new(Config::default());
    world.send(at(0), 0, 2);
    assert!(world.redundant.head(at(374), SRTT, ROOM).is_some());
    assert_eq!(world.redundant.head(at(375), SRTT, ROOM), None);
}

#[test]
fn a_sum_that_has_no_room_is_not_made() {
    let mut world = World::new(Config::default());
    world.send(at(0), 0, 2);
    let (_, size) = world.redundant.head(at(1), SRTT, ROOM).unwrap();
    assert_eq!(size, Bytes::new(1074 + 20 + 8));
    assert_eq!(world.redundant.head(at(1), SRTT, size - Bytes::new(1)), None);
}

#[test]
fn retransmissions_are_of_what_is_lost_first_and_of_each_packet_once() {
    let mut world = World::new(Config::of(Kind::Rtx));
    world.send(at(0), 0, 8);
    world.report(at(50), 0..8, |id| id > 5);
    world.send(at(60), 1, 2);
    let retransmissions: Vec<_> = core::iter::from_fn(|| world.next(at(61)))
        .map(|content| match content {
            Content::Retransmission { of, .. } => of,
            other => panic!("{other:?}"),
        })
        .collect();
    // More than two later packets overtook 0 to 5, so they come first; then those in flight.
    assert_eq!(retransmissions, [0, 1, 2, 3, 4, 5, 8, 9]);
}

#[test]
fn the_best_is_fec_then_what_is_lost_then_what_is_under_way() {
    let mut world = World::new(Config { fec_packets: 1, ..Config::of(Kind::Best) });
    world.send(at(0), 0, 8);
    world.report(at(50), 0..8, |id| id > 0);
    world.send(at(60), 1, 1);
    assert!(matches!(world.next(at(61)), Some(Content::Fec { .. })));
    assert!(matches!(world.next(at(61)), Some(Content::Retransmission { of: 0, .. })));
    assert!(matches!(world.next(at(61)), Some(Content::Retransmission { of: 8, .. })));
    assert_eq!(world.next(at(61)), None);
}

#[test]
fn a_keyframe_is_wanted_once_losses_are_many_and_padding_could_have_paid_for_it() {
    let mut world = World::new(Config::of(Kind::Keyframe));
    world.send(at(0), 0, 10);
    for frame in 1..60 {
        world.send(at(33 * frame), frame, 10);
        world.report(at(33 * frame + 20), world.next - 10..world.next, |id| id % 4 != 0);
    }
    assert!(!world.redundant.wants_keyframe(at(1990)), "too early");
    assert!(!world.redundant.wants_keyframe(at(2100)), "nothing was saved");
    world.redundant.on_padding(Bytes::new(10 * 1074));
    assert!(world.redundant.wants_keyframe(at(2100)));
    let keyframe = Fragment { keyframe: true, captured: at(2100), ..fragment(60, (0, 1)) };
    world.redundant.on_media(at(2100), PacketId(world.next), (world.next, keyframe), Bytes::new(1074));
    assert!(!world.redundant.wants_keyframe(at(2200)));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let refused = |config: Config| config.build(PacketSizes::default()).is_err();
    assert!(refused(Config { deadline: Span::ZERO, ..Config::default() }));
    assert!(refused(Config { min_group: 0, ..Config::default() }));
    assert!(refused(Config { min_group: 15, ..Config::default() }));
    assert!(refused(Config { max_group: 110, ..Config::default() }));
    assert!(refused(Config { min_loss: 0.0, ..Config::default() }));
    assert!(refused(Config { refresh_loss: 1.0, ..Config::default() }));
    assert!(refused(Config { refresh_interval: Span::from_millis(-1), ..Config::default() }));
}

proptest! {
    #[test]
    fn each_packet_is_under_no_more_sums_than_allowed_and_padding_ends(
        frames in prop::collection::vec(1u16..30, 1..12),
        fec_packets in 1u8..4,
        max_group in 2u16..20,
    ) {
        let mut world = World::new(Config { fec_packets, max_group, ..Config::default() });
        for (frame, packets) in frames.iter().enumerate() {
            world.send(at(33 * frame as u64), frame as u64, *packets);
        }
        let now = at(33 * frames.len() as u64);
        let mut under = alloc::vec![0u8; world.next as usize];
        let mut made = 0;
        while let Some(sum) = world.sum(now) {
            sum.iter().for_each(|sequence| under[*sequence as usize] += 1);
            prop_assert!(sum.len() <= usize::from(max_group));
            made += 1;
            prop_assert!(made <= world.next * u64::from(fec_packets), "padding without end");
        }
        prop_assert!(under.iter().all(|under| *under == fec_packets), "{:?}", under);
    }
}
