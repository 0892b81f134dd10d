use alloc::vec::Vec;

use super::*;
use crate::frames::Transition;
use thalweg_units::{Bytes, Size};

const EMPTY: StateHash = StateHash(7);

fn target(frame: u64) -> StateHash {
    StateHash(1000 + frame)
}

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// A sender that encodes what is planned and sends it at once.
struct Sender {
    kept: Stateful,
    next: u64,
}

impl Sender {
    fn new(max_states: usize) -> Sender {
        Sender { kept: Config { max_states, ..Config::default() }.build().unwrap(), next: 0 }
    }

    fn queue(&mut self, now: Time) -> Option<u64> {
        let basis = self.kept.basis(now).map(|basis| match basis {
            Basis::After(frame) => frame,
            other => panic!("{other:?}"),
        });
        let transition = Some(Transition { source: basis.map_or(EMPTY, target), target: target(self.next) });
        let (size, picture) = (Bytes::new(1000), Size::HD);
        let keyframe = basis.is_none();
        self.kept.on_queued(
            self.next,
            &EncodedFrame::new(size, picture).with(|frame| {
                frame.keyframe = keyframe;
                frame.transition = transition;
            }),
        );
        self.next += 1;
        basis
    }

    fn send(&mut self, now: Time) -> Option<u64> {
        let basis = self.queue(now);
        self.kept.on_frame_sent(self.next - 1);
        basis
    }

    fn on_report(&mut self, now: Time, position: (u64, u16), current: StateHash, complete: &[u64]) {
        let complete = complete.iter().copied().map(target).collect();
        let (frame, fragment) = position;
        self.kept.on_decoder(now, &DecoderReport { frame, fragment, interarrival: Span::ZERO, current, complete });
    }

    fn forgotten(&mut self) -> Vec<u64> {
        core::iter::from_fn(|| self.kept.poll_forgotten()).collect()
    }
}

/// A sender after this many frames, with frame 1 acknowledged.
fn under_way(frames: u64) -> Sender {
    let mut sender = Sender::new(64);
    (0..frames).for_each(|frame| {
        sender.send(ms(frame));
    });
    sender.on_report(ms(50), (1, 0), target(1), &[0, 1]);
    sender
}

#[test]
fn the_first_frame_is_a_keyframe_and_each_other_follows_the_one_before() {
    let mut sender = Sender::new(64);
    let bases: Vec<_> = (0..4).map(|frame| sender.send(ms(frame))).collect();
    assert_eq!(bases, [None, Some(0), Some(1), Some(2)]);
}

#[test]
fn states_before_the_one_acknowledged_are_forgotten_and_it_and_the_latest_are_not() {
    let mut sender = under_way(5);
    assert_eq!(sender.forgotten(), [0]);
    sender.on_report(ms(60), (4, 0), target(4), &[3, 4]);
    assert_eq!(sender.forgotten(), [1, 2, 3]);
    assert_eq!(sender.send(ms(70)), Some(4));
}

#[test]
fn after_a_loss_frames_are_coded_from_what_is_acknowledged_for_five_seconds_since_the_last() {
    let mut sender = under_way(5);
    sender.on_report(ms(100), (3, 0), StateHash::UNKNOWN, &[0, 1]);
    assert!(sender.kept.is_recovering(ms(5099)));
    assert_eq!(sender.send(ms(101)), Some(1));
    // Frame 5 is based on frame 1, but what arrived before it was damaged.
    sender.on_report(ms(200), (5, 0), StateHash(99), &[0, 1]);
    assert!(sender.kept.is_recovering(ms(5199)) && !sender.kept.is_recovering(ms(5200)));
    // The source advances with what is acknowledged.
    sender.on_report(ms(300), (5, 1), target(5), &[1, 5]);
    assert_eq!((sender.send(ms(301)), sender.send(ms(302))), (Some(5), Some(5)));
    assert_eq!(sender.send(ms(5200)), Some(7), "the last one sent is assumed again");
}

#[test]
fn a_loss_before_anything_was_acknowledged_makes_keyframes_until_one_is() {
    let mut sender = Sender::new(64);
    sender.send(ms(0));
    sender.send(ms(1));
    sender.on_report(ms(50), (1, 0), StateHash::UNKNOWN, &[]);
    assert_eq!((sender.send(ms(60)), sender.send(ms(70))), (None, None));
    sender.on_report(ms(100), (2, 0), target(2), &[2]);
    assert_eq!(sender.send(ms(101)), Some(2));
}

#[test]
fn a_receiver_in_the_middle_of_its_first_frame_has_lost_nothing() {
    let mut sender = Sender::new(64);
    sender.send(ms(0));
    for current in [StateHash::UNKNOWN, EMPTY] {
        sender.on_report(ms(20), (0, 0), current, &[]);
        assert!(!sender.kept.is_recovering(ms(20)));
    }
}

#[test]
fn a_receiver_that_stays_in_a_known_state_and_cannot_decode_what_comes_has_lost_something() {
    let mut sender = under_way(5);
    sender.on_report(ms(60), (2, 0), target(1), &[1]);
    assert!(!sender.kept.is_recovering(ms(60)), "frame 2 follows from 1");
    sender.on_report(ms(61), (3, 0), target(1), &[1]);
    assert!(sender.kept.is_recovering(ms(61)), "frame 3 does not");
}

#[test]
fn stale_reports_change_nothing_and_retransmitted_ones_nothing_more() {
    let mut sender = under_way(5);
    sender.on_report(ms(60), (4, 1), target(4), &[3, 4]);
    sender.forgotten();
    for position in [(4, 0), (2, 7), (0, 0)] {
        sender.on_report(ms(70), position, StateHash::UNKNOWN, &[]);
    }
    // The same packet reported twice, the older report last.
    sender.on_report(ms(71), (4, 1), target(3), &[2, 3]);
    sender.on_report(ms(72), (4, 1), target(4), &[3, 4]);
    assert!(!sender.kept.is_recovering(ms(72)));
    assert_eq!(sender.forgotten(), [0u64; 0]);
    sender.on_report(ms(80), (4, 2), StateHash(1), &[4]);
    assert!(!sender.kept.is_recovering(ms(80)), "frame 4 was decoded, whatever came then");
    assert_eq!(sender.send(ms(81)), Some(4));
}

#[test]
fn a_report_of_a_frame_never_sent_is_nonsense() {
    let mut sender = under_way(5);
    sender.on_report(ms(60), (5, 0), StateHash::UNKNOWN, &[]);
    sender.on_report(ms(60), (u64::MAX, u16::MAX), StateHash::UNKNOWN, &[4]);
    assert!(!sender.kept.is_recovering(ms(60)));
    // True reports after it still count.
    sender.on_report(ms(61), (4, 0), target(4), &[3, 4]);
    assert_eq!(sender.forgotten(), [0, 1, 2, 3]);
}

#[test]
fn what_a_receiver_has_lost_again_is_not_coded_from() {
    let mut sender = under_way(5);
    sender.on_report(ms(60), (4, 0), StateHash::UNKNOWN, &[]);
    assert_eq!(sender.send(ms(61)), None);
}

#[test]
fn as_many_states_are_kept_as_are_allowed_those_that_were_sent_first_and_the_latest() {
    let mut sender = Sender::new(4);
    let mut kept: Vec<u64> = Vec::new();
    for frame in 0..100 {
        if frame == 3 {
            sender.on_report(ms(frame), (2, 0), target(2), &[2]);
        }
        sender.send(ms(frame));
        kept.push(frame);
        let gone = sender.forgotten();
        kept.retain(|frame| !gone.contains(frame));
        assert!(kept.len() <= 4, "{kept:?}");
    }
    assert_eq!(kept, [2, 3, 4, 99]);
    // The last reports before the gap were lost, and the receiver has gone on to 4.
    sender.on_report(ms(200), (99, 0), StateHash::UNKNOWN, &[3, 4]);
    assert_eq!(sender.send(ms(201)), Some(4));
}

#[test]
fn nothing_acknowledged_for_a_minute_is_no_loss_once_it_is() {
    let mut sender = Sender::new(4);
    (0..3000).for_each(|frame| {
        sender.send(ms(frame));
    });
    sender.on_report(ms(3001), (10, 0), target(9), &[8, 9]);
    assert!(!sender.kept.is_recovering(ms(3001)), "the receiver is behind, no more");
    sender.on_report(ms(3002), (2999, 0), target(2998), &[2997, 2998]);
    assert_eq!(sender.send(ms(3003)), Some(2999));
}

#[test]
fn what_is_thrown_away_is_coded_around_from_the_last_frame_that_left() {
    let mut sender = under_way(5);
    sender.forgotten();
    sender.queue(ms(60));
    sender.queue(ms(61));
    sender.kept.on_flushed();
    assert_eq!(sender.forgotten(), [5, 6]);
    assert!(!sender.kept.is_recovering(ms(62)));
    assert_eq!(sender.send(ms(62)), Some(4));
    // Part of frame 5 had left. That the receiver decoded it proves nothing, since it has what frame 7 needs.
    sender.on_report(ms(80), (5, 0), target(4), &[3, 4]);
    sender.on_report(ms(81), (7, 0), StateHash::UNKNOWN, &[3, 4]);
    assert!(!sender.kept.is_recovering(ms(81)));
}

#[test]
fn if_nothing_ever_left_the_next_frame_is_a_keyframe() {
    let mut sender = Sender::new(64);
    sender.queue(ms(0));
    sender.kept.on_flushed();
    assert_eq!(sender.forgotten(), [0]);
    assert_eq!(sender.send(ms(1)), None);
}

#[test]
fn a_frame_without_hashes_is_forgotten_at_once() {
    let mut sender = under_way(2);
    sender.forgotten();
    sender.kept.on_queued(2, &crate::testing::encoded(1));
    assert_eq!((sender.forgotten(), sender.kept.basis(ms(60))), (alloc::vec![2], Some(Basis::After(1))));
}

#[test]
fn of_frames_that_the_receiver_has_passed_only_what_it_names_is_kept() {
    let mut sender = under_way(8);
    sender.forgotten();
    sender.on_report(ms(60), (5, 0), StateHash::UNKNOWN, &[1]);
    assert_eq!(sender.forgotten(), [2, 3, 4]);
    // The assumed state is kept even if the receiver went past it without having it, as after a flush.
    sender.queue(ms(61));
    sender.kept.on_flushed();
    sender.forgotten();
    sender.on_report(ms(90), (8, 0), StateHash::UNKNOWN, &[1]);
    assert_eq!(sender.forgotten(), [5, 6]);
    assert_eq!((sender.send(ms(91)), sender.send(ms(5090))), (Some(1), Some(9)));
}

#[test]
fn a_keyframe_is_kept_without_feedback_for_as_many_frames_as_are_kept() {
    let mut sender = Sender::new(4);
    (0..10).for_each(|frame| {
        sender.send(ms(frame));
    });
    // All were lost except part of the last.
    sender.on_report(ms(20), (9, 0), StateHash::UNKNOWN, &[]);
    assert_eq!((sender.send(ms(21)), sender.send(ms(22)), sender.send(ms(23))), (None, None, None));
    sender.on_report(ms(40), (10, 0), target(10), &[10]);
    assert_eq!(sender.send(ms(41)), Some(10));
}

#[test]
fn a_parameter_out_of_range_is_refused_with_its_value_and_range() {
    let message = |config: Config| alloc::string::ToString::to_string(&config.build().unwrap_err());
    assert!(message(Config { max_states: 1, ..Config::default() }).contains("stateful.max_states is 1"));
    let message = message(Config { recovery_time: Span::ZERO, ..Config::default() });
    assert!(message.contains("above 0") && message.ends_with("such as 5s"), "{message}");
}
