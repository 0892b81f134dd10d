//! Reads what ffmpeg writes as an MPEG transport stream of H.264: access units with their times (ISO/IEC 13818-1).

use std::io::{BufReader, Read};

use thalweg_units::Span;
use thalweg_video::source::SourceError;

/// Length of a packet in bytes (section 2.4.3.2), and its first byte.
const PACKET: usize = 188;
const SYNC: u8 = 0x47;
/// The packets of the first stream that ffmpeg writes (its option `mpegts_start_pid`).
const FIRST_STREAM: u16 = 0x100;
/// Bits of a time in units of 90 kHz (section 2.4.3.7); times begin again after 26 hours.
const TIME_BITS: u32 = 33;
/// Length of the fixed part of the header of a PES packet, and that of its time.
const HEADER: usize = 9;
const TIME: usize = 5;

/// ffmpeg's arguments after the input: its video as it is, each frame written at once.
pub(super) const ARGUMENTS: &[&str] = &[
    "-map",
    "0:V:0",
    "-c:v",
    "copy",
    "-flush_packets",
    "1",
    "-muxdelay",
    "0",
    "-muxpreload",
    "0",
    "-f",
    "mpegts",
    "-",
];

/// The access units (Annex B) of a transport stream, each with its presentation time.
pub struct MpegTs<R> {
    what: String,
    input: BufReader<R>,
    /// The unit under construction, with its time.
    pending: Option<(Vec<u8>, Span)>,
    /// The last time in units of 90 kHz, and the same since the first one.
    last: Option<(u64, i64)>,
}

impl<R: Read> MpegTs<R> {
    /// A reader of `input`, which errors call `what`.
    pub fn new(what: &str, input: R) -> MpegTs<R> {
        MpegTs { what: what.into(), input: BufReader::new(input), pending: None, last: None }
    }

    /// The next access unit and its time since the first one; `None` at the end. The end of a unit is known only when the
    /// next one begins.
    pub fn next_unit(&mut self) -> Result<Option<(Vec<u8>, Span)>, SourceError> {
        let mut packet = Vec::with_capacity(PACKET);
        loop {
            packet.clear();
            let read = (&mut self.input).take(PACKET as u64).read_to_end(&mut packet);
            if read.map_err(|error| SourceError::io(&self.what, error))? < PACKET {
                return Ok(self.pending.take());
            }
            let problem = |problem: &str| SourceError::format(&self.what, format!("ffmpeg's output {problem}"));
            if packet[0] != SYNC {
                return Err(problem("is not a transport stream"));
            }
            let stream = u16::from(packet[1] & 0x1f) << 8 | u16::from(packet[2]);
            let (is_start, has_field, has_payload) = (packet[1] & 0x40 > 0, packet[3] & 0x20 > 0, packet[3] & 0x10 > 0);
            if stream != FIRST_STREAM || !has_payload {
                continue;
            }
            let begin = if has_field { 5 + usize::from(packet[4]) } else { 4 };
            let payload = packet.get(begin..).ok_or_else(|| problem("has a packet without its payload"))?;
            if !is_start {
                self.pending.iter_mut().for_each(|(unit, _)| unit.extend_from_slice(payload));
                continue;
            }
            let (ticks, unit) = unit_of(payload).ok_or_else(|| problem("has a frame without a time"))?;
            let unit = unit.to_vec();
            let time = self.time(ticks);
            if let Some(finished) = self.pending.replace((unit, time)) {
                return Ok(Some(finished));
            }
        }
    }

    /// The time since the first one, of a time of which only the lower bits are known.
    fn time(&mut self, ticks: u64) -> Span {
        let since = self.last.map_or(0, |(last, since)| {
            let ahead = ticks.wrapping_sub(last) & ((1 << TIME_BITS) - 1);
            // Half of all times lie before the last one.
            since + if ahead < 1 << (TIME_BITS - 1) { ahead as i64 } else { ahead as i64 - (1 << TIME_BITS) }
        });
        self.last = Some((ticks, since));
        Span::from_nanos(since.saturating_mul(100_000) / 9)
    }
}

/// The presentation time and the beginning of the unit of a PES packet (section 2.4.3.6).
fn unit_of(payload: &[u8]) -> Option<(u64, &[u8])> {
    let (header, rest) = payload.split_at_checked(HEADER).filter(|(header, _)| header.starts_with(&[0, 0, 1]))?;
    let time = rest.get(..TIME).filter(|_| header[7] & 0x80 > 0)?;
    let bits = |byte: u8, shift: u32| u64::from(byte >> 1) << shift;
    let ticks = u64::from(time[0] >> 1 & 7) << 30
        | u64::from(time[1]) << 22
        | bits(time[2], 15)
        | u64::from(time[3]) << 7
        | bits(time[4], 0);
    let unit = rest.get(usize::from(header[8])..)?;
    // The delimiter that ffmpeg puts before each unit is of no use in RTP.
    Some((ticks, unit.strip_prefix(&[0, 0, 0, 1, 9, 0xf0]).unwrap_or(unit)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Packets of a frame of these bytes at this time.
    fn frame(ticks: u64, bytes: &[u8]) -> Vec<u8> {
        let time = [
            0x21 | (ticks >> 29) as u8 & 0xe,
            (ticks >> 22) as u8,
            (ticks >> 14) as u8 | 1,
            (ticks >> 7) as u8,
            (ticks << 1) as u8 | 1,
        ];
        let pes = [&[0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5][..], &time, bytes].concat();
        let mut packets = Vec::new();
        for (number, part) in pes.chunks(100).enumerate() {
            let filling = PACKET - 5 - part.len();
            packets.extend([SYNC, if number == 0 { 0x41 } else { 1 }, 0, 0x30, filling as u8]);
            packets.extend(std::iter::repeat_n(0xff, filling).chain(part.iter().copied()));
        }
        packets
    }

    #[test]
    fn units_have_their_times_past_the_largest_one_and_backwards() {
        let largest = (1 << TIME_BITS) - 1;
        let unit = |byte| vec![byte; 250];
        let mut stream = vec![SYNC; PACKET];
        for (ticks, byte) in [(largest - 8999, 1), (0, 2), (36_000, 3), (18_000, 4)] {
            stream.extend(frame(ticks, &unit(byte)));
        }
        let mut units = MpegTs::new("a stream", &stream[..]);
        let found: Vec<_> = std::iter::from_fn(|| units.next_unit().unwrap()).collect();
        let expected = [(1, 0), (2, 100), (3, 500), (4, 300)];
        assert_eq!(found, expected.map(|(byte, millis)| (unit(byte), Span::from_millis(millis))));
        let delimited = frame(0, &[0, 0, 0, 1, 9, 0xf0, 0, 0, 0, 1, 0x65, 7]);
        let found = MpegTs::new("a stream", &delimited[..]).next_unit().unwrap();
        assert_eq!(found, Some((vec![0, 0, 0, 1, 0x65, 7], Span::ZERO)));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..800), whole: bool) {
            if whole {
                bytes.chunks_mut(PACKET).for_each(|packet| packet[0] = SYNC);
            }
            let mut units = MpegTs::new("a stream", &bytes[..]);
            while let Ok(Some(_)) = units.next_unit() {}
        }
    }
}
