use super::*;
use thalweg_control::{PacketId, SentPacket};
use thalweg_types::feedback::RtcpFeedback;
use thalweg_types::{Content, Fragment, Protected};
use thalweg_units::{Bytes, Seed};

/// Fragment `index` of `count`, 1000 bytes, of a frame that refers to `depends_on` or is a keyframe.
pub(crate) fn fragment(frame: u64, (index, count): (u16, u16), depends_on: Option<u64>) -> Fragment {
    Fragment {
        frame,
        picture: frame,
        captured: Time::ZERO,
        index,
        count,
        offset: u32::from(index) * 1000,
        length: 1000,
        keyframe: depends_on.is_none(),
        layer: 0,
        depends_on,
        transition: None,
    }
}

/// Media packet `sequence` is a fragment of the frame that starts at `begin` and has `count` fragments.
fn media(sequence: u64, begin: u64, count: u16) -> Packet {
    let fragment = fragment(begin, ((sequence - begin) as u16, count), None);
    let sent = SentPacket::new(PacketId(sequence), Time::ZERO, Bytes::new(1200));
    Packet {
        sent,
        grace: Span::ZERO,
        before: Bytes::ZERO,
        requests_feedback: true,
        report_may_wait: false,
        content: Content::Media { sequence, fragment },
    }
}

fn about(message: &Message) -> (About, Bytes) {
    (message.about, message.size)
}

#[test]
fn requests_name_packets_past_the_wrap_in_the_senders_numbers() {
    let mut receiver = Receiver::new(ReceiverKind::Standard, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(65_533, 65_533, 9));
    receiver.on_packet(Time::from_millis(1), &media(65_538, 65_533, 9));
    let mut reader = MessageReader::default();
    (0..65_540).for_each(|sequence| reader.on_sent(&media(sequence, sequence.min(65_533), 9)));
    let mut requests = receiver.poll_requests(Time::from_millis(1));
    assert_eq!(requests.iter().map(about).collect::<Vec<_>>(), [(About::Nack { packets: 4 }, Bytes::new(16 + 42))]);
    assert_eq!(reader.read(requests.remove(0)), [RtcpFeedback::Missing((65_534..65_538).collect())]);
}

#[test]
fn what_is_missing_before_a_frame_that_can_be_decoded_is_let_go() {
    let mut receiver = Receiver::new(ReceiverKind::Standard, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(0, 0, 3));
    receiver.on_packet(Time::ZERO, &media(3, 3, 2));
    let requests = receiver.poll_requests(Time::ZERO);
    assert_eq!(requests.iter().map(about).collect::<Vec<_>>(), [(About::Nack { packets: 2 }, Bytes::new(16 + 42))]);
    assert_eq!(receiver.on_packet(Time::from_millis(1), &media(4, 3, 2)).len(), 1);
    assert_eq!(receiver.poll_requests(Time::from_millis(100)), []);
}

#[test]
fn a_receiver_that_misses_too_much_asks_for_a_keyframe_at_once() {
    let mut receiver = Receiver::new(ReceiverKind::Standard, FeedbackStyle::Twcc, Span::ZERO).unwrap();
    receiver.on_packet(Time::ZERO, &media(0, 0, 2));
    receiver.on_packet(Time::from_millis(1), &media(2000, 2000, 2));
    assert!(receiver.next_event() <= Time::from_millis(1));
    let requests = receiver.poll_requests(Time::from_millis(1));
    assert_eq!(requests.iter().map(about).collect::<Vec<_>>(), [(About::Pli, Bytes::new(12 + 42))]);
    assert!(receiver.next_event() > Time::from_millis(1));
}

#[test]
fn what_fec_recovers_is_not_asked_for_and_completes_its_frame() {
    let mut receiver = Receiver::new(ReceiverKind::Standard, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    let fragment = |sequence| match media(sequence, 0, 4).content {
        Content::Media { fragment, .. } => fragment,
        _ => unreachable!("it is media"),
    };
    let fec = Content::Fec { protects: Protected::of(0..4).unwrap() };
    receiver.on_packet(Time::ZERO, &media(0, 0, 4));
    receiver.on_packet(Time::ZERO, &media(2, 0, 4));
    receiver.on_packet(Time::ZERO, &media(3, 0, 4));
    assert_eq!(receiver.on_packet(Time::ZERO, &Packet { content: fec, ..media(9, 0, 4) }), []);
    assert_eq!((receiver.poll_recovered(), receiver.poll_recovered()), (Some(1), None));
    let ready = receiver.on_recovered(Time::ZERO, 1, fragment(1));
    assert_eq!(ready.iter().map(|ready| ready.info.frame).collect::<Vec<_>>(), [0]);
    assert_eq!(receiver.poll_requests(Time::from_millis(500)), []);
    // Feedback reports four packets as arrived, not the recovered one, and names what is missing between them.
    let reported = receiver.poll_report(Time::ZERO).unwrap().acknowledgements;
    assert_eq!(reported.iter().map(|reported| reported.id.0).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
    let arrived = reported.iter().filter(|reported| reported.arrival.is_some()).map(|reported| reported.id.0);
    assert_eq!(arrived.collect::<Vec<_>>(), [0, 2, 3, 9]);
}

#[test]
fn what_comes_after_its_deadline_is_decoded_and_not_shown_and_what_refers_to_it_is() {
    let age = Some(Span::from_millis(400));
    let receiver = || Receiver::new(ReceiverKind::Standard, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
    let captured = |sequence: u64, at: u64, depends_on: Option<u64>| {
        let mut packet = media(sequence, sequence, 1);
        if let Content::Media { fragment, .. } = &mut packet.content {
            (fragment.captured, fragment.keyframe, fragment.depends_on) =
                (Time::from_millis(at), depends_on.is_none(), depends_on);
        }
        packet
    };
    let mut discarding = receiver().discarding_after(age).unwrap();
    let mut read = |now: u64, packet: Packet| -> Vec<(u64, bool)> {
        let ready = discarding.on_packet(Time::from_millis(now), &packet);
        ready.iter().map(|ready| (ready.info.frame, ready.discarded)).collect()
    };
    assert_eq!(read(400, captured(0, 0, None)), [(0, false)]);
    assert_eq!(read(434, captured(1, 33, Some(0))), [(1, true)]);
    assert_eq!(read(460, captured(2, 67, Some(1))), [(2, false)]);
    // Frames that waited for a late one are late too, if they are old enough.
    assert_eq!(read(470, captured(4, 133, Some(3))), []);
    assert_eq!(read(501, captured(3, 100, Some(2))), [(3, true), (4, false)]);
    // Without the playout deadline everything is shown.
    assert!(!receiver().on_packet(Time::from_millis(9_000), &captured(0, 0, None))[0].discarded);
    let error = receiver().discarding_after(Some(Span::ZERO)).unwrap_err().to_string();
    assert!(error.contains("discard_after is 0") && error.contains("400ms"), "{error}");
}

#[test]
fn forged_fec_does_a_receiver_no_harm() {
    for kind in [ReceiverKind::Standard, ReceiverKind::Stateful(Default::default())] {
        let mut random = Seed::new(11).child("forged").random();
        let mut receiver = Receiver::new(kind, FeedbackStyle::Twcc, Span::ZERO).unwrap();
        let mut shown = 0;
        for sequence in 0..20_000 {
            let now = Time::from_millis(10 * sequence);
            if random.chance(0.9) {
                shown += receiver.on_packet(now, &media(sequence, sequence / 4 * 4, 4)).len();
            }
            // One packet or many, with any number.
            let first = if random.chance(0.5) { sequence.saturating_sub(random.below(60)) } else { random.bits() };
            let mask = u128::from(random.bits() >> random.below(64) | 1);
            if let Some(protects) = Protected::new(first, mask) {
                let content = Content::Fec { protects };
                receiver.on_packet(now, &Packet { content, ..media(sequence, sequence, 4) });
            }
            while receiver.poll_recovered().is_some() || receiver.poll_abandoned().is_some() {}
            receiver.poll_requests(now);
            receiver.poll_report(now);
        }
        println!("{shown} frames shown");
    }
}

#[test]
fn arrivals_and_the_path_are_measured_by_the_receivers_clock() {
    // 1 % fast, and 5 s ahead: at 10 s it shows 15.1 s.
    let receiver = |kind| {
        let receiver = Receiver::new(kind, FeedbackStyle::PerPacket, Span::from_secs(5)).unwrap();
        receiver.drifting(Drift::new(10_000).unwrap())
    };
    let mut stamps = receiver(ReceiverKind::Standard);
    stamps.on_packet(Time::from_millis(10_000), &media(0, 0, 1));
    let report = stamps.poll_report(Time::from_millis(10_000)).expect("one for each packet");
    assert_eq!(report.acknowledgements[0].arrival, Some(Time::from_millis(15_100)));
    // Two packets 12 ms apart: 800 kbps, of which a clock that is fast by a hundredth sees a hundredth less.
    let mut measures = receiver(ReceiverKind::Measures(Default::default()));
    let mut reader = MessageReader::default();
    for (number, at) in [(0, 1_000), (1, 1_012)] {
        let mut packet = media(number, 0, 2);
        packet.before = Bytes::new(1_200 * number);
        packet.sent.place = Some(thalweg_control::FramePlace {
            frame: 0,
            first: number == 0,
            last: number == 1,
            offset: Bytes::ZERO,
            captured: Time::ZERO,
            keyframe: false,
        });
        reader.on_sent(&packet);
        measures.on_packet(Time::from_millis(at), &packet);
    }
    let mut capacity = None;
    let mut now = Time::from_millis(1_012);
    while measures.next_event() < Time::from_millis(3_000) {
        now = now.max(measures.next_event());
        while let Some(message) = measures.poll_report(now) {
            for feedback in reader.read(message) {
                if let RtcpFeedback::Path(report) = feedback {
                    capacity = report.capacity.or(capacity);
                }
            }
        }
    }
    assert_eq!(capacity.map(|rate| (rate.as_mbps_f64() * 1e3).round()), Some(792.0));
}

#[test]
fn after_a_loss_that_nothing_repairs_a_receiver_in_order_shows_nothing_and_asks_for_a_keyframe_after_three_seconds() {
    // Frame 1 is lost, and all later ones refer to frame 0.
    let play = |in_order| {
        let receiver = Receiver::new(ReceiverKind::Standard, FeedbackStyle::PerPacket, Span::ZERO).unwrap();
        let mut receiver = receiver.in_order(in_order);
        receiver.on_packet(Time::ZERO, &media(0, 0, 1));
        let (mut shown, mut asked) = (0, None);
        for number in 2..100u64 {
            let content = Content::Media { sequence: number, fragment: fragment(number, (0, 1), Some(0)) };
            let now = Time::from_millis(33 * number);
            shown += receiver.on_packet(now, &Packet { content, ..media(number, number, 1) }).len();
            let asks = receiver.poll_requests(now).iter().any(|request| request.about == About::Pli);
            asked = asked.or(asks.then_some(now));
        }
        (shown, asked)
    };
    assert_eq!(play(false), (98, None));
    assert_eq!(play(true), (0, Some(Time::from_millis(33 * 91))));
}
