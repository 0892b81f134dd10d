//! Our offers, and other implementations' answers.

use proptest::prelude::*;

use super::*;

/// Asserts that the two endpoints of a session agree.
fn agree(answer: &Answer, accepted: &Accepted, offerer: &Local) {
    let (theirs, ours) = (&answer.media, &accepted.media);
    assert_eq!(theirs.direction, ours.direction.reverse());
    // Each section is equal, except for the receiver's wishes, which only the sender has.
    let video = theirs.video.clone().map(|video| Video { limit: None, ..video });
    assert_eq!(video, ours.video.clone().map(|video| Video { limit: None, ..video }));
    assert_eq!(theirs.audio, ours.audio);
    assert!(!video.is_some_and(|video| video.fec.is_some() && video.redundancy.is_some()));
    assert_ne!(answer.dtls, accepted.dtls);
    assert_eq!(answer.remote.credentials, offerer.credentials);
    assert_eq!(answer.remote.fingerprint, offerer.fingerprint);
    assert_eq!(accepted.refused.len(), answer.refused.len());
}

#[test]
fn our_offer_to_send_answered_by_our_receiver_is_all_there_is() {
    let (ours, theirs) = (local(1), local(2));
    let offer = offer(&ours, &sender());
    let answer = answer(&offer.text, &theirs, &receiver()).expect("an answer");
    let accepted = offer.accept(&answer.text).expect("our own answer");
    agree(&answer, &accepted, &ours);
    let video = accepted.media.video.expect("video");
    assert_eq!((video.codec, video.payload_type), (VideoCodec::Vp8, 96));
    assert_eq!((video.retransmission, video.fec), (Some(97), Some(118)));
    assert!(
        video.extensions.transport_on_request && video.extensions.grace.is_some() && video.extensions.states.is_some()
    );
    assert!(
        video.extensions.dependencies.is_some() && offer.text.contains("#dependency-descriptor-rtp-header-extension")
    );
    assert_eq!(accepted.remote.candidates, ["candidate:1 1 udp 2130706431 127.0.0.1 4000 typ host"]);
    assert_eq!(accepted.remote.fingerprint, theirs.fingerprint);
}

#[test]
fn red_with_ulpfec_is_agreed_on_only_where_flexfec_is_not() {
    let ours = offer(&local(1), &sender());
    let agreed = |capabilities: Capabilities| {
        let answer = answer(&ours.text, &local(2), &capabilities).expect("an answer");
        agree(&answer, &ours.accept(&answer.text).expect("our own answer"), &local(1));
        (answer.media.video.expect("video"), answer.text)
    };
    let (video, text) = agreed(receiver());
    assert_eq!((video.fec, video.redundancy), (Some(118), None));
    assert!(!text.contains("red/90000") && !text.contains("ulpfec"));
    let (video, text) = agreed(Capabilities { fec: false, ..receiver() });
    let redundancy = Redundancy { red: 119, ulpfec: 121, retransmission: Some(120) };
    assert_eq!((video.fec, video.redundancy), (None, Some(redundancy)));
    assert_eq!(section(&text, 0)[0], "m=video 9 UDP/TLS/RTP/SAVPF 96 97 119 120 121");
    assert!(text.contains("a=fmtp:120 apt=119\r\n") && !text.contains("FEC-FR"));
    // Without retransmissions of media there are none of RED either.
    let (video, _) = agreed(Capabilities { fec: false, retransmission: false, ..receiver() });
    assert_eq!(video.redundancy, Some(Redundancy { retransmission: None, ..redundancy }));
    let (video, _) = agreed(Capabilities { fec: false, redundancy: false, ..receiver() });
    assert_eq!((video.fec, video.redundancy), (None, None));
    // RED without ULPFEC is not negotiated.
    let half = ours.text.replace("a=rtpmap:121 ulpfec/90000\r\n", "");
    let half = answer(&half, &local(2), &Capabilities { fec: false, ..receiver() }).expect("an answer");
    assert_eq!(half.media.video.expect("video").redundancy, None);
}

#[test]
fn extended_reports_are_agreed_on_where_both_ends_want_them_most_and_no_browser_is_asked_for_them() {
    let wants = |first: CongestionFeedback, direction| {
        let mut all = Capabilities::all(direction);
        all.congestion.sort_by_key(|kind| *kind != first);
        all
    };
    let ours = offer(&local(1), &receiver());
    assert_eq!(ours.text.matches("a=rtcp-xr:pkt-loss-rle pkt-rcpt-times\r\n").count(), 2);
    let publisher = wants(CongestionFeedback::Extended, Direction::SendOnly);
    let answered = answer(&ours.text, &local(2), &publisher).expect("an answer");
    agree(&answered, &ours.accept(&answered.text).expect("our own answer"), &local(1));
    let (video, audio) = (answered.media.video.expect("video"), answered.media.audio.expect("audio"));
    assert_eq!(video.congestion(), Some(CongestionFeedback::Extended));
    assert!(audio.feedback.extended && video.feedback.round_trip && video.feedback.nack);
    assert_eq!((video.extensions.transport_sequence, audio.extensions.transport_sequence), (None, None));
    assert_eq!(answered.text.matches("a=rtcp-xr:pkt-loss-rle pkt-rcpt-times\r\n").count(), 2);
    assert!(!answered.text.contains("transport-cc") && !answered.text.contains("ccfb"));
    let usual = answer(&ours.text, &local(2), &sender()).expect("an answer");
    assert!(!usual.text.contains("rtcp-xr"));
    let browser = answer(CHROMIUM, &local(2), &publisher).expect("an answer");
    assert!(!browser.text.contains("rtcp-xr"));
    assert_eq!(browser.media.video.expect("video").congestion(), Some(CongestionFeedback::Transport));
}

#[test]
fn extended_reports_want_both_kinds_of_blocks_as_long_as_ours_wherever_the_line_stands() {
    let only = Capabilities { congestion: vec![CongestionFeedback::Extended], ..sender() };
    let agreed = |lines: &str| {
        // Chromium requests the report of our round-trip time only, in each section.
        let offer = CHROMIUM.replace("a=rtcp-xr:rcvr-rtt=all\r\n", "");
        let offer = offer.replacen("t=0 0\r\n", &format!("t=0 0\r\n{lines}"), 1);
        answer(&offer, &local(1), &only).expect("an answer").media.video.expect("video").feedback.extended
    };
    assert!(agreed("a=rtcp-xr:rcvr-rtt=all:10000 pkt-loss-rle pkt-rcpt-times stat-summary=loss,dup,jitt,TTL\r\n"));
    assert!(agreed("a=rtcp-xr:pkt-loss-rle=1400 pkt-rcpt-times=1200\r\n"));
    for lines in [
        "",
        "a=rtcp-xr:\r\n",
        "a=rtcp-xr:pkt-loss-rle\r\n",
        "a=rtcp-xr:rcvr-rtt=all:10000 stat-summary=loss,dup,jitt,TTL voip-metrics\r\n",
        "a=rtcp-xr:pkt-loss-rle=400 pkt-rcpt-times\r\n",
        "a=rtcp-xr:pkt-loss-rle=many pkt-rcpt-times\r\n",
    ] {
        assert!(!agreed(lines), "{lines}");
    }
}

#[test]
fn pion_takes_our_offer_with_retransmissions_and_transport_wide_feedback_at_its_own_pace() {
    let accepted = offer(&local(1), &sender()).accept(PION).expect("an answer");
    let video = accepted.media.video.expect("video");
    assert_eq!((video.codec, video.payload_type), (VideoCodec::Vp8, 96));
    assert_eq!((video.retransmission, video.fec), (Some(97), None));
    assert_eq!(video.streams, Ssrcs { media: Some(11), retransmission: Some(12), fec: None });
    let extensions = ExtensionIds { mid: Some(1), transport_sequence: Some(4), ..ExtensionIds::default() };
    assert_eq!(video.extensions, extensions);
    assert_eq!(video.congestion(), Some(CongestionFeedback::Transport));
    assert!(video.feedback.nack && video.feedback.pli && video.feedback.fir);
    assert_eq!(accepted.media.audio.expect("audio").extensions.transport_sequence, Some(4));
    assert_eq!((accepted.dtls, accepted.refused), (DtlsRole::Server, Vec::new()));
    // It repeats each address for RTCP, which has no component of its own.
    let addresses: Vec<_> =
        accepted.remote.candidates.iter().map(|line| line.split(' ').nth(4).expect("an address")).collect();
    assert_eq!(addresses, ["fd00::2", "127.0.0.1", "192.0.2.2"]);
    // Of the codecs in the answer, the one we prefer to send.
    let vp9 = Capabilities { video: vec![VideoCodec::Vp9, VideoCodec::Vp8], ..sender() };
    let swapped = Offer { capabilities: vp9, ..offer(&local(1), &sender()) };
    let video = swapped.accept(PION).expect("an answer").media.video.expect("video");
    assert_eq!((video.codec, video.payload_type, video.retransmission), (VideoCodec::Vp9, 104, Some(105)));
}

#[test]
fn chromium_takes_our_offers_with_all_it_knows() {
    let accepted = offer(&local(1), &sender()).accept(CHROMIUM_RECEIVES).expect("an answer");
    let video = accepted.media.video.expect("video");
    assert_eq!((video.codec, video.retransmission, video.fec), (VideoCodec::Vp8, Some(97), Some(118)));
    // It also accepts RED, which is not needed in addition to flexfec-03; without flexfec-03 it would be used.
    assert_eq!(video.redundancy, None);
    let without = CHROMIUM_RECEIVES.replace("a=rtpmap:118 flexfec-03/90000\r\n", "");
    let in_red = offer(&local(1), &sender()).accept(&without).expect("an answer").media.video.expect("video");
    assert_eq!(in_red.redundancy, Some(Redundancy { red: 119, ulpfec: 121, retransmission: Some(120) }));
    // It ignores our extended reports and our receivers' path measurement.
    assert!(!video.feedback.path && video.extensions.bytes_before.is_none());
    assert!(!CHROMIUM_RECEIVES.contains("rtcp-xr") && !CHROMIUM_ANSWERS.contains("rtcp-xr"));
    // Of the two forms of the transport-wide number it accepts the first one, because it does not know the other by
    // default.
    assert_eq!(video.congestion(), Some(CongestionFeedback::Transport));
    assert_eq!((video.extensions.playout_delay, video.extensions.grace), (Some(5), None));
    assert_eq!(video.streams, Ssrcs { media: Some(11), retransmission: Some(12), fec: Some(13) });
    let accepted = offer(&local(1), &receiver()).accept(CHROMIUM_ANSWERS).expect("an answer");
    let video = accepted.media.video.expect("video");
    // It sends no flexfec-03 without a field trial.
    assert_eq!((video.payload_type, video.retransmission, video.fec), (96, Some(97), None));
    let streams = Ssrcs { media: Some(4_144_458_296), retransmission: Some(2_273_315_703), fec: None };
    assert_eq!(video.streams, streams);
    // But RED, with everything that belongs to it.
    assert_eq!(video.redundancy, Some(Redundancy { red: 119, ulpfec: 121, retransmission: Some(120) }));
    assert_eq!(accepted.media.audio.expect("audio").streams.media, Some(3_969_275_161));
    assert_eq!(accepted.dtls, DtlsRole::Server);
}

#[test]
fn the_same_arguments_give_the_same_offer() {
    assert_eq!(offer(&local(1), &sender()), offer(&local(1), &sender()));
    assert_ne!(offer(&local(1), &sender()).text, offer(&local(2), &sender()).text);
}

#[test]
fn a_fragment_speaks_of_the_transport_of_the_offer() {
    let offer = offer(&local(1), &sender());
    let credentials = local(3).credentials;
    let fragment = offer.fragment(&credentials, &["candidate:1 1 udp 1 127.0.0.1 9 typ host".to_owned()]);
    let read = fragment::Fragment::read(&fragment.to_string()).expect("a fragment");
    assert_eq!(read, fragment);
    assert_eq!((read.mid.as_str(), read.bundle.len(), read.credentials), ("0", 2, credentials));
}

#[test]
fn an_answer_may_refuse_a_section_but_not_all() {
    let offer = offer(&local(1), &sender());
    let without = Capabilities { audio: false, ..receiver() };
    let answered = answer(&offer.text, &local(2), &without).expect("an answer");
    let accepted = offer.accept(&answered.text).expect("video alone");
    assert!(accepted.media.audio.is_none());
    assert_eq!(accepted.refused[0].to_string(), "section 1 (audio): closed: its port is 0");
    let nothing = answered.text.replace("m=video 9", "m=video 0");
    let error = offer.accept(&nothing).unwrap_err();
    assert!(matches!(&error, SdpError::NothingInCommon(refused) if refused.len() == 2), "{error}");
}

#[test]
fn an_answer_that_changes_what_was_offered_is_refused_by_the_line() {
    let offer = offer(&local(1), &sender());
    let good = answer(&offer.text, &local(2), &receiver()).expect("an answer").text;
    let cases = [
        ("a=rtpmap:96 VP8/90000", "a=rtpmap:96 VP9/90000", "a=rtpmap:96 VP9/90000"),
        ("SAVPF 96 97 118\r\n", "SAVPF 96 97 118 55\r\na=rtpmap:55 AV1/90000\r\n", "no payload type of the offer"),
        ("a=extmap:1 ", "a=extmap:12 ", "a=extmap:12 "),
        ("a=mid:0\r\n", "a=mid:7\r\n", "a=mid:7"),
        ("a=setup:active", "a=setup:actpass", "a=setup:actpass"),
        ("m=audio", "m=video", "m=video"),
        ("a=setup:active\r\n", "", "no a=setup"),
        ("a=fingerprint:sha-256", "a=fingerprint:sha-1", "sha-1"),
        ("a=ice-ufrag:frag2\r\n", "", "no a=ice-ufrag"),
        ("a=ice-pwd:", "a=ice-pwd:a b", "a=ice-pwd:a b"),
    ];
    for (line, other, named) in cases {
        assert!(good.contains(line), "{line}");
        let error = offer.accept(&good.replace(line, other)).expect_err(other).to_string();
        assert!(error.contains(named), "{other}: {error}");
    }
    for (line, other) in [("a=rtcp-mux\r\n", ""), ("a=recvonly", "a=sendonly"), ("UDP/TLS/RTP/SAVPF", "UDP/TLS/UDPTL")]
    {
        let error = offer.accept(&good.replace(line, other)).expect_err(line);
        assert!(matches!(&error, SdpError::NothingInCommon(refused) if refused.len() == 2), "{error}");
    }
    let apart = offer.accept(&good.replace("a=group:BUNDLE 0 1\r\n", "")).expect("video alone");
    assert!(apart.media.audio.is_none() && apart.refused[0].why.contains("BUNDLE"), "{:?}", apart.refused);
    let one_more = format!("{good}m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n");
    let error = offer.accept(&one_more).unwrap_err().to_string();
    assert!(error.contains("3 sections") && error.contains("needed is 2"), "{error}");
}

prop_compose! {
    fn capabilities(direction: Direction)(
        video in proptest::sample::subsequence(vec![VideoCodec::Vp8, VideoCodec::H264, VideoCodec::Vp9], 1..=3).prop_shuffle(),
        h264 in proptest::sample::subsequence(
            vec![H264Profile::ConstrainedBaseline, H264Profile::Baseline, H264Profile::Main, H264Profile::ConstrainedHigh, H264Profile::High],
            1..=5,
        ).prop_shuffle(),
        congestion in proptest::sample::subsequence(
            vec![CongestionFeedback::TransportOnRequest, CongestionFeedback::PerStream, CongestionFeedback::Transport],
            0..=3,
        ).prop_shuffle(),
        switches in any::<[bool; 16]>(),
    ) -> Capabilities {
        let [audio, retransmission, fec, redundancy, nack, pli, fir, bitrate, path, frames, playout_delay, absolute_send_time, mid, functional, dependencies, bytes_before] = switches;
        let feedback = Feedback { nack, pli, fir, bitrate, path, frames, ..Feedback::default() };
        Capabilities {
            direction, video, h264, audio, retransmission, fec, redundancy, congestion, feedback,
            playout_delay, absolute_send_time, mid, functional, dependencies, bytes_before,
        }
    }
}

proptest! {
    #[test]
    fn what_our_offer_and_our_answer_say_is_the_same_whatever_both_can_do(
        ours in capabilities(Direction::SendOnly),
        theirs in capabilities(Direction::ReceiveOnly),
        they_offer in any::<bool>(),
    ) {
        let (offerer, answerer) = if they_offer { (theirs, ours) } else { (ours, theirs) };
        let offer = offer(&local(1), &offerer);
        match answer(&offer.text, &local(2), &answerer) {
            Ok(answer) => agree(&answer, &offer.accept(&answer.text).expect("our own answer"), &local(1)),
            Err(SdpError::NothingInCommon(refused)) => prop_assert_eq!(refused.len(), offer.sections.len()),
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
    }
}

#[test]
fn audio_is_reported_but_neither_retransmitted_nor_asked_for_as_pictures_are() {
    let offer = offer(&local(1), &sender());
    let of_audio = |text: &str| -> Vec<String> {
        let lines = section(text, 1).into_iter().filter(|line| line.starts_with("a=rtcp-fb"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(of_audio(&offer.text), ["a=rtcp-fb:111 transport-cc", "a=rtcp-fb:111 ack ccfb"]);
    // Not even if the peer requests it.
    let asks = offer.text.replace("a=rtcp-fb:111 transport-cc", "a=rtcp-fb:111 nack\r\na=rtcp-fb:111 transport-cc");
    let answer = answer(&asks, &local(2), &receiver()).expect("an answer");
    assert_eq!(of_audio(&answer.text), ["a=rtcp-fb:111 transport-cc"]);
    assert!(!answer.media.audio.expect("audio").feedback.nack);
}

#[test]
fn the_codec_is_the_first_of_the_side_that_sends_whichever_offers() {
    let vp9_first = |all: Capabilities| Capabilities { video: vec![VideoCodec::Vp9, VideoCodec::Vp8], ..all };
    let codec = |theirs: Capabilities, ours: Capabilities| {
        let answer = answer(&offer(&local(1), &theirs).text, &local(2), &ours).expect("an answer");
        answer.media.video.expect("video").codec
    };
    assert_eq!(codec(vp9_first(sender()), receiver()), VideoCodec::Vp9);
    assert_eq!(codec(vp9_first(receiver()), sender()), VideoCodec::Vp8);
}

#[test]
fn the_round_trip_is_told_to_who_asks_for_that() {
    let asked = offer(&local(1), &receiver());
    assert!(asked.text.contains("a=rtcp-fb:96 rrtr\r\n") && !asked.text.contains("a=rtcp-fb:97 rrtr"));
    let video = |text: &str| answer(text, &local(2), &sender()).expect("an answer").media.video.expect("video");
    assert!(video(&asked.text).feedback.round_trip);
    assert!(!video(&asked.text.replace(" rrtr", " other")).feedback.round_trip);
}

#[test]
fn the_path_is_measured_where_both_ends_know_how() {
    let asked = offer(&local(1), &receiver());
    assert!(asked.text.contains("a=rtcp-fb:96 ack app path\r\n") && !asked.text.contains("a=rtcp-fb:97 ack app path"));
    let media = |text: &str| answer(text, &local(2), &sender()).expect("an answer").media;
    let agreed = media(&asked.text);
    let (video, audio) = (agreed.video.expect("video"), agreed.audio.expect("audio"));
    assert!(video.feedback.path && !audio.feedback.path);
    // Audio is sent before pictures, and pictures before audio.
    assert_eq!((video.extensions.bytes_before, audio.extensions.bytes_before), (Some(9), Some(9)));
    // Like other feedback of RFC 4585, for all payload types at once; other application layer feedback is ignored.
    let of_all = asked.text.replace("a=rtcp-fb:96 ack app path", "a=rtcp-fb:* ack app path");
    assert!(media(&of_all).video.expect("video").feedback.path);
    assert!(!media(&asked.text.replace("app path", "app other")).video.expect("video").feedback.path);
    for theirs in [
        Capabilities { bytes_before: false, ..sender() },
        Capabilities { feedback: Feedback { path: false, ..sender().feedback }, ..sender() },
    ] {
        let answer = answer(&asked.text, &local(2), &theirs).expect("an answer");
        let video = answer.media.video.expect("video");
        assert_eq!(video.extensions.bytes_before.is_some(), theirs.bytes_before);
        assert_eq!(video.feedback.path, theirs.feedback.path);
        assert_eq!(answer.text.contains("bytes-before"), theirs.bytes_before);
        assert_eq!(answer.text.contains("ack app path"), theirs.feedback.path);
    }
}

#[test]
fn reports_as_frames_arrive_are_agreed_on_with_rfc_8888_alone_and_where_both_ends_know_them() {
    let agreed = |theirs: Capabilities, ours: Capabilities| {
        let answer = answer(&offer(&local(1), &theirs).text, &local(2), &ours).expect("an answer");
        assert_eq!(answer.text.contains("ack app frame"), answer.media.video.as_ref().expect("video").feedback.frames);
        assert!(!answer.media.audio.expect("audio").feedback.frames);
        let feedback = answer.media.video.expect("video").feedback;
        (feedback.congestion, feedback.frames)
    };
    let of = |all: Capabilities, kind| Capabilities { congestion: vec![kind], ..all };
    let without = |all: Capabilities| Capabilities { feedback: Feedback { frames: false, ..all.feedback }, ..all };
    let (per_stream, transport) = (CongestionFeedback::PerStream, CongestionFeedback::Transport);
    assert_eq!(agreed(receiver(), of(sender(), per_stream)), (true, true));
    assert_eq!(agreed(receiver(), of(sender(), transport)), (false, false));
    assert_eq!(agreed(receiver(), without(of(sender(), per_stream))), (true, false));
    assert_eq!(agreed(without(receiver()), of(sender(), per_stream)), (true, false));
    let asked = offer(&local(1), &of(receiver(), transport));
    assert!(!asked.text.contains("ack app frame") && offer(&local(1), &receiver()).text.contains("ack app frame"));
}
