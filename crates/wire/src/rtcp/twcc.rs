//! Transport-wide feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01, RTPFB format 15).
//!
//! One message covers consecutive transport-wide sequence numbers. A list of chunks says of each packet whether it came and in
//! how many bytes its arrival follows: 0, 1 (0 to 63.75 ms after the one before) or 2 (-8192 to 8191.75 ms). Arrivals count
//! from a reference time in 64 ms. A receiver asked without timestamps (-02) sends the same without the arrivals.

use alloc::vec::Vec;

use thalweg_units::{Span, Time};

use crate::reader::Reader;
use crate::{ParseError, WriteError};

/// The unit of arrival differences.
pub const TICK: Span = Span::from_micros(250);
/// The unit of the reference time.
pub const REFERENCE_UNIT: Span = Span::from_millis(64);
/// Ticks in a unit of the reference time.
const TICKS_PER_REFERENCE: i64 = 256;

/// What became of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It had not arrived when the feedback left.
    Missing,
    /// It arrived this many [`TICK`]s after the arrival reported before it, or after the reference time for the first.
    Arrived(i16),
    /// It arrived; when is not said.
    Untimed,
}

/// A feedback message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    /// Who reports.
    pub sender_ssrc: u32,
    /// A stream of the packets reported on; any of them.
    pub media_ssrc: u32,
    /// The transport-wide sequence number of the first status.
    pub base_sequence: u16,
    /// The receiver's clock in [`REFERENCE_UNIT`]s, 24 bits.
    pub reference_time: u32,
    /// Counts the messages, to notice lost ones.
    pub feedback_count: u8,
    /// The fate of the packets from `base_sequence` on.
    pub statuses: Vec<Status>,
}

impl Feedback {
    /// The arrivals: how far from the base each packet is, and when it came on the receiver's clock, with `reference` for the
    /// unwrapped reference time. Times before the start of that clock become its start.
    pub fn arrivals(&self, reference: u64) -> impl Iterator<Item = (u16, Option<Time>)> + '_ {
        let mut ticks = (reference as i64).saturating_mul(TICKS_PER_REFERENCE);
        self.statuses.iter().enumerate().filter_map(move |(index, status)| match status {
            Status::Missing => None,
            Status::Untimed => Some((index as u16, None)),
            Status::Arrived(delta) => {
                ticks = ticks.saturating_add(i64::from(*delta));
                let nanos = (ticks.max(0) as u64).saturating_mul(TICK.as_nanos() as u64);
                Some((index as u16, Some(Time::from_nanos(nanos))))
            }
        })
    }

    /// Reads the body of the message: what follows the 4-byte RTCP header, without padding.
    pub(crate) fn parse_body(reader: &mut Reader<'_>) -> Result<Feedback, ParseError> {
        let sender_ssrc = reader.u32("transport feedback sender SSRC")?;
        let media_ssrc = reader.u32("transport feedback media SSRC")?;
        let base_sequence = reader.u16("transport feedback base sequence")?;
        let count_at = reader.at();
        let count = usize::from(reader.u16("transport feedback status count")?);
        if count == 0 {
            return Err(ParseError::OutOfRange {
                what: "transport feedback status count",
                at: count_at,
                found: 0,
                least: 1,
                most: 65_535,
            });
        }
        let reference_time = reader.u24("transport feedback reference time")?;
        let feedback_count = reader.u8("transport feedback count")?;
        let symbols = read_symbols(reader, count)?;
        let statuses = read_deltas(reader, &symbols)?;
        Ok(Feedback { sender_ssrc, media_ssrc, base_sequence, reference_time, feedback_count, statuses })
    }

    /// Appends what follows the RTCP header, without padding to whole words.
    pub(crate) fn write_body(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        WriteError::check("transport feedback status count", self.statuses.len() as u64, 1, 65_535)?;
        WriteError::check("transport feedback reference time", u64::from(self.reference_time), 0, 0xff_ffff)?;
        let timed = self.statuses.iter().any(|status| matches!(status, Status::Arrived(_)));
        let untimed = self.statuses.contains(&Status::Untimed);
        // Times are there for all packets or for none: the wire has no mark for one packet without.
        WriteError::check(
            "transport feedback with both timed and untimed arrivals",
            u64::from(timed && untimed),
            0,
            0,
        )?;
        out.extend_from_slice(&self.sender_ssrc.to_be_bytes());
        out.extend_from_slice(&self.media_ssrc.to_be_bytes());
        out.extend_from_slice(&self.base_sequence.to_be_bytes());
        out.extend_from_slice(&(self.statuses.len() as u16).to_be_bytes());
        out.extend_from_slice(&(self.reference_time << 8 | u32::from(self.feedback_count)).to_be_bytes());
        write_chunks(&self.statuses, out);
        for status in &self.statuses {
            match *status {
                Status::Arrived(delta @ 0..=255) => out.push(delta as u8),
                Status::Arrived(delta) => out.extend_from_slice(&delta.to_be_bytes()),
                Status::Missing | Status::Untimed => {}
            }
        }
        Ok(())
    }
}

/// The two bits that stand for a status: the bytes its arrival takes.
fn symbol(status: Status) -> u8 {
    match status {
        Status::Missing => 0,
        Status::Arrived(0..=255) | Status::Untimed => 1,
        Status::Arrived(_) => 2,
    }
}

fn read_symbols(reader: &mut Reader<'_>, count: usize) -> Result<Vec<u8>, ParseError> {
    let mut symbols = Vec::new();
    while symbols.len() < count {
        let left = count - symbols.len();
        let at = reader.at();
        let chunk = reader.u16("transport feedback chunk")?;
        if chunk & 0x8000 == 0 {
            let run = usize::from(chunk & 0x1fff).min(left);
            if run == 0 {
                return Err(ParseError::OutOfRange { what: "run length", at, found: 0, least: 1, most: 0x1fff });
            }
            symbols.resize(symbols.len() + run, (chunk >> 13 & 3) as u8);
        } else if chunk & 0x4000 == 0 {
            symbols.extend((0..14).rev().take(left).map(|bit| (chunk >> bit & 1) as u8));
        } else {
            symbols.extend((0..7).rev().take(left).map(|place| (chunk >> (2 * place) & 3) as u8));
        }
    }
    if symbols.contains(&3) {
        let what = "transport feedback symbol";
        return Err(ParseError::OutOfRange { what, at: reader.at(), found: 3, least: 0, most: 2 });
    }
    Ok(symbols)
}

fn read_deltas(reader: &mut Reader<'_>, symbols: &[u8]) -> Result<Vec<Status>, ParseError> {
    let needed: usize = symbols.iter().map(|symbol| usize::from(*symbol)).sum();
    // No arrivals at all, but perhaps zeros up to a whole word: a message without timestamps.
    let untimed = reader.left() < needed && reader.left() < 4 && reader.rest().iter().all(|byte| *byte == 0);
    let mut statuses = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        statuses.push(match symbol {
            0 => Status::Missing,
            _ if untimed => Status::Untimed,
            1 => Status::Arrived(i16::from(reader.u8("small arrival difference")?)),
            _ => Status::Arrived(reader.u16("large arrival difference")? as i16),
        });
    }
    Ok(statuses)
}

/// Greedy: of the three chunk forms, the one that covers most packets from here; a run where it covers as many as a vector.
fn write_chunks(statuses: &[Status], out: &mut Vec<u8>) {
    let mut rest = statuses;
    while let Some(&first) = rest.first() {
        let head = symbol(first);
        let run = rest.iter().take(0x1fff).take_while(|status| symbol(**status) == head).count();
        let near = &rest[..rest.len().min(14)];
        let vector = if near.iter().all(|status| symbol(*status) < 2) { near } else { &near[..near.len().min(7)] };
        let (chunk, covered) = if run >= vector.len() {
            (u16::from(head) << 13 | run as u16, run)
        } else if vector.len() == near.len() && near.iter().all(|status| symbol(*status) < 2) {
            (0x8000 | pack(vector, 1, 13), vector.len())
        } else {
            (0xc000 | pack(vector, 2, 12), vector.len())
        };
        out.extend_from_slice(&chunk.to_be_bytes());
        rest = &rest[covered..];
    }
}

/// The symbols side by side, `bits` each, the first one shifted by `top`.
fn pack(statuses: &[Status], bits: usize, top: usize) -> u16 {
    let shifted = |(place, status): (usize, &Status)| u16::from(symbol(*status)) << (top - bits * place);
    statuses.iter().enumerate().map(shifted).fold(0, |word, symbol| word | symbol)
}
