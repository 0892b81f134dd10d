//! Lies that a hostile peer can send: everything its keys allow.

use thalweg_transport::Connection;
use thalweg_units::{Bytes, Ecn, Random, Rate, Span, Time};
use thalweg_wire::rtcp::ccfb::{self, Offset};
use thalweg_wire::rtcp::twcc::{self, REFERENCE_UNIT};
use thalweg_wire::rtcp::{
    self, Bye, BytesDiscarded, DecoderState, Fir, FirRequest, Nack, NackPair, NtpShort, Packet, PathReport, Pli,
    ReceiptTimes, ReceiverReport, Remb, ReportBlock, RunLengths, Xr, XrBlock,
};

/// The sender's streams in this world: video, retransmissions, FEC, audio.
const SENDERS: [u32; 4] = [100, 101, 102, 103];
const OURS: u32 = 200;

/// A kind of hostile behaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lie {
    /// No reports at all.
    NoFeedback,
    /// Every second packet is reported as arrived, the others as lost.
    EverySecond,
    /// Everything is reported as arrived at once and without delay, whatever the path does.
    Endless,
    /// Reports on packets that were never sent, near and far ahead, and on long forgotten ones.
    NeverSent,
    /// Arrival times an hour ahead and before the start, alternately.
    OtherTimes,
    /// The same packets again and again, each time with earlier arrivals.
    Backwards,
    /// RFC 8888 reports with random contents on every stream.
    Congestion,
    /// Extended reports with contradictory losses and times, on every stream.
    Extended,
    /// Receiver reports with extreme values in every field.
    PlainReports,
    /// Path reports with extreme values in every field, with more than was sent, and with less than was reported
    /// before.
    PathReports,
    /// All packets are reported missing, all the time.
    Nacks,
    /// A thousand keyframe requests per second.
    Keyframes,
    /// Decoder states that no frame led to.
    DecoderStates,
    /// Bytes that are not RTCP, compounds of 1,200 bytes of small packets, goodbyes, and unrequested media.
    Noise,
}

/// Those sent beside honest reports; the others take their place.
pub const BESIDE: [Lie; 3] = [Lie::Nacks, Lie::Keyframes, Lie::Noise];

impl Lie {
    /// Returns true if honest reports are withheld meanwhile.
    pub fn mutes(self) -> bool {
        !BESIDE.contains(&self)
    }

    /// Sends it once: `newest` is about the number of packets sent.
    pub fn say(self, now: Time, newest: u64, random: &mut Random, connection: &mut Connection) {
        let chance = random.bits();
        let packets = match self {
            Lie::NoFeedback => return,
            Lie::EverySecond => vec![arrivals(now, newest.saturating_sub(40), |at| at % 2 == 0)],
            Lie::Endless => vec![arrivals(now, newest.saturating_sub(200), |_| true)],
            Lie::NeverSent => {
                let far = [50, 5_000, 30_000, 40_000, 65_000][random.below(5) as usize];
                vec![arrivals(now, newest + far, |_| true)]
            }
            Lie::OtherTimes => {
                let then = if chance.is_multiple_of(2) { now + Span::from_secs(3600) } else { Time::ZERO };
                vec![arrivals(then, newest.saturating_sub(40), |_| true)]
            }
            Lie::Backwards => {
                let then = Time::from_millis(3_600_000) - (now - Time::ZERO) * 2;
                vec![arrivals(then, newest.saturating_sub(100), |_| true)]
            }
            Lie::Congestion => vec![congestion(now, random)],
            Lie::Extended => SENDERS.iter().map(|ssrc| extended(*ssrc, random)).collect(),
            Lie::PlainReports => vec![plain_report(random)],
            Lie::PathReports => vec![path_report(newest, random)],
            Lie::Nacks => SENDERS[..2].iter().map(|ssrc| everything(*ssrc, random)).collect(),
            Lie::Keyframes => keyframes(chance),
            Lie::DecoderStates => vec![decoder_state(random)],
            Lie::Noise => return noise(random, connection),
        };
        say(&packets, connection);
    }
}

fn say(packets: &[Packet], connection: &mut Connection) {
    let mut compound = Vec::new();
    rtcp::write(packets, &mut compound).expect("RTCP has room for these lies");
    connection.send_rtcp(&compound).expect("there are keys");
}

/// 256 packets from `first` on, a quarter of a millisecond apart, the last at `now`.
fn arrivals(now: Time, first: u64, came: impl Fn(u64) -> bool) -> Packet {
    let status = |at| if came(first + at) { twcc::Status::Arrived(1) } else { twcc::Status::Missing };
    Packet::TransportFeedback(twcc::Feedback {
        sender_ssrc: OURS,
        media_ssrc: SENDERS[0],
        base_sequence: first as u16,
        reference_time: ((now - Time::ZERO).as_nanos() / REFERENCE_UNIT.as_nanos()) as u32 & 0xff_ffff,
        feedback_count: first as u8,
        statuses: (0..256).map(status).collect(),
    })
}

fn congestion(now: Time, random: &mut Random) -> Packet {
    let mut status = |_| match random.below(4) {
        0 => ccfb::Status::Missing,
        1 => ccfb::Status::Arrived { ecn: Ecn::Ce, offset: Offset::OVER_RANGE },
        2 => ccfb::Status::Arrived { ecn: Ecn::Ect1, offset: Offset::UNAVAILABLE },
        _ => ccfb::Status::Arrived { ecn: Ecn::NotCapable, offset: Offset::of(Span::ZERO) },
    };
    let mut statuses: Vec<ccfb::Status> = (0..64).map(&mut status).collect();
    let mut streams = Vec::new();
    for ssrc in SENDERS {
        statuses.rotate_left(7);
        streams.push(ccfb::Stream { ssrc, begin: random.bits() as u16, statuses: statuses.clone() });
    }
    let reported = if random.below(2) == 0 { now + Span::from_secs(random.below(40_000) as i64) } else { now };
    Packet::CongestionFeedback(ccfb::Feedback { sender_ssrc: OURS, streams, reported: NtpShort::at(reported) })
}

/// Reports on a quarter of all sequence numbers: arrived or lost, and arrived too late; with times for some, at random.
fn extended(ssrc: u32, random: &mut Random) -> Packet {
    let begin = random.bits() as u16;
    let runs = |bit: bool| RunLengths::of(ssrc, begin, [bit; 16_000]).expect("no more than a block reports");
    let bytes = Bytes::new(1 << 31);
    let came = random.below(2) == 0;
    let times = (0..250).map(|_| random.bits() as u32).collect();
    let blocks = vec![
        XrBlock::Losses(runs(came)),
        XrBlock::Discards { early: false, packets: runs(true) },
        XrBlock::BytesDiscarded(BytesDiscarded { ssrc, early: false, cumulative: true, bytes }),
        XrBlock::ReceiptTimes(ReceiptTimes { ssrc, begin, times }),
    ];
    Packet::Xr(Xr { ssrc: OURS, blocks })
}

fn plain_report(random: &mut Random) -> Packet {
    let end = |random: &mut Random| [0, 1, u32::MAX, random.bits() as u32][random.below(4) as usize];
    let blocks = SENDERS.map(|ssrc| ReportBlock {
        ssrc,
        fraction_lost: random.bits() as u8,
        cumulative_lost: [-0x80_0000, 0, 0x7f_ffff][random.below(3) as usize],
        highest_sequence: end(random),
        jitter: end(random),
        last_report: NtpShort::at(Time::from_millis(1000 * random.below(60_000))),
        delay: NtpShort::at(Time::from_millis(1000 * random.below(60_000))),
    });
    Packet::ReceiverReport(ReceiverReport { ssrc: OURS, blocks: blocks.into(), extension: Vec::new() })
}

/// A packet takes between 100 and 1200 bytes, so some of the counts can be true and increasing.
fn path_report(newest: u64, random: &mut Random) -> Packet {
    let capacities = [None, Some(1), Some(u32::MAX.into()), Some(u64::MAX), Some(random.bits())];
    let capacity = capacities[random.below(5) as usize].map(Rate::from_bps);
    let sent = (100 + random.below(1100)) * newest;
    let count = |random: &mut Random| match random.below(6) {
        0..3 => sent,
        3 => 0,
        4 => sent + 1_000_000,
        _ => random.bits(),
    };
    let (received, lost) = (Bytes::new(count(random)), Bytes::new(count(random)));
    Packet::PathReport(PathReport { sender_ssrc: OURS, media_ssrc: SENDERS[0], capacity, received, lost })
}

/// 17 numbers per pair, 250 pairs: some 4,000 packets in a message, sixteen messages for all numbers.
fn everything(ssrc: u32, random: &mut Random) -> Packet {
    let first = random.bits() as u16;
    let pair = |index: u16| NackPair { first: first.wrapping_add(17 * index), following: u16::MAX };
    Packet::Nack(Nack { sender_ssrc: OURS, media_ssrc: ssrc, pairs: (0..250).map(pair).collect() })
}

fn keyframes(chance: u64) -> Vec<Packet> {
    let loss = Pli { sender_ssrc: OURS, media_ssrc: SENDERS[0] };
    let request = FirRequest { ssrc: SENDERS[0], sequence: chance as u8 };
    vec![
        Packet::Pli(loss),
        Packet::Fir(Fir { sender_ssrc: OURS, requests: vec![request; 8] }),
        Packet::Remb(Remb {
            sender_ssrc: OURS,
            bitrate: if chance.is_multiple_of(2) { Rate::ZERO } else { Rate::from_mbps_f64(1e5) },
            streams: SENDERS.into(),
        }),
    ]
}

fn decoder_state(random: &mut Random) -> Packet {
    Packet::DecoderState(DecoderState {
        sender_ssrc: OURS,
        media_ssrc: SENDERS[0],
        frame: random.below(400) as u32,
        fragment: random.bits() as u16,
        interarrival: Span::from_micros(random.below(10_000_000) as i64),
        current: random.bits(),
        complete: (0..16).map(|_| 1000 + random.below(500)).collect(),
    })
}

fn noise(random: &mut Random, connection: &mut Connection) {
    let goodbye = Packet::Bye(Bye { sources: SENDERS.into(), reason: Some(b"all of you".to_vec()) });
    say(&[goodbye, plain_report(random), everything(77, random)], connection);
    let reports: Vec<Packet> = (0..30).map(|_| plain_report(random)).collect();
    say(&reports, connection);
    let mut bytes: Vec<u8> = (0..200 + random.below(1000)).map(|_| random.bits() as u8).collect();
    // Enough of an RTCP header to be accepted.
    bytes[..2].copy_from_slice(&[0x80 | random.below(32) as u8, 200 + random.below(8) as u8]);
    let _ = connection.send_rtcp(&bytes);
    // RTP, on one of the sender's streams and on an unknown one.
    bytes[..2].copy_from_slice(&[0x80, 96]);
    bytes[8..12].copy_from_slice(&[0, 0, 0, 100 + 150 * random.below(2) as u8]);
    let _ = connection.send_rtp(Ecn::NotCapable, &bytes);
}
