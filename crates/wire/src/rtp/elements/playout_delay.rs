//! Playout delay: how long a receiver may hold a frame.

use thalweg_units::Span;

use super::wrong_length;
use crate::{ParseError, WriteError};

/// Min and max time a receiver may hold a frame before showing it; both zero means show at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlayoutDelay {
    /// Min delay, 0 to 40.95 s in steps of 10 ms.
    pub min: Span,
    /// Max delay, 0 to 40.95 s in steps of 10 ms.
    pub max: Span,
}

impl PlayoutDelay {
    /// Parses the 3 bytes: 12 bits each, in units of 10 ms.
    ///
    /// # Errors
    /// Any other length.
    pub fn parse(data: &[u8]) -> Result<PlayoutDelay, ParseError> {
        let [a, b, c] = *data else { return Err(wrong_length("playout delay", data, 3, 3)) };
        let word = u32::from_be_bytes([0, a, b, c]);
        let span = |units: u32| Span::from_millis(10 * i64::from(units));
        Ok(PlayoutDelay { min: span(word >> 12), max: span(word & 0xfff) })
    }

    /// Serialises the extension; delays are rounded down to 10 ms.
    ///
    /// # Errors
    /// A negative delay, or one above 40.95 s (shown in units of 10 ms).
    pub fn to_bytes(self) -> Result<[u8; 3], WriteError> {
        let units = |what, span: Span| {
            let units = u64::try_from(span.as_nanos()).map_or(u64::MAX, |nanos| nanos / 10_000_000);
            WriteError::check(what, units, 0, 0xfff).map(|()| units as u32)
        };
        let word =
            units("least playout delay in 10 ms", self.min)? << 12 | units("most playout delay in 10 ms", self.max)?;
        let [_, a, b, c] = word.to_be_bytes();
        Ok([a, b, c])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn playout_delays_are_two_times_12_bits_of_10_ms() {
        let delay = PlayoutDelay { min: Span::from_millis(100), max: Span::from_millis(40_950) };
        assert_eq!(delay.to_bytes(), Ok([0x00, 0xaf, 0xff]));
        assert_eq!(PlayoutDelay::parse(&[0x00, 0xaf, 0xff]), Ok(delay));
        assert!(PlayoutDelay { min: Span::from_millis(-10), ..delay }.to_bytes().is_err());
        assert!(PlayoutDelay { max: Span::from_millis(40_960), ..delay }.to_bytes().is_err());
        assert!(PlayoutDelay::parse(&[0; 2]).is_err());
    }

    proptest! {
        #[test]
        fn every_24_bits_are_a_playout_delay(bytes: [u8; 3]) {
            prop_assert_eq!(PlayoutDelay::parse(&bytes).unwrap().to_bytes(), Ok(bytes));
        }
    }
}
