//! The frames of a capture file: pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).

use alloc::format;
use alloc::vec::Vec;

use crate::TraceError;

/// A captured frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// When it was captured, in nanoseconds since 1970.
    pub(super) at: u64,
    /// The kind of its first header (LINKTYPE_).
    pub(super) link_type: u16,
    /// As many of its bytes as were kept.
    pub(super) data: &'a [u8],
    /// How many it had.
    pub(super) length: u32,
}

/// The frames of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Frames<'a> {
    pub(super) frames: Vec<Frame<'a>>,
    /// Whether the file ends in the middle of one, as when the capture was stopped by force.
    pub(super) is_cut: bool,
    /// Frames without a time.
    pub(super) untimed: usize,
}

/// Section header block of pcapng, the same in both byte orders.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

/// Little or big endian.
#[derive(Debug, Clone, Copy)]
struct Order {
    is_little: bool,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.is_little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    }
}

/// Byte order and nanoseconds per unit of the fraction of a second, of a classic pcap file.
fn magic(file: &[u8]) -> Option<(Order, u64)> {
    let bytes: [u8; 4] = file.get(..4)?.try_into().ok()?;
    [true, false].into_iter().find_map(|is_little| {
        let number = if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) };
        match number {
            0xa1b2_c3d4 => Some((Order { is_little }, 1000)),
            0xa1b2_3c4d => Some((Order { is_little }, 1)),
            _ => None,
        }
    })
}

/// Whether a file begins as a capture.
pub(crate) fn is_capture(file: &[u8]) -> bool {
    file.starts_with(&SECTION) || magic(file).is_some()
}

/// Reads a file.
///
/// # Errors
/// When it is no capture.
pub(super) fn frames(file: &[u8]) -> Result<Frames<'_>, TraceError> {
    if file.starts_with(&SECTION) {
        return blocks(file);
    }
    let Some((order, unit)) = magic(file) else {
        let start = file.get(..4).unwrap_or(file);
        return Err(TraceError::Unclear(format!("it begins with {start:02x?}, not as a pcap or pcapng file")));
    };
    let mut found = Frames::default();
    // The upper bits say how long the frame check sequence is.
    let Some(link_type) = order.u32(file, 20).map(|word| word as u16) else {
        return Ok(Frames { is_cut: true, ..found });
    };
    let mut rest = &file[24..];
    while !rest.is_empty() {
        let Some((frame, next)) = record(rest, order, unit, link_type) else {
            found.is_cut = true;
            break;
        };
        found.frames.push(frame);
        rest = next;
    }
    Ok(found)
}

/// A record of a pcap file, and what follows it.
fn record(bytes: &[u8], order: Order, unit: u64, link_type: u16) -> Option<(Frame<'_>, &[u8])> {
    let [seconds, fraction, kept, length] = [0, 4, 8, 12].map(|at| order.u32(bytes, at));
    let at = u64::from(seconds?) * 1_000_000_000 + u64::from(fraction?) * unit;
    let end = 16_usize.checked_add(kept? as usize)?;
    let data = bytes.get(16..end)?;
    Some((Frame { at, link_type, data, length: length? }, &bytes[end..]))
}

/// An interface of a pcapng section: its link type, and its time as nanoseconds = units * numerator / denominator +
/// offset.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: u16,
    numerator: u128,
    denominator: u128,
    offset_s: i64,
}

/// Reads the blocks of a pcapng file. Those that have neither packets nor interfaces are passed over.
fn blocks(file: &[u8]) -> Result<Frames<'_>, TraceError> {
    let mut found = Frames::default();
    let mut order = Order { is_little: true };
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut rest = file;
    while !rest.is_empty() {
        let at = file.len() - rest.len();
        if rest.starts_with(&SECTION) {
            order = match rest.get(8..12) {
                Some([0x4d, 0x3c, 0x2b, 0x1a]) => Order { is_little: true },
                Some([0x1a, 0x2b, 0x3c, 0x4d]) => Order { is_little: false },
                _ => return Err(TraceError::Unclear(format!("the section of pcapng at byte {at} has no byte order"))),
            };
            interfaces.clear();
        }
        let (Some(kind), Some(length)) = (order.u32(rest, 0), order.u32(rest, 4)) else {
            found.is_cut = true;
            break;
        };
        let length = length as usize;
        if length < 12 || !length.is_multiple_of(4) {
            let problem =
                format!("the block of pcapng at byte {at} is {length} bytes long, must be 12 or more, in fours");
            return Err(TraceError::Unclear(problem));
        }
        let Some(body) = rest.get(8..length - 4) else {
            found.is_cut = true;
            break;
        };
        match kind {
            1 => interfaces.extend(interface(body, order)),
            3 => found.untimed += 1,
            2 | 6 => found.frames.extend(packet(body, order, kind, &interfaces)),
            _ => (),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(found)
}

/// An interface description block.
fn interface(body: &[u8], order: Order) -> Option<Interface> {
    let mut interface = Interface { link_type: order.u16(body, 0)?, numerator: 1000, denominator: 1, offset_s: 0 };
    let mut options = body.get(8..)?;
    while let (Some(code), Some(length)) = (order.u16(options, 0), order.u16(options, 2)) {
        let value = options.get(4..4 + usize::from(length)).unwrap_or_default();
        match (code, value) {
            (0, _) => break,
            // if_tsresol: units of a negative power of two or of ten.
            (9, [power]) if power & 0x80 != 0 => {
                (interface.numerator, interface.denominator) = (1_000_000_000, 1 << (power & 0x3f));
            }
            (9, [power]) => {
                let units = 10_u128.pow(u32::from(*power).min(30));
                (interface.numerator, interface.denominator) = (1_000_000_000, units);
            }
            // if_tsoffset.
            (14, value) => {
                if let Some((first, second)) = order.u32(value, 0).zip(order.u32(value, 4)) {
                    let (high, low) = if order.is_little { (second, first) } else { (first, second) };
                    interface.offset_s = (u64::from(high) << 32 | u64::from(low)).cast_signed();
                }
            }
            _ => (),
        }
        options = options.get(4 + usize::from(length).next_multiple_of(4)..).unwrap_or_default();
    }
    Some(interface)
}

/// An enhanced packet block, or the packet block it replaced.
fn packet<'a>(body: &'a [u8], order: Order, kind: u32, interfaces: &[Interface]) -> Option<Frame<'a>> {
    let number = if kind == 6 { order.u32(body, 0)? as usize } else { usize::from(order.u16(body, 0)?) };
    let interface = interfaces.get(number)?;
    let units = u128::from(order.u32(body, 4)?) << 32 | u128::from(order.u32(body, 8)?);
    let nanos = i128::try_from(units * interface.numerator / interface.denominator).ok()?;
    let at = u64::try_from(nanos + i128::from(interface.offset_s) * 1_000_000_000).ok()?;
    let data = body.get(20..20_usize.checked_add(order.u32(body, 12)? as usize)?)?;
    Some(Frame { at, link_type: interface.link_type, data, length: order.u32(body, 16)? })
}
