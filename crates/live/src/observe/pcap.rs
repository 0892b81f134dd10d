//! Packet captures for Wireshark.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, TsResolution};
use thalweg_units::Time;

use thalweg_emulate::clock::Clock;

/// Longer than any packet here.
const LONGEST: u32 = 65_535;

/// A capture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PcapError {
    /// The file cannot be written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The packet does not fit.
    #[error("{0}")]
    Format(pcap_file::PcapError),
}

impl From<pcap_file::PcapError> for PcapError {
    fn from(error: pcap_file::PcapError) -> PcapError {
        match error {
            pcap_file::PcapError::IoError(error) => PcapError::Io(error),
            other => PcapError::Format(other),
        }
    }
}

/// A capture of unencrypted RTP and RTCP, with the UDP and IP headers that they are sent with: in a capture of the
/// encrypted packets only the headers are readable. It contains the media, so protect it accordingly.
///
/// Nanosecond pcap, raw IP (LINKTYPE_RAW). In Wireshark: Decode As, RTP.
pub struct Pcap {
    writer: PcapWriter<BufWriter<File>>,
    clock: Clock,
    packet: Vec<u8>,
}

impl Pcap {
    /// Starts a capture in this file, which is created or overwritten.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn create(path: &Path, clock: Clock) -> Result<Pcap, PcapError> {
        let file = BufWriter::new(File::create(path)?);
        let header = PcapHeader {
            snaplen: LONGEST,
            datalink: DataLink::RAW,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        Ok(Pcap { writer: PcapWriter::with_header(file, header)?, clock, packet: Vec::new() })
    }

    /// Adds a packet sent from `from` to `to`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, at: Time, from: SocketAddr, to: SocketAddr, payload: &[u8]) -> Result<(), PcapError> {
        let wall = self.clock.wall(at).duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        self.packet.clear();
        datagram(&mut self.packet, from, to, payload);
        let length = self.packet.len() as u32;
        self.writer.write_packet(&PcapPacket {
            timestamp: wall,
            orig_len: length,
            data: Cow::Borrowed(&self.packet),
        })?;
        Ok(())
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<(), PcapError> {
        let mut file = self.writer.into_writer();
        file.flush()?;
        Ok(())
    }
}

/// The IP packet around `payload` (RFC 791, RFC 8200, RFC 768). If the addresses are of different families, both are
/// written as IPv6.
fn datagram(out: &mut Vec<u8>, from: SocketAddr, to: SocketAddr, payload: &[u8]) {
    let udp = 8 + payload.len() as u16;
    match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let start = out.len();
            out.extend_from_slice(&[0x45, 0]);
            out.extend_from_slice(&(20 + udp).to_be_bytes());
            // No identification, do not fragment, 64 hops, UDP, checksum below.
            out.extend_from_slice(&[0, 0, 0x40, 0, 64, 17, 0, 0]);
            out.extend_from_slice(&source.octets());
            out.extend_from_slice(&destination.octets());
            let checksum = checksum(&out[start..]);
            out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
        }
        (source, destination) => {
            let six = |ip: IpAddr| match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped(),
                IpAddr::V6(v6) => v6,
            };
            out.extend_from_slice(&[0x60, 0, 0, 0]);
            out.extend_from_slice(&udp.to_be_bytes());
            out.extend_from_slice(&[17, 64]);
            out.extend_from_slice(&six(source).octets());
            out.extend_from_slice(&six(destination).octets());
        }
    }
    out.extend_from_slice(&from.port().to_be_bytes());
    out.extend_from_slice(&to.port().to_be_bytes());
    out.extend_from_slice(&udp.to_be_bytes());
    // No checksum; readers of captures treat it as unchecked.
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(payload);
}

/// The ones' complement of the sum of 16-bit words (RFC 1071) of an even number of bytes.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks_exact(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !(((folded & 0xffff) + (folded >> 16)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcap::PcapReader;
    use std::sync::Arc;
    use thalweg_netsim::{Bottleneck, Link, QueueConfig, Schedule, Trace};
    use thalweg_traces::{ReadOptions, Reading, read};
    use thalweg_units::{Bytes, Seed, Span};

    #[test]
    fn a_capture_of_what_a_link_let_through_gives_the_link_back() {
        let link = Trace::named("lte-driving", Span::from_secs(20), Seed::new(3)).unwrap();
        let mut bottleneck =
            Bottleneck::new(Schedule::looped(Arc::new(link.clone())), &QueueConfig::Infinite, Seed::new(1)).unwrap();
        (0..link.millis().len() - 1).for_each(|number| bottleneck.offer(Time::ZERO, Bytes::new(1500), number));
        let path = std::env::temp_dir().join(format!("thalweg-fitted-{}.pcap", std::process::id()));
        let mut capture = Pcap::create(&path, Clock::new()).unwrap();
        let [from, to] = ["192.0.2.1:5000", "192.0.2.2:6000"].map(|address| address.parse().unwrap());
        while bottleneck.next_event() < Time::NEVER {
            while let Some(left) = bottleneck.poll(bottleneck.next_event()) {
                // A frame of RTP without end: what a sender that never waits sends.
                let payload = [&[0x80, 96, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7][..], &[0; 1460]].concat();
                capture.add(left.at, from, to, &payload).unwrap();
            }
        }
        capture.finish().unwrap();
        let file = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let Reading { trace, notes, .. } = read(&file, "fitted.pcap", &ReadOptions::default()).unwrap();
        let apart = trace.mean_rate().as_bps_f64() / link.mean_rate().as_bps_f64() - 1.0;
        assert!(apart.abs() < 0.02, "{apart}: {notes:?}");
        let first = link.millis()[0];
        for second in 0..trace.period().as_millis() as u64 / 1000 {
            let rate = |trace: &Trace, begin: u64| {
                let [from, to] = [begin + 1, begin + 1001].map(|at| Time::from_millis(at + second * 1000));
                trace.opportunities(from, to) as f64
            };
            let (wanted, got) = (rate(&link, first), rate(&trace, 0));
            assert!((got - wanted).abs() <= 0.03 * wanted + 2.0, "second {second}: {got} packets of {wanted}");
        }
    }

    #[test]
    fn a_capture_is_read_back_with_its_times_addresses_and_bytes() {
        let path = std::env::temp_dir().join(format!("thalweg-capture-{}.pcap", std::process::id()));
        let clock = Clock::new();
        let mut capture = Pcap::create(&path, clock).unwrap();
        let (here, there): (SocketAddr, SocketAddr) =
            ("192.0.2.1:5000".parse().unwrap(), "192.0.2.2:6000".parse().unwrap());
        let (six, other): (SocketAddr, SocketAddr) =
            ("[2001:db8::1]:5000".parse().unwrap(), "[2001:db8::2]:6000".parse().unwrap());
        capture.add(Time::from_millis(1), here, there, b"payload").unwrap();
        capture.add(Time::from_millis(3), six, other, b"six").unwrap();
        capture.finish().unwrap();
        let mut reader = PcapReader::new(File::open(&path).unwrap()).unwrap();
        let packets: Vec<(Duration, Vec<u8>)> = std::iter::from_fn(|| {
            let packet = reader.next_packet()?.unwrap();
            Some((packet.timestamp, packet.data.to_vec()))
        })
        .collect();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(packets.len(), 2);
        assert_eq!(packets[1].0 - packets[0].0, Duration::from_millis(2));
        let v4 = &packets[0].1;
        assert_eq!((v4.len(), v4[0], v4[9], checksum(&v4[..20])), (35, 0x45, 17, 0));
        assert_eq!((&v4[12..16], &v4[16..20], &v4[28..]), (&[192, 0, 2, 1][..], &[192, 0, 2, 2][..], &b"payload"[..]));
        assert_eq!((packets[1].1.len(), packets[1].1[0], &packets[1].1[48..]), (51, 0x60, &b"six"[..]));
    }
}
