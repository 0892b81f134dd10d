//! How strong the loop filter is.

use crate::syntax::header::FilterHeader;

/// The filter of a frame: its level follows the quantiser. Levels from a quarter to a half of its index were tried on
/// the clips of the bench; nature likes this one best, and noise more.
pub fn filter(quantizer: u8) -> FilterHeader {
    FilterHeader { level: (u16::from(quantizer) * 3 / 8) as u8, ..FilterHeader::default() }
}
