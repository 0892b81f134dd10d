//! Offers by the kinds that public SDPs have: of browsers of all ages, of gateways, cameras and libraries, and written by
//! hand. Each is accepted, and what its answer must say is there, or refused with the reason.

use super::*;

/// An offer to watch, or to send as `sendrecv` does, with audio before video.
const OFFER: &str = "v=0\r\n\
    o=- 1 2 IN IP4 127.0.0.1\r\n\
    s=-\r\n\
    t=0 0\r\n\
    a=group:BUNDLE 0 1\r\n\
    m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n\
    c=IN IP4 0.0.0.0\r\n\
    a=ice-ufrag:uFrG\r\n\
    a=ice-pwd:0123456789abcdefABCDEF01\r\n\
    a=fingerprint:sha-256 A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1\r\n\
    a=setup:actpass\r\n\
    a=mid:0\r\n\
    a=sendrecv\r\n\
    a=rtcp-mux\r\n\
    a=rtpmap:111 opus/48000/2\r\n\
    a=candidate:2 1 udp 2121 192.0.2.7 50001 typ host\r\n\
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 103\r\n\
    c=IN IP4 0.0.0.0\r\n\
    a=ice-ufrag:uFrG\r\n\
    a=ice-pwd:0123456789abcdefABCDEF01\r\n\
    a=fingerprint:sha-256 A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1:A1\r\n\
    a=setup:actpass\r\n\
    a=mid:1\r\n\
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n\
    a=sendrecv\r\n\
    a=rtcp-mux\r\n\
    a=rtcp-rsize\r\n\
    a=rtpmap:96 VP8/90000\r\n\
    a=rtcp-fb:96 transport-cc\r\n\
    a=rtcp-fb:96 nack pli\r\n\
    a=rtpmap:97 rtx/90000\r\n\
    a=fmtp:97 apt=96\r\n\
    a=rtpmap:102 H264/90000\r\n\
    a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n\
    a=rtpmap:103 VP9/90000\r\n\
    a=fmtp:103 profile-id=0\r\n";

/// The eight names of RFC 8829 section 5.1.2.
const PROFILES: [&str; 8] = [
    "UDP/TLS/RTP/SAVPF",
    "UDP/TLS/RTP/SAVP",
    "TCP/DTLS/RTP/SAVPF",
    "TCP/DTLS/RTP/SAVP",
    "RTP/SAVPF",
    "RTP/SAVP",
    "RTP/AVPF",
    "RTP/AVP",
];

/// The offer without lines that begin so.
fn without(line: &str) -> String {
    OFFER.split_inclusive('\n').filter(|kept| !kept.starts_with(line)).collect()
}

/// The offer with one text in place of another, which must be there.
fn with(text: &str, other: &str) -> String {
    assert!(OFFER.contains(text), "{text}");
    OFFER.replace(text, other)
}

/// The offer with lines of a type moved to its session.
fn of_session(line: &str) -> String {
    let value = OFFER.lines().find(|found| found.starts_with(line)).expect("there");
    without(line).replacen("a=group", &format!("{value}\r\na=group"), 1)
}

/// The offer with this candidate before its good one.
fn candidate(value: &str) -> String {
    with("a=candidate:2", &format!("a=candidate:{value}\r\na=candidate:2"))
}

/// The offer with video of this one format.
fn video(format: &str) -> String {
    let (before, _) = OFFER.split_once("a=rtpmap:96").expect("there");
    before.replace("96 97 102 103", "102") + format
}

#[test]
fn each_name_of_rtp_is_accepted_with_a_fingerprint_and_repeated_in_the_answer() {
    for name in PROFILES {
        let offer = OFFER.replace("UDP/TLS/RTP/SAVPF", name);
        for capabilities in [sender(), receiver()] {
            let answer = answer(&offer, &local(1), &capabilities).expect(name);
            let found: Vec<_> = answer.text.lines().filter(|line| line.starts_with("m=")).collect();
            assert_eq!(found, [format!("m=audio 9 {name} 111"), format!("m=video 9 {name} 96 97")]);
            assert_eq!(answer.refused, []);
        }
        let bare: String = offer.split_inclusive('\n').filter(|line| !line.starts_with("a=fingerprint")).collect();
        let error = super::super::answer(&bare, &local(1), &sender()).unwrap_err().to_string();
        assert!(error.contains("no a=fingerprint"), "{name}: {error}");
    }
}

#[test]
fn offers_of_each_kind_are_accepted_or_refused_as_the_rfcs_say() {
    let data = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:2\r\na=sctp-port:5000\r\n";
    let second = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\na=recvonly\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n";
    let (h264, h265) = ("a=rtpmap:102 H264/90000\r\na=fmtp:102 ", "a=rtpmap:102 H265/90000\r\n");
    let mode_1 = |profile: &str| video(&format!("{h264}packetization-mode=1{profile}\r\n"));
    let lines = |text: String| Ok(text);
    let taken = || lines("m=video 9 UDP/TLS/RTP/SAVPF 96 97".to_owned());
    let audio_alone = || lines("m=video 0 UDP/TLS/RTP/SAVPF 102".to_owned());
    let refused = |why: &str| Err(why.to_owned());
    let cases: Vec<(&str, String, Result<String, String>)> = vec![
        ("as it is", OFFER.to_owned(), taken()),
        ("line ends without CR", OFFER.replace("\r\n", "\n"), taken()),
        ("blank lines and none at the end", OFFER.replace("a=mid:1", "\r\na=mid:1").trim_end().to_owned(), taken()),
        ("blanks at the ends of attributes", with("a=rtcp-mux\r\n", "a=rtcp-mux \r\n"), taken()),
        ("a session without a name", with("s=-", "s= "), taken()),
        ("IPv6 in c=", with("c=IN IP4 0.0.0.0", "c=IN IP6 ::"), taken()),
        ("sections without c=", without("c="), taken()),
        ("c= behind t=", with("t=0 0\r\n", "t=0 0\r\nc=IN IP4 0.0.0.0\r\n"), refused("line 5")),
        ("UTF-8 in the session's name", with("s=-", "s=Übertragung"), taken()),
        ("credentials of the session", of_session("a=ice-"), refused("a=ice-pwd")),
        ("a fingerprint of the session", of_session("a=fingerprint"), taken()),
        ("a fingerprint in small letters", with("A1", "a1"), taken()),
        ("a fingerprint by sha-1 alone", with("sha-256", "sha-1"), refused("by sha-1")),
        ("a peer that waits for the handshake", with("actpass", "passive"), lines("a=setup:active".to_owned())),
        ("a peer that begins the handshake", with("actpass", "active"), lines("a=setup:passive".to_owned())),
        ("a role that ends it", with("actpass", "holdconn"), refused("holdconn")),
        ("no role", without("a=setup"), refused("a=setup")),
        ("no bundle", without("a=group"), lines("m=audio 0 UDP/TLS/RTP/SAVPF 111".to_owned())),
        ("a bundle in another order", with("BUNDLE 0 1", "BUNDLE 1 0"), taken()),
        ("another group beside the bundle", with("a=group", "a=group:LS 0 1\r\na=group"), taken()),
        ("a bundle that names sections which are not there", with("BUNDLE 0 1", "BUNDLE 0 1 7"), taken()),
        (
            "only in the bundle",
            with("m=video 9", "a=x\r\nm=video 0").replace("a=mid:1", "a=mid:1\r\na=bundle-only"),
            taken(),
        ),
        ("names of sections missing", without("a=mid"), refused("a=mid")),
        ("RTCP of its own port", without("a=rtcp-mux"), refused("a=rtcp-mux")),
        ("ICE of two ages", with("a=group", "a=ice-options:ice2,trickle\r\na=group"), taken()),
        ("a candidate with its link", candidate("1 1 udp 2122 fe80::1%21 50000 typ host"), taken()),
        (
            "a candidate by an identifier",
            candidate("1 1 udp 2122 0f3b2c1a-6f0e-4f4f-9f2e-2d1c6c2f7a3b 5000 typ host"),
            taken(),
        ),
        ("a candidate cut short", candidate("1 1 udp"), taken()),
        ("a candidate by TCP", candidate("1 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active"), taken()),
        ("a candidate by a name", candidate("1 1 udp 2122 peer.example.org 5000 typ host"), taken()),
        ("data behind", format!("{OFFER}{data}"), lines("m=application 0 UDP/DTLS/SCTP webrtc-datachannel".to_owned())),
        ("data before", with("m=audio", &format!("{data}m=audio")), taken()),
        ("a second video", format!("{OFFER}{second}"), lines("m=video 0 UDP/TLS/RTP/SAVPF 96".to_owned())),
        (
            "feedback for all formats",
            with("a=rtcp-fb:96", "a=rtcp-fb:*"),
            lines("a=rtcp-fb:96 transport-cc".to_owned()),
        ),
        ("retransmissions of nothing", without("a=fmtp:97"), lines("m=video 9 UDP/TLS/RTP/SAVPF 96".to_owned())),
        ("OPUS in capitals", with("opus/", "OPUS/"), taken()),
        (
            "Opus without its channels",
            with("opus/48000/2", "opus/48000"),
            lines("m=audio 0 UDP/TLS/RTP/SAVPF 111".to_owned()),
        ),
        ("H.264 of High first", mode_1(";profile-level-id=640c1f"), audio_alone()),
        ("H.264 without a profile and mode 1", video(&format!("{h264}profile-level-id=42e01f\r\n")), audio_alone()),
        ("H.265 alone", video(h265), audio_alone()),
        ("VP9 of 10 bits", video("a=rtpmap:102 VP9/90000\r\na=fmtp:102 profile-id=2\r\n"), audio_alone()),
        ("media that is off", with("a=sendrecv", "a=inactive"), refused("is not recvonly")),
        ("RTP by another protocol", with("UDP/TLS/RTP/SAVPF", "UDP/TLS/UDPTL"), refused("goes over UDP/TLS/UDPTL")),
        // RFC 8866 section 5: v=0 is first, and lines end with CRLF or with a newline alone.
        ("a byte order mark before it", format!("\u{feff}{OFFER}"), refused(r#"line 1 of the SDP, "\u{feff}v=0""#)),
        ("line ends of CR alone", OFFER.replace("\r\n", "\r"), refused("line 1 of the SDP")),
        ("CR within a line", with("a=setup", "a=x\ra=setup"), refused("ends with CRLF")),
        // Section 5.2: digits, of which RFC 8829 section 5.2.1 allows 2^62 - 1; clocks of NTP go up to 2^64 - 1.
        ("a session of all 64 bits", with("o=- 1 2", &format!("o=- {} {}", u64::MAX, u64::MAX)), taken()),
        ("a session of 65 bits", with("o=- 1", "o=- 18446744073709551616"), refused("line 2")),
        ("a session below zero", with("o=- 1", "o=- -1"), refused("line 2")),
        ("an origin without an address", with(" IN IP4 127.0.0.1", " IN IP4"), refused("line 2")),
        ("an origin by a name", with("o=- 1 2 IN IP4 127.0.0.1", "o=me 1 2 IN IP6 host.example.org"), taken()),
        // RFC 8866 section 5.8 has digits there; RFC 3264 section 5.1: at 0 no media should be sent.
        ("a limit of nothing", with("c=IN IP4 0.0.0.0", "c=IN IP4 0.0.0.0\r\nb=AS:0"), taken()),
        (
            "a limit of 65 bits",
            with("c=IN IP4 0.0.0.0", "c=IN IP4 0.0.0.0\r\nb=AS:18446744073709551616"),
            refused("line 8"),
        ),
        // RFC 8122 section 5: each hash has its name; RFC 8827 section 6.5 has SHA-256 in every endpoint.
        (
            "a fingerprint by sha-512 alone",
            with("sha-256 ", &format!("sha-512 {}", "A1:".repeat(32))),
            refused("is by sha-512, must be by sha-256"),
        ),
        // RFC 8839 section 5.1: candidates that cannot be used are ignored (ice.rs).
        ("a candidate of port 0", candidate("1 1 udp 2122 192.0.2.8 0 typ host"), taken()),
        ("a candidate of many", candidate("1 1 udp 2122 224.0.0.251 5353 typ host"), taken()),
        ("a candidate of nobody", candidate("1 1 udp 2122 (null) 5000 typ host"), taken()),
        // RFC 4588 section 8.6: rtx-time may stand beside apt.
        ("retransmissions for 3 s", with("apt=96", "rtx-time=3000;apt=96"), taken()),
        (
            "Opus of six channels alone",
            with("opus/48000/2", "multiopus/48000/6"),
            lines("m=audio 0 UDP/TLS/RTP/SAVPF 111".to_owned()),
        ),
        (
            "Opus of six channels before Opus",
            with("AVPF 111", "AVPF 63 111").replace("a=rtpmap:111", "a=rtpmap:63 multiopus/48000/6\r\na=rtpmap:111"),
            lines("m=audio 9 UDP/TLS/RTP/SAVPF 111".to_owned()),
        ),
    ];
    for (kind, offer, expected) in cases {
        match (answer(&offer, &local(1), &sender()), expected) {
            (Ok(answer), Ok(line)) => {
                assert!(answer.text.lines().any(|found| found == line), "{kind}: no {line:?} in {}", answer.text);
                assert_eq!(offer.matches("\nm=").count(), answer.text.matches("\nm=").count(), "{kind}");
            }
            (Err(error), Err(why)) => assert!(error.to_string().contains(&why), "{kind}: {error}"),
            (found, expected) => panic!("{kind}: expected {expected:?}, found {found:?}"),
        }
    }
}

/// RFC 5576 section 4.1 has 32 bits for an SSRC, all of which may be 0; streams whose SSRC is not named are found by their
/// packets.
#[test]
fn an_ssrc_of_0_is_one_and_a_number_that_no_packet_can_have_is_passed_over() {
    for (line, found) in [
        ("a=ssrc:0 cname:x", Some(0)),
        ("a=ssrc:4294967295 cname:x", Some(u32::MAX)),
        ("a=ssrc:4294967296 cname:x", None),
        ("a=ssrc:4294967296 cname:x\r\na=ssrc:7 cname:x", Some(7)),
        ("a=ssrc-group:FID 4294967296 8\r\na=ssrc:7 cname:x\r\na=ssrc:8 cname:x", Some(7)),
    ] {
        let video = answer(&format!("{OFFER}{line}\r\n"), &local(1), &receiver()).expect(line).media.video.expect(line);
        assert_eq!((video.streams.media, video.streams.retransmission), (found, None), "{line}");
    }
}

#[test]
fn the_direction_of_an_extension_is_answered_from_the_other_end() {
    let extension = "a=extmap:6/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay\r\na=extmap:3 ";
    let answered = answer(&with("a=extmap:3 ", extension), &local(1), &sender()).expect("an answer");
    let said: Vec<_> = answered.text.lines().filter_map(|line| line.strip_prefix("a=extmap:")).collect();
    assert_eq!(said.len(), 2);
    assert!(said.iter().any(|line| line.starts_with("6/sendonly http://www.webrtc.org/")), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("3 http://www.ietf.org/")), "{said:?}");
    assert_eq!(answered.media.video.expect("video").extensions.playout_delay, Some(6));
    // Who receives sends no such extension, so that nothing is left of it.
    let other = answer(&with("a=extmap:3 ", extension), &local(1), &receiver()).expect("an answer").text;
    assert!(!other.contains("playout-delay"), "{other}");
    // And our own offer takes an answer with a direction.
    let ours = offer(&local(1), &sender());
    let theirs = answer(&ours.text, &local(2), &receiver()).expect("an answer").text;
    let one_way = theirs.replace("a=extmap:1 ", "a=extmap:1/recvonly ");
    assert_ne!(theirs, one_way);
    assert_eq!(ours.accept(&one_way).expect("taken").media, ours.accept(&theirs).expect("taken").media);
}

#[test]
fn a_refused_section_of_media_is_told_from_one_that_nobody_misses() {
    let second = "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:2\r\na=sendonly\r\na=rtcp-mux\r\na=rtpmap:96 VP8/90000\r\n";
    for (lines, is_media) in [
        (second.to_owned(), true),
        (second.replace("video 9", "video 0"), false),
        (second.replace("sendonly", "recvonly"), false),
        ("m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:2\r\n".to_owned(), false),
    ] {
        let refused = answer(&format!("{OFFER}{lines}"), &local(1), &receiver()).expect("an answer").refused;
        assert_eq!(refused.iter().map(|refusal| refusal.is_media).collect::<Vec<_>>(), [is_media], "{lines}");
    }
}
