//! Header extensions and RTCP of functional video, and of a sender with a measuring receiver.

use thalweg_wire::ParseError;
use thalweg_wire::rtcp::{self, Packet};
use thalweg_wire::rtp::{BytesBefore, FragmentGrace, FrameStates};

use crate::rtcp::{feedback, survive};

/// Parses the bytes as each element, and as what follows the identifier of a decoder state. A few lengths and
/// comparisons decide whether they are valid, and the parsers must agree.
pub fn functional(data: &[u8]) {
    elements(data);
    decoder_state(data);
    path_report(data);
}

/// The data of the elements, which must be the same bytes when written again.
pub(crate) fn elements(data: &[u8]) {
    let is_grace = data.len() == 3 || data.len() == 11 && data[7..9] < data[9..];
    match FragmentGrace::parse(data) {
        Ok(grace) => assert_eq!(grace.to_bytes().as_ref().map(|bytes| &bytes[..grace.size()]), Ok(data)),
        Err(error) => assert!(!is_grace && is_true(error)),
    }
    match FrameStates::parse(data) {
        Ok(states) => assert_eq!(&states.to_bytes()[..], data),
        Err(error) => assert!(data.len() != 16 && is_true(error)),
    }
    match BytesBefore::parse(data) {
        Ok(before) => assert_eq!(&before.to_bytes()[..], data),
        Err(error) => assert!(data.len() != 4 && is_true(error)),
    }
}

fn path_report(data: &[u8]) {
    let body = [&[0, 0, 0, 1, 0, 0, 0, 2][..], b"PATH", data].concat();
    let whole = &data[..data.len() / 4 * 4];
    match rtcp::parse(&feedback(206, 15, &body)) {
        Ok(packets) => {
            let [Packet::PathReport(report)] = &packets[..] else { panic!("{packets:?}") };
            let capacity = report.capacity.map_or(0, |rate| rate.as_bps());
            let read = [capacity, report.received.get(), report.lost.get()].map(u64::to_be_bytes).concat();
            assert_eq!(read, whole[..24]);
            survive(&packets);
        }
        Err(error) => assert!(whole.len() < 24 && is_true(error)),
    }
}

fn decoder_state(data: &[u8]) {
    let body = [&[0, 0, 0, 1, 0, 0, 0, 2][..], b"SLFY", data].concat();
    let whole = &data[..data.len().min(4 * 65_532) / 4 * 4];
    let count = whole.get(7).map_or(0, |count| usize::from(*count));
    match rtcp::parse(&feedback(206, 15, &body)) {
        Ok(packets) => {
            let [Packet::DecoderState(state)] = &packets[..] else { panic!("{packets:?}") };
            assert_eq!(state.complete.len(), count);
            let read = [state.current].into_iter().chain(state.complete.iter().copied());
            assert!(
                read.eq(whole[12..]
                    .chunks(8)
                    .take(1 + count)
                    .map(|bytes| { u64::from_be_bytes(bytes.try_into().expect("a state is whole")) }))
            );
            survive(&packets);
        }
        Err(error) => assert!(whole.len() < 20 + 8 * count && is_true(error)),
    }
}

/// Returns true if the value in a range error is indeed outside of that range.
fn is_true(error: ParseError) -> bool {
    match error {
        ParseError::Short { needed, found, .. } => found < needed,
        ParseError::OutOfRange { found, min, max, .. } => !(min..=max).contains(&found),
    }
}
