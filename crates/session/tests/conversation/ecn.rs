//! The ECN field in a conversation: ECT(1) leaves, CE comes, and both ends count the same (specs/l4s.md 1.3, 1.4, 4.1).

use thalweg_netsim::queue::{Limits, Marker};
use thalweg_netsim::{EcnFault, QueueConfig};

use super::*;

/// The most packets on the way at any moment: half a second of them.
const ON_THE_WAY: u64 = 200;

/// 3 Mbps with marks of what waits 5 to 10 ms, and 25 ms each way.
fn marking() -> PathConfig {
    let marker = Marker::Ramp { from: Span::from_millis(5), to: Span::from_millis(10) };
    let queue = QueueConfig::Marking { limits: Limits::packets(1000), marker, only_ect1: false, least_packets: 0 };
    let rate = HopConfig::Rate { rate: "3Mbps".parse().expect("a rate"), queue };
    PathConfig { hops: vec![rate, HopConfig::delay(Span::from_millis(25))] }
}

fn reported_by(kind: CongestionFeedback) -> impl Fn(&mut Capabilities) {
    move |receiver| receiver.congestion = vec![kind]
}

#[test]
fn what_a_queue_marks_is_counted_alike_by_both_ends_and_the_receivers_rtcp_says_ect1() {
    for scheme in ["scream+l4s", "gcc+l4s"] {
        let world = played(known(scheme), &marking(), 6, reported_by(CongestionFeedback::PerStream));
        assert_exact(&world);
        let (figures, [not_ect, ect1, ect0, ce]) = (world.outgoing.figures(), world.incoming.statistics().by_ecn);
        let [_, sent, ..] = figures.sent_by_ecn;
        assert_eq!(figures.sent_by_ecn, [0, sent, 0, 0], "{scheme}: media, repair, padding and audio alike");
        assert_eq!((not_ect, ect0), (0, 0), "{scheme}");
        assert!(sent > 600 && ect1 > 300 && ce > 10, "{scheme}: {ect1} and {ce} of {sent}");
        assert!((sent - ON_THE_WAY..=sent).contains(&(ect1 + ce)), "{scheme}: {ect1} and {ce} of {sent}");
        for (reported, came) in figures.arrived_by_ecn.into_iter().zip([not_ect, ect1, ect0, ce]) {
            assert!(came.saturating_sub(ON_THE_WAY) <= reported && reported <= came, "{scheme}: {reported} of {came}");
        }
        let [sender, receiver] = world.rtcp_by_ecn;
        // Before media there may be a report.
        assert!(sender[0] > 4 && sender[1..] == [0; 3], "{scheme}: {sender:?}");
        assert!(receiver[1] > 150 && receiver[0] <= 2 && receiver[2..] == [0; 2], "{scheme}: {receiver:?}");
        assert_eq!(world.capable_handshakes, 0, "{scheme}");
    }
}

#[test]
fn a_receiver_of_ours_reports_a_marked_flow_as_each_frame_comes_and_a_flow_without_marks_less_often() {
    // 30 frames a second, with sound of 50 packets a second between them.
    for (scheme, least, most) in [("scream+l4s", 300, 500), ("scream", 100, 190)] {
        let world = played(known(scheme), &path(0.0), 5, reported_by(CongestionFeedback::PerStream));
        let reports = world.outgoing.figures().reports;
        assert!((least..=most).contains(&reports), "{scheme}: {reports} in 5 s");
    }
}

#[test]
fn on_a_path_that_clears_the_field_ect1_ends_within_a_round_trip_and_a_report() {
    let mut path = marking();
    path.hops.push(HopConfig::Middlebox(EcnFault::Bleach { from: Span::ZERO }));
    let world = played(known("scream+l4s"), &path, 6, reported_by(CongestionFeedback::PerStream));
    let [not_ect, ect1, ect0, ce] = world.outgoing.figures().sent_by_ecn;
    assert!((1..=60).contains(&ect1) && not_ect > 500 && (ect0, ce) == (0, 0), "{ect1} and then {not_ect}");
    assert_eq!(world.incoming.statistics().by_ecn[1..], [0; 3]);
    assert_eq!(world.rtcp_by_ecn.map(|fields| fields[1..].to_vec()), [[0; 3], [0; 3]]);
}

#[test]
fn without_l4s_or_without_reports_that_carry_it_no_packet_says_ect() {
    for (scheme, kind) in [
        ("scream", CongestionFeedback::PerStream),
        ("scream+l4s", CongestionFeedback::Transport),
        ("scream+l4s", CongestionFeedback::TransportOnRequest),
        ("vidaptive", CongestionFeedback::PerStream),
    ] {
        let world = played(known(scheme), &marking(), 3, reported_by(kind));
        let [sent, fields @ ..] = world.outgoing.figures().sent_by_ecn;
        assert!(sent > 200 && fields == [0; 3], "{scheme} with {kind:?}: {fields:?}");
        assert_eq!(world.incoming.statistics().by_ecn[1..], [0; 3], "{scheme} with {kind:?}");
        assert_eq!(world.rtcp_by_ecn.map(|fields| fields[1..].to_vec()), [[0; 3], [0; 3]], "{scheme} with {kind:?}");
    }
}
