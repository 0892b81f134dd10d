//! Packet of a captured frame: addresses, size, and whether more of the same was waiting.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::frames::Frame;

/// An IP packet of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Packet {
    /// When it was captured, in nanoseconds since 1970.
    pub(super) at: u64,
    pub(super) from: IpAddr,
    pub(super) to: IpAddr,
    /// Its size, from the IP header upwards.
    pub(super) size: u32,
    pub(super) content: Content,
}

/// Content of the packet, as far as the fit uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// RTP (RFC 3550): packets of a frame share their source and timestamp, which SRTP leaves readable.
    Rtp {
        source: u32,
        timestamp: u32,
    },
    /// A STUN request or its response (RFC 8489 section 5), with the end of its transaction's number.
    Stun {
        is_response: bool,
        transaction: u64,
    },
    /// The beginning of a TCP connection, with its ports.
    Tcp {
        ports: (u16, u16),
        step: Handshake,
    },
    Other,
}

/// A segment of TCP's three-way handshake (RFC 9293 section 3.5), with the sequence number that the next one
/// acknowledges or has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handshake {
    Syn {
        next: u32,
    },
    SynAck {
        acknowledged: u32,
        next: u32,
    },
    /// Any segment with an acknowledgement alone.
    Ack {
        sequence: u32,
        acknowledged: u32,
    },
}

/// The packet of a frame; `None` if it is not IP, or too little of it was kept.
pub(super) fn packet(frame: &Frame<'_>) -> Option<Packet> {
    let ip = network_layer(&frame.data, frame.link_type)?;
    let before = (frame.data.len() - ip.len()) as u32;
    let on_wire = frame.length.saturating_sub(before);
    let at = frame.at;
    match ip.first()? >> 4 {
        4 => {
            let header = usize::from(ip[0] & 15) * 4;
            // A card that cuts segments itself leaves 0 here.
            let size = Some(u32::from(u16_at(ip, 2)?)).filter(|size| *size > 0).unwrap_or(on_wire);
            let octets = |at| Some(IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(ip.get(at..at + 4)?).ok()?)));
            let is_first = u16_at(ip, 6)? & 0x1fff == 0;
            let content = match is_first {
                true => ip.get(header..).map_or(Content::Other, |data| transport(ip[9], data)),
                false => Content::Other,
            };
            Some(Packet { at, from: octets(12)?, to: octets(16)?, size, content })
        }
        6 => {
            let payload = u32::from(u16_at(ip, 4)?);
            let size = if payload > 0 { payload + 40 } else { on_wire };
            let octets = |at| Some(IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(ip.get(at..at + 16)?).ok()?)));
            let content = ip.get(40..).map_or(Content::Other, |data| transport(ip[6], data));
            Some(Packet { at, from: octets(8)?, to: octets(24)?, size, content })
        }
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The bytes from the IP header on (www.tcpdump.org/linktypes.html).
fn network_layer(data: &[u8], link_type: u16) -> Option<&[u8]> {
    match link_type {
        // BSD loopback, in either byte order: a family, which the IP version repeats.
        0 | 108 => data.get(4..),
        1 => {
            let mut header = 14;
            // Virtual networks (IEEE 802.1Q) put four bytes before the type.
            while matches!(u16_at(data, header - 2)?, 0x8100 | 0x88a8) {
                header += 4;
            }
            let is_ip = matches!(u16_at(data, header - 2)?, 0x0800 | 0x86dd);
            data.get(header..).filter(|_| is_ip)
        }
        // Raw IP: one number of its own, the one of BSD, and one for each version.
        12 | 101 | 228 | 229 => Some(data),
        // Linux cooked, versions 1 and 2.
        113 => data.get(16..).filter(|_| matches!(u16_at(data, 14), Some(0x0800 | 0x86dd))),
        276 => data.get(20..).filter(|_| matches!(u16_at(data, 0), Some(0x0800 | 0x86dd))),
        _ => None,
    }
}

/// Content of a packet of this protocol.
fn transport(protocol: u8, data: &[u8]) -> Content {
    let read = match protocol {
        6 => tcp(data),
        17 => data.get(8..).and_then(udp),
        _ => None,
    };
    read.unwrap_or(Content::Other)
}

/// STUN, DTLS, RTP and others of one port are distinguished by their first byte (RFC 7983 section 7); RTCP by the second
/// (RFC 5761 section 4).
fn udp(payload: &[u8]) -> Option<Content> {
    match payload.first()? {
        0..=3 if u32_at(payload, 4)? == 0x2112_a442 => {
            let transaction = u64::from(u32_at(payload, 12)?) << 32 | u64::from(u32_at(payload, 16)?);
            // Bits 8 and 4 of the type: 00 a request, 10 a response, 01 an indication, 11 an error.
            let class = (u16_at(payload, 0)? & 0x0110 != 0, u16_at(payload, 0)? & 0x0010 != 0);
            match class {
                (false, _) => Some(Content::Stun { is_response: false, transaction }),
                (true, false) => Some(Content::Stun { is_response: true, transaction }),
                (true, true) => None,
            }
        }
        128..=191 if !(192..=223).contains(payload.get(1)?) => {
            Some(Content::Rtp { timestamp: u32_at(payload, 4)?, source: u32_at(payload, 8)? })
        }
        _ => None,
    }
}

fn tcp(segment: &[u8]) -> Option<Content> {
    let ports = (u16_at(segment, 0)?, u16_at(segment, 2)?);
    let (sequence, acknowledged) = (u32_at(segment, 4)?, u32_at(segment, 8)?);
    let next = sequence.wrapping_add(1);
    let step = match *segment.get(13)? & 0x17 {
        0x02 => Handshake::Syn { next },
        0x12 => Handshake::SynAck { acknowledged, next },
        0x10 => Handshake::Ack { sequence, acknowledged },
        _ => return None,
    };
    Some(Content::Tcp { ports, step })
}
