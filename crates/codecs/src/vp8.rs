//! The long-term buffers of VP8 (RFC 6386 section 9.7), and of VP9 as libvpx encodes it for calls.

use thalweg_types::{Basis, Buffers, LongTerm};

/// The golden frame.
pub const GOLDEN: LongTerm = LongTerm(0);
/// The alternative reference.
pub const ALTREF: LongTerm = LongTerm(1);

/// True if a frame on this basis needs no more buffers than VP8 has.
pub(crate) fn suffices(basis: Basis) -> bool {
    let Basis::Buffers(Buffers { long_term, kept_in, .. }) = basis else { return true };
    long_term.map(|(buffer, _)| buffer).into_iter().chain(kept_in).all(|buffer| buffer <= ALTREF)
}
