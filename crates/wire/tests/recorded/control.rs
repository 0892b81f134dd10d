//! RTCP packets of other implementations.

use thalweg_wire::rtcp::{self, Compound, Packet};

use crate::video::is_rtcp;
use crate::{captures, corpus};

fn bytes_of(packets: &[Packet]) -> Vec<u8> {
    let mut out = Vec::new();
    rtcp::write(packets, &mut out).expect("what was parsed can be written");
    out
}

/// A short summary of a valid file of aiortc.
fn summary(packets: &[Packet]) -> String {
    match packets {
        [Packet::Bye(packet)] => format!("goodbye {:?}", packet.sources),
        [Packet::Pli(packet)] => format!("picture loss {} {}", packet.sender_ssrc, packet.media_ssrc),
        [Packet::Nack(packet)] => format!("nack {} {:?}", packet.media_ssrc, packet.lost().collect::<Vec<_>>()),
        [Packet::Sdes(packet)] => {
            let item = &packet.chunks[0].items[0];
            format!("source {} {} {}", packet.chunks[0].source, item.kind, String::from_utf8_lossy(&item.text))
        }
        [Packet::ReceiverReport(packet)] => {
            let block = packet.blocks[0];
            format!("report {} on {}: {} {}", packet.ssrc, block.ssrc, block.highest_sequence, block.jitter)
        }
        [Packet::SenderReport(packet)] => {
            format!("report {} {} {} {}", packet.ssrc, packet.rtp_timestamp, packet.packets, packet.payload_bytes)
        }
        other => format!("{other:?}"),
    }
}

pub fn aiortc_packets_are_read_and_written_back_byte_for_byte() {
    let files = corpus::files("aiortc");
    let mut count = 0;
    for (path, bytes) in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.starts_with("rtcp") || name.contains("invalid") || name.contains("truncated") {
            continue;
        }
        let packets = rtcp::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Padding is not kept: this packet is all padding, and aiortc also writes it without.
        let expected = if name == "rtcp_bye_padding.bin" { &[0x80, 203, 0, 0][..] } else { &bytes };
        assert_eq!(bytes_of(&packets), expected, "{name}");
        let expected = match name {
            "rtcp_bye.bin" => "goodbye [2924645187]",
            "rtcp_bye_no_sources.bin" | "rtcp_bye_padding.bin" => "goodbye []",
            "rtcp_psfb_pli.bin" => "picture loss 1414554213 587284409",
            "rtcp_rr.bin" => "report 817267719 on 1200895919: 630 1906",
            "rtcp_rtpfb.bin" => "nack 4145934052 [12, 32, 39, 54, 76, 110, 123, 142, 183, 187, 223, 236, 271, 292]",
            "rtcp_sdes.bin" => "source 1831097322 1 {63f459ea-41fe-4474-9d33-9707c9ee79d1}",
            "rtcp_sr.bin" => "report 1831097322 1722342718 269 13557",
            other => panic!("{other} is new: say what is in it"),
        };
        assert_eq!(summary(&packets), expected, "{name}");
        count += 1;
    }
    assert_eq!(count, 8);
}

pub fn broken_packets_of_aiortc_are_refused_with_field_place_and_range() {
    let files = corpus::files("aiortc");
    let mut count = 0;
    for (path, bytes) in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        let expected = match name {
            "rtcp_bye_invalid.bin" => "goodbye SSRC at byte 8 takes 4 bytes, the input has 0 left",
            "rtcp_psfb_invalid.bin" => "picture loss media SSRC at byte 8 takes 4 bytes, the input has 0 left",
            "rtcp_rr_invalid.bin" => "report block SSRC at byte 8 takes 4 bytes, the input has 0 left",
            "rtcp_rtpfb_invalid.bin" => "NACK media SSRC at byte 8 takes 4 bytes, the input has 0 left",
            "rtcp_sdes_item_truncated.bin" => {
                "source description text at byte 10 takes 148 bytes, the input has 22 left"
            }
            "rtcp_sdes_source_truncated.bin" => "source description SSRC at byte 4 takes 4 bytes, the input has 0 left",
            "rtcp_sr_invalid.bin" => "sender report NTP time at byte 8 takes 8 bytes, the input has 0 left",
            _ if name.contains("invalid") || name.contains("truncated") => panic!("{name} is new: say what is wrong"),
            _ => continue,
        };
        let message = rtcp::parse(&bytes).expect_err(name).to_string();
        assert!(message.starts_with(expected), "{name}: {message}");
        count += 1;
    }
    assert_eq!(count, 7);
}

pub fn what_parses_of_the_webrtc_corpora_parses_again_after_writing() {
    let files = corpus::files("webrtc-corpora");
    let mut parsed = 0;
    for (path, bytes) in files {
        // Including the packets before an error.
        let packets: Vec<Packet> = Compound::new(&bytes).map_while(Result::ok).collect();
        if !packets.is_empty() {
            assert_eq!(rtcp::parse(&bytes_of(&packets)).as_ref(), Ok(&packets), "{}", path.display());
            parsed += 1;
        }
    }
    assert!(parsed > 50, "{parsed} parsed");
}

pub fn sender_reports_between_the_packets_of_libwebrtc_are_read() {
    let file = corpus::file("webrtc-corpora/rtpdump-corpus/vp8/vp8.rtpdump");
    let (control, media): (Vec<&[u8]>, Vec<&[u8]>) =
        captures::rtpdump(&file).into_iter().partition(|bytes| is_rtcp(bytes));
    assert_eq!((control.len(), media.len()), (4, 171));
    for bytes in control {
        let packets = rtcp::parse(bytes).unwrap();
        assert!(matches!(packets[0], Packet::SenderReport(_)), "{packets:?}");
        assert_eq!(bytes_of(&packets), bytes);
    }
}
