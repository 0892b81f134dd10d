use super::*;
use thalweg_control::{PacketId, SentPacket};
use thalweg_sender::{Content, Fragment};
use thalweg_units::Bytes;

/// Media packet `sequence` is a fragment of the frame begun by `begin`, which has `count`.
fn media(sequence: u64, begin: u64, count: u16) -> Packet {
    let fragment = Fragment {
        frame: begin,
        picture: begin,
        captured: Time::ZERO,
        index: (sequence - begin) as u16,
        count,
        offset: 0,
        length: 1000,
        keyframe: true,
        depends_on: None,
        transition: None,
    };
    let sent = SentPacket::new(PacketId(sequence), Time::ZERO, Bytes::new(1200));
    Packet { sent, grace: Span::ZERO, asks: true, content: Content::Media { sequence, fragment } }
}

#[test]
fn requests_name_packets_past_the_wrap_in_the_senders_numbers() {
    let mut receiver = Receiver::new(ReceiverKind::Ordinary, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(65_533, 65_533, 9));
    receiver.on_packet(Time::from_millis(1), &media(65_538, 65_533, 9));
    let requests = receiver.poll_requests(Time::from_millis(1));
    assert_eq!(requests, [Request::Repeat((65_534..65_538).collect())]);
    assert_eq!(requests[0].size(), Bytes::new(16 + 42));
}

#[test]
fn what_is_missing_before_a_frame_that_can_be_decoded_is_let_go() {
    let mut receiver = Receiver::new(ReceiverKind::Ordinary, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(0, 0, 3));
    receiver.on_packet(Time::ZERO, &media(3, 3, 2));
    assert_eq!(receiver.poll_requests(Time::ZERO), [Request::Repeat(vec![1, 2])]);
    assert_eq!(receiver.on_packet(Time::from_millis(1), &media(4, 3, 2)).len(), 1);
    assert_eq!(receiver.poll_requests(Time::from_millis(100)), []);
}

#[test]
fn a_receiver_that_misses_too_much_asks_for_a_keyframe_at_once() {
    let mut receiver = Receiver::new(ReceiverKind::Ordinary, FeedbackStyle::Twcc, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(0, 0, 2));
    receiver.on_packet(Time::from_millis(1), &media(2000, 2000, 2));
    assert!(receiver.next_event() <= Time::from_millis(1));
    assert_eq!(receiver.poll_requests(Time::from_millis(1)), [Request::Keyframe]);
    assert!(receiver.next_event() > Time::from_millis(1));
}
