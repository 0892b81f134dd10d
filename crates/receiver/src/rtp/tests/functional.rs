use super::*;
use crate::Moves;
use thalweg_types::{StateHash, StatefulReceiver};
use thalweg_units::Span;
use thalweg_wire::rtp::FrameFragment;

const INITIAL: u64 = 7;

fn reception() -> Reception {
    Reception::new(with_video(|video| {
        video.extensions.transport_on_request = true;
        video.stateful = Some(StatefulReceiver::default());
    }))
    .unwrap()
}

/// Frame `number` from state `source` to state 1000 + `number`; each packet names its fragment.
fn functional(sender: &mut Sender, number: u32, source: u64, data: &[u8]) -> Vec<Vec<u8>> {
    sender.frame_saying(3000 * number, data, move |fragment, fragments| {
        let fragment = FrameFragment { frame: number, fragment, fragments };
        let grace = FragmentGrace { grace: Span::ZERO, fragment: Some(fragment) };
        let mut said = vec![(4, grace.to_bytes().unwrap()[..grace.size()].to_vec())];
        if fragment.fragment == 0 {
            let states = FrameStates { source, target: 1000 + u64::from(number) };
            said.push((5, states.to_bytes().to_vec()));
        }
        said
    })
}

#[test]
fn a_frame_goes_with_what_becomes_of_the_decoders_states_in_whatever_order_its_packets_come() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let (first, second) = (picture(true, 1, 250), picture(false, 2, 250));
    let outputs = give(&mut reception, 0, functional(&mut sender, 0, INITIAL, &first).iter().rev());
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    let moves = Moves { target: Some(StateHash(1000)), ..Moves::default() };
    assert_eq!((frame.frame, &frame.data, frame.keyframe, &frame.moves), (Some(0), &first, true, &Some(moves)));
    let outputs = give(&mut reception, 33, &functional(&mut sender, 1, 1000, &second));
    let moves = Moves { target: Some(StateHash(1001)), ..Moves::default() };
    assert_eq!((&frames(&outputs)[0].data, &frames(&outputs)[0].moves), (&second, &Some(moves)));
}

#[test]
fn after_a_loss_the_decoder_goes_back_to_a_state_it_has_and_what_came_is_shown_damaged() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    give(&mut reception, 0, &functional(&mut sender, 0, INITIAL, &picture(true, 1, 10)));
    let (lost, next) = (picture(false, 2, 250), picture(false, 3, 10));
    let packets = functional(&mut sender, 1, 1000, &lost);
    assert!(frames(&give(&mut reception, 33, &packets[..1])).is_empty());
    let outputs = give(&mut reception, 66, &functional(&mut sender, 2, 1000, &next));
    let shown = frames(&outputs);
    assert_eq!(shown.len(), 2);
    assert!(lost.starts_with(&shown[0].data) && shown[0].data.len() == 83);
    assert_eq!(shown[0].moves.as_ref().and_then(|moves| moves.length), Some(83));
    assert_eq!(shown[1].moves.as_ref().and_then(|moves| moves.load), Some(StateHash(1000)));
    // Nothing is requested: the sender continues from the receiver's states.
    assert!(!rtcp(&outputs).iter().any(|packet| matches!(packet, Rtcp::Nack(_) | Rtcp::Pli(_))));
}

#[test]
fn the_decoders_states_go_along_with_each_report() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    sender.request = Some(Some(FeedbackRequest { timestamps: true, count: 1 }));
    let mut reported = Vec::new();
    for number in 0..40 {
        let packets = functional(&mut sender, number, 999 + u64::from(number), &picture(number == 0, 1, 10));
        reported.extend(rtcp(&give(&mut reception, 2 * u64::from(number), &packets)));
    }
    let states: Vec<_> = reported
        .iter()
        .filter_map(|packet| if let Rtcp::DecoderState(state) = packet { Some(state) } else { None })
        .collect();
    let last = states.last().unwrap();
    assert_eq!((last.sender_ssrc, last.media_ssrc, last.frame, last.current), (OURS, MEDIA_SSRC, 39, 1039));
    assert!(last.interarrival > Span::ZERO && last.complete.contains(&1038));
    assert_eq!(reported.iter().filter(|packet| matches!(packet, Rtcp::TransportFeedback(_))).count(), 40);
}

#[test]
fn frames_without_states_are_standard_ones_though_packets_say_their_part() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    let says = |fragment, fragments| {
        let fragment = Some(FrameFragment { frame: 0, fragment, fragments });
        vec![(4, FragmentGrace { grace: Span::ZERO, fragment }.to_bytes().unwrap().to_vec())]
    };
    let data = picture(true, 1, 250);
    let packets = sender.frame_saying(0, &data, says);
    let outputs = give(&mut reception, 0, [&packets[0], &packets[2]]);
    assert!(rtcp(&outputs).iter().any(|packet| matches!(packet, Rtcp::Nack(_))));
    let outputs = give(&mut reception, 20, [&sender.retransmission(&packets[1])]);
    assert_eq!((&frames(&outputs)[0].data, &frames(&outputs)[0].moves), (&data, &None));
}

#[test]
fn a_sender_may_go_from_one_kind_of_video_to_the_other_and_back() {
    let (mut reception, mut sender) = (reception(), Sender::new());
    give(&mut reception, 0, &functional(&mut sender, 0, INITIAL, &picture(true, 1, 10)));
    let lost = sender.frame(3000, &picture(true, 2, 250));
    let standard = sender.frame(6000, &picture(true, 3, 250));
    let outputs = give(&mut reception, 33, lost[..1].iter().chain(&standard[..1]).chain(&standard[2..]));
    assert!(frames(&outputs).is_empty());
    assert!(rtcp(&outputs).iter().any(|packet| matches!(packet, Rtcp::Nack(_))));
    let outputs = give(&mut reception, 50, [&sender.retransmission(&standard[1])]);
    assert_eq!((frames(&outputs)[0].number, &frames(&outputs)[0].moves), (1, &None));
    let outputs = give(&mut reception, 66, &functional(&mut sender, 1, 1000, &picture(false, 4, 10)));
    // The decoder state has changed in the meantime.
    assert_eq!(frames(&outputs)[0].moves.as_ref().and_then(|moves| moves.load), Some(StateHash(1000)));
    assert_eq!(frames(&outputs)[0].number, 2);
}
