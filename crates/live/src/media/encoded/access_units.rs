//! Splits a byte stream of H.264 into access units (ITU-T H.264 section 7.4.1.2.3 and Annex B).

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read};

use thalweg_video::source::SourceError;
use thalweg_wire::h264::{Sequence, UnitKind, exponential_golomb, sequence, start_code};

/// Length of a start code in bytes.
const START_CODE: usize = 3;
/// The maximum number of bytes read at once.
const CHUNK: usize = 1 << 16;
/// Larger than any access unit: a longer stretch without a complete one is not H.264.
const LARGEST_UNIT: usize = 1 << 26;

/// Cuts a byte stream into access units.
pub struct AccessUnits<R> {
    what: String,
    input: BufReader<R>,
    /// Bytes read that belong to no complete unit: once a start code was found, everything from the last start code on.
    bytes: Vec<u8>,
    /// True once a start code was found.
    has_begun: bool,
    /// There is no start code before this offset.
    searched: usize,
    /// The access unit under construction.
    pending: Vec<u8>,
    /// True once it has a slice.
    has_slice: bool,
    is_over: bool,
    /// Units that were read ahead.
    ahead: VecDeque<Vec<u8>>,
}

impl<R: Read> AccessUnits<R> {
    /// A reader of `input`, which errors call `what`.
    pub fn new(what: &str, input: R) -> AccessUnits<R> {
        let (bytes, pending) = (Vec::new(), Vec::new());
        AccessUnits {
            what: what.into(),
            input: BufReader::with_capacity(CHUNK, input),
            bytes,
            has_begun: false,
            searched: 0,
            pending,
            has_slice: false,
            is_over: false,
            ahead: VecDeque::new(),
        }
    }

    /// The first sequence parameter set, if it precedes the first picture. Waits only for the end of the first picture.
    pub fn sequence(&mut self) -> Result<Option<Sequence>, SourceError> {
        while let Some(unit) = self.read_unit()? {
            let found = sequence(&[&[0, 0, 1], &unit[..]].concat());
            let is_enough = found.is_some() || is_slice(&unit);
            self.ahead.push_back(unit);
            if is_enough {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The next access unit (Annex B); `None` at the end.
    ///
    /// In a pipe, the end of a unit is known only when the next one begins: a picture's last unit is returned when the
    /// next picture begins.
    pub fn next_unit(&mut self) -> Result<Option<Vec<u8>>, SourceError> {
        while let Some(unit) = self.unit()? {
            let complete = self.has_slice && begins_access_unit(&unit);
            let finished = complete.then(|| std::mem::take(&mut self.pending));
            self.has_slice = is_slice(&unit) || self.has_slice && !complete;
            self.pending.extend_from_slice(&[0, 0, 0, 1]);
            self.pending.extend_from_slice(&unit);
            if finished.is_some() {
                return Ok(finished);
            }
        }
        let last = std::mem::take(&mut self.pending);
        let has_slice = std::mem::take(&mut self.has_slice);
        Ok((has_slice && !last.is_empty()).then_some(last))
    }

    /// The next NAL unit, without its start code.
    fn unit(&mut self) -> Result<Option<Vec<u8>>, SourceError> {
        match self.ahead.pop_front() {
            Some(unit) => Ok(Some(unit)),
            None => self.read_unit(),
        }
    }

    fn read_unit(&mut self) -> Result<Option<Vec<u8>>, SourceError> {
        loop {
            match start_code(&self.bytes[self.searched..]) {
                Some(at) => {
                    let before: Vec<u8> = self.bytes.drain(..self.searched + at).collect();
                    // The start code found is now at the beginning.
                    self.searched = START_CODE;
                    let had_begun = std::mem::replace(&mut self.has_begun, true);
                    if let Some(unit) = before.get(START_CODE..).filter(|_| had_begun).and_then(trimmed) {
                        return Ok(Some(unit));
                    }
                }
                None if self.is_over => {
                    let rest = std::mem::take(&mut self.bytes);
                    self.searched = 0;
                    return Ok(if std::mem::take(&mut self.has_begun) { trimmed(&rest[START_CODE..]) } else { None });
                }
                None => self.read()?,
            }
        }
    }

    fn read(&mut self) -> Result<(), SourceError> {
        // The last bytes may be part of a start code.
        self.searched = self.searched.max(self.bytes.len().saturating_sub(START_CODE - 1));
        let before = self.bytes.len();
        if before > LARGEST_UNIT {
            let problem =
                format!("{before} bytes without a start code (00 00 01): not a byte stream of H.264 (Annex B)");
            return Err(SourceError::format(&self.what, problem));
        }
        // Reads what is available instead of a whole chunk: a pipe would block.
        let available = loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                other => break other.map_err(|error| SourceError::io(&self.what, error))?,
            }
        };
        let count = available.len();
        self.bytes.extend_from_slice(available);
        self.input.consume(count);
        self.is_over = count == 0;
        Ok(())
    }
}

/// A unit without trailing zeros; `None` if it has only zeros.
fn trimmed(unit: &[u8]) -> Option<Vec<u8>> {
    let last = unit.iter().rposition(|byte| *byte != 0)?;
    Some(unit[..=last].to_vec())
}

/// Returns true if the unit is a slice, or the first partition of one (2).
fn is_slice(unit: &[u8]) -> bool {
    matches!(UnitKind::of(unit[0]), UnitKind::Slice | UnitKind::IdrSlice | UnitKind::Other(2))
}

/// Returns true if a unit that follows a picture's slices begins another access unit: a unit that may only precede a
/// picture's slices, or a slice that begins with the first macroblock. The latter is not sufficient where slices may
/// come in any order (which the Main and High profiles do not allow).
fn begins_access_unit(unit: &[u8]) -> bool {
    match UnitKind::of(unit[0]) {
        UnitKind::Delimiter
        | UnitKind::SequenceParameters
        | UnitKind::PictureParameters
        | UnitKind::Supplement
        | UnitKind::Other(14..=18) => true,
        _ => is_slice(unit) && exponential_golomb(&unit[1..]) == Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    /// Returns a few bytes at a time, as a pipe may.
    struct Trickle<'a>(&'a [u8], usize);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn units(stream: &[u8], at_once: usize) -> Vec<Vec<u8>> {
        let mut units = AccessUnits::new("a stream", Trickle(stream, at_once));
        let found = std::iter::from_fn(|| units.next_unit().unwrap()).collect();
        assert_eq!(units.next_unit().unwrap(), None, "an end stays one");
        found
    }

    fn stream(units: &[&[u8]]) -> Vec<u8> {
        units.iter().flat_map(|unit| [&[0, 0, 0, 1], *unit].concat()).collect()
    }

    // Delimiter, parameter sets, SEI; slices that begin with macroblock 0 (a one bit) and with 1 (010).
    const DELIMITER: &[u8] = &[0x09, 0xf0];
    const SEQUENCE: &[u8] = &[0x67, 1, 2];
    const PICTURE: &[u8] = &[0x68, 3];
    const SUPPLEMENT: &[u8] = &[0x06, 5];
    const KEY: &[u8] = &[0x65, 0x88, 0x80];
    const KEY_SECOND: &[u8] = &[0x65, 0x48, 0x80];
    const DELTA: &[u8] = &[0x41, 0x9a, 7];
    const DELTA_SECOND: &[u8] = &[0x41, 0x5a, 7];

    #[test]
    fn a_picture_ends_where_anything_of_the_next_begins() {
        let expected = [
            stream(&[DELIMITER, SEQUENCE, PICTURE, SUPPLEMENT, KEY, KEY_SECOND]),
            stream(&[DELTA, DELTA_SECOND]),
            stream(&[DELTA]),
            stream(&[SUPPLEMENT, DELTA]),
            stream(&[PICTURE, DELTA]),
            stream(&[SEQUENCE, PICTURE, KEY]),
            stream(&[DELIMITER, DELTA]),
        ];
        let whole = expected.concat();
        for at_once in [1, 2, 3, 5, 64, 100_000] {
            assert_eq!(units(&whole, at_once), expected, "{at_once} bytes at once");
        }
    }

    #[test]
    fn short_start_codes_zeros_and_what_comes_before_the_first_are_understood() {
        let messy =
            [&[9, 9, 9, 9, 9, 0, 0, 1][..], KEY, &[0, 0, 0, 0, 1], DELTA, &[0, 0, 1, 0, 0, 1], DELTA, &[0, 0]].concat();
        for at_once in [1, 3, 100] {
            assert_eq!(units(&messy, at_once), [stream(&[KEY]), stream(&[DELTA]), stream(&[DELTA])]);
        }
    }

    #[test]
    fn the_size_is_known_before_the_first_picture_and_costs_no_unit() {
        // x264's parameter set for 160 by 120.
        let set: &[u8] = &[0x67, 0x42, 0xc0, 0x0b, 0xd9, 0x02, 0x84, 0x7e, 0x5c];
        let expected = [stream(&[DELIMITER, set, PICTURE, KEY]), stream(&[DELTA])];
        let whole = expected.concat();
        for at_once in [1, 7, 100_000] {
            let mut units = AccessUnits::new("a stream", Trickle(&whole, at_once));
            assert_eq!(units.sequence().unwrap().map(|found| found.size), Some(Size::new(160, 120)));
            let found: Vec<_> = std::iter::from_fn(|| units.next_unit().unwrap()).collect();
            assert_eq!(found, expected);
        }
        let late = stream(&[KEY, set, PICTURE, KEY]);
        let mut units = AccessUnits::new("a stream", Trickle(&late, 5));
        assert_eq!(units.sequence().unwrap(), None);
        assert_eq!(units.next_unit().unwrap(), Some(stream(&[KEY])));
        assert_eq!(AccessUnits::new("nothing", Trickle(&[], 5)).sequence().unwrap(), None);
    }

    #[test]
    fn streams_without_a_picture_have_no_access_unit() {
        for nothing in [&[][..], &[1, 2, 3], &[0, 0, 1], &stream(&[SEQUENCE, PICTURE])] {
            assert_eq!(units(nothing, 2), [[0u8; 0]; 0]);
        }
    }
}
