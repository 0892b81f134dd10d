use alloc::vec::Vec;

use super::*;
use thalweg_control::{Cause, FramePlace, PacketId, SentPacket};
use thalweg_units::Bytes;

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn report(frame: u64, fate: Fate) -> Report {
    let place =
        Some(FramePlace { frame, first: true, last: true, offset: Bytes::ZERO, captured: ms(0), keyframe: false });
    let mut packet = SentPacket::new(PacketId(frame), ms(0), Bytes::new(1000));
    packet.place = place;
    Report::new(packet, fate)
}

fn at(millis: u64) -> Fate {
    Fate::arrived(ms(millis))
}

struct Sender {
    buffers: LongTermBuffers,
    next: u64,
}

impl Sender {
    fn new() -> Sender {
        Sender { buffers: Config::default().build().unwrap(), next: 0 }
    }

    /// Sends a frame of this many packets. Returns what it refers to and the buffer it is kept in; `None` for a
    /// keyframe.
    fn send(&mut self, now: u64, packets: u16) -> Option<Buffers> {
        self.send_if(now, packets, false)
    }

    /// The same while packets in flight may never arrive.
    fn send_in_doubt(&mut self, now: u64, packets: u16) -> Option<Buffers> {
        self.send_if(now, packets, true)
    }

    fn send_if(&mut self, now: u64, packets: u16, in_doubt: bool) -> Option<Buffers> {
        let basis = self.buffers.basis(ms(now), in_doubt).map(|basis| match basis {
            Basis::Buffers(buffers) => buffers,
            other => panic!("{other:?}"),
        });
        self.buffers.on_queued(self.next, basis.is_none(), packets);
        self.next += 1;
        basis
    }

    fn on_report(&mut self, now: u64, reported: &[(u64, Fate)]) {
        let reports: Vec<Report> = reported.iter().map(|(frame, fate)| report(*frame, *fate)).collect();
        self.buffers.on_feedback(&Feedback::new(ms(now), Cause::Report, &reports));
    }
}

/// A sender whose keyframe arrived and whose frame 1, to be kept in the second buffer, is in flight.
fn begun() -> Sender {
    let mut sender = Sender::new();
    sender.send(0, 2);
    sender.on_report(30, &[(0, at(10)), (0, at(11))]);
    sender.send(33, 1);
    sender
}

fn last_and(long_term: (LongTerm, u64), kept_in: Option<LongTerm>) -> Option<Buffers> {
    Some(Buffers { last: true, long_term: Some(long_term), kept_in, becomes_last: true, sendable: true })
}

fn only(long_term: (LongTerm, u64), kept_in: Option<LongTerm>) -> Option<Buffers> {
    Some(Buffers { last: false, long_term: Some(long_term), kept_in, becomes_last: true, sendable: true })
}

#[test]
fn what_is_known_to_have_come_and_what_is_on_its_way_change_places_between_the_two_buffers() {
    let mut sender = Sender::new();
    assert_eq!(sender.send(0, 2), None);
    assert_eq!(sender.send(5, 1), last_and((FIRST, 0), None), "nothing can be kept beside a keyframe on its way");
    sender.on_report(30, &[(0, at(10))]);
    assert_eq!(sender.send(33, 1), last_and((FIRST, 0), None), "half of it came");
    sender.on_report(35, &[(0, at(11)), (1, at(15)), (2, at(43))]);
    assert_eq!(sender.send(66, 1), last_and((FIRST, 0), Some(SECOND)));
    assert_eq!(sender.send(99, 1), last_and((FIRST, 0), None), "frame 3 is on its way");
    sender.on_report(100, &[(3, at(76))]);
    assert_eq!(sender.send(133, 1), last_and((SECOND, 3), Some(FIRST)));
    sender.on_report(160, &[(4, at(110)), (5, at(143))]);
    assert_eq!(sender.send(166, 1), last_and((FIRST, 5), Some(SECOND)));
}

#[test]
fn after_a_loss_frames_refer_to_the_acknowledged_picture_alone_for_five_seconds_since_the_last() {
    let mut sender = begun();
    sender.send(66, 1);
    sender.on_report(90, &[(1, at(43)), (2, Fate::Lost)]);
    assert_eq!(sender.send(99, 1), only((SECOND, 1), Some(FIRST)));
    assert!(sender.buffers.is_recovering(ms(5089)) && !sender.buffers.is_recovering(ms(5090)));
    sender.send(132, 1);
    sender.on_report(150, &[(4, Fate::Lost)]);
    assert_eq!(sender.send(5149, 1), only((SECOND, 1), None));
    assert_eq!(sender.send(5150, 1), last_and((SECOND, 1), None));
}

#[test]
fn a_lost_keyframe_is_followed_by_another_and_that_by_frames_that_refer_to_it() {
    let mut sender = Sender::new();
    sender.send(0, 2);
    sender.send(33, 1);
    sender.on_report(60, &[(0, at(10)), (0, Fate::Lost)]);
    assert_eq!(sender.send(66, 1), None);
    assert_eq!(sender.send(99, 1), only((FIRST, 2), None), "one keyframe at a time");
    sender.on_report(120, &[(2, at(76)), (3, at(109))]);
    assert_eq!(sender.send(132, 1), only((FIRST, 2), Some(SECOND)));
}

#[test]
fn a_lost_keyframe_is_retransmitted_even_when_recovery_is_over() {
    let mut sender = Sender::new();
    sender.send(0, 1);
    sender.on_report(60, &[(0, Fate::Lost)]);
    assert_eq!(sender.send(9000, 1), None);
}

#[test]
fn a_lost_candidate_makes_room_for_another_and_coming_late_is_not_referred_to() {
    let mut sender = begun();
    sender.on_report(90, &[(1, Fate::Lost)]);
    assert_eq!(sender.send(99, 1), only((FIRST, 0), Some(SECOND)));
    sender.on_report(100, &[(1, Fate::late(ms(80)))]);
    assert_eq!(sender.send(132, 1), only((FIRST, 0), None));
    sender.on_report(150, &[(2, at(109)), (3, at(142))]);
    assert_eq!(sender.send(165, 1), only((SECOND, 2), Some(FIRST)));
}

#[test]
fn a_candidate_that_follows_from_a_lost_frame_was_not_decoded_although_it_came() {
    let mut sender = begun();
    sender.on_report(50, &[(1, at(43))]);
    // Frame 3 is kept in the first buffer but depends on frame 2.
    sender.buffers.candidate = Some((FIRST, 99));
    sender.send(66, 1);
    sender.buffers.candidate = None;
    assert_eq!(sender.send(99, 1), last_and((SECOND, 1), Some(FIRST)));
    sender.on_report(120, &[(2, Fate::Lost), (3, at(109))]);
    assert_eq!(sender.send(132, 1), only((SECOND, 1), None), "the outcome of 3 is open");
    sender.on_report(160, &[(4, at(142))]);
    assert_eq!(sender.send(165, 1), only((SECOND, 1), Some(FIRST)), "4 was decoded without it");
}

/// In recovery: frame 2 is kept in the second buffer, and frame 3 does not depend on it.
fn two_that_do_without_one_another() -> Sender {
    let mut sender = begun();
    sender.on_report(60, &[(1, Fate::Lost)]);
    assert_eq!(sender.send(66, 1), only((FIRST, 0), Some(SECOND)));
    assert_eq!(sender.send(99, 1), only((FIRST, 0), None));
    sender
}

#[test]
fn of_frames_that_overtook_one_another_the_older_was_not_decoded() {
    let mut sender = two_that_do_without_one_another();
    sender.on_report(130, &[(2, at(115)), (3, at(109))]);
    assert_eq!(sender.send(132, 1), only((FIRST, 0), Some(SECOND)));
}

#[test]
fn a_frame_is_not_known_to_be_decoded_while_a_later_one_may_have_been_there_before_it() {
    let mut sender = two_that_do_without_one_another();
    sender.on_report(130, &[(2, at(115))]);
    assert_eq!(sender.send(132, 1), only((FIRST, 0), None));
    let mut later = sender;
    let mut sooner = Sender { buffers: later.buffers.clone(), next: later.next };
    later.on_report(140, &[(3, at(116))]);
    assert_eq!(later.send(165, 1), only((SECOND, 2), Some(FIRST)));
    // This also decides whether frame 4 was decoded before frame 3.
    sooner.on_report(170, &[(3, at(114)), (4, at(149))]);
    assert_eq!(sooner.send(165, 1), only((FIRST, 0), Some(SECOND)));
}

#[test]
fn a_frame_that_was_overtaken_on_its_way_to_the_decoder_is_not_referred_to_where_the_receiver_leaves_such_a_one_out() {
    // Frame 1 came at 115 ms, and frame 2, which does without it, this much later.
    for (follows, expected) in [(215, last_and((FIRST, 0), Some(SECOND))), (216, last_and((SECOND, 1), Some(FIRST)))] {
        let mut sender = begun();
        sender.buffers.expect_overtaking();
        assert_eq!(sender.send_in_doubt(66, 1), only((FIRST, 0), None));
        sender.on_report(220, &[(1, at(115)), (2, at(follows))]);
        assert_eq!(sender.send(225, 1), expected, "{follows}");
    }
}

#[test]
fn where_frames_are_left_out_those_of_a_recovery_need_the_one_that_is_to_be_kept_so_that_none_overtakes_it() {
    let mut sender = begun();
    sender.buffers.expect_overtaking();
    sender.on_report(60, &[(1, Fate::Lost)]);
    assert_eq!(sender.send(309, 1), only((FIRST, 0), None), "each by itself, for 250 ms");
    assert_eq!(sender.send(310, 1), only((FIRST, 0), Some(SECOND)));
    assert_eq!(sender.send(343, 1), only((SECOND, 3), None));
    assert_eq!(sender.send(376, 1), only((SECOND, 3), None));
    // However close they come.
    sender.on_report(400, &[(3, at(390)), (4, at(390)), (5, at(391))]);
    assert_eq!(sender.send(524, 1), only((SECOND, 3), None), "half as long after one that arrived");
    assert_eq!(sender.send(525, 1), only((SECOND, 3), Some(FIRST)));
    assert_eq!(sender.send(558, 1), only((FIRST, 7), None));
    sender.on_report(560, &[(7, Fate::Lost)]);
    assert_eq!(sender.send(591, 1), only((SECOND, 3), None), "only what is acknowledged is sure");
}

#[test]
fn a_frame_on_its_way_is_needed_no_longer_than_until_a_later_one_is_known_to_be_whole() {
    let mut sender = begun();
    sender.buffers.expect_overtaking();
    sender.on_report(60, &[(1, Fate::Lost)]);
    assert_eq!(sender.send(310, 2), only((FIRST, 0), Some(SECOND)));
    assert_eq!(sender.send(343, 1), only((SECOND, 2), None));
    // The report on the other of its two packets is lost.
    sender.on_report(360, &[(2, at(350))]);
    assert_eq!(sender.send(376, 1), only((SECOND, 2), None));
    sender.on_report(390, &[(3, at(380))]);
    assert_eq!(sender.send(409, 1), only((FIRST, 0), None));
}

#[test]
fn a_keyframe_that_a_later_frame_overtakes_is_not_followed_by_another() {
    let mut sender = Sender::new();
    sender.buffers.expect_overtaking();
    sender.send(0, 1);
    sender.on_report(60, &[(0, Fate::Lost)]);
    assert_eq!(sender.send(66, 2), None);
    assert_eq!(sender.send(99, 1), only((FIRST, 1), None));
    sender.on_report(120, &[(1, at(80)), (2, at(110))]);
    assert_eq!(sender.send(132, 1), only((FIRST, 1), None), "its other packet may still come");
}

#[test]
fn where_three_frames_that_are_to_be_kept_are_lost_in_turn_frames_do_without_one_another_for_ten_seconds() {
    let mut sender = begun();
    sender.buffers.expect_overtaking();
    let mut now = 60;
    sender.on_report(now, &[(1, Fate::Lost)]);
    for waits in [250, 500] {
        assert_eq!(sender.send(now + waits - 1, 1), only((FIRST, 0), None), "{waits}");
        let kept = sender.next;
        assert_eq!(sender.send(now + waits, 1), only((FIRST, 0), Some(SECOND)), "{waits}");
        assert_eq!(sender.send(now + waits + 33, 1), only((SECOND, kept), None), "{waits}");
        now += waits + 50;
        sender.on_report(now, &[(kept, Fate::Lost)]);
    }
    for after in [1, 9_000] {
        // And each that arrives is referred to once it is known to have been decoded, whatever is lost.
        let kept = sender.next;
        sender.send(now + after, 1);
        assert_eq!(sender.buffers.candidate.map(|(_, frame)| frame), Some(kept), "{after}");
        assert_eq!(sender.send(now + after + 33, 1).unwrap().long_term, Some((FIRST, 0)), "{after}");
        sender.on_report(now + after + 50, &[(kept, Fate::Lost), (kept + 1, Fate::Lost)]);
    }
    let kept = sender.next;
    assert_eq!(sender.send(now + 10_000, 1), only((FIRST, 0), Some(SECOND)));
    assert_eq!(sender.send(now + 10_033, 1), only((SECOND, kept), None));
}

#[test]
fn what_needs_a_lost_frame_is_not_referred_to_where_frames_need_what_is_on_its_way() {
    for overtakes in [true, false] {
        let mut sender = begun();
        if overtakes {
            sender.buffers.expect_overtaking();
        }
        assert_eq!(sender.send(66, 1), last_and((FIRST, 0), None));
        sender.on_report(70, &[(1, at(43))]);
        assert_eq!(sender.send(99, 1), last_and((SECOND, 1), Some(FIRST)), "it needs the frame before");
        sender.on_report(120, &[(2, Fate::Lost)]);
        assert_eq!(sender.send(132, 1), only((SECOND, 1), None));
        assert_eq!(sender.buffers.candidate.is_none(), overtakes);
    }
}

#[test]
fn a_frame_queued_after_the_report_of_an_arrival_was_not_there_before_it() {
    let mut sender = two_that_do_without_one_another();
    sender.on_report(130, &[(2, at(105)), (3, Fate::Lost)]);
    sender.send(132, 1);
    sender.on_report(170, &[(4, at(150))]);
    // Frame 3 may have arrived before frame 2, its report being lost. Frame 4 cannot have; once frame 4 is decoded, all
    // earlier frames are decided.
    assert_eq!(sender.send(175, 1), only((FIRST, 0), Some(SECOND)));
    sender.on_report(200, &[(5, at(190))]);
    assert_eq!(sender.send(205, 1), only((SECOND, 5), Some(FIRST)));
}

#[test]
fn what_is_thrown_away_is_referred_to_no_more() {
    let mut sender = begun();
    sender.buffers.on_flushed(ms(40));
    assert_eq!(sender.send(66, 1), only((FIRST, 0), Some(SECOND)));
    let mut sender = Sender::new();
    sender.send(0, 2);
    sender.buffers.on_flushed(ms(10));
    assert_eq!(sender.send(33, 1), None, "the keyframe was thrown away");
}

#[test]
fn a_feedback_timeout_is_the_loss_of_everything_and_the_acknowledged_picture_outlives_it() {
    let mut sender = begun();
    (2..60).for_each(|frame| {
        sender.send(33 * frame, 1);
    });
    let all: Vec<_> = (1..60).map(|frame| (frame, Fate::Lost)).collect();
    sender.on_report(2000, &all);
    assert_eq!(sender.send(2010, 1), only((FIRST, 0), Some(SECOND)));
    sender.on_report(2100, &[(60, at(2050))]);
    assert_eq!(sender.send(2110, 1), only((SECOND, 60), Some(FIRST)));
}

#[test]
fn what_is_remembered_of_frames_is_bounded_whatever_is_reported_of_them() {
    let mut sender = begun();
    sender.on_report(60, &[(1, Fate::Lost)]);
    for frame in 2..5000 {
        sender.send(60, 1);
        // All frames arrive but the candidates.
        if sender.buffers.candidate.is_none_or(|(_, candidate)| candidate != frame) {
            sender.on_report(60, &[(frame, at(frame))]);
        }
        assert!(sender.buffers.deliveries.remembered() <= 600);
    }
}

#[test]
fn a_parameter_out_of_range_is_refused_with_its_value_and_range() {
    let refused = Config { recovery_time: Span::ZERO }.build().unwrap_err();
    assert!(alloc::string::ToString::to_string(&refused).contains("long_term.recovery_time is 0"));
}

#[test]
fn a_frame_whose_report_is_lost_is_not_waited_for_any_longer_than_64_frames() {
    let mut sender = Sender::new();
    sender.send(0, 1);
    sender.on_report(40, &[(0, at(20))]);
    // It is to be kept, and nothing is ever said of it.
    assert_eq!(sender.send(33, 1).and_then(|buffers| buffers.kept_in), Some(SECOND));
    for frame in 2..=65 {
        assert_eq!(sender.send(33 * frame, 1), last_and((FIRST, 0), None));
        sender.on_report(33 * frame + 40, &[(frame, at(33 * frame + 20))]);
    }
    // What refers to it cannot be known to be decoded either.
    assert_eq!(sender.send(2200, 1), only((FIRST, 0), Some(SECOND)));
    sender.on_report(2240, &[(66, at(2220))]);
    assert_eq!(sender.send(3300, 1), only((SECOND, 66), Some(FIRST)));
}
