//! A link fitted to a packet capture: capacity from the busiest gaps, delay from the least.
//!
//! The flow between two hosts in one direction is read. A gap between two of its packets is **busy** if the sender had
//! more to send when it began, as far as the packets say: both are RTP of the same frame, or the first is not RTP and
//! as large as packets get where more follows. In busy gaps the link sets the pace, unless the sender paces itself; so
//! the capacity in each window is the bytes after busy gaps over their duration. A window with less than 5 ms of
//! busy time repeats the previous capacity; if most windows with busy gaps do, the window length doubles. Traffic that
//! passed is a lower bound of the capacity: the notes of a reading say so.
//!
//! The round trip is the least time of a TCP handshake, from its first segment to its third, or the least answer to a
//! STUN request of each side, added: both are the whole round trip wherever the capture was made, except that STUN in
//! one direction alone leaves out what is behind the capture. The delay is half of it.

mod frames;
mod packet;

use std::collections::BTreeMap;
use std::net::IpAddr;

use thalweg_netsim::{Trace, TraceError};
use thalweg_units::{Rate, Span};

use self::frames::{Frames, frames, is_capture};
use self::packet::{Content, Handshake, Packet, packet};
use crate::error::ReadError;
use crate::format::Format;
use crate::options::ReadOptions;
use crate::reader::{File, Reader, Reading};
use crate::steps;

pub(crate) const READER: Reader =
    Reader { format: Format::Capture, options: &["NAME"], is: |file| Ok(is_capture(file.bytes)), read };

/// Every path of QUIC carries datagrams of this size (RFC 9000 section 14.1), so a sender with more waiting fills at
/// least that; a full TCP segment over Ethernet is larger.
const FULL: u32 = 1200;
/// The shortest windows of capacity, in milliseconds: several frames, and several scheduling intervals of a cellular
/// link.
const WINDOW_MS: u64 = 200;
/// The least busy time from which a window's capacity is calculated: less than that is a matter of the clock of the
/// capture and of cards that report packets together.
const LEAST_BUSY_NS: u64 = 5_000_000;
/// A capture of more than a day has a wrong clock.
const LONGEST_NS: u64 = 86_400_000_000_000;

/// Fits a link to the flow with the most bytes, or to the one `from` and `to` an address.
///
/// # Errors
/// When it is no capture, has no such flow, or none that shows a rate.
fn read(file: File<'_>, options: &ReadOptions) -> Result<Reading, ReadError> {
    let Frames { frames, is_cut, untimed } = frames(file.bytes)?;
    let mut packets: Vec<Packet> = frames.iter().filter_map(packet).collect();
    packets.sort_by_key(|packet| packet.at);
    if packets.is_empty() {
        let kinds =
            frames.first().map_or(String::new(), |frame| format!(", the first of link type {}", frame.link_type));
        return Err(ReadError::unclear(format!(
            "no IP packet with a time among {} captured frames{kinds}: Ethernet, raw IP, loopback and Linux cooked are \
             read",
            frames.len() + untimed
        )));
    }
    let (from, to) = direction(&packets, &options.only)?;
    let flow: Vec<&Packet> = packets.iter().filter(|packet| (packet.from, packet.to) == (from, to)).collect();
    let Capacity { trace, busy, window_ms } = capacity(&flow, options)?;
    let delay = round_trip(&packets, from, to).map(|trip| trip / 2);
    let bytes: u64 = flow.iter().map(|packet| u64::from(packet.size)).sum();
    let mut notes = vec![
        format!("{} packets, {:.1} MB from {from} to {to}", flow.len(), bytes as f64 / 1e6),
        format!(
            "capacity by {window_ms} ms from gaps in which the sender had more to send, {:.1} % of the time: a lower bound \
             where the sender, and not the link, set the pace",
            busy * 100.0
        ),
    ];
    notes.push(match delay {
        Some(delay) => {
            format!("one-way delay {:.1} ms, half of the least round trip: give it with --delay", delay.as_millis_f64())
        }
        None => "no delay: there is neither a TCP handshake nor an answer to a STUN request in it".into(),
    });
    if is_cut {
        notes.push("the file ends in the middle of a packet".into());
    }
    if untimed > 0 {
        notes.push(format!("{untimed} packets without a time were left out"));
    }
    Ok(Reading { delay, ..Reading::new(Format::Capture, trace, notes) })
}

/// The direction with the most bytes among those asked for.
fn direction(packets: &[Packet], only: &[(String, String)]) -> Result<(IpAddr, IpAddr), ReadError> {
    let mut bytes: BTreeMap<(IpAddr, IpAddr), u64> = BTreeMap::new();
    for packet in packets {
        *bytes.entry((packet.from, packet.to)).or_default() += u64::from(packet.size);
    }
    let mut wanted = [None, None];
    for (key, value) in only {
        let Some(end) = ["from", "to"].iter().position(|end| end == key) else {
            return Err(ReadError::unclear(format!(
                "{key}={value}: options of a capture are from= and to= an address"
            )));
        };
        let address: IpAddr = value.parse().map_err(|_| {
            ReadError::unclear(format!("{key}={value}: expected an IP address such as 192.0.2.1, found '{value}'"))
        })?;
        wanted[end] = Some(address);
    }
    let fits =
        |(from, to): &(IpAddr, IpAddr)| wanted[0].is_none_or(|w| w == *from) && wanted[1].is_none_or(|w| w == *to);
    let found = bytes.iter().filter(|(pair, _)| fits(pair)).max_by_key(|(_, bytes)| **bytes);
    found.map(|(pair, _)| *pair).ok_or_else(|| {
        let pairs: Vec<String> = bytes.keys().take(5).map(|(from, to)| format!("{from} to {to}")).collect();
        ReadError::unclear(format!("no packets of that direction; there are some from {}", pairs.join(", ")))
    })
}

/// Returns true if the sender had more to send when the gap between two packets began.
fn is_busy(first: &Packet, second: &Packet) -> bool {
    match (first.content, second.content) {
        (Content::Rtp { source, timestamp }, Content::Rtp { source: next, timestamp: at }) => {
            (source, timestamp) == (next, at)
        }
        (Content::Rtp { .. }, _) => false,
        _ => first.size >= FULL,
    }
}

/// Capacity of the link as the packets of a flow show it.
struct Capacity {
    trace: Trace,
    /// The share of the time that busy gaps take.
    busy: f64,
    window_ms: u64,
}

fn capacity(flow: &[&Packet], options: &ReadOptions) -> Result<Capacity, ReadError> {
    let (Some(start), Some(end)) = (flow.first().map(|packet| packet.at), flow.last().map(|packet| packet.at)) else {
        return Err(TraceError::Empty.into());
    };
    if end - start > LONGEST_NS {
        return Err(ReadError::unclear(format!("it lasts {} s, must be at most a day", (end - start) / 1_000_000_000)));
    }
    let mut window_ms = WINDOW_MS;
    let windows = loop {
        let windows = busy_windows(flow, window_ms * 1_000_000);
        let with_bits = windows.iter().filter(|(bits, _)| *bits > 0.0).count();
        let known = windows.iter().filter_map(rate).count();
        // A fast link is busy for short times: longer windows have more of them.
        if (known > 0 && 2 * known >= with_bits) || windows.len() == 1 {
            break windows;
        }
        window_ms *= 2;
    };
    let Some(mut latest) = windows.iter().find_map(rate) else {
        return Err(ReadError::unclear(format!(
            "none of its {} packets in this direction shows the link's rate: packets of a frame, or packets of {FULL} \
             bytes and more, follow one another for less than {} ms of it; capture behind the link, where a sender loads it",
            flow.len(),
            LEAST_BUSY_NS / 1_000_000
        )));
    };
    let busy: u64 = windows.iter().map(|(_, busy)| busy).sum();
    let last = ((end - start) % (window_ms * 1_000_000)).div_ceil(1_000_000).max(1);
    let count = windows.len();
    let steps = windows.iter().enumerate().map(|(place, window)| {
        latest = rate(window).unwrap_or(latest);
        (if place + 1 == count { last } else { window_ms }, Some(latest))
    });
    let trace = steps::trace(steps.collect(), options)?;
    Ok(Capacity { trace, busy: busy as f64 / (end - start).max(1) as f64, window_ms })
}

/// Bits after busy gaps, and the nanoseconds of these, in each window.
fn busy_windows(flow: &[&Packet], window_ns: u64) -> Vec<(f64, u64)> {
    let start = flow.first().map_or(0, |packet| packet.at);
    let end = flow.last().map_or(0, |packet| packet.at);
    let mut windows = vec![(0.0, 0); ((end - start) / window_ns + 1) as usize];
    for pair in flow.windows(2).filter(|pair| is_busy(pair[0], pair[1])) {
        let (begin, stop) = (pair[0].at - start, pair[1].at - start);
        let bits = f64::from(pair[1].size) * 8.0;
        // A gap over several windows is shared among them by time.
        for (place, (sum, busy)) in (begin / window_ns..).zip(&mut windows[(begin / window_ns) as usize..]) {
            let (from, to) = (begin.max(place * window_ns), stop.min((place + 1) * window_ns));
            *busy += to.saturating_sub(from);
            *sum += if stop == begin { bits } else { bits * to.saturating_sub(from) as f64 / (stop - begin) as f64 };
            if stop <= (place + 1) * window_ns {
                break;
            }
        }
    }
    windows
}

/// The rate that a window shows, if it is busy for long enough.
fn rate(&(bits, busy): &(f64, u64)) -> Option<Rate> {
    (busy >= LEAST_BUSY_NS).then(|| Rate::from_bps_f64((bits / (busy as f64 / 1e9)).min(1e11)))
}

/// The least round trip between two hosts.
fn round_trip(packets: &[Packet], one: IpAddr, other: IpAddr) -> Option<Span> {
    let mut handshakes = Handshakes::default();
    // Requests that wait for their response, and each side's least answer; a repeated request could be either's.
    let mut asked: BTreeMap<(IpAddr, u64), Option<u64>> = BTreeMap::new();
    let mut least: [Option<u64>; 2] = [None, None];
    let between = |packet: &&Packet| [(one, other), (other, one)].contains(&(packet.from, packet.to));
    for packet in packets.iter().filter(between) {
        match packet.content {
            Content::Tcp { ports, step } => handshakes.on(packet, ports, step),
            Content::Stun { is_response: false, transaction } => {
                let asked = asked.entry((packet.from, transaction));
                asked.and_modify(|at| *at = None).or_insert(Some(packet.at));
            }
            Content::Stun { is_response: true, transaction } => {
                if let Some(Some(at)) = asked.remove(&(packet.to, transaction)) {
                    let side = &mut least[usize::from(packet.to == other)];
                    *side = Some(side.map_or(u64::MAX, |least| least).min(packet.at - at));
                }
            }
            Content::Rtp { .. } | Content::Other => (),
        }
    }
    let answers = least.iter().flatten().copied().reduce(|sum, least| sum + least);
    let trip = answers.into_iter().chain(handshakes.least).min()?;
    Some(Span::from_nanos(i64::try_from(trip).ok()?))
}

/// TCP handshakes under way, by who opened them, and the least time of one.
#[derive(Debug, Default)]
struct Handshakes {
    open: BTreeMap<(IpAddr, u16, u16), Opening>,
    least: Option<u64>,
}

/// Observed part of a handshake.
#[derive(Debug)]
struct Opening {
    at: u64,
    next: u32,
    /// The sequence number that the opener has to acknowledge.
    answered: Option<u32>,
    /// A segment came twice: which one was answered is unknown (Karn and Partridge, SIGCOMM 1987).
    is_repeated: bool,
}

impl Handshakes {
    fn on(&mut self, packet: &Packet, (source, destination): (u16, u16), step: Handshake) {
        let forth = (packet.from, source, destination);
        match step {
            Handshake::Syn { next } => {
                let is_repeated = self.open.get(&forth).is_some_and(|opening| opening.next == next);
                self.open.insert(forth, Opening { at: packet.at, next, answered: None, is_repeated });
            }
            Handshake::SynAck { acknowledged, next } => {
                let opening = self.open.get_mut(&(packet.to, destination, source));
                if let Some(opening) = opening.filter(|opening| opening.next == acknowledged) {
                    opening.is_repeated |= opening.answered.is_some();
                    opening.answered = Some(next);
                }
            }
            Handshake::Ack { sequence, acknowledged } => {
                let is_third = |opening: &&Opening| opening.answered == Some(acknowledged) && opening.next == sequence;
                if let Some(opening) = self.open.get(&forth).filter(is_third) {
                    if !opening.is_repeated {
                        let trip = packet.at - opening.at;
                        self.least = Some(self.least.map_or(trip, |least| least.min(trip)));
                    }
                    self.open.remove(&forth);
                }
            }
        }
    }
}
