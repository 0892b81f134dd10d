use super::*;
use thalweg_units::{Ecn, Span};
use thalweg_wire::rtcp::ccfb;
use thalweg_wire::rtcp::twcc::{self, Status};
use thalweg_wire::rtcp::{LastReceiverTime, NtpShort, NtpTime, ReportBlock, SenderReport, Xr, XrBlock};

fn audio(sender: &mut Sender, sequence: u16, timestamp: u32) -> Vec<u8> {
    let header = Header { marker: false, payload_type: AUDIO, sequence, timestamp, ssrc: AUDIO_SSRC };
    sender.packet(header, &[0xfc, 0xff, 0xfe], 0, &[])
}

fn transport(outputs: &[Output]) -> Vec<twcc::Feedback> {
    let of = |packet| if let Rtcp::TransportFeedback(feedback) = packet { Some(feedback) } else { None };
    rtcp(outputs).into_iter().filter_map(of).collect()
}

/// All outputs up to this time.
fn until(reception: &mut Reception, millis: u64) -> Vec<(Time, Output)> {
    let mut outputs = Vec::new();
    loop {
        match reception.poll() {
            Output::Wait { until } if until > at(millis) => return outputs,
            Output::Wait { until } => {
                reception.on_timeout(until);
                outputs.extend(drain(reception).into_iter().map(|output| (until, output)));
            }
            output => outputs.push((Time::ZERO, output)),
        }
    }
}

fn sender_report(ssrc: u32, ntp: Time, rtp_timestamp: u32) -> Vec<u8> {
    let report = SenderReport { ssrc, ntp: NtpTime::at(ntp), rtp_timestamp, ..SenderReport::default() };
    let mut out = Vec::new();
    rtcp::write(&[Rtcp::SenderReport(report)], &mut out).unwrap();
    out
}

#[test]
fn transport_feedback_covers_media_retransmissions_padding_and_audio_62_ms_after_the_first_of_them() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(true, 1, 10));
    let header = sender.rtx_header(false, 0);
    let packets = [
        sender.packet(header, &[], 224, &[]),
        audio(&mut sender, 1, 0),
        sender.retransmission(&media[0]),
        media[0].clone(),
    ];
    packets.iter().for_each(|packet| reception.on_rtp(at(100), Ecn::NotCapable, packet));
    drain(&mut reception);
    let outputs = until(&mut reception, 300);
    let [(when, output)] = &outputs[..] else { panic!("{outputs:?}") };
    let feedback = transport(std::slice::from_ref(output));
    assert_eq!((*when, feedback.len(), feedback[0].base_sequence), (at(162), 1, 65_530));
    assert_eq!((feedback[0].statuses.len(), feedback[0].sender_ssrc, feedback[0].media_ssrc), (4, OURS, MEDIA_SSRC));
    assert!(!feedback[0].statuses.contains(&Status::Missing));
}

#[test]
fn extended_reports_tell_of_every_stream_and_of_what_came_too_late() {
    let config = with_video(|video| {
        video.feedback = Feedback { extended: true, nack: true, ..Feedback::default() };
    });
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    reception.learn(Span::from_millis(150));
    let first = sender.frame(0, &picture(true, 1, 150));
    let second = sender.frame(3000, &picture(false, 2, 150));
    let keyframe = sender.frame(6000, &picture(true, 3, 10));
    let audio = audio(&mut sender, 1, 0);
    let extended = |outputs: &[Output]| -> Vec<XrBlock> {
        let of = |packet| if let Rtcp::Xr(report) = packet { Some(report.blocks) } else { None };
        rtcp(outputs).into_iter().filter_map(of).flatten().collect()
    };
    give(&mut reception, 100, first.iter().chain([&second[0], &audio, &keyframe[0]]));
    // Two round trips after the first packet: one video packet is missing, and the audio arrived.
    let outputs: Vec<_> = until(&mut reception, 400).into_iter().filter(|(when, _)| *when == at(400)).collect();
    let reported = extended(&outputs.into_iter().map(|(_, output)| output).collect::<Vec<_>>());
    let came = |ssrc| {
        reported.iter().find_map(|block| match block {
            XrBlock::Losses(packets) => (packets.ssrc == ssrc).then(|| packets.iter().collect::<Vec<_>>()),
            _ => None,
        })
    };
    let expected = vec![(65_500, true), (65_501, true), (65_502, true), (65_503, false), (65_504, true)];
    assert_eq!(came(MEDIA_SSRC), Some(expected), "{reported:?}");
    assert_eq!(came(AUDIO_SSRC), Some(vec![(1, true)]));
    // The keyframe was shown: what is missing before it is no longer needed.
    let outputs = give(&mut reception, 450, [&second[1]]);
    let late = |block: &XrBlock| match block {
        XrBlock::Discards { early: false, packets } => packets.sequences(true).eq([65_503]),
        _ => false,
    };
    assert!(extended(&outputs).iter().any(late), "{outputs:?}");
}

#[test]
fn on_request_feedback_leaves_at_once_and_covers_what_was_asked_for() {
    let config = with_video(|video| video.extensions.transport_on_request = true);
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    sender.request = Some(None);
    let quiet = sender.frame(0, &picture(true, 1, 10));
    sender.request = Some(Some(FeedbackRequest { timestamps: true, count: 3 }));
    let requests_feedback = sender.frame(3000, &picture(false, 2, 10));
    assert_eq!(transport(&give(&mut reception, 0, &quiet)), []);
    let reported = transport(&give(&mut reception, 5, &requests_feedback));
    assert_eq!((reported.len(), reported[0].base_sequence, reported[0].statuses.len()), (1, 65_530, 2));
    // Everything was reported, so nothing remains for later.
    assert!(until(&mut reception, 400).is_empty());
    sender.request = Some(None);
    give(&mut reception, 400, &sender.frame(6000, &picture(false, 3, 10)));
    let later = until(&mut reception, 480);
    assert_eq!(later.iter().map(|(when, _)| *when).collect::<Vec<_>>(), [at(462)]);
    // As in libwebrtc, arrivals that are not requested are not reported.
    let config = Config { unasked: None, ..with_video(|video| video.extensions.transport_on_request = true) };
    let mut reception = Reception::new(config).unwrap();
    give(&mut reception, 0, &quiet);
    assert!(until(&mut reception, 400).is_empty());
}

#[test]
fn rfc_8888_tells_of_each_stream_and_transport_feedback_is_then_silent() {
    let config = with_video(|video| video.feedback.congestion = true);
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(true, 1, 250));
    let packets = [&media[0], &sender.retransmission(&media[0]), &audio(&mut sender, 1, 0), &media[1]];
    give(&mut reception, 100, packets);
    let outputs = until(&mut reception, 300);
    let [(when, output)] = &outputs[..1] else { panic!("{outputs:?}") };
    let [Rtcp::CongestionFeedback(feedback)] = &rtcp(std::slice::from_ref(output))[..] else { panic!("{output:?}") };
    let streams: Vec<_> =
        feedback.streams.iter().map(|stream| (stream.ssrc, stream.begin, stream.statuses.len())).collect();
    assert_eq!(*when, at(125));
    assert_eq!(streams, [(MEDIA_SSRC, 65_500, 2), (RTX_SSRC, 9, 1), (AUDIO_SSRC, 1, 1)]);
    assert!(transport(&outputs.into_iter().map(|(_, output)| output).collect::<Vec<_>>()).is_empty());
}

/// Times of RFC 8888's reports until `end` for frames of three packets, which arrive at these times.
fn reported_at(frames: bool, arrivals: &[[u64; 3]], end: u64) -> Vec<u64> {
    let config = with_video(|video| (video.feedback.congestion, video.feedback.frames) = (true, frames));
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let mut reports = Vec::new();
    let mut note = |when: Time, output: &Output| {
        let is_report = |packet: &Rtcp| matches!(packet, Rtcp::CongestionFeedback(_));
        reports.extend(rtcp(std::slice::from_ref(output)).iter().any(is_report).then_some(when));
    };
    for (number, times) in (0..).zip(arrivals) {
        let frame = sender.frame(3000 * number, &picture(number == 0, 1, 250));
        for (packet, millis) in frame.iter().zip(times) {
            until(&mut reception, millis - 1).iter().for_each(|(when, output)| note(*when, output));
            give(&mut reception, *millis, [packet]).iter().for_each(|output| note(at(*millis), output));
        }
    }
    until(&mut reception, end).iter().for_each(|(when, output)| note(*when, output));
    reports.into_iter().map(|when| when.as_nanos() / 1_000_000).collect()
}

#[test]
fn a_report_leaves_as_a_frame_ends_but_25_ms_after_the_last_one_and_no_packet_waits_longer() {
    // The second frame ends 10 ms after the first one was reported; the third takes 60 ms.
    let arrivals = [[100, 103, 105], [112, 113, 115], [200, 230, 260], [300, 300, 300]];
    assert_eq!(reported_at(false, &arrivals, 400), [105, 130, 225, 255, 280, 305]);
}

#[test]
fn a_sender_of_ours_that_asks_is_told_after_each_frame_and_within_10_ms() {
    let arrivals = [[100, 103, 105], [106, 107, 108], [200, 204, 230], [300, 300, 300]];
    assert_eq!(reported_at(true, &arrivals, 400), [105, 110, 210, 230, 300]);
}

#[test]
fn the_ecn_field_is_counted_and_reported_with_each_packet() {
    let config = with_video(|video| video.feedback.congestion = true);
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(true, 1, 350));
    let unknown = {
        let header = Header { ssrc: 99, ..sender.header(false, 0) };
        sender.packet(header, &[0x10, 0, 1], 0, &[])
    };
    let fields = [Ecn::Ect1, Ecn::Ce, Ecn::Ect0, Ecn::NotCapable];
    media.iter().zip(fields).for_each(|(packet, ecn)| reception.on_rtp(at(100), ecn, packet));
    reception.on_rtp(at(100), Ecn::Ce, &audio(&mut sender, 1, 0));
    reception.on_rtp(at(100), Ecn::Ect1, &sender.retransmission(&media[0]));
    // Of a stream that nobody agreed on, and no RTP at all.
    reception.on_rtp(at(100), Ecn::Ce, &unknown);
    reception.on_rtp(at(100), Ecn::Ce, &[0; 3]);
    let statistics = reception.statistics();
    assert_eq!((statistics.by_ecn, statistics.retransmissions_by_ecn), ([1, 2, 1, 2], [0, 1, 0, 0]));
    let outputs = until(&mut reception, 200);
    let mut found = Vec::new();
    for packet in outputs.iter().flat_map(|(_, output)| rtcp(std::slice::from_ref(output))) {
        let Rtcp::CongestionFeedback(feedback) = packet else { continue };
        for stream in feedback.streams {
            found.extend(stream.statuses.iter().filter_map(|status| match status {
                ccfb::Status::Arrived { ecn, .. } => Some((stream.ssrc, *ecn)),
                ccfb::Status::Missing => None,
            }));
        }
    }
    found.sort_by_key(|(ssrc, _)| *ssrc);
    let others = [(RTX_SSRC, Ecn::Ect1), (AUDIO_SSRC, Ecn::Ce)];
    let expected: Vec<_> = fields.map(|ecn| (MEDIA_SSRC, ecn)).into_iter().chain(others).collect();
    assert_eq!(found, expected);
}

#[test]
fn receiver_reports_leave_each_second_with_our_name_and_echo_the_senders_report() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(true, 1, 250));
    give(&mut reception, 0, [&media[0], &media[2]]);
    let ntp = at(40_000);
    reception.on_rtcp(at(250), &sender_report(MEDIA_SSRC, ntp, 0));
    let reports: Vec<(Time, Vec<Rtcp>)> = until(&mut reception, 2600)
        .into_iter()
        .map(|(when, output)| (when, rtcp(&[output])))
        .filter(|(_, packets)| matches!(packets.first(), Some(Rtcp::ReceiverReport(_))))
        .collect();
    assert_eq!(reports.iter().map(|(when, _)| *when).collect::<Vec<_>>(), [at(500), at(1500), at(2500)]);
    let [Rtcp::ReceiverReport(report), Rtcp::Sdes(names)] = &reports[0].1[..] else { panic!("{reports:?}") };
    let block = ReportBlock {
        ssrc: MEDIA_SSRC,
        fraction_lost: 85,
        cumulative_lost: 1,
        highest_sequence: 65_502,
        jitter: 0,
        last_report: NtpShort::at(ntp),
        delay: NtpShort::of(Span::from_millis(250)),
    };
    assert_eq!((report.ssrc, &report.blocks[..]), (OURS, &[block][..]));
    assert_eq!((names.chunks[0].source, &names.chunks[0].items[0].text[..]), (OURS, &b"us"[..]));
}

#[test]
fn without_reduced_size_everything_told_begins_with_a_report_and_our_name() {
    let config = Config { reduced_size: false, ..config() };
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(true, 1, 250));
    let outputs = give(&mut reception, 0, [&media[0], &media[2]]);
    let packets = rtcp(&outputs);
    assert!(matches!(packets[..], [Rtcp::ReceiverReport(_), Rtcp::Sdes(_), Rtcp::Nack(_)]), "{packets:?}");
}

#[test]
fn what_was_not_agreed_on_is_not_told() {
    let config = with_video(|video| video.feedback = Feedback { fir: true, ..Feedback::default() });
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    let media = sender.frame(0, &picture(false, 1, 250));
    let mut outputs = give(&mut reception, 0, [&media[0], &media[2]]);
    outputs.extend(until(&mut reception, 450).into_iter().map(|(_, output)| output));
    let packets = rtcp(&outputs);
    assert!(matches!(&packets[..], [Rtcp::Fir(intra)] if intra.requests[0].ssrc == MEDIA_SSRC), "{packets:?}");
}

#[test]
fn audio_comes_out_in_order_and_sender_reports_tell_how_far_audio_and_picture_are_apart() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    reception.on_rtcp(at(0), &sender_report(MEDIA_SSRC, at(70_000), 9000));
    reception.on_rtcp(at(0), &sender_report(AUDIO_SSRC, at(70_000), 48_000));
    assert_eq!(reception.skew(), None);
    // Both captured at 70.1 s: the audio arrives after 20 ms, the picture after 35.
    let outputs = give(&mut reception, 120, [&audio(&mut sender, 3, 48_000 + 4800)]);
    let [Output::Audio(packet)] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!((packet.captured, packet.lost, &packet.data[..]), (Some(at(70_100)), 0, &[0xfc, 0xff, 0xfe][..]));
    let outputs = give(&mut reception, 135, &sender.frame(18_000, &picture(true, 1, 10)));
    assert_eq!(frames(&outputs)[0].captured, Some(at(70_100)));
    assert_eq!(reception.skew(), Some(Span::from_millis(15)));
    // Packet 4 is lost; 5 waits for it until its timeout ends.
    assert!(give(&mut reception, 160, [&audio(&mut sender, 5, 48_000 + 6720)]).is_empty());
    let outputs = until(&mut reception, 230);
    let later: Vec<_> = outputs.iter().filter(|(_, output)| matches!(output, Output::Audio(_))).collect();
    assert!(matches!(&later[..], [(when, Output::Audio(packet))] if *when == at(220) && packet.lost == 1), "{later:?}");
}

/// The sender's echo of the receiver's time, with the time it was held.
fn echo(receiver: u32, said: NtpShort, held: Span) -> Vec<u8> {
    let last = LastReceiverTime { ssrc: receiver, last_report: said, delay: NtpShort::of(held) };
    let blocks = vec![XrBlock::SinceReceiverTime(vec![last])];
    let mut out = Vec::new();
    rtcp::write(&[Rtcp::Xr(Xr { ssrc: MEDIA_SSRC, blocks })], &mut out).unwrap();
    out
}

#[test]
fn the_round_trip_is_learned_from_our_times_sent_back_and_from_no_lie() {
    let config = with_video(|video| video.feedback.round_trip = true);
    let (mut reception, mut sender) = (Reception::new(config).unwrap(), Sender::new());
    give(&mut reception, 0, &sender.frame(0, &picture(true, 1, 10)));
    let outputs: Vec<Output> = until(&mut reception, 500).into_iter().map(|(_, output)| output).collect();
    let said: Vec<NtpTime> = rtcp(&outputs)
        .into_iter()
        .filter_map(|packet| if let Rtcp::Xr(report) = packet { Some(report) } else { None })
        .flat_map(|report| report.blocks)
        .filter_map(|block| if let XrBlock::ReceiverTime(time) = block { Some(time) } else { None })
        .collect();
    assert_eq!(said, [NtpTime::at(at(500))], "one with each report");
    let said = said[0].short();
    // To another receiver, of a time never sent, and with a holding time longer than has passed.
    for (ssrc, last, held) in [(OURS + 1, said, 0), (OURS, NtpShort::default(), 0), (OURS, said, 200)] {
        reception.on_rtcp(at(600), &echo(ssrc, last, Span::from_millis(held)));
        assert_eq!(reception.statistics().round_trip, None);
    }
    reception.on_rtcp(at(900), &echo(OURS, said, Span::from_millis(150)));
    let round_trip = reception.statistics().round_trip.expect("it was reported");
    assert!((round_trip - Span::from_millis(250)).abs() < Span::from_millis(1), "{round_trip}");
    // A missing packet is requested again after the same time.
    drain(&mut reception);
    let packets = sender.frame(3000, &picture(false, 2, 250));
    let nacks = |outputs: &[Output]| rtcp(outputs).iter().filter(|packet| matches!(packet, Rtcp::Nack(_))).count();
    assert_eq!(nacks(&give(&mut reception, 1000, [&packets[0], &packets[2]])), 1);
    let again: Vec<Time> = until(&mut reception, 1400)
        .into_iter()
        .filter(|(_, output)| nacks(std::slice::from_ref(output)) > 0)
        .map(|(when, _)| when)
        .collect();
    assert_eq!(again, [at(1260)], "at the first look, every 20 ms, after 250");
}

#[test]
fn without_agreement_no_times_are_sent_and_none_are_believed() {
    let (mut reception, mut sender) = (Reception::new(config()).unwrap(), Sender::new());
    give(&mut reception, 0, &sender.frame(0, &picture(true, 1, 10)));
    let outputs: Vec<Output> = until(&mut reception, 500).into_iter().map(|(_, output)| output).collect();
    assert!(rtcp(&outputs).iter().any(|packet| matches!(packet, Rtcp::ReceiverReport(_))));
    assert!(!rtcp(&outputs).iter().any(|packet| matches!(packet, Rtcp::Xr(_))));
    reception.on_rtcp(at(900), &echo(OURS, NtpShort::at(at(500)), Span::ZERO));
    assert_eq!(reception.statistics().round_trip, None);
}
