//! Corrupted input, truncated or changed anywhere. Nothing panics, every error is accurate, and whatever parses can be
//! written again.

use thalweg_units::{Ecn, Random, Seed};
use thalweg_wire::ParseError;
use thalweg_wire::rtcp::{self, Compound, Packet, ccfb, twcc};
use thalweg_wire::rtp::{self, AbsoluteSendTime, FragmentGrace, FrameStates, PlayoutDelay, TransportSequence};
use thalweg_wire::rtx::Retransmission;
use thalweg_wire::vp8::{Descriptor, assemble};
use thalweg_wire::{av1, flexfec, h264, opus, red, ulpfec, vp9};

use crate::{captures, corpus};

/// Runs every parser on these bytes.
fn check(bytes: &[u8]) {
    check_rtp(bytes);
    check_rtcp(bytes);
    check_payload(bytes);
}

fn check_error(error: ParseError, length: usize) {
    match error {
        ParseError::Short { at, needed, found, .. } => assert!(found < needed && at + found <= length, "{error:?}"),
        ParseError::OutOfRange { at, found, min, max, .. } => {
            assert!(!(min..=max).contains(&found) && at < length, "{error:?}");
        }
    }
    assert!(error.to_string().contains("drop"), "{error}");
}

fn check_rtp(bytes: &[u8]) {
    match rtp::Packet::parse(bytes) {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.write(&mut out).unwrap();
            assert_eq!(out.len(), bytes.len());
            assert_eq!(rtp::Packet::parse(&out).as_ref(), Ok(&packet));
            for element in packet.extensions.iter().flat_map(rtp::Extensions::iter) {
                let _ = TransportSequence::parse(element.data).map(|value| value.to_bytes().unwrap());
                let _ = AbsoluteSendTime::parse(element.data);
                let _ = PlayoutDelay::parse(element.data).map(|value| value.to_bytes().unwrap());
                check_functional(element.data);
            }
            check_payload(packet.payload);
            check_fec(&packet);
        }
        Err(error) => check_error(error, bytes.len()),
    }
}

fn check_functional(data: &[u8]) {
    match FragmentGrace::parse(data) {
        Ok(value) => assert_eq!(&value.to_bytes().unwrap()[..value.size()], data),
        Err(ParseError::OutOfRange { found, min, max, .. }) => assert!(!(min..=max).contains(&found)),
        Err(error) => panic!("{error} in {data:?}"),
    }
    match FrameStates::parse(data) {
        Ok(value) => assert_eq!(&value.to_bytes()[..], data),
        Err(_) => assert_ne!(data.len(), FrameStates::SIZE),
    }
}

fn check_rtcp(bytes: &[u8]) {
    let mut packets = Vec::new();
    for packet in Compound::new(bytes) {
        match packet {
            Ok(packet) => packets.push(packet),
            Err(error) => check_error(error, bytes.len()),
        }
    }
    let mut out = Vec::new();
    rtcp::write(&packets, &mut out).unwrap();
    if !packets.is_empty() {
        assert_eq!(rtcp::parse(&out).as_ref(), Ok(&packets));
    }
    for packet in packets {
        match packet {
            Packet::Nack(nack) => assert!(nack.lost().count() >= nack.pairs.len()),
            Packet::DecoderState(state) => assert!(36 + 8 * state.complete.len() <= bytes.len()),
            Packet::TransportFeedback(feedback) => {
                let read = twcc::Reader::new().read(&feedback, 70_000);
                assert_eq!(read.count(), feedback.statuses.len());
            }
            Packet::CongestionFeedback(feedback) => {
                let read = ccfb::Reader::new().read(&feedback, |_| Some(70_000));
                assert_eq!(read.count(), feedback.streams.iter().map(|stream| stream.statuses.len()).sum::<usize>());
            }
            _ => {}
        }
    }
}

fn check_payload(bytes: &[u8]) {
    match Descriptor::parse(bytes) {
        Ok((descriptor, data)) => {
            let mut out = Vec::new();
            descriptor.write(&mut out).unwrap();
            // Only reserved bits and empty fields may be lost.
            assert!(out.len() == descriptor.size() && out.len() + data.len() <= bytes.len());
            assert_eq!(Descriptor::parse(&out), Ok((descriptor, &[][..])));
            let _ = assemble([bytes, bytes]);
        }
        Err(error) => check_error(error, bytes.len()),
    }
    // After the headers there is only data, which would just take time.
    check_others(&bytes[..bytes.len().min(128)]);
    match Retransmission::parse(bytes) {
        Ok(packet) => {
            let mut out = Vec::new();
            packet.write(&mut out);
            assert_eq!(out, bytes);
        }
        Err(error) => check_error(error, bytes.len()),
    }
}

/// Other payload formats, which accept any bytes as input.
fn check_others(bytes: &[u8]) {
    match vp9::Descriptor::parse(bytes) {
        Ok((descriptor, data)) => {
            let mut out = Vec::new();
            descriptor.write(&mut out).unwrap();
            assert!(out.len() == descriptor.size() && out.len() + data.len() <= bytes.len());
            assert_eq!(vp9::Descriptor::parse(&out), Ok((descriptor, &[][..])));
            let _ = vp9::assemble([bytes, bytes]);
        }
        Err(error) => check_error(error, bytes.len()),
    }
    match h264::Payload::parse(bytes) {
        Ok(payload) => {
            let mut out = Vec::new();
            payload.write(&mut out).unwrap();
            assert_eq!(out.len(), payload.size());
            assert_eq!(h264::Payload::parse(&out), Ok(payload));
            let _ = h264::assemble([bytes, bytes]);
        }
        Err(error) => check_error(error, bytes.len()),
    }
    match av1::Payload::parse(bytes) {
        Ok(payload) => {
            let mut out = Vec::new();
            payload.write(&mut out).unwrap();
            assert_eq!(out.len(), payload.size());
            assert_eq!(av1::Payload::parse(&out), Ok(payload));
            let _ = av1::assemble([bytes, bytes]);
        }
        Err(error) => check_error(error, bytes.len()),
    }
    if let Err(error) = opus::ticks(bytes) {
        check_error(error, bytes.len());
    }
}

fn check_fec(packet: &rtp::Packet<'_>) {
    for fec in [flexfec::parse(packet.payload), ulpfec::parse(1, packet.payload)] {
        match fec {
            Ok(fec) => assert!(fec.recover(|_| None).is_ok() || fec.mask.count() == 1),
            Err(error) => check_error(error, packet.payload.len()),
        }
    }
    match red::Red::parse(packet.payload) {
        Ok(red) => assert_eq!(red.size(), packet.payload.len()),
        Err(error) => check_error(error, packet.payload.len()),
    }
}

/// One packet of every kind we write, so that there is input to mutate without the corpora.
fn own_packets() -> Vec<Vec<u8>> {
    let elements = [
        rtp::Extension { id: 3, data: &[0, 1, 0x80, 5] },
        rtp::Extension { id: 4, data: &[1, 2, 3] },
        rtp::Extension { id: 5, data: &[0, 0x80, 0xe8, 0, 0, 0, 7, 0, 0, 0, 2] },
        rtp::Extension { id: 6, data: &[0xab; 16] },
    ];
    let block = rtp::ExtensionBuffer::of(&elements).unwrap();
    let header = rtp::Header { marker: true, payload_type: 96, sequence: 7, timestamp: 90_000, ssrc: 1 };
    let mut media = Vec::new();
    let payload = [0x90, 0x80, 0x81, 0x23, 1, 2, 3, 4, 5];
    let packet =
        rtp::Packet { extensions: Some(block.as_extensions()), padding: 4, ..rtp::Packet::new(header, &payload) };
    packet.write(&mut media).unwrap();
    let at = |millis| Some(thalweg_units::Time::from_millis(millis));
    let arrivals: Vec<_> =
        (0..40).map(|number| (number, if number % 5 == 1 { None } else { at(number * 30) })).collect();
    let transport = twcc::Config::default().build().unwrap().messages(&arrivals).unwrap().remove(0);
    let received: Vec<_> = arrivals
        .iter()
        .map(|(sequence, at)| ccfb::Received { ssrc: 1, sequence: *sequence, arrival: at.map(|at| (at, Ecn::Ect1)) })
        .collect();
    let now = thalweg_units::Time::from_millis(1200);
    let congestion = ccfb::Config::default().build().unwrap().messages(now, &received).unwrap().remove(0);
    let report = rtcp::ReceiverReport { ssrc: 1, blocks: vec![rtcp::ReportBlock::default(); 2], extension: Vec::new() };
    let items = vec![rtcp::Item { kind: rtcp::Item::CNAME, text: b"someone".to_vec() }];
    let chunks = vec![rtcp::Chunk { source: 1, items }];
    let packets = [
        Packet::ReceiverReport(report),
        Packet::Sdes(rtcp::Sdes { chunks }),
        Packet::Nack(rtcp::Nack::of(1, 2, [5, 6, 40])),
        Packet::Pli(rtcp::Pli { sender_ssrc: 1, media_ssrc: 2 }),
        Packet::Fir(rtcp::Fir { sender_ssrc: 1, requests: vec![rtcp::FirRequest { ssrc: 2, sequence: 3 }] }),
        Packet::Remb(rtcp::Remb { sender_ssrc: 1, bitrate: thalweg_units::Rate::from_kbps(900), streams: vec![2] }),
        Packet::DecoderState(rtcp::DecoderState {
            sender_ssrc: 1,
            media_ssrc: 2,
            frame: 7,
            fragment: 1,
            interarrival: thalweg_units::Span::from_micros(337),
            current: 0x0123_4567_89ab_cdef,
            complete: vec![3, 4],
        }),
        Packet::Application(rtcp::Application { subtype: 1, ssrc: 1, name: *b"name", data: vec![0; 8] }),
        Packet::Bye(rtcp::Bye { sources: vec![1], reason: Some(b"enough".to_vec()) }),
        Packet::CongestionFeedback(congestion),
        Packet::TransportFeedback(transport),
    ];
    let one = |packets: &[Packet]| {
        let mut out = Vec::new();
        rtcp::write(packets, &mut out).unwrap();
        out
    };
    let mut all: Vec<Vec<u8>> = packets.chunks(1).map(one).collect();
    all.push(one(&packets));
    all.push(media);
    all
}

/// Our own packets and those of the corpora, with captures split into packets.
fn packets() -> Vec<Vec<u8>> {
    let mut all = own_packets();
    for (path, bytes) in corpus::found("").unwrap_or_default() {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pcap") => all.extend(captures::pcap(&bytes).into_iter().map(<[u8]>::to_vec)),
            Some("rtpdump") if path.ends_with("vp8.rtpdump") => {
                all.extend(captures::rtpdump(&bytes).into_iter().map(<[u8]>::to_vec));
            }
            _ => all.push(bytes),
        }
    }
    all
}

#[test]
fn packets_cut_short_anywhere_are_read_or_refused() {
    // Two packets of libwebrtc's corpus are 256 KB of header extension: beyond 2,000 bytes every 997th length.
    for packet in packets() {
        let lengths = (0..=packet.len()).filter(|length| *length <= 2000 || length % 997 == 0);
        lengths.chain([packet.len()]).for_each(|length| check(&packet[..length]));
    }
}

/// Changes a few bytes, and sometimes the length.
fn mutate(packet: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        // Mostly in the headers.
        let reach = if random.chance(0.7) { packet.len().min(48) } else { packet.len() };
        let Some(byte) = packet.get_mut(random.below(reach as u64) as usize) else { return };
        *byte = match random.below(3) {
            0 => *byte ^ (1 << random.below(8)),
            1 => random.bits() as u8,
            _ => [0, 1, 0x7f, 0x80, 0xfe, 0xff][random.below(6) as usize],
        };
    }
    match random.below(8) {
        0 => packet.truncate(random.below(packet.len() as u64 + 1) as usize),
        1 => packet.extend((0..random.below(16)).map(|_| random.bits() as u8)),
        _ => {}
    }
}

#[test]
fn twenty_thousand_broken_packets_are_read_or_refused() {
    let own = own_packets().len();
    let mut packets = packets();
    // Two packets of libwebrtc's corpus are 256 KB of header extension: truncated, because they would take all the
    // time.
    packets.iter_mut().for_each(|packet| packet.truncate(2000));
    let mut random = Seed::new(20_260_101).child("wire.mutation").random();
    let mut readable = 0;
    for _ in 0..20_000 {
        // Our own packets come first and are few, one of each kind: every second choice is one of ours.
        let choices = if random.chance(0.5) { own } else { packets.len() };
        let mut packet = packets[random.below(choices as u64) as usize].clone();
        mutate(&mut packet, &mut random);
        readable += u32::from(rtcp::parse(&packet).is_ok() || rtp::Packet::parse(&packet).is_ok());
        check(&packet);
    }
    // Both outcomes must be common, otherwise the mutations would test little.
    assert!((4_000..18_000).contains(&readable), "{readable} readable");
}
