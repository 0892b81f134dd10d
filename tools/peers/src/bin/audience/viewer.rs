//! One viewer.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Instant;

use thalweg_emulate::reactor::{Transmit, UdpSocket};
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction, Local, StreamIds, Video};
use thalweg_transport::{Config, Connection, DtlsRole, Event, Identity, Output};
use thalweg_units::{Ecn, Span, Time};
use thalweg_wire::rtcp::{self, twcc};
use thalweg_wire::rtp;

/// Chromium's interval of transport-wide feedback (specs/measured.md 1).
pub const REPORTS: Span = Span::from_millis(62);
/// The interval of receiver reports.
const RECEIVER_REPORTS: Span = Span::from_secs(1);
/// The SSRC that reports are sent from.
const OURS: u32 = 1;
/// Ticks of video's RTP clock in a second.
const CLOCK: i64 = 90_000;

/// Parameters of a viewer before it has joined.
pub struct Seat<'a> {
    pub address: SocketAddr,
    pub identity: &'a Identity,
    pub origin: Instant,
}

impl Seat<'_> {
    /// A connection, and what to say of it.
    pub fn connection(&self, controlling: bool) -> Result<(Connection, Local), Box<dyn Error>> {
        let mut connection = Connection::new(Config { controlling, ..Config::default() }, self.identity, self.origin)?;
        connection.add_local(self.address)?;
        let local = Local {
            credentials: connection.credentials().clone(),
            fingerprint: self.identity.fingerprint(),
            candidates: vec![self.address],
            lite: false,
            setup: DtlsRole::Client,
            streams: StreamIds { video: OURS, retransmission: 2, fec: 3, audio: 4 },
            cname: "audience".into(),
        };
        Ok((connection, local))
    }

    /// Capabilities of stock browsers: transport-wide feedback at intervals.
    pub fn capabilities(&self) -> Capabilities {
        let congestion = vec![CongestionFeedback::Transport];
        Capabilities { congestion, ..Capabilities::all(Direction::ReceiveOnly) }
    }
}

/// Transport-wide feedback: what came since the last report.
struct Arrivals {
    /// The id of the header extension.
    extension: u8,
    /// The first number that has not been reported, once one has come; and when it came and those after it.
    first: Option<u64>,
    times: Vec<Option<Time>>,
    builder: twcc::Builder,
}

impl Arrivals {
    fn add(&mut self, now: Time, sequence: u16) {
        let first = *self.first.get_or_insert(u64::from(sequence) + 0x1_0000);
        // What is before the first comes too late for its report.
        let place = usize::from(sequence.wrapping_sub(first as u16));
        if place <= usize::from(u16::MAX / 2) {
            self.times.resize(self.times.len().max(place + 1), None);
            self.times[place] = Some(now);
        }
    }

    /// The report, and how many are missing in it.
    fn report(&mut self) -> (Vec<twcc::Feedback>, u64) {
        let Some(first) = self.first.filter(|_| !self.times.is_empty()) else { return (Vec::new(), 0) };
        let report: Vec<(u64, Option<Time>)> = (first..).zip(self.times.drain(..)).collect();
        self.first = Some(first + report.len() as u64);
        let missing = report.iter().filter(|(_, arrival)| arrival.is_none()).count() as u64;
        (self.builder.messages(&report).unwrap_or_default(), missing)
    }
}

/// A viewer: it counts what comes, and reports.
pub struct Viewer {
    connection: Connection,
    pub is_connected: bool,
    arrivals: Option<Arrivals>,
    reported: Time,
    pub packets: u64,
    pub bytes: u64,
    /// Packets without media: padding, retransmissions.
    pub other: u64,
    pub missing: u64,
    keyframes_asked: Option<Time>,
    media: u32,
    payload_type: u8,
    /// The newest packet of the media stream: its sequence number in the order of the stream.
    highest: u32,
    /// When each frame had come after its first packet could have left, up to a constant: arrival less timestamp.
    pub transits: Vec<Span>,
    /// The timestamp of the first frame, and the last one with how much it is later.
    newest: Option<(u32, i64)>,
}

impl Viewer {
    pub fn new((connection, video): (Connection, Video)) -> Result<Viewer, Box<dyn Error>> {
        let media = video.streams.media.ok_or("no stream")?;
        let arrivals = |extension| {
            let builder = twcc::Config { sender_ssrc: OURS, media_ssrc: media, ..twcc::Config::default() }.build()?;
            Ok::<_, Box<dyn Error>>(Arrivals { extension, first: None, times: Vec::new(), builder })
        };
        Ok(Viewer {
            connection,
            is_connected: false,
            arrivals: video.extensions.transport_sequence.map(arrivals).transpose()?,
            reported: Time::ZERO,
            packets: 0,
            bytes: 0,
            other: 0,
            missing: 0,
            keyframes_asked: None,
            media,
            payload_type: video.payload_type,
            highest: 0,
            transits: Vec::new(),
            newest: None,
        })
    }

    /// Where the server may send from, if it has said so.
    pub fn sources(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.connection.remote_candidates()
    }

    /// Takes a datagram; returns whether the connection has something to say to it.
    pub fn on_datagram(&mut self, now: Time, from: SocketAddr, to: SocketAddr, bytes: &[u8]) -> bool {
        // RTP by its first bytes (RFC 5761 section 4).
        let is_rtp = matches!(bytes, [128..192, second, ..] if !(192..224).contains(second));
        if !is_rtp {
            self.connection.on_datagram(now, from, to, Ecn::NotCapable, bytes);
            return true;
        }
        self.packets += 1;
        self.bytes += bytes.len() as u64 + 28;
        // The header is not encrypted; the length of the padding is.
        let mut head = [0; 80];
        let length = bytes.len().min(head.len());
        head[..length].copy_from_slice(&bytes[..length]);
        head[0] &= !0x20;
        let Ok(packet) = rtp::Packet::parse(&head[..length]) else { return false };
        if let Some(arrivals) = &mut self.arrivals
            && let Some([high, low]) = packet.extensions.and_then(|extensions| extensions.get(arrivals.extension))
        {
            arrivals.add(now, u16::from_be_bytes([*high, *low]));
        }
        self.on_media(now, &packet.header);
        false
    }

    fn on_media(&mut self, now: Time, header: &rtp::Header) {
        if header.payload_type != self.payload_type {
            self.other += 1;
            return;
        }
        let ahead = header.sequence.wrapping_sub(self.highest as u16) as i16;
        self.highest = if self.highest == 0 {
            header.sequence.into()
        } else {
            self.highest.wrapping_add_signed(ahead.max(0).into())
        };
        if header.marker {
            let (last, passed) = self.newest.unwrap_or((header.timestamp, 0));
            let passed = passed + i64::from(header.timestamp.wrapping_sub(last) as i32);
            self.newest = Some((header.timestamp, passed));
            self.transits.push(now - Time::ZERO - Span::from_nanos(passed * 1_000_000_000 / CLOCK));
        }
    }

    /// Does what is due, and reports what came: transport-wide where that was agreed, and once a second by a receiver report.
    pub fn report(&mut self, now: Time) {
        self.connection.on_timeout(now);
        if !self.is_connected {
            return;
        }
        let (messages, missing) = self.arrivals.as_mut().map(Arrivals::report).unwrap_or_default();
        self.missing += missing;
        let mut packets: Vec<rtcp::Packet> = messages.into_iter().map(rtcp::Packet::TransportFeedback).collect();
        if now - self.reported >= RECEIVER_REPORTS {
            self.reported = now;
            let block = rtcp::ReportBlock { ssrc: self.media, highest_sequence: self.highest, ..Default::default() };
            let report = rtcp::ReceiverReport { ssrc: OURS, blocks: vec![block], extension: Vec::new() };
            packets.insert(0, rtcp::Packet::ReceiverReport(report));
        }
        // A decoder that misses packets needs a keyframe; and this one has no retransmissions. Skipped numbers are no loss.
        if missing > 2 && self.keyframes_asked.is_none_or(|asked| now - asked > Span::from_secs(1)) {
            self.keyframes_asked = Some(now);
            packets.push(rtcp::Packet::Pli(rtcp::Pli { sender_ssrc: OURS, media_ssrc: self.media }));
        }
        let mut compound = Vec::new();
        if !packets.is_empty() && rtcp::write(&packets, &mut compound).is_ok() {
            // The connection may have ended.
            let _ = self.connection.send_rtcp(&compound);
        }
    }

    /// Sends what the connection has to say.
    pub fn drain(&mut self, socket: &mut UdpSocket) {
        loop {
            match self.connection.poll() {
                Output::Transmit(datagram) => socket.push(Transmit {
                    from: Some(datagram.from.ip()),
                    to: datagram.to,
                    ecn: Ecn::NotCapable,
                    bytes: datagram.bytes,
                }),
                Output::Event(Event::Connected) => self.is_connected = true,
                Output::Event(Event::Closed | Event::Failed(_)) => self.is_connected = false,
                Output::Event(_) => {}
                Output::Wait { .. } => return,
            }
        }
    }
}
