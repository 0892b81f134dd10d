use super::*;
use thalweg_wire::flexfec::protect;
use thalweg_wire::rtp::blank_extensions;

#[test]
fn a_frame_comes_out_when_its_last_packet_came_with_what_is_known_of_it() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let (first, second) = (picture(true, 1, 250), picture(false, 2, 20));
    let packets = sender.frame(5000, &first);
    assert_eq!((packets.len(), frames(&give(&mut reception, 10, &packets[..2])).len()), (3, 0));
    let outputs = give(&mut reception, 13, &packets[2..]);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!(frame.data, first);
    assert_eq!((frame.number, frame.keyframe, frame.picture, frame.frame), (0, true, Some(32_760), None));
    assert_eq!((frame.sequences.clone(), frame.timestamp), (131_036..=131_038, (1 << 32) + 5000));
    assert_eq!((frame.first_arrival, frame.last_arrival, frame.captured), (at(10), at(13), None));
    assert_eq!((frame.retransmitted, frame.recovered, &frame.moves), (0, 0, &None));
    let outputs = give(&mut reception, 43, &sender.frame(8000, &second));
    assert_eq!((frames(&outputs)[0].number, &frames(&outputs)[0].data), (1, &second));
}

#[test]
fn a_missing_packet_is_asked_for_at_once_and_its_retransmission_completes_the_frame() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let data = picture(true, 1, 350);
    let packets = sender.frame(0, &data);
    let outputs = give(&mut reception, 0, [&packets[0], &packets[3]]);
    assert_eq!(requests(&outputs), (vec![65_501, 65_502], 0));
    let retransmission = sender.retransmission(&packets[1]);
    assert_eq!(frames(&give(&mut reception, 5, [&retransmission, &sender.retransmission(&packets[1])])).len(), 0);
    let outputs = give(&mut reception, 9, [&packets[2]]);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.retransmitted, frame.last_arrival), (&data, 1, at(9)));
    let counts = reception.statistics().video;
    assert_eq!((counts.retransmitted, counts.twice, counts.asked_for, counts.frames), (1, 1, 2, 1));
}

#[test]
fn a_packet_made_of_fec_completes_its_frame_and_is_not_asked_for_again() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let data = picture(true, 1, 250);
    let packets = sender.frame(0, &data);
    give(&mut reception, 0, [&packets[0], &packets[2]]);
    reception.on_recovered(at(1), &packets[1]);
    let outputs = drain(&mut reception);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.recovered), (&data, 1));
    reception.on_timeout(at(150));
    assert_eq!(requests(&drain(&mut reception)), (vec![], 0));
    // It did not arrive over the network: neither reports nor statistics count it.
    assert_eq!(reception.statistics().video_stream.received, 2);
}

#[test]
fn fec_on_the_stream_agreed_on_makes_what_is_missing() {
    let config = with_video(|video| (video.fec, video.ssrcs.fec) = (Some(98), Some(60)));
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let data = picture(true, 1, 350);
    let packets = sender.frame(0, &data);
    let mut blanked = packets.clone();
    blanked.iter_mut().for_each(|packet| blank_extensions(packet, &[3]).unwrap());
    let payload = protect(blanked.iter().map(Vec::as_slice)).unwrap();
    let header = Header { marker: false, payload_type: 98, sequence: 1, timestamp: 0, ssrc: 60 };
    let fec = sender.packet(header, &payload, 0, &[]);
    let outputs = give(&mut reception, 0, [&packets[0], &packets[2], &packets[3], &fec]);
    let [frame] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((&frame.data, frame.recovered), (&data, 1));
    let statistics = reception.statistics();
    assert_eq!((statistics.fec_stream.received, statistics.video.recovered), (1, 1));
}

#[test]
fn h264_and_vp9_come_out_as_they_were_packed() {
    let access_unit = |kind: u8, tag: u8| {
        let slice: Vec<u8> = [kind].into_iter().chain((0..250).map(|place| tag ^ place as u8 | 1)).collect();
        let sets: &[&[u8]] = if kind == 0x65 { &[&[0x67, 1, 2, 3, 4], &[0x68, 5]] } else { &[] };
        sets.iter().copied().chain([&slice[..]]).flat_map(|unit| [&[0, 0, 0, 1], unit].concat()).collect::<Vec<u8>>()
    };
    let units = [access_unit(0x65, 1), access_unit(0x41, 2), access_unit(0x41, 3)];
    let frames_of_vp9: Vec<Vec<u8>> =
        [0x82u8, 0x86, 0x86].iter().map(|first| [&[*first][..], &[9; 250]].concat()).collect();
    for codec in [Codec::H264, Codec::Vp9] {
        let config = with_video(|video| video.codec = codec);
        let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
        let sent = if codec == Codec::H264 { units.to_vec() } else { frames_of_vp9.clone() };
        for (index, frame) in sent.iter().enumerate() {
            let limit = Bytes::new(100);
            let payloads: Vec<(Vec<u8>, bool)> = if codec == Codec::H264 {
                let pieces = thalweg_wire::h264::fragments(frame, limit).unwrap();
                pieces.iter().map(|piece| (written(|out| piece.payload.write(out)), piece.last)).collect()
            } else {
                let descriptor = thalweg_wire::vp9::Descriptor { inter_predicted: index > 0, ..Default::default() };
                let pieces = thalweg_wire::vp9::fragments(frame, descriptor, limit).unwrap();
                let payload = |piece: &thalweg_wire::vp9::Fragment<'_>| {
                    [written(|out| piece.descriptor.write(out)), piece.data.to_vec()].concat()
                };
                pieces.iter().map(|piece| (payload(piece), piece.last)).collect()
            };
            let packets: Vec<Vec<u8>> = payloads
                .iter()
                .map(|(payload, last)| {
                    let header = sender.header(*last, 3000 * index as u32);
                    sender.packet(header, payload, 0, &[])
                })
                .collect();
            assert!(packets.len() > 2);
            let outputs = give(&mut reception, 33 * index as u64, packets.iter().rev());
            let [shown] = &frames(&outputs)[..] else { panic!("{codec:?}: {outputs:?}") };
            assert_eq!((&shown.data, shown.keyframe), (frame, index == 0), "{codec:?}");
        }
    }
}

fn written(write: impl Fn(&mut Vec<u8>) -> Result<(), thalweg_wire::WriteError>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

#[test]
fn a_frame_waits_for_the_one_before_it_and_a_keyframe_does_not() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let data: Vec<Vec<u8>> = (0..5).map(|tag| picture(tag == 0 || tag == 3, tag, 150)).collect();
    let packets: Vec<Vec<Vec<u8>>> =
        data.iter().enumerate().map(|(index, data)| sender.frame(3000 * index as u32, data)).collect();
    assert_eq!(frames(&give(&mut reception, 0, &packets[0])).len(), 1);
    assert_eq!(frames(&give(&mut reception, 33, &packets[1][..1])).len(), 0);
    assert_eq!(frames(&give(&mut reception, 66, &packets[2])).len(), 0);
    let outputs = give(&mut reception, 99, &packets[3]);
    assert_eq!(frames(&outputs).iter().map(|frame| &frame.data).collect::<Vec<_>>(), [&data[3]]);
    assert!(outputs.contains(&Output::Abandoned(2)), "{outputs:?}");
    let outputs = give(&mut reception, 132, packets[4].iter().chain(&packets[1]));
    assert_eq!(frames(&outputs).iter().map(|frame| &frame.data).collect::<Vec<_>>(), [&data[4]]);
    let counts = reception.statistics().video;
    assert_eq!((counts.frames, counts.keyframes, counts.abandoned), (3, 2, 2));
    // The two late packets of the abandoned frame, one of which was a duplicate.
    assert_eq!((counts.late, counts.twice), (2, 0));
}

#[test]
fn padding_on_the_streams_of_media_and_retransmissions_shows_nothing_and_leaves_no_hole() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let first = sender.frame(0, &picture(true, 1, 10));
    let padding = sender.padding();
    let header = sender.rtx_header(false, 0);
    let rtx_padding = sender.packet(header, &[], 224, &[]);
    let second = sender.frame(3000, &picture(false, 2, 10));
    let outputs = give(&mut reception, 0, first.iter().chain([&padding, &rtx_padding]).chain(&second));
    assert_eq!(frames(&outputs).len(), 2);
    assert_eq!((requests(&outputs), reception.statistics().padding), ((vec![], 0), 2));
    // Padding that arrives after the following frame does not delay that frame: its picture id says that it is the
    // next.
    let (padding, third) = (sender.padding(), sender.frame(6000, &picture(false, 3, 10)));
    assert_eq!(frames(&give(&mut reception, 30, &third)).len(), 1);
    assert_eq!(frames(&give(&mut reception, 31, [&padding])).len(), 0);
}

#[test]
fn before_any_keyframe_one_is_asked_for_after_a_fifth_of_a_second_and_not_more_often() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let mut asked = Vec::new();
    for millis in (0..1000).step_by(10) {
        let packets = sender.frame(90 * millis as u32, &picture(false, 1, 10));
        let outputs = give(&mut reception, millis, &packets);
        asked.extend((0..requests(&outputs).1).map(|_| millis));
        assert!(frames(&outputs).is_empty());
    }
    assert_eq!(asked, [200, 400, 600, 800]);
    assert_eq!(reception.statistics().video.keyframes_requested, 4);
}

#[test]
fn a_stream_that_begins_anew_is_followed_and_asked_for_a_keyframe() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    give(&mut reception, 0, &sender.frame(0, &picture(true, 1, 10)));
    sender.sequence = 30_000;
    let outputs = give(&mut reception, 500, &sender.frame(1 << 31, &picture(false, 2, 250)));
    assert_eq!(requests(&outputs).1, 1);
    let data = picture(true, 3, 250);
    let outputs = give(&mut reception, 600, &sender.frame(1 << 30, &data));
    assert_eq!(frames(&outputs).iter().map(|frame| &frame.data).collect::<Vec<_>>(), [&data]);
}

#[test]
fn a_stream_that_was_not_named_gives_way_to_another_of_its_payload_type() {
    let config = with_video(|video| video.ssrcs = Ssrcs::default());
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let frame = |sender: &mut Sender, ssrc: u32, tag| {
        let mut packet = sender.frame(3000, &picture(true, tag, 10)).remove(0);
        packet[8..12].copy_from_slice(&ssrc.to_be_bytes());
        packet
    };
    assert_eq!(frames(&give(&mut reception, 0, [&frame(&mut sender, 80, 1)])).len(), 1);
    assert_eq!(frames(&give(&mut reception, 100, [&frame(&mut sender, 81, 2)])).len(), 0);
    sender.sequence = 5;
    let outputs = give(&mut reception, 600, [&frame(&mut sender, 81, 3)]);
    assert_eq!((frames(&outputs)[0].number, &frames(&outputs)[0].data), (1, &picture(true, 3, 10)));
    let statistics = reception.statistics();
    assert_eq!((statistics.unknown, statistics.video_stream.ssrc), (1, Some(81)));
}

#[test]
fn a_packet_that_says_it_is_of_another_section_is_of_no_stream() {
    let config = with_video(|video| (video.mid, video.extensions.mid) = (Some("0".into()), Some(9)));
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let of = |mid: &'static [u8]| move |_, _| vec![(9, mid.to_vec())];
    let elsewhere = sender.frame_saying(0, &picture(true, 1, 10), of(b"1"));
    let here = sender.frame_saying(3000, &picture(true, 2, 10), of(b"0"));
    assert_eq!(frames(&give(&mut reception, 0, elsewhere.iter().chain(&here))).len(), 1);
    assert_eq!(reception.statistics().unknown, 1);
}

#[test]
fn what_the_decoder_refuses_is_followed_by_a_keyframe_and_by_nothing_before_it() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    give(&mut reception, 0, &sender.frame(0, &picture(true, 1, 10)));
    give(&mut reception, 33, &sender.frame(3000, &picture(false, 2, 10)));
    // A decoder that lags by some frames rejects all of them.
    for number in [0, 1, 1] {
        reception.on_undecodable(at(40), number);
    }
    assert_eq!(requests(&drain(&mut reception)), (vec![], 1));
    for place in 2..=8u8 {
        let packets = sender.frame(3000 * u32::from(place), &picture(false, place, 10));
        let outputs = give(&mut reception, 33 * u64::from(place), &packets);
        // Not earlier than 200 ms after the first.
        let expected = usize::from(place == 8);
        assert_eq!((frames(&outputs).len(), requests(&outputs)), (0, (vec![], expected)), "{place}");
        reception.on_undecodable(at(33 * u64::from(place)), 1);
    }
    drain(&mut reception);
    let outputs = give(&mut reception, 297, &sender.frame(27_000, &picture(true, 9, 10)));
    let [keyframe] = &frames(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!((keyframe.number, keyframe.keyframe), (2, true));
    // Outdated: a keyframe was delivered after that frame.
    reception.on_undecodable(at(600), 1);
    let outputs = give(&mut reception, 600, &sender.frame(30_000, &picture(false, 10, 10)));
    assert_eq!((frames(&outputs).len(), requests(&outputs)), (1, (vec![], 0)));
    reception.on_undecodable(at(700), 2);
    assert_eq!(requests(&drain(&mut reception)), (vec![], 1), "and that one was no good either");
}

#[test]
fn a_keyframe_for_somebody_else_is_asked_for_while_frames_go_on() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    give(&mut reception, 0, &sender.frame(0, &picture(true, 1, 10)));
    for _ in 0..3 {
        reception.request_keyframe(at(20));
    }
    assert_eq!(requests(&drain(&mut reception)), (vec![], 1), "one request for all");
    reception.request_keyframe(at(30));
    for place in 1..=8u8 {
        let packets = sender.frame(3000 * u32::from(place), &picture(false, place, 10));
        let outputs = give(&mut reception, 33 * u64::from(place), &packets);
        // Not earlier than 200 ms after the first: the seventh comes at 231 ms.
        assert_eq!((frames(&outputs).len(), requests(&outputs).1), (1, usize::from(place == 7)), "{place}");
    }
    reception.request_keyframe(at(270));
    give(&mut reception, 300, &sender.frame(27_000, &picture(true, 9, 10)));
    reception.on_timeout(at(1000));
    assert_eq!(requests(&drain(&mut reception)), (vec![], 0), "the keyframe has come");
}
