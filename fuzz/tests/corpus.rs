//! Every target on the stable toolchain: on a few seeds, and on seeded mutations of them. Recorded inputs are in
//! `recorded.rs`.

mod mutation;

use mutation::mutate;
use thalweg_fuzz::TARGETS;
use thalweg_lab::Scenario;
use thalweg_units::{Bytes, Rate, Seed, Span};
use thalweg_vp8::encode::{Plan, Settings, encode};
use thalweg_vp8::syntax::header::{CoefficientUpdates, FilterHeader, KeyHeader, QuantizerHeader};
use thalweg_vp8::syntax::{
    BlockMode, Coefficients, Frame, FrameHeader, FrameKind, IntraModes, LumaMode, Macroblock, MacroblockModes,
    Partitions, Prediction, SubblockMode,
};
use thalweg_vp8::{Image, Size, State, decode, ivf};
use thalweg_wire::rtcp;
use thalweg_wire::rtp::dependency::{DependencyDescriptor, Structure};
use thalweg_wire::rtp::{self, Extension, ExtensionBuffer, FragmentGrace, FrameFragment, FrameStates};

/// Calls of each kind, 5 ms apart, as `capi_controller` and `capi_engine` read them.
fn calls_in_c() -> Vec<u8> {
    let call = |number: u8| [number, 10, 0, 0, number, 0, 1, 0, 40, 0, 3, 3, 0x4c, 0x4b, 0x40];
    [vec![0; 5], (0..60).flat_map(call).collect()].concat()
}

/// One valid input of each kind; targets get all of them.
fn seeds() -> Vec<Vec<u8>> {
    let mut y4m = b"YUV4MPEG2 W16 H16 F30:1 Ip A1:1 C420jpeg\nFRAME\n".to_vec();
    y4m.extend((0..16 * 16 * 3 / 2).map(|index| index as u8));
    vec![
        Vec::new(),
        vec![
            0xb0, 0xe0, 1, 2, 0, 0, 0, 9, 0, 0, 0, 1, 0xbe, 0xde, 0, 2, 0x33, 0, 5, 0x80, 3, 0, 0, 0, 0x90, 0x80, 7, 3,
            3, 3,
        ],
        vec![0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0x80, 1, 0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2],
        vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 3, 0, 0, 4, 7, 0xd2, 0, 4, 0xff, 0xff, 0, 0, 0],
        vec![0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, 2, 0xe2, 0, 0, 0, 0, 1, 0x80, 0],
        vec![0, 0x80, 0xe8],
        vec![0, 0x80, 0xe8, 0, 0, 0, 7, 0, 1, 0, 2],
        (0..16).collect(),
        calls_in_c(),
        functional_media(),
        functional_answer(),
        vec![0, 0, 0, 7, 0, 1, 0, 1, 0, 0, 1, 0x50, 1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1],
        vec![0x90, 0xf0, 0x81, 2, 3, 0xa4, 0x9d, 1, 0x2a, 5, 6, 7],
        // VP9 in flexible mode with a structure; H.264 as an aggregate, a fragment and a byte stream; Opus of code 3;
        // FEC.
        vec![0xda, 0x81, 2, 3, 4, 0x18, 1, 0, 1, 0, 1, 0x34, 1, 0x82, 0x49, 0x83],
        vec![0x78, 0, 3, 0x67, 0x42, 0xc0, 0, 2, 0x68, 0xce, 0, 2, 0x65, 0x88],
        vec![0x7c, 0x85, 1, 2, 3],
        // A sequence parameter set of x264, 1920 by 1080, and its body alone.
        vec![
            0, 0, 0, 1, 0x67, 0x64, 0, 0x28, 0xac, 0xd9, 0x40, 0x78, 2, 0x27, 0xe5, 0xc0, 0x44, 0, 0, 3, 0, 4, 0, 0, 1,
            0x65,
        ],
        vec![0x64, 0, 0x28, 0xac, 0xd9, 0x40, 0x78, 2, 0x27, 0xe5, 0xc0, 0x44],
        vec![
            0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1e, 0x8c, 0, 0, 1, 0x68, 0xce, 0x3c, 0, 0, 1, 0x65, 0x88, 0x84, 0, 0, 3, 1,
        ],
        // AV1: a sequence header and a frame in one payload, four elements with their lengths, and a temporal unit; with the
        // byte before them that says where they are cut.
        vec![0x28, 3, 0x08, 0, 1, 0x30, 0x10, 1, 2, 3],
        vec![4, 0x50, 0x30, 1, 2, 0x90, 3, 4],
        vec![9, 0x00, 2, 0x12, 0, 2, 0x08, 0, 1, 0x28, 2, 0x32, 0],
        vec![0x12, 0, 0x0a, 2, 0, 1, 0x32, 3, 0x10, 1, 2],
        vec![0xfb, 3, 1, 2, 3],
        vec![
            0, 0xe0, 0, 4, 0, 1, 0x5f, 0x90, 1, 0, 0, 0, 0x11, 0x22, 0x33, 0x44, 3, 0xe8, 0xf0, 0, 0x5f, 0x4e, 0xa0, 4,
            5,
        ],
        // ULPFEC with a short and a long mask, RED with one payload before the last.
        vec![0, 0xe0, 3, 0xe8, 0, 1, 0x5f, 0x90, 0, 4, 0, 5, 0xe0, 0, 0x5f, 0x4e, 0xa0, 4, 5],
        vec![0x40, 0x60, 0, 1, 0, 0, 0, 9, 0, 2, 0, 2, 0x80, 0, 0x80, 0, 0, 0, 7, 8],
        vec![0x80 | 117, 0, 4, 2, 96, 1, 2, 0x10, 1, 2, 3],
        // The body of a report: losses as a run, a vector and null, receipt times, statistics, discards and bytes
        // discarded.
        [
            &[0, 0, 0, 5, 1, 0, 0, 4, 0, 0, 0, 7, 0xff, 0xf0, 0, 40, 0x40, 20, 0xd5, 0x55, 0, 0, 0, 0][..],
            &[3, 0, 0, 4, 0, 0, 0, 7, 0xff, 0xff, 0, 1, 0, 0, 0, 5, 0, 0, 0, 9],
            &[
                6, 0xf0, 0, 9, 0, 0, 0, 7, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0,
                0, 0, 8,
            ],
            &[
                9, 10, 11, 12, 25, 0x10, 0, 3, 0, 0, 0, 7, 0, 9, 0, 12, 0xd0, 0, 0, 0, 26, 0xa0, 0, 2, 0, 0, 0, 7, 0,
                0, 0, 9,
            ],
        ]
        .concat(),
        b"0\n3\n3\n17\n".to_vec(),
        include_bytes!("../../examples/sweep.toml").to_vec(),
        br#"scenario = { name = "s", duration = "2s", video = { source = "scene" }, codec = { model = {} }, forward = { hops = [] },
reverse = { hops = [] } }
axes = [{ field = "scheme", values = ["gcc", "copa"] }, { field = ["seed"], values = [1, 2] },
{ name = "t", field = ["duration", "discard_after"], values = ["1s", "2s"] }]
skip = [{ scheme = "gcc", t = ["1s"] }]
"#
        .to_vec(),
        br#"{"protocol":"thalweg-estimator","version":1,"name":"x","sent":true,"limits":{"target_bps":3e5}}
{"target_bps":3e5,"pacing_bps":1,"padding_bps":0,"probe":{"cluster":1,"rate_bps":9e5},"timeout_ns":5}
{"error":"no"}"#
            .to_vec(),
        b"link.csv:column=b_kbps,c=x\ntime_s,b_kbps,c\n0,100,x\n1,\"20\",x\n2,,y\n".to_vec(),
        b"link:time=t\nTimestamp;t;rate (MB/s)\n2019.12.16_13.40.04;7;0.1\n2019.12.16_13.40.05;8;-\n".to_vec(),
        b"link:format=seconds,unit=kbps\n2\n3\n4\n".to_vec(),
        b"link\n# a bus\n0.5 2.0\n1.5\t4.0\n4.0 1.0\n\n".to_vec(),
        b"link\n100 300\n500 300\n550 600\n1000 600\n".to_vec(),
        b"link:column=3,time-unit=ms,unit=kbps,hold=before,gaps=zero,gap=1s@1s-3s\n0 1 500\n900 2 nan\n5000 3 700\n".to_vec(),
        b"link:gap=1s@2s-\ntime_s,rate_mbps\n0,1\n0,3\n1,2\n9,4\n10,5\n".to_vec(),
        b"link@1s-2s\n#time_ms rate_kbps\n0 1000\n500 2000\n2500 3000\n".to_vec(),
        b"link@1s-2s\n1 3\n2.5 4\n1e9 2\n1e171 3\n".to_vec(),
        b"link.up@10ms-20ms\n\n5\n10\n15\n30\n\n".to_vec(),
        b"link\n{\"uplink\": {\"trace_pattern\": [{\"duration\": 200, \"capacity\": 300}]}}\n".to_vec(),
        capture(false),
        capture(true),
        y4m,
        ivf(),
        encoded(),
        vp8_state(),
        transport(),
        path_reports(),
        browser_offer(),
        dependency_descriptors(),
        ogg(),
        signed_messages(),
        requests(),
        br#"<stun:stun.example>; rel="ice-server", <turn:turn.example?transport=udp>; rel="ice-server"; username="a;b,\"c\\"; credential=x; credential-type="password"
</sse>; rel="urn:ietf:params:whip:ext:example:sse""#
            .to_vec(),
        br#"{"title":"x","version":"0.1.0","channels":[{"name":"main","scheme":"gcc","switchable":true}],"width":1280,"height":720,"frame_interval_ms":33.333,"barcodes":true,"epoch_ms":1790000000000.5,"link":null}"#
            .to_vec(),
        toml::to_string(&Scenario::over("lte")).expect("a scenario").into_bytes(),
        include_bytes!("../../examples/competition.toml").to_vec(),
        b"a=ice-ufrag:abcd\r\na=ice-pwd:0123456789abcdefABCDEF\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\n".to_vec(),
    ]
}

/// A browser's offer to receive, with few codecs, so that mutations hit the lines that matter.
fn browser_offer() -> Vec<u8> {
    let offer = include_str!("../../crates/transport/src/sdp/tests/data/chromium-recvonly.sdp");
    let others = ["H264", "AV1", "VP9", "red", "ulpfec", "G722", "PCM", "CN/", "telephone"];
    let dropped: Vec<&str> = offer
        .lines()
        .filter(|line| others.iter().any(|other| line.contains(other)))
        .filter_map(|line| line.strip_prefix("a=rtpmap:")?.split(' ').next())
        .collect();
    let is_dropped = |line: &&str| {
        let of = |kind| line.strip_prefix(kind).and_then(|rest| rest.split(' ').next());
        let number = ["a=rtpmap:", "a=rtcp-fb:", "a=fmtp:"].into_iter().find_map(of);
        number.is_some_and(|number| dropped.contains(&number))
    };
    offer.split_inclusive('\n').filter(|line| !is_dropped(line)).collect::<String>().into_bytes()
}

/// Four packets of one frame of RTP over raw IP, of 1 kB, and a STUN request: as pcap, or as pcapng with an interface
/// that counts in 2^-20 s.
fn capture(is_pcapng: bool) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &length, body, &length].concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = if is_pcapng {
        let section = block(0x0a0d_0d0a, &words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
        [section, block(1, &words(&[101, 0, 0x0001_0009, 0x94, 0x0008_000e, 0, 0, 0]))].concat()
    } else {
        words(&[0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 101])
    };
    for number in 0..5 {
        let mut packet =
            vec![0x45, 0, 4, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 1, 1, 2, 2, 3, 0xec, 0, 0];
        packet.extend_from_slice(match number {
            0 => &[0, 1, 0, 0, 0x21, 0x12, 0xa4, 0x42, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
            _ => &[0x80, 96, 0, 1, 0, 0, 0, 9, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8],
        });
        let length = packet.len() as u32;
        if is_pcapng {
            let head = words(&[0, 0, number * 4000, length, 1024]);
            file.extend(block(6, &[head, packet].concat()));
        } else {
            file.extend(words(&[9, number * 4_000_000, length, 1024]));
            file.extend(packet);
        }
    }
    file
}

/// The first packet of a frame of functional video.
/// A keyframe with its structure and a frame after it, each behind its length.
fn dependency_descriptors() -> Vec<u8> {
    let structure = Structure::hierarchical(3).expect("in range");
    let first = DependencyDescriptor { structure: Some(structure.clone()), ..DependencyDescriptor::new(0, 1) };
    let next = DependencyDescriptor { references: Some(vec![3]), ..DependencyDescriptor::new(2, 4) };
    let elements = [first.to_bytes(None), next.to_bytes(Some(&structure))].map(|bytes| bytes.expect("in range"));
    elements.iter().flat_map(|bytes| [&[bytes.len() as u8], &bytes[..]].concat()).collect()
}

fn functional_media() -> Vec<u8> {
    let fragment = FrameFragment { frame: 7, fragment: 0, fragments: 2 };
    let grace = FragmentGrace { grace: Span::from_millis(33), fragment: Some(fragment) }.to_bytes().expect("in range");
    let states = FrameStates { source: 1, target: u64::MAX }.to_bytes();
    let elements = [(3, &[0, 5][..]), (4, &grace), (5, &states)].map(|(id, data)| Extension { id, data });
    let block = ExtensionBuffer::of(&elements).expect("in range");
    let header = rtp::Header { marker: false, payload_type: 96, sequence: 5, timestamp: 3000, ssrc: 2 };
    let mut out = Vec::new();
    let packet = rtp::Packet { extensions: Some(block.as_extensions()), ..rtp::Packet::new(header, &[0x10, 1, 2, 3]) };
    packet.write(&mut out).expect("in range");
    out
}

/// The feedback for two packets of functional video.
fn functional_answer() -> Vec<u8> {
    let answer = |fragment, complete| {
        let interarrival = Span::from_micros(337);
        rtcp::DecoderState { sender_ssrc: 1, media_ssrc: 2, frame: 7, fragment, interarrival, current: 9, complete }
    };
    let packets = [answer(0, Vec::new()), answer(1, vec![8, 9])].map(rtcp::Packet::DecoderState);
    let mut out = Vec::new();
    rtcp::write(&packets, &mut out).expect("in range");
    out
}

/// A receiver's path reports, one of them before anything was measured.
fn path_reports() -> Vec<u8> {
    let (received, lost) = (Bytes::new(150_000), Bytes::new(1200));
    let report = |capacity| rtcp::PathReport { sender_ssrc: 1, media_ssrc: 2, capacity, received, lost };
    let packets = [None, Some(Rate::from_kbps(400))].map(|capacity| rtcp::Packet::PathReport(report(capacity)));
    let mut out = Vec::new();
    rtcp::write(&packets, &mut out).expect("in range");
    out
}

/// Steps for two connections: datagrams that were really sent, unchanged, modified and truncated, to either peer; and
/// arbitrary bytes.
fn transport() -> Vec<u8> {
    let mut steps = vec![0];
    for back in 0..12 {
        steps.extend([back % 2, back, 0, back % 2, back, 1, 0, 40 + back, 0x80, 0x20 | (back % 2), back, 4, 0, 60, 5]);
    }
    steps.extend([0x10, 4, 0x80, 200, 0, 1, 0x11, 20, 22, 254, 253, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7]);
    steps
}

/// An Opus stream in Ogg of three pages, without checksums, which the target makes.
fn ogg() -> Vec<u8> {
    let page = |kind: u8, position: u64, number: u32, packets: &[&[u8]]| {
        let mut page = b"OggS\0".to_vec();
        page.push(kind);
        page.extend(position.to_le_bytes());
        page.extend(7_u32.to_le_bytes());
        page.extend(number.to_le_bytes());
        page.extend([0; 4]);
        page.push(packets.len() as u8);
        page.extend(packets.iter().map(|packet| packet.len() as u8));
        packets.iter().for_each(|packet| page.extend_from_slice(packet));
        page
    };
    let head = page(2, 0, 0, &[b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0"]);
    let tags = page(0, 0, 1, &[b"OpusTags\0\0\0\0\0\0\0\0"]);
    [head, tags, page(4, 3840, 2, &[&[0xf8, 1], &[0xf8, 2, 2], &[0xf9, 3]])].concat()
}

/// Steps for a hostile peer: time, requests that nominate, answers to our checks, another address, wrong signatures.
fn signed_messages() -> Vec<u8> {
    let transaction = [1; 12];
    let request = |what: u8| {
        [&[what, 20, 255][..], &transaction, &[4, 0, 1, 0x6e, 0, 30, 255, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8]].concat()
    };
    let answer = |what: u8| [what, 10, 0, 2, 4, 1, 1, 0x21, 0x12, 0xa4, 0x43, 6, 0, 9, 3, 1, 2, 3].to_vec();
    let mut steps = vec![0];
    for what in [0x80, 0xa0, 0x88, 0x90, 0x80] {
        steps.extend(request(what));
        steps.extend(answer(what | 3));
        steps.extend(answer(what | 5));
    }
    steps
}

/// Requests to a publisher: three join and one too many, restarts, candidates, a switch, goodbyes, half a minute.
fn requests() -> Vec<u8> {
    vec![
        0, 1, 2, 0, 0x05, 0x14, 0x15, 0x04, 0x25, 0x02, 0x05, 0x24, 0x05, 0x01, 0x05, 0x00, 0x1b, 1, 0x0c, 2, b'{',
        b'}', 0x0a, 0x0a, 3, 2, 0x1d, 0x2d, 14, 20, 0x15, 0x34, 3, b'm', b'=', b'x', 14, 15, 0, 0x44, 2, b'v', b'=',
    ]
}

/// Two key frames, the second of one macroblock.
fn ivf() -> Vec<u8> {
    let size = Size::new(40, 24).expect("a size");
    let mut writer = ivf::Writer::new(Vec::new(), ivf::Header::vp8(size, (30, 1))).expect("memory takes all");
    for (time, size) in [(0, size), (1, Size::new(16, 16).expect("a size"))] {
        writer.write(time, &key_frame(size)).expect("memory takes all");
    }
    writer.finish()
}

/// A few frames of a moving picture, from the encoder.
fn encoded() -> Vec<u8> {
    let size = Size::new(56, 40).expect("a size");
    let mut writer = ivf::Writer::new(Vec::new(), ivf::Header::vp8(size, (30, 1))).expect("memory takes all");
    let mut state = State::new();
    for time in 0..4 {
        let pixel = |i: usize| ((i * i / 40 + i % 56 * 3 + time * 7) % 251) as u8;
        let bytes: Vec<u8> = (0..Image::i420_length(size)).map(pixel).collect();
        let image = Image::from_i420(size, &bytes).expect("a picture");
        let plan = if time == 0 { Plan::key(50) } else { Plan::inter(20 * time as u8) };
        let coded = encode(&state, &image, &plan, &Settings::default()).expect("a frame");
        writer.write(time as u64, &coded.frame).expect("memory takes all");
        state = coded.state;
    }
    writer.finish()
}

/// A frame, and the state after it.
fn vp8_state() -> Vec<u8> {
    let frame = key_frame(Size::new(16, 16).expect("a size"));
    let state = decode(&State::new(), &frame).expect("a frame").state;
    [&(frame.len() as u16).to_le_bytes(), frame.as_slice(), &state.to_bytes()].concat()
}

/// A key frame whose macroblocks have a coefficient in each block.
fn key_frame(size: Size) -> Vec<u8> {
    let header = FrameHeader {
        version: 0,
        is_shown: true,
        kind: FrameKind::Key(KeyHeader::new(size)),
        segmentation: None,
        filter: FilterHeader { level: 20, ..FilterHeader::default() },
        partitions: Partitions::Two,
        quantizer: QuantizerHeader { luma: 30, ..QuantizerHeader::default() },
        keeps_probabilities: true,
        coefficients: CoefficientUpdates::default(),
        skip: None,
    };
    let modes = IntraModes {
        luma: LumaMode::Subblocks(std::array::from_fn(|i| SubblockMode::ALL[i % 10])),
        chroma: BlockMode::TrueMotion,
    };
    let modes = MacroblockModes { segment: None, is_skipped: false, prediction: Prediction::Intra(modes) };
    let mut levels = Box::new(Coefficients { blocks: [[0; 16]; 25], ends: [2; 25] });
    levels.blocks[..24].iter_mut().enumerate().for_each(|(i, block)| block[1] = i as i16 * 5 - 60);
    levels.ends[24] = 0;
    let macroblocks = vec![Macroblock { modes, levels: Some(levels) }; size.macroblocks()];
    Frame { header, macroblocks }.write(&State::new()).expect("a frame")
}

#[test]
fn every_target_takes_the_seeds_and_what_becomes_of_them() {
    // As often as takes seconds; `make nightly` asks for more.
    let rounds = std::env::var("FUZZ_ROUNDS").map_or(4, |rounds| rounds.parse().expect("FUZZ_ROUNDS is a number"));
    let mut random = Seed::new(1).child("fuzz.corpus").random();
    for mut input in seeds() {
        let max = input.len() + 600;
        for _ in 0..rounds {
            TARGETS.iter().for_each(|(_, target)| target(&input));
            mutate(&mut input, &mut random);
            if input.len() > max {
                input.truncate(max - 200);
            }
        }
    }
}
