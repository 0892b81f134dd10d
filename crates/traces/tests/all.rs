//! Links fitted to captures, which another library writes.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, Endianness, TsResolution};
use thalweg_netsim::{Bottleneck, Link, QueueConfig, Schedule, Trace};
use thalweg_traces::{Format, ReadOptions, Reading, read};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

const SENDER: [u8; 4] = [192, 0, 2, 1];
const RECEIVER: [u8; 4] = [192, 0, 2, 2];
/// Captures do not begin in 1970.
const START: Duration = Duration::from_secs(1_600_000_000);

/// A captured IP packet: when, and its bytes.
type Captured = (Duration, Vec<u8>);

fn at(time: Time) -> Duration {
    START + Duration::from_nanos(time.as_nanos())
}

/// An IPv4 packet of this protocol.
fn ip(from: [u8; 4], to: [u8; 4], protocol: u8, content: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
    packet[2..4].copy_from_slice(&(20 + content.len() as u16).to_be_bytes());
    [&packet[..], &from, &to, content].concat()
}

fn udp(from: [u8; 4], to: [u8; 4], payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    ip(from, to, 17, &[&[0x13, 0x88, 0x17, 0x70], &length[..], &[0, 0], payload].concat())
}

/// RTP of this source, whose IP packet has this size.
fn rtp(source: u32, frame: u32, size: usize) -> Vec<u8> {
    let mut payload = vec![0x80, 96, 0, 0];
    payload.extend_from_slice(&(frame * 3000).to_be_bytes());
    payload.extend_from_slice(&source.to_be_bytes());
    payload.resize(size - 28, 0);
    udp(SENDER, RECEIVER, &payload)
}

fn pcap(packets: &[Captured], datalink: DataLink, resolution: TsResolution, endianness: Endianness) -> Vec<u8> {
    let header = PcapHeader { datalink, ts_resolution: resolution, endianness, ..PcapHeader::default() };
    let mut writer = PcapWriter::with_header(Vec::new(), header).unwrap();
    for (timestamp, data) in packets {
        let packet = PcapPacket { timestamp: *timestamp, orig_len: data.len() as u32, data: Cow::Borrowed(data) };
        writer.write_packet(&packet).unwrap();
    }
    writer.into_writer()
}

fn raw(packets: &[Captured]) -> Vec<u8> {
    pcap(packets, DataLink::RAW, TsResolution::NanoSecond, Endianness::Little)
}

fn fit(file: &[u8], options: &str) -> Result<Reading, String> {
    read(file, "a capture", &options.parse::<ReadOptions>()?).map_err(|error| error.to_string())
}

/// When packets leave a trace's bottleneck that were offered at these times.
fn departures(trace: Trace, offered: impl IntoIterator<Item = (Time, usize)>) -> Vec<(Time, usize)> {
    let schedule = Schedule::looped(Arc::new(trace));
    let mut link = Bottleneck::new(schedule, &QueueConfig::Infinite, Seed::new(1)).unwrap();
    let mut left = Vec::new();
    let mut poll = |link: &mut Bottleneck<usize>, until: Time| {
        while link.next_event() <= until {
            let next = link.next_event();
            while let Some(departure) = link.poll(next) {
                left.push((departure.at, departure.packet));
            }
        }
    };
    for (number, (time, size)) in offered.into_iter().enumerate() {
        poll(&mut link, time);
        link.offer(time, Bytes::new(size as u64), number);
    }
    poll(&mut link, Time::from_millis(3_600_000));
    left
}

fn mbps(trace: &Trace, from_ms: u64, to_ms: u64) -> f64 {
    let packets = trace.opportunities(Time::from_millis(from_ms), Time::from_millis(to_ms));
    packets as f64 * 12.0 / (to_ms - from_ms) as f64
}

#[test]
fn a_capture_of_a_loaded_link_gives_its_trace_back_second_by_second() {
    for link in ["lte-driving", "umts-driving"] {
        let trace = Trace::named(link, Span::from_secs(30), Seed::new(1)).unwrap();
        let count = trace.millis().len() - 1;
        let left = departures(trace.clone(), (0..count).map(|_| (Time::ZERO, 1500)));
        let packet = udp(SENDER, RECEIVER, &[1; 1472]);
        let captured: Vec<Captured> = left.iter().map(|(time, _)| (at(*time), packet.clone())).collect();
        let Reading { trace: fitted, format, notes, delay, .. } = fit(&raw(&captured), "").unwrap();
        assert_eq!((format, delay), (Format::Capture, None));
        assert!(
            notes[1].contains("by 200 ms")
                && notes[1].contains("100.0 % of the time")
                && notes[1].contains("lower bound"),
            "{notes:?}"
        );
        let begin = left[0].0.as_nanos() / 1_000_000;
        let seconds = fitted.period().as_millis() as u64 / 1000;
        assert!(seconds >= 25, "{seconds}");
        for second in 0..seconds {
            let (from, to) = (second * 1000 + 1, second * 1000 + 1001);
            let (wanted, got) = (mbps(&trace, begin + from, begin + to), mbps(&fitted, from, to));
            // A packet at an edge of a second, and a gap that is shared between two windows.
            assert!((got - wanted).abs() <= 0.03 * wanted + 0.024, "{link} second {second}: {got} of {wanted} Mbps");
        }
        let (wanted, got) = (trace.mean_rate().as_mbps_f64(), fitted.mean_rate().as_mbps_f64());
        assert!((got / wanted - 1.0).abs() < 0.02, "{link}: {got} of {wanted} Mbps");
    }
}

#[test]
fn video_that_leaves_half_of_the_link_unused_shows_its_whole_rate() {
    // 30 fps of 8 packets of 1250 bytes: 2.4 of 6 Mbps; and audio, which must not count as a wait for the link.
    let six = Trace::constant(Rate::from_kbps(6000)).unwrap();
    let video = (0..300_u64).flat_map(|frame| (0..8).map(move |_| (Time::from_micros(frame * 33_333), Some(frame))));
    let audio = (0..500_u64).map(|number| (Time::from_micros(number * 20_000 + 7), None));
    let mut offered: Vec<(Time, Option<u64>)> = video.chain(audio).collect();
    offered.sort();
    let size = |frame: Option<u64>| if frame.is_some() { 1250 } else { 160 };
    let left = departures(six, offered.iter().map(|(time, frame)| (*time, size(*frame))));
    let packet = |number: usize| match offered[number].1 {
        Some(frame) => rtp(7, frame as u32, 1250),
        None => rtp(8, number as u32, 160),
    };
    let captured: Vec<Captured> = left.iter().map(|(time, number)| (at(*time), packet(*number))).collect();
    let Reading { trace, notes, .. } = fit(&raw(&captured), "").unwrap();
    let got = trace.mean_rate().as_mbps_f64();
    // 1254 bytes need one of the link's opportunities of 1504, and what is left of it is lost if nothing waits.
    assert!((5.4..6.3).contains(&got), "{got} Mbps");
    assert!(notes[1].contains("36.1 % of the time"), "{notes:?}");
}

#[test]
fn a_link_that_is_much_faster_than_its_video_is_seen_in_longer_windows() {
    // 30 fps of 8 packets of 1250 bytes, 100 us apart: 4.2 ms of busy gaps in 200 ms.
    let time = |frame: u64, packet: u64| at(Time::from_micros(frame * 33_333 + packet * 100));
    let frame = |frame: u64| (0..8).map(move |packet| (time(frame, packet), rtp(7, frame as u32, 1250)));
    let captured: Vec<Captured> = (0..300).flat_map(frame).collect();
    let Reading { trace, notes, .. } = fit(&raw(&captured), "").unwrap();
    let got = trace.mean_rate().as_mbps_f64();
    assert!((99.0..101.0).contains(&got), "{got} Mbps");
    assert!(notes[1].contains("by 400 ms") && notes[1].contains(" 2.1 % of the time"), "{notes:?}");
}

#[test]
fn every_container_and_link_layer_gives_the_same_link() {
    let trace = Trace::constant(Rate::from_kbps(3000)).unwrap();
    let left = departures(trace, (0..1000).map(|_| (Time::ZERO, 1500)));
    let packet = udp(SENDER, RECEIVER, &[1; 1472]);
    let captured: Vec<Captured> = left.iter().map(|(time, _)| (at(*time), packet.clone())).collect();
    let wanted = fit(&raw(&captured), "").unwrap();
    assert!((wanted.trace.mean_rate().as_mbps_f64() - 3.0).abs() < 0.02);
    let with = |header: &[u8]| -> Vec<Captured> {
        captured.iter().map(|(time, packet)| (*time, [header, packet].concat())).collect()
    };
    let mut files = Vec::new();
    for (datalink, header) in [
        (DataLink::RAW, &[][..]),
        (DataLink::IPV4, &[]),
        (DataLink::NULL, &[2, 0, 0, 0]),
        (DataLink::ETHERNET, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0]),
        (DataLink::ETHERNET, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0x81, 0, 0, 5, 8, 0]),
        (DataLink::LINUX_SLL, &[0, 0, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0]),
        (DataLink::from(276), &[8, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0]),
    ] {
        files.push(pcap(&with(header), datalink, TsResolution::NanoSecond, Endianness::Big));
        files.push(pcap(&with(header), datalink, TsResolution::MicroSecond, Endianness::Little));
    }
    for (endianness, resolution) in [
        (Endianness::Little, Some(9)),
        (Endianness::Big, Some(6)),
        (Endianness::Big, None),
        (Endianness::Little, Some(0x94)),
    ] {
        let mut writer = PcapNgWriter::with_endianness(Vec::new(), endianness).unwrap();
        let mut interface = InterfaceDescriptionBlock::new(DataLink::RAW, 65_535);
        interface.options.push(InterfaceDescriptionOption::IfName("a link".into()));
        interface.options.extend(resolution.map(InterfaceDescriptionOption::IfTsResol));
        // A second interface, so that the number of each packet's counts.
        writer.write_pcapng_block(InterfaceDescriptionBlock::new(DataLink::ETHERNET, 65_535)).unwrap();
        writer.write_pcapng_block(interface).unwrap();
        for (time, packet) in &captured {
            // The library writes the nanoseconds of this duration as units, whatever the resolution.
            let units = match resolution {
                Some(9) => time.as_nanos(),
                Some(0x94) => (time.as_nanos() << 20) / 1_000_000_000,
                _ => time.as_micros(),
            };
            let timestamp = Duration::from_nanos(units as u64);
            let (original_len, data) = (packet.len() as u32, Cow::Borrowed(&packet[..]));
            let block = EnhancedPacketBlock { interface_id: 1, timestamp, original_len, data, options: Vec::new() };
            writer.write_pcapng_block(block).unwrap();
        }
        files.push(writer.into_inner());
    }
    for (number, file) in files.iter().enumerate() {
        let got = fit(file, "").unwrap_or_else(|error| panic!("file {number}: {error}"));
        let apart = got.trace.mean_rate().as_bps_f64() / wanted.trace.mean_rate().as_bps_f64() - 1.0;
        assert!(apart.abs() < 1e-3, "file {number}: {apart}");
        assert_eq!(got.notes[0], wanted.notes[0]);
    }
    // Cut off: what is whole is used. Headers alone: the sizes are in them.
    let cut = fit(&files[0][..files[0].len() - 700], "").unwrap();
    assert!(cut.notes.iter().any(|note| note.contains("ends in the middle")), "{:?}", cut.notes);
    let headers: Vec<Captured> = captured.iter().map(|(time, packet)| (*time, packet[..40].to_vec())).collect();
    assert_eq!(fit(&raw(&headers), "").unwrap().trace, wanted.trace);
}

/// A path of 10 ms each way, seen from `near` the opener: packets of the opener are seen after `near`, answers after
/// 20 ms less `near`.
fn seen(near: u64, exchange: &[(u64, bool, Vec<u8>)]) -> Vec<Captured> {
    let time = |(at_ms, is_openers, packet): &(u64, bool, Vec<u8>)| {
        let after = if *is_openers { near } else { 10 - near };
        (at(Time::from_millis(at_ms + after)), packet.clone())
    };
    let mut captured: Vec<Captured> = exchange.iter().map(time).collect();
    // What is seen at one time stays in order.
    captured.sort_by_key(|(time, _)| *time);
    captured
}

#[test]
fn the_delay_is_half_of_the_least_round_trip_wherever_the_capture_was_made() {
    let tcp = |from, to, sequence: u32, acknowledged: u32, flags: u8| {
        let ports = if from == SENDER { [0x13, 0x88, 0, 80] } else { [0, 80, 0x13, 0x88] };
        let numbers = [&sequence.to_be_bytes()[..], &acknowledged.to_be_bytes()].concat();
        ip(from, to, 6, &[&ports[..], &numbers, &[0x50, flags, 1, 0, 0, 0, 0, 0]].concat())
    };
    let handshake = [
        (0, true, tcp(SENDER, RECEIVER, 100, 0, 0x02)),
        (10, false, tcp(RECEIVER, SENDER, 500, 101, 0x12)),
        (20, true, tcp(SENDER, RECEIVER, 101, 501, 0x10)),
        // A request, and its acknowledgement, which are no round trip of the network alone.
        (21, true, tcp(SENDER, RECEIVER, 101, 501, 0x18)),
    ];
    let repeated = [&[(0, true, tcp(SENDER, RECEIVER, 100, 0, 0x02))][..], &handshake].concat();
    let stun = |from, to, kind: u8, number: u8| {
        let head = [kind, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42];
        udp(from, to, &[&head[..], &[0; 11], &[number]].concat())
    };
    let answers = [
        (0, true, stun(SENDER, RECEIVER, 0, 1)),
        (10, false, stun(RECEIVER, SENDER, 1, 1)),
        (30, false, stun(RECEIVER, SENDER, 0, 2)),
        (40, true, stun(SENDER, RECEIVER, 1, 2)),
        // A slow answer is not the least.
        (50, true, stun(SENDER, RECEIVER, 0, 3)),
        (90, false, stun(RECEIVER, SENDER, 1, 3)),
    ];
    let load: Vec<Captured> =
        (0..500).map(|packet| (at(Time::from_millis(100 + packet * 4)), udp(SENDER, RECEIVER, &[1; 1472]))).collect();
    let delay = |exchange: &[_], near| {
        let captured = [&seen(near, exchange)[..], &load].concat();
        fit(&raw(&captured), "").unwrap().delay
    };
    for near in [0, 4, 10] {
        assert_eq!(delay(&handshake, near), Some(Span::from_millis(10)), "TCP from {near} ms away");
        assert_eq!(delay(&answers, near), Some(Span::from_millis(10)), "STUN from {near} ms away");
    }
    // Of a segment that came twice it is not known which was answered.
    assert_eq!(delay(&repeated, 4), None);
    assert_eq!(delay(&[], 4), None);
}

#[test]
fn the_direction_is_the_one_with_the_most_bytes_or_the_one_that_is_asked_for() {
    let full = |from, to, gap_us: u64, count: u64| {
        let packet = udp(from, to, &[1; 1472]);
        (0..count).map(move |number| (at(Time::from_micros(number * gap_us)), packet.clone())).collect::<Vec<_>>()
    };
    let mut captured = [full(SENDER, RECEIVER, 2000, 1000), full(RECEIVER, SENDER, 12_000, 200)].concat();
    captured.sort();
    let file = raw(&captured);
    let mean = |options: &str| fit(&file, options).map(|read| read.trace.mean_rate().as_mbps_f64());
    let is_about = |got: f64, wanted: f64| (got / wanted - 1.0).abs() < 0.02;
    assert!(is_about(mean("").unwrap(), 6.0));
    assert!(is_about(mean("from=192.0.2.2").unwrap(), 1.0));
    assert!(is_about(mean("to=192.0.2.2").unwrap(), 6.0));
    for (options, words) in [
        ("from=192.0.2.9", format!("{} to {}", IpAddr::V4(Ipv4Addr::from(SENDER)), Ipv4Addr::from(RECEIVER))),
        ("from=here", "expected an IP address such as 192.0.2.1, found 'here'".into()),
        ("port=80", "from= and to=".into()),
        ("column=rate", "no option of a packet capture".into()),
    ] {
        let error = mean(options).unwrap_err();
        assert!(error.contains(&words), "{error}");
    }
}

#[test]
fn a_block_that_contradicts_itself_is_refused_with_its_place() {
    let block = |kind: u32, body: &[u8]| {
        let length = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let section = block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    // if_tsoffset has 8 bytes; here it has 4.
    let interface = block(1, &[101, 0, 0, 0, 0, 0, 0, 0, 14, 0, 4, 0, 0, 0, 0, 0]);
    let error = fit(&[section, interface].concat(), "").unwrap_err();
    assert!(error.contains("block at byte 28 is invalid"), "{error}");
}

#[test]
fn a_capture_that_shows_no_rate_is_refused_with_the_reason() {
    let small: Vec<Captured> =
        (0..100).map(|number| (at(Time::from_millis(number * 20)), udp(SENDER, RECEIVER, &[1; 100]))).collect();
    let arp = [(START, [&[0xff; 12][..], &[8, 6], &[0; 28]].concat())];
    let unordered = [&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0][..], &[0; 20]].concat();
    for (file, words) in [
        (raw(&small), "none of its 100 packets"),
        (raw(&[]), "no IP packet"),
        (pcap(&arp, DataLink::ETHERNET, TsResolution::MicroSecond, Endianness::Little), "no IP packet"),
        (pcap(&small, DataLink::IEEE802_11, TsResolution::MicroSecond, Endianness::Little), "link type 105"),
        (unordered, "block at byte 0 is invalid"),
    ] {
        let error = fit(&file, "").unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let error = fit(b"time_s,rate_mbps\n", "format=pcap").unwrap_err();
    assert!(error.contains("not as a pcap"), "{error}");
}
