use super::*;
use thalweg_control::{PacketId, SentPacket};

/// The only packet of a frame of 1000 bytes, captured `sequence` times 100 ms after the start.
fn fragment(sequence: u64) -> Fragment {
    Fragment {
        frame: sequence,
        picture: sequence,
        captured: Time::from_millis(100 * sequence),
        index: 0,
        count: 1,
        offset: 0,
        length: 1000,
        keyframe: sequence == 0,
        layer: 0,
        depends_on: sequence.checked_sub(1),
        transition: None,
    }
}

fn packet(payload: Payload, size: u64, content: Content) -> Packet {
    let mut sent = SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(size));
    sent.payload = payload;
    Packet { sent, grace: Span::ZERO, before: Bytes::ZERO, requests_feedback: true, report_may_wait: false, content }
}

fn media(sequence: u64) -> Packet {
    packet(Payload::Media, 1074, Content::Media { sequence, fragment: fragment(sequence) })
}

fn fec(payload: Payload, protects: std::ops::Range<u64>) -> Packet {
    let content = Content::Fec { protects: Protected::of(protects).unwrap() };
    packet(payload, 1102, content)
}

fn retransmission(payload: Payload, of: u64) -> Packet {
    packet(payload, 1076, Content::Retransmission { of, fragment: fragment(of) })
}

fn at(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// The figures of two seconds on a link of 100 kbps.
fn figures(ledger: Ledger) -> (Delivery, Option<Redundancy>) {
    let series = Series { bin_s: 0.1, capacity_mbps: vec![0.1; 20], ..Series::default() };
    ledger.figures(&series, (0.0, 2.0))
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::new(Span::from_millis(400));
    (0..10).for_each(|sequence| ledger.sent(&media(sequence)));
    ledger
}

#[test]
fn media_is_in_time_discarded_or_lost_and_none_of_it_without_fec_is_redundant() {
    let mut ledger = ledger();
    for sequence in 0..7 {
        // The sixth arrives 401 ms after its capture.
        let late = if sequence == 6 { 401 } else { 50 };
        ledger.arrived(at(100 * sequence + late), &media(sequence));
        // A second copy is not counted.
        ledger.arrived(at(100 * sequence + late), &retransmission(Payload::Repair, sequence));
    }
    (7..10).for_each(|sequence| ledger.dropped(&media(sequence)));
    ledger.arrived(at(900), &retransmission(Payload::Repair, 7));
    let (delivery, redundancy) = figures(ledger);
    // Six directly and one by a retransmission, 8000 bits each, in two seconds.
    assert_eq!(delivery.goodput_bps, 28_000.0);
    assert_eq!((delivery.discard_ratio, delivery.lost_frames), (0.1, 2));
    // All of it in the first second, of 100 kbit.
    assert!((delivery.abu.unwrap() - 0.28).abs() < 1e-9, "{delivery:?}");
    assert_eq!(redundancy, None);
}

#[test]
fn fec_has_recovered_what_nothing_else_brought_before_it() {
    let mut ledger = ledger();
    ledger.sent(&fec(Payload::Repair, 0..4));
    ledger.sent(&fec(Payload::Padding, 4..8));
    ledger.sent(&packet(Payload::Padding, 288, Content::Padding));
    for sequence in [0, 1, 4, 5, 9] {
        ledger.dropped(&media(sequence));
    }
    ledger.recovered(at(300), 0);
    // A retransmission arrived first, so the recovery by FEC is not counted.
    ledger.arrived(at(350), &retransmission(Payload::Repair, 1));
    ledger.recovered(at(360), 1);
    ledger.recovered(at(620), 4);
    // A retransmission as padding counts if the packet was not obtained before, lost or not.
    ledger.arrived(at(700), &retransmission(Payload::Padding, 9));
    ledger.arrived(at(710), &media(6));
    ledger.arrived(at(720), &retransmission(Payload::Padding, 6));
    let what = ["probe", "raise", "probe", "undershoot", "stay"];
    for what in what {
        let (why, from, to) = ("", thalweg_units::Rate::ZERO, thalweg_units::Rate::ZERO);
        ledger.on_event(&Event::Decision(Box::new(thalweg_control::Decision { at: at(0), what, why, from, to })));
    }
    let (delivery, redundancy) = figures(ledger);
    let redundancy = redundancy.unwrap();
    assert_eq!(delivery.lost_frames, 1);
    // Lost and protected: 0, 1, 4 and 5; recovered: 0 and 4.
    assert_eq!(redundancy.ffre, Some(0.5));
    assert_eq!(redundancy.protected_lost_frames, 4);
    assert_eq!(redundancy.fec_bitrate_bps, 2.0 * 1102.0 * 8.0 / 2.0);
    assert!((redundancy.fec_share - 2204.0 / 10_740.0).abs() < 1e-12);
    // 0, 4 and 9 relative to two FEC packets and a padding packet.
    assert!((redundancy.useful_padding_ratio - 3.0 * 1074.0 / 2492.0).abs() < 1e-12, "{redundancy:?}");
    assert_eq!((redundancy.frcc, redundancy.probes), (Some(0.5), 2));
}
