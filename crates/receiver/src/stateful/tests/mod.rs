mod any_order;

use std::collections::BTreeSet;

use super::*;
use crate::{MessageReader, Receiver};
use thalweg_control::estimate::{Grace, Smoothing};
use thalweg_control::{PacketId, SentPacket};
use thalweg_types::feedback::{DecoderReport, RtcpFeedback};
use thalweg_types::{FeedbackStyle, ReceiverKind, Transition};
use thalweg_units::Bytes;

/// The initial state of every decoder.
const INITIAL: StateHash = StateHash(7);

/// The state that a frame leads to.
fn state(frame: u64) -> StateHash {
    StateHash(1000 + frame)
}

fn states(frames: &[u64]) -> Vec<StateHash> {
    frames.iter().copied().map(state).collect()
}

/// The paper's settings, for which tau exists from the first packet on.
fn paper() -> StatefulReceiver {
    StatefulReceiver { smoothing: Smoothing::PAPER, grace: Grace::EveryPacket, ..StatefulReceiver::default() }
}

/// A fragment of frame `frame`, which follows frame `source` or is a keyframe.
fn fragment(frame: u64, source: Option<u64>, place: (u16, u16)) -> Fragment {
    let transition = Some(Transition { source: source.map_or(INITIAL, state), target: state(frame) });
    let (picture, captured) = (2 * frame, Time::from_millis(frame));
    Fragment { picture, captured, transition, ..crate::tests::fragment(frame, place, source) }
}

struct Talk {
    receiver: Receiver,
    reader: MessageReader,
    sent: u64,
    at: Time,
}

impl Talk {
    fn new(config: StatefulReceiver) -> Talk {
        let kind = ReceiverKind::Stateful(config);
        let receiver = Receiver::new(kind, FeedbackStyle::PerPacket, Span::from_secs(5)).unwrap();
        Talk { receiver, reader: MessageReader::default(), sent: 0, at: Time::ZERO }
    }

    /// A packet arrives this long after the previous one; its sender paused for `grace`.
    fn packet(&mut self, later: Span, grace: Span, fragment: Option<Fragment>) -> Vec<(u64, Moves)> {
        self.at += later;
        let sequence = self.sent;
        self.sent += 1;
        let sent = SentPacket::new(PacketId(sequence), Time::ZERO, Bytes::new(1100));
        let content = fragment.map_or(Content::Padding, |fragment| Content::Media { sequence, fragment });
        let packet =
            Packet { sent, grace, before: Bytes::ZERO, requests_feedback: true, report_may_wait: false, content };
        self.reader.on_sent(&packet);
        let ready = self.receiver.on_packet(self.at, &packet);
        ready.into_iter().map(|ready| (ready.info.frame, ready.moves.unwrap())).collect()
    }

    fn fragment(&mut self, frame: u64, source: Option<u64>, place: (u16, u16)) -> Vec<(u64, Moves)> {
        self.packet(Span::from_millis(1), Span::ZERO, Some(fragment(frame, source, place)))
    }

    /// A frame of one packet arrives; returns the decoder's instructions.
    fn frame(&mut self, frame: u64, source: Option<u64>) -> Moves {
        let mut ready = self.fragment(frame, source, (0, 1));
        assert_eq!(ready.iter().map(|ready| ready.0).collect::<Vec<_>>(), [frame]);
        ready.remove(0).1
    }

    /// The decoder state in the next report.
    fn report(&mut self) -> Option<DecoderReport> {
        let report = self.receiver.poll_report(self.at).expect("each packet is reported at once");
        self.reader.read(report).into_iter().find_map(|feedback| match feedback {
            RtcpFeedback::Decoder(report) => Some(report),
            _ => None,
        })
    }

    fn kept(&mut self) -> (StateHash, Vec<StateHash>) {
        let report = self.report().unwrap();
        (report.current, report.complete)
    }

    fn abandoned(&mut self) -> Vec<u64> {
        std::iter::from_fn(|| self.receiver.poll_abandoned()).collect()
    }
}

fn exactly(forget: &[u64], load: Option<StateHash>, target: u64) -> Moves {
    Moves { forget: states(forget), load, length: None, target: Some(state(target)) }
}

/// The instructions for decoding an incomplete frame as it is.
fn damaged(length: Option<u32>) -> Moves {
    Moves { forget: Vec::new(), load: None, length, target: None }
}

#[test]
fn before_its_first_whole_frame_a_receiver_is_where_every_decoder_begins() {
    let mut talk = Talk::new(paper());
    assert_eq!(talk.fragment(0, None, (1, 2)), []);
    let report = talk.report().unwrap();
    assert_eq!((report.frame, report.fragment, report.interarrival), (0, 1, Span::ZERO));
    assert_eq!((report.current, report.complete), (INITIAL, vec![]));
    assert_eq!(talk.fragment(0, None, (0, 2)), [(0, exactly(&[], None, 0))]);
    assert_eq!(talk.kept(), (state(0), states(&[0])));
}

#[test]
fn a_receiver_that_missed_the_first_frame_is_nowhere_until_a_keyframe_comes() {
    let mut talk = Talk::new(paper());
    assert_eq!(talk.frame(1, Some(0)), damaged(None));
    assert_eq!(talk.kept(), (StateHash::UNKNOWN, vec![]));
    assert_eq!(talk.abandoned(), [0]);
    assert_eq!(talk.frame(2, None), exactly(&[], Some(INITIAL), 2));
    assert_eq!(talk.kept(), (state(2), states(&[2])));
}

#[test]
fn a_late_packet_of_an_older_frame_is_no_sign_of_anything() {
    let mut talk = Talk::new(paper());
    talk.frame(0, None);
    talk.fragment(1, Some(0), (0, 2));
    talk.packet(Span::from_millis(10), Span::ZERO, Some(fragment(2, Some(1), (0, 2))));
    let _ = talk.report();
    talk.packet(Span::from_millis(10), Span::ZERO, Some(fragment(2, Some(1), (0, 2))));
    let before = talk.report().unwrap();
    for late in [fragment(1, Some(0), (1, 2)), fragment(0, None, (0, 1))] {
        assert_eq!(talk.packet(Span::from_millis(10), Span::ZERO, Some(late)), []);
        assert_eq!(talk.report().unwrap(), before);
    }
    // The time since the last counted arrival is 30 ms.
    talk.packet(Span::from_millis(10), Span::ZERO, Some(fragment(3, Some(2), (0, 2))));
    let micros = |span: Span| span.as_nanos() as f64 / 1000.0;
    let expected = 0.9 * micros(before.interarrival) + 0.1 * 30_000.0;
    assert!((micros(talk.report().unwrap().interarrival) - expected).abs() < 2.0);
}

#[test]
fn a_newer_frame_ends_an_older_one_of_which_the_beginning_is_decoded() {
    let mut talk = Talk::new(paper());
    talk.frame(0, None);
    for index in [0, 3, 1] {
        assert_eq!(talk.fragment(1, Some(0), (index, 4)), []);
    }
    assert_eq!(talk.fragment(4, Some(3), (1, 2)), [(1, damaged(Some(2000)))]);
    assert_eq!(talk.abandoned(), [2, 3]);
    // The sender does not know the resulting state.
    assert_eq!(talk.kept(), (StateHash::UNKNOWN, states(&[0])));
}

#[test]
fn what_has_no_beginning_or_is_not_to_be_shown_damaged_is_given_up() {
    let mut talk = Talk::new(paper());
    talk.frame(0, None);
    talk.fragment(1, Some(0), (1, 4));
    assert_eq!(talk.fragment(2, Some(1), (0, 2)), []);
    assert_eq!(talk.abandoned(), [1]);
    let mut talk = Talk::new(StatefulReceiver { shows_damage: false, ..paper() });
    talk.frame(0, None);
    talk.fragment(1, Some(0), (0, 4));
    assert_eq!(talk.fragment(2, Some(1), (0, 1)), [], "nor is a whole frame after a state that is missing");
    assert_eq!((talk.abandoned(), talk.kept()), (vec![1, 2], (StateHash::UNKNOWN, states(&[0]))));
}

#[test]
fn a_frame_says_which_state_to_go_back_to_and_so_which_to_forget() {
    let mut talk = Talk::new(paper());
    assert_eq!(talk.frame(0, None), exactly(&[], None, 0));
    assert_eq!(talk.frame(1, Some(0)), exactly(&[], None, 1));
    assert_eq!(talk.frame(2, Some(1)), exactly(&[0], None, 2));
    // 3 is lost. 4 was sent before that was known; from 5 on decoding is correct again.
    assert_eq!(talk.frame(4, Some(3)), damaged(None));
    assert_eq!(talk.frame(5, Some(1)), exactly(&[], Some(state(1)), 5));
    assert_eq!(talk.frame(6, Some(1)), exactly(&[], Some(state(1)), 6));
    assert_eq!(talk.frame(7, Some(2)), exactly(&[1], Some(state(2)), 7));
    assert_eq!(talk.frame(8, Some(7)), exactly(&[2, 5, 6], None, 8));
    let _ = talk.report();
    assert_eq!(talk.abandoned(), [3]);
    // A dropped state is treated as one that never existed.
    assert_eq!(talk.frame(9, Some(6)), damaged(None));
    assert_eq!(talk.kept(), (StateHash::UNKNOWN, states(&[7, 8])));
}

#[test]
fn a_keyframe_forgets_nothing() {
    let mut talk = Talk::new(paper());
    (0..4).for_each(|frame| drop(talk.frame(frame, frame.checked_sub(1))));
    assert_eq!(talk.frame(4, None), exactly(&[], Some(INITIAL), 4));
    assert_eq!(talk.kept(), (state(4), states(&[2, 3, 4])));
}

#[test]
fn a_sender_that_hears_nothing_may_use_one_state_again_and_again_and_memory_is_bounded() {
    let mut talk = Talk::new(StatefulReceiver { max_states: 5, ..paper() });
    talk.frame(0, None);
    let mut had = BTreeSet::from([state(0)]);
    for frame in 1..100 {
        let moves = talk.frame(frame, Some(0));
        assert_eq!((moves.load, moves.target), ((frame > 1).then_some(state(0)), Some(state(frame))));
        assert!(moves.forget.iter().all(|gone| *gone != state(0) && had.remove(gone)));
        had.insert(state(frame));
        assert!(had.len() <= 5);
    }
    let (_, complete) = talk.kept();
    assert_eq!(complete.iter().copied().collect::<BTreeSet<_>>(), had);
    assert!(complete.starts_with(&states(&[0])) && complete.ends_with(&states(&[98, 99])));
    for wrong in [0, 1, 146] {
        let message = Stateful::new(StatefulReceiver { max_states: wrong, ..paper() }).unwrap_err().to_string();
        assert!(message.contains(&wrong.to_string()) && message.contains("2 to 145, such as 64"), "{message}");
    }
}

#[test]
fn the_largest_report_holds_the_most_states() {
    let mut talk = Talk::new(StatefulReceiver { max_states: MAX_STATES, ..paper() });
    talk.frame(0, None);
    (1..300).for_each(|frame| drop(talk.frame(frame, Some(0))));
    let report = talk.receiver.poll_report(talk.at).unwrap();
    // 62 bytes of an acknowledgement and its headers.
    assert_eq!(report.size, Bytes::new(62 + 36 + 8 * MAX_STATES as u64));
    let feedback = talk.reader.read(report);
    assert!(
        matches!(&feedback[0], RtcpFeedback::Decoder(report) if report.complete.len() == MAX_STATES),
        "{feedback:?}"
    );
}

#[test]
fn what_did_not_lead_where_it_was_to_is_not_gone_back_to() {
    let mut talk = Talk::new(paper());
    talk.frame(0, None);
    talk.frame(1, Some(0));
    talk.receiver.on_disagreement(state(1));
    assert_eq!(talk.kept(), (StateHash::UNKNOWN, states(&[0])));
    assert_eq!(talk.frame(2, Some(1)), damaged(None));
    assert_eq!(talk.frame(3, Some(0)), exactly(&[], Some(state(0)), 3));
}

#[test]
fn a_frame_may_lead_to_where_it_came_from() {
    let still = |frame: u64| {
        let transition = Some(Transition { source: state(0), target: state(0) });
        Fragment { transition, ..fragment(frame, Some(0), (0, 1)) }
    };
    let mut talk = Talk::new(StatefulReceiver { max_states: 2, ..paper() });
    talk.frame(0, None);
    for frame in 1..5 {
        let ready = talk.packet(Span::ZERO, Span::ZERO, Some(still(frame)));
        assert_eq!(ready, [(frame, exactly(&[], None, 0))]);
    }
    assert_eq!(talk.kept(), (state(0), states(&[0])));
    assert_eq!(talk.frame(5, Some(0)), exactly(&[], None, 5));
    assert_eq!(talk.frame(6, Some(0)), exactly(&[5], Some(state(0)), 6));
}

#[test]
fn tau_is_the_time_between_arrivals_less_what_the_sender_paused() {
    let taus = |grace| {
        let mut talk = Talk::new(StatefulReceiver { grace, ..paper() });
        let arrivals = [(0, 0), (1200, 0), (1400, 0), (33_400, 33_000), (1000, 0)];
        arrivals.map(|(later, paused)| {
            let place = (talk.sent as u16 % 2, 2);
            let fragment = fragment(talk.sent / 2, None, place);
            talk.packet(Span::from_micros(later), Span::from_micros(paused), Some(fragment));
            talk.report().unwrap().interarrival.as_nanos() / 1000
        })
    };
    // The specification's example, in whole microseconds.
    assert_eq!(taus(Grace::EveryPacket), [0, 120, 248, 263, 336]);
    assert_eq!(taus(Grace::None)[3], 3563);
    // The fourth packet is no frame's first.
    assert_eq!(taus(Grace::FirstOfFrame), taus(Grace::None));
    assert_eq!(taus(Grace::WhileEmpty), taus(Grace::None));
}

#[test]
fn the_pause_before_a_frame_or_padding_is_taken_off_and_read_as_the_wire_has_it() {
    let tau = |grace, later: Span, paused: Span, padding: bool| {
        let mut talk = Talk::new(StatefulReceiver { grace, ..paper() });
        talk.frame(0, None);
        let next = fragment(1, Some(0), (0, 2));
        talk.packet(later, paused, (!padding).then_some(next));
        talk.report().unwrap().interarrival.as_nanos() / 100
    };
    let micros = Span::from_micros;
    for grace in [Grace::EveryPacket, Grace::FirstOfFrame, Grace::WhileEmpty] {
        for padding in [false, true] {
            assert_eq!(tau(grace, micros(3000), micros(1000), padding), 2000);
            assert_eq!(tau(grace, micros(3000), micros(5000), padding), 0, "a shorter time than the pause is none");
            // Whole microseconds; above 16.7 s the wire only says that it was long.
            assert_eq!(tau(grace, micros(3000), Span::from_nanos(990_999), padding), 2010);
            assert_eq!(tau(grace, Span::from_secs(60), Span::from_secs(20), padding), 0);
            assert_eq!(tau(grace, Span::from_secs(16), Span::from_secs(15), padding), 1_000_000);
        }
    }
    assert_eq!(tau(Grace::None, micros(3000), micros(1000), false), 3000);
}

#[test]
fn a_report_names_the_newest_packet_past_the_turn_of_the_wires_frame_numbers() {
    let first = (1 << 32) - 2;
    let mut talk = Talk::new(paper());
    talk.packet(Span::ZERO, Span::ZERO, Some(fragment(first, None, (0, 1))));
    let _ = talk.receiver.poll_abandoned();
    for frame in first + 1..first + 4 {
        talk.frame(frame, Some(frame - 1));
        let report = talk.report().unwrap();
        assert_eq!((report.frame, report.fragment, report.current), (frame, 0, state(frame)));
    }
    // A fragment overtaken by a later one of its frame does not move the report backwards.
    talk.fragment(first + 4, Some(first + 3), (2, 3));
    talk.fragment(first + 4, Some(first + 3), (1, 3));
    let report = talk.report().unwrap();
    assert_eq!((report.frame, report.fragment, report.current), (first + 4, 2, state(first + 3)));
}

#[test]
fn nothing_is_told_of_states_before_there_is_a_time_between_arrivals() {
    let mut talk = Talk::new(StatefulReceiver::default());
    talk.frame(0, None);
    assert_eq!(talk.report(), None);
    talk.frame(1, Some(0));
    let report = talk.report().unwrap();
    assert!(report.interarrival > Span::ZERO && report.complete == states(&[0, 1]));
}

fn waiting(window: i64) -> Talk {
    Talk::new(StatefulReceiver { reordering_window: Span::from_millis(window), ..paper() })
}

impl Talk {
    /// The frames that one packet of a frame makes ready, 10 ms after the previous packet.
    fn ready(&mut self, frame: u64, place: (u16, u16)) -> Vec<u64> {
        let fragment = fragment(frame, frame.checked_sub(1), place);
        let ready = self.packet(Span::from_millis(10), Span::ZERO, Some(fragment));
        ready.into_iter().map(|(frame, _)| frame).collect()
    }
}

#[test]
fn once_packets_were_overtaken_those_of_newer_frames_wait_as_long_as_those_were_late() {
    let mut talk = waiting(100);
    assert_eq!(talk.ready(0, (0, 1)), [0]);
    assert_eq!(talk.ready(1, (0, 2)), []);
    // The first time it ends the frame; the packet comes 10 ms late.
    assert_eq!(talk.ready(2, (0, 1)), [1, 2]);
    assert_eq!(talk.ready(1, (1, 2)), []);
    // From now on it is waited for.
    assert_eq!(talk.ready(3, (0, 2)), []);
    assert_eq!(talk.ready(4, (0, 1)), []);
    assert_eq!(talk.ready(3, (1, 2)), [3, 4], "in order, whole");
    // For no longer than that: at the second packet of newer frames the first has waited 10 ms.
    assert_eq!(talk.ready(5, (0, 2)), []);
    assert_eq!(talk.ready(6, (0, 1)), []);
    assert_eq!(talk.ready(7, (0, 1)), [5, 6, 7], "what there is of it is decoded");
    // After 10 s without one nothing waits.
    talk.at += Span::from_secs(10);
    assert_eq!(talk.ready(8, (0, 2)), []);
    assert_eq!(talk.ready(9, (0, 1)), [8, 9]);
}

#[test]
fn without_a_window_nothing_waits_and_a_window_is_the_longest_wait() {
    let at_the_second_time = |window: i64| {
        let mut talk = waiting(window);
        for (frame, place) in [(0, (0, 1)), (1, (0, 2)), (2, (0, 1)), (1, (1, 2)), (3, (0, 2))] {
            talk.ready(frame, place);
        }
        talk.packet(Span::from_millis(1), Span::ZERO, Some(fragment(4, Some(3), (0, 1))));
        let padding = talk.packet(Span::from_millis(5), Span::ZERO, Some(fragment(5, Some(4), (0, 1))));
        padding.into_iter().map(|(frame, _)| frame).collect::<Vec<u64>>()
    };
    assert_eq!(at_the_second_time(0), [5]);
    assert_eq!(at_the_second_time(4), [3, 4, 5], "frame 4 has waited 5 ms of 4");
    assert_eq!(at_the_second_time(100), []);
}

#[test]
fn what_fec_recovers_is_taken_in_order_too() {
    let mut talk = waiting(100);
    for (frame, place) in [(0, (0, 1)), (1, (0, 2)), (2, (0, 1)), (1, (1, 2)), (3, (0, 2)), (4, (0, 1))] {
        talk.ready(frame, place);
    }
    let ready = talk.receiver.on_recovered(talk.at, 99, fragment(3, Some(2), (1, 2)));
    assert_eq!(ready.into_iter().map(|ready| ready.info.frame).collect::<Vec<_>>(), [3, 4]);
}
