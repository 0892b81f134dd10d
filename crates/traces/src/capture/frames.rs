//! The frames of a capture file: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).

use std::borrow::Cow;

use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{Endianness, PcapError, TsResolution};

use crate::error::ReadError;

/// A captured frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// When it was captured, in nanoseconds since 1970.
    pub(super) at: u64,
    /// The kind of its first header (LINKTYPE_).
    pub(super) link_type: u16,
    /// As many of its bytes as were kept.
    pub(super) data: Cow<'a, [u8]>,
    /// How many it had.
    pub(super) length: u32,
}

/// The frames of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Frames<'a> {
    pub(super) frames: Vec<Frame<'a>>,
    /// True if the file ends in the middle of a packet, as when the capture was stopped by force.
    pub(super) is_cut: bool,
    /// Frames without a time.
    pub(super) untimed: usize,
}

/// The first bytes of a section of pcapng, the same in both byte orders.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The first bytes of pcap with microseconds and with nanoseconds.
const MAGIC: [u32; 2] = [0xa1b2_c3d4, 0xa1b2_3c4d];

/// Returns true if a file begins as a capture.
pub(super) fn is_capture(file: &[u8]) -> bool {
    file.starts_with(&SECTION)
        || MAGIC.iter().any(|magic| file.starts_with(&magic.to_be_bytes()) || file.starts_with(&magic.to_le_bytes()))
}

/// Reads a file.
///
/// # Errors
/// When it is no capture.
pub(super) fn frames(file: &[u8]) -> Result<Frames<'_>, ReadError> {
    let mut found = Frames::default();
    let read = match () {
        () if file.starts_with(&SECTION) => blocks(file, &mut found),
        () if is_capture(file) => records(file, &mut found),
        () => {
            let start = file.get(..4).unwrap_or(file);
            return Err(ReadError::unclear(format!("it begins with {start:02x?}, not as a pcap or pcapng file")));
        }
    };
    match read {
        Ok(()) => (),
        Err((_, PcapError::IncompleteBuffer)) => found.is_cut = true,
        Err((at, error)) => return Err(ReadError::unclear(format!("its block at byte {at} is invalid: {error}"))),
    }
    Ok(found)
}

/// An error of the library, and the byte at which it stopped.
type Stopped = (usize, PcapError);

/// Reads the records of a pcap file.
fn records<'a>(file: &'a [u8], found: &mut Frames<'a>) -> Result<(), Stopped> {
    let stopped = |rest: &[u8]| {
        let at = file.len() - rest.len();
        move |error| (at, error)
    };
    let (mut rest, parser) = PcapParser::new(file).map_err(stopped(file))?;
    let header = parser.header();
    // The upper bits say how long the frame check sequence is.
    let link_type = u32::from(header.datalink) as u16;
    let unit = if header.ts_resolution == TsResolution::NanoSecond { 1 } else { 1000 };
    while !rest.is_empty() {
        // As it stands: `next_packet` refuses a packet that was longer than the limit of what is kept of it.
        let (next, record) = parser.next_raw_packet(rest).map_err(stopped(rest))?;
        let at = u64::from(record.ts_sec) * 1_000_000_000 + u64::from(record.ts_frac) * unit;
        found.frames.push(Frame { at, link_type, data: record.data, length: record.orig_len });
        rest = next;
    }
    Ok(())
}

/// Reads the blocks of a pcapng file. Those that have no packets are passed over.
fn blocks<'a>(file: &'a [u8], found: &mut Frames<'a>) -> Result<(), Stopped> {
    let stopped = |rest: &[u8]| {
        let at = file.len() - rest.len();
        move |error| (at, error)
    };
    let (mut rest, mut parser) = PcapNgParser::new(file).map_err(stopped(file))?;
    while !rest.is_empty() {
        let (next, block) = parser.next_block(rest).map_err(stopped(rest))?;
        let (interface, units, length, data) = match block {
            // The library gives units as nanoseconds, whatever they are.
            Block::EnhancedPacket(it) => (it.interface_id, it.timestamp.as_nanos() as u64, it.original_len, it.data),
            // The older block: its upper half of the time comes first in either byte order.
            Block::Packet(it) => {
                let swap = if parser.section().endianness == Endianness::Little { 32 } else { 0 };
                (u32::from(it.interface_id), it.timestamp.rotate_left(swap), it.original_len, it.data)
            }
            Block::SimplePacket(_) => {
                found.untimed += 1;
                (u32::MAX, 0, 0, Cow::default())
            }
            _ => (u32::MAX, 0, 0, Cow::default()),
        };
        let interface = parser.interfaces().get(interface as usize);
        if let Some((interface, at)) = interface.and_then(|interface| Some((interface, nanos(interface, units)?))) {
            let link_type = u32::from(interface.linktype) as u16;
            found.frames.push(Frame { at, link_type, data, length });
        }
        rest = next;
    }
    Ok(())
}

/// Nanoseconds since 1970 of a time in an interface's units; `None` outside 64 bits.
fn nanos(interface: &InterfaceDescriptionBlock<'_>, units: u64) -> Option<u64> {
    let (mut per_second, mut offset_s) = (1_000_000, 0);
    for option in &interface.options {
        match option {
            // Units of a negative power of two or of ten.
            InterfaceDescriptionOption::IfTsResol(power) if power & 0x80 != 0 => per_second = 1 << (power & 0x3f),
            InterfaceDescriptionOption::IfTsResol(power) => per_second = 10_i128.pow(u32::from(*power).min(30)),
            InterfaceDescriptionOption::IfTsOffset(seconds) => offset_s = seconds.cast_signed(),
            _ => (),
        }
    }
    let nanos = i128::from(units) * 1_000_000_000 / per_second + i128::from(offset_s) * 1_000_000_000;
    u64::try_from(nanos).ok()
}
