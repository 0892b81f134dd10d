//! Answers to browsers' offers.

use super::*;

#[test]
fn a_browser_that_wants_to_watch_is_sent_vp8_and_opus_with_all_that_helps() {
    let answer = answer(CHROMIUM, &local(1), &sender()).expect("an answer");
    let video = answer.media.video.expect("video");
    assert_eq!((video.mid.as_str(), video.codec, video.payload_type), ("0", VideoCodec::Vp8, 96));
    assert_eq!((video.retransmission, video.fec), (Some(97), Some(49)));
    let extensions = ExtensionIds {
        transport_sequence: Some(4),
        playout_delay: Some(5),
        mid: Some(9),
        absolute_send_time: Some(2),
        ..ExtensionIds::default()
    };
    assert_eq!(video.extensions, extensions);
    let feedback = Feedback { nack: true, pli: true, fir: true, transport: true, bitrate: true, ..Feedback::default() };
    assert_eq!(video.feedback, feedback);
    assert_eq!(video.streams, Ssrcs { media: Some(11), retransmission: Some(12), fec: Some(13) });
    let audio = answer.media.audio.expect("audio");
    assert_eq!((audio.mid.as_str(), audio.payload_type, audio.stereo, audio.in_band_repair), ("1", 111, false, true));
    assert_eq!(audio.extensions, ExtensionIds { playout_delay: None, ..extensions });
    assert_eq!(audio.streams.media, Some(14));
    assert_eq!(answer.dtls, DtlsRole::Client);
    assert_eq!(answer.remote.credentials.ufrag, "zi4J");
    assert_eq!(answer.remote.candidates.len(), 2);
    assert!(answer.remote.candidates[0].ends_with(".local 35952 typ host generation 0 network-cost 999"));
    assert_eq!(answer.refused, []);
}

#[test]
fn the_text_of_an_answer_says_what_was_agreed_on_and_nothing_else() {
    let answer = answer(CHROMIUM, &local(1), &sender()).expect("an answer");
    let video = section(&answer.text, 0);
    assert_eq!(video[0], "m=video 9 UDP/TLS/RTP/SAVPF 96 97 49");
    for line in [
        "a=candidate:1 1 udp 2130706431 127.0.0.1 4000 typ host",
        "a=end-of-candidates",
        "a=ice-ufrag:frag1",
        "a=setup:active",
        "a=sendonly",
        "a=rtcp-mux",
        "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        "a=rtcp-fb:96 nack pli",
        "a=rtcp-fb:49 transport-cc",
        "a=fmtp:97 apt=96",
        "a=ssrc-group:FID 11 12",
        "a=ssrc-group:FEC-FR 11 13",
        "a=ssrc:13 cname:thalweg-1",
        "a=msid:thalweg-1 video",
    ] {
        assert!(video.contains(&line), "{line} in {video:#?}");
    }
    assert!(!answer.text.contains("ccfb") && !answer.text.contains("H264") && !answer.text.contains("toffset"));
    let audio = section(&answer.text, 1);
    assert_eq!(audio[0], "m=audio 9 UDP/TLS/RTP/SAVPF 111");
    assert!(!audio.iter().any(|line| line.contains("candidate") || line.contains("playout-delay")));
    assert!(answer.text.contains("a=group:BUNDLE 0 1\r\n") && answer.text.contains("a=extmap-allow-mixed\r\n"));
}

#[test]
fn a_page_that_renames_the_transport_extension_is_asked_for_feedback_on_request() {
    use thalweg_wire::rtp::uri::{TRANSPORT_CC_01, TRANSPORT_CC_02};
    let munged = CHROMIUM.replace(TRANSPORT_CC_01, TRANSPORT_CC_02);
    let answer = answer(&munged, &local(1), &sender()).expect("an answer");
    let (video, audio) = (answer.media.video.expect("video"), answer.media.audio.expect("audio"));
    for extensions in [video.extensions, audio.extensions] {
        assert_eq!((extensions.transport_sequence, extensions.transport_on_request), (Some(4), true));
    }
    assert!(answer.text.contains(TRANSPORT_CC_02) && !answer.text.contains(TRANSPORT_CC_01));
}

#[test]
fn a_browser_without_flexfec_is_sent_red_and_one_that_sends_may_use_it() {
    let redundancy = Some(Redundancy { red: 118, ulpfec: 120, retransmission: Some(119) });
    let munged = CHROMIUM.replace("flexfec-03/90000", "other/90000");
    for (offer, capabilities) in [(munged.as_str(), sender()), (CHROMIUM_SENDS, receiver())] {
        let answered = answer(offer, &local(1), &capabilities).expect("an answer");
        let video = answered.media.video.expect("video");
        assert_eq!((video.fec, video.redundancy), (None, redundancy));
        assert_eq!(section(&answered.text, 0)[0], "m=video 9 UDP/TLS/RTP/SAVPF 96 97 118 119 120");
    }
    let firefox = answer(FIREFOX, &local(1), &sender()).expect("an answer").media.video.expect("video");
    let types = Redundancy { red: 122, ulpfec: 123, retransmission: Some(119) };
    assert_eq!(firefox.redundancy, Some(types));
    let offer = CHROMIUM_CCFB.replace("flexfec-03/90000", "other/90000");
    let answered = answer(&offer, &local(1), &sender()).expect("an answer");
    assert_eq!(answered.media.video.expect("video").congestion(), Some(CongestionFeedback::PerStream));
    for number in ["118", "119", "120"] {
        assert!(answered.text.contains(&format!("a=rtcp-fb:{number} ack ccfb\r\n")), "{number}");
    }
}

#[test]
fn per_stream_feedback_is_named_for_every_payload_type_and_alone() {
    let answer = answer(CHROMIUM_CCFB, &local(1), &sender()).expect("an answer");
    let video = answer.media.video.expect("video");
    assert_eq!(video.congestion(), Some(CongestionFeedback::PerStream));
    assert_eq!(video.extensions.transport_sequence, None);
    for number in ["96", "97", "49", "111"] {
        assert!(answer.text.contains(&format!("a=rtcp-fb:{number} ack ccfb\r\n")), "{number}");
    }
    assert!(!answer.text.contains("transport-cc") && !answer.text.contains("transport-wide"));
}

#[test]
fn without_per_stream_feedback_for_retransmissions_the_transport_wide_is_used() {
    let without = CHROMIUM_CCFB.replace("a=rtcp-fb:97 ack ccfb\r\n", "");
    let answer = answer(&without, &local(1), &sender()).expect("an answer");
    assert_eq!(answer.media.video.expect("video").congestion(), Some(CongestionFeedback::Transport));
}

#[test]
fn audio_does_not_report_in_another_way_than_video() {
    let capabilities =
        Capabilities { congestion: vec![CongestionFeedback::PerStream, CongestionFeedback::Transport], ..sender() };
    let without = CHROMIUM_CCFB.replace("a=rtcp-fb:111 ack ccfb\r\n", "");
    let answer = answer(&without, &local(1), &capabilities).expect("an answer");
    let audio = answer.media.audio.expect("audio");
    assert_eq!(audio.feedback, Feedback::default());
    assert_eq!(audio.extensions.transport_sequence, None);
}

#[test]
fn the_order_of_codecs_is_ours_and_h264_must_be_in_mode_1_and_of_a_known_profile() {
    let profiles = [
        (H264Profile::ConstrainedBaseline, 108, 109),
        (H264Profile::Baseline, 102, 103),
        (H264Profile::Main, 116, 117),
    ];
    for (profile, payload_type, rtx) in profiles {
        let video = vec![VideoCodec::H264, VideoCodec::Vp8];
        let capabilities = Capabilities { video, h264: vec![profile], ..sender() };
        let video = answer(CHROMIUM, &local(1), &capabilities).expect("an answer").media.video.expect("video");
        assert_eq!(
            (video.codec, video.payload_type, video.retransmission),
            (VideoCodec::H264, payload_type, Some(rtx))
        );
        assert_eq!(video.h264, Some(H264Format { profile, level: 31 }));
    }
    let both = Capabilities {
        video: vec![VideoCodec::H264],
        h264: vec![H264Profile::High, H264Profile::Main, H264Profile::Baseline],
        ..sender()
    };
    let answered = answer(CHROMIUM, &local(1), &both).expect("an answer");
    assert!(
        answered.text.contains("a=fmtp:116 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=4d001f\r\n")
    );
    let vp9 = Capabilities { video: vec![VideoCodec::Vp9], ..sender() };
    let video = answer(CHROMIUM, &local(1), &vp9).expect("an answer").media.video.expect("video");
    assert_eq!((video.codec, video.payload_type), (VideoCodec::Vp9, 98));
}

#[test]
fn av1_is_taken_in_profile_0_with_the_level_that_is_offered() {
    let av1 = Capabilities { video: vec![VideoCodec::Av1], ..receiver() };
    let taken = answer(CHROMIUM_SENDS, &local(1), &av1).expect("an answer");
    let video = taken.media.video.expect("video");
    assert_eq!((video.codec, video.payload_type, video.retransmission), (VideoCodec::Av1, 45, Some(46)));
    assert_eq!(video.av1, Some(Av1Format::UNSAID));
    assert!(taken.text.contains("a=rtpmap:45 AV1/90000\r\n"), "{}", taken.text);
    assert!(taken.text.contains("a=fmtp:45 level-idx=5;profile=0;tier=0\r\n"), "{}", taken.text);
    let higher = CHROMIUM_SENDS.replace("level-idx=5;profile=0;tier=0", "level-idx=8; tier=1");
    let video = answer(&higher, &local(1), &av1).expect("an answer").media.video.expect("video");
    assert_eq!(video.av1, Some(Av1Format { level: 8, high_tier: true }));
    let other = CHROMIUM_SENDS.replace("level-idx=5;profile=0;tier=0", "level-idx=5;profile=1;tier=0");
    let refused = answer(&other, &local(1), &av1).expect("an answer");
    assert!(
        refused.media.video.is_none() && refused.refused[0].to_string().contains("needed is one of AV1"),
        "{refused:?}"
    );
    // Where it cannot be decoded it is left out, whatever the sender prefers.
    let first = CHROMIUM_SENDS.replace("SAVPF 96 97 ", "SAVPF 45 46 96 97 ").replace(" 39 40 45 46 98", " 39 40 98");
    let codec =
        |capabilities| answer(&first, &local(1), &capabilities).expect("an answer").media.video.expect("video").codec;
    let with = Capabilities { video: [receiver().video, vec![VideoCodec::Av1]].concat(), ..receiver() };
    assert_eq!((codec(receiver()), codec(with)), (VideoCodec::Vp8, VideoCodec::Av1));
}

#[test]
fn our_offer_of_av1_is_answered_with_it() {
    let video = vec![VideoCodec::Av1, VideoCodec::Vp8];
    let offered = offer(&local(1), &Capabilities { video: video.clone(), ..receiver() });
    assert!(offered.text.contains("a=fmtp:96 level-idx=5;profile=0;tier=0\r\n"), "{}", offered.text);
    let answered = answer(&offered.text, &local(2), &Capabilities { video, ..sender() }).expect("an answer");
    let accepted = offered.accept(&answered.text).expect("an answer").media.video.expect("video");
    assert_eq!((accepted.codec, accepted.av1), (VideoCodec::Av1, Some(Av1Format::UNSAID)));
}

#[test]
fn a_data_channel_is_refused_alone() {
    let answer = answer(CHROMIUM_DATA, &local(1), &sender()).expect("an answer");
    assert!(answer.media.video.is_some() && answer.media.audio.is_some());
    let [refused] = &answer.refused[..] else { panic!("{:?}", answer.refused) };
    assert_eq!(refused.to_string(), "section 2 (application): is neither video nor audio");
    let closed = section(&answer.text, 2);
    assert_eq!(closed[0], "m=application 0 UDP/DTLS/SCTP webrtc-datachannel");
    assert!(closed.contains(&"a=mid:2") && answer.text.contains("a=group:BUNDLE 0 1\r\n"));
}

#[test]
fn a_browser_without_audio_gets_video_alone_and_one_without_video_audio() {
    let media = answer(CHROMIUM_VIDEO, &local(1), &sender()).expect("an answer").media;
    assert!(media.video.is_some() && media.audio.is_none());
    let without = Capabilities { video: Vec::new(), ..sender() };
    let answered = answer(CHROMIUM, &local(1), &without).expect("an answer");
    assert!(answered.media.video.is_none());
    // The first section of the group is rejected: the next one describes the transport.
    assert!(answered.text.contains("a=group:BUNDLE 1\r\n"));
    assert!(answered.remote.candidates[0].contains(" 47041 "), "{:?}", answered.remote.candidates);
    assert_eq!(answered.media.audio.expect("audio").extensions.transport_sequence, Some(4));
}

#[test]
fn a_browser_that_sends_is_received_and_its_streams_are_known() {
    let answer = answer(CHROMIUM_SENDS, &local(1), &receiver()).expect("an answer");
    let video = answer.media.video.expect("video");
    // This browser does not offer to send flexfec-03.
    let streams = Ssrcs { media: Some(1_464_068_743), retransmission: Some(3_677_304_077), fec: None };
    assert_eq!(video.streams, streams);
    assert_eq!(answer.media.audio.expect("audio").streams.media, Some(2_168_186_277));
    assert_eq!(answer.media.local, local(1).streams);
    assert!(answer.text.contains("a=recvonly") && !answer.text.contains("ssrc") && !answer.text.contains("a=msid:"));
}

#[test]
fn simulcast_is_declined_by_not_being_answered() {
    assert!(CHROMIUM_SIMULCAST.contains("a=simulcast:send h;l"));
    let answer = answer(CHROMIUM_SIMULCAST, &local(1), &receiver()).expect("an answer");
    assert!(answer.media.video.is_some());
    assert!(!answer.text.contains("simulcast") && !answer.text.contains("a=rid"));
}

#[test]
fn what_stands_in_the_session_holds_for_sections_and_directions_of_extensions_are_kept_to() {
    let answered = answer(FIREFOX, &local(1), &sender()).expect("an answer");
    assert_eq!(answered.remote.fingerprint.digest()[..3], [0x5a, 0x0b, 0x97]);
    assert_eq!(answered.remote.credentials.ufrag, "8d3a1b2c");
    let video = answered.media.video.expect("video");
    assert_eq!((video.payload_type, video.retransmission, video.fec), (120, Some(124), None));
    // The browser receives what we send.
    assert_eq!(video.extensions.playout_delay, Some(6));
    let audio = answered.media.audio.expect("audio");
    assert_eq!((audio.payload_type, audio.stereo), (109, true));
    // It reports no transport-wide sequence numbers for audio.
    assert_eq!((audio.extensions.transport_sequence, audio.extensions.mid), (None, Some(3)));
    assert!(!answered.text.contains("extmap-allow-mixed"));
    let sends = FIREFOX.replace("a=recvonly", "a=sendonly");
    let video = answer(&sends, &local(1), &receiver()).expect("an answer").media.video.expect("video");
    assert_eq!(video.extensions.playout_delay, None);
}

#[test]
fn the_role_in_dtls_is_the_one_left_over() {
    let cases = [
        ("actpass", DtlsRole::Server, DtlsRole::Server, "a=setup:passive"),
        ("actpass", DtlsRole::Client, DtlsRole::Client, "a=setup:active"),
        ("active", DtlsRole::Client, DtlsRole::Server, "a=setup:passive"),
        ("passive", DtlsRole::Server, DtlsRole::Client, "a=setup:active"),
    ];
    for (offered, setup, role, line) in cases {
        let offer = CHROMIUM.replace("a=setup:actpass", &format!("a=setup:{offered}"));
        let answer = answer(&offer, &Local { setup, ..local(1) }, &sender()).expect("an answer");
        assert_eq!(answer.dtls, role);
        assert!(answer.text.contains(line), "{offered}");
    }
}

#[test]
fn a_lite_end_says_so_and_is_known_as_one() {
    let lite = Local { lite: true, ..local(1) };
    let of = |offer: &str, local: &Local| answer(offer, local, &sender()).expect("an answer");
    let offers_lite = CHROMIUM.replacen("t=0 0\r\n", "t=0 0\r\na=ice-lite\r\n", 1);
    assert!(of(CHROMIUM, &lite).text.contains("a=ice-lite\r\n") && !of(CHROMIUM, &lite).remote.lite);
    assert!(!of(&offers_lite, &local(1)).text.contains("a=ice-lite") && of(&offers_lite, &local(1)).remote.lite);
}

#[test]
fn the_receivers_limit_is_known_in_either_unit() {
    for (line, bps) in [("b=AS:300", 300_000), ("b=TIAS:250000", 250_000), ("b=AS:1\r\nb=TIAS:5", 5)] {
        let offer = CHROMIUM.replacen("c=IN IP4 0.0.0.0\r\n", &format!("c=IN IP4 0.0.0.0\r\n{line}\r\n"), 1);
        let video = answer(&offer, &local(1), &sender()).expect("an answer").media.video.expect("video");
        assert_eq!(video.limit, Some(thalweg_units::Rate::from_bps(bps)), "{line}");
    }
}
