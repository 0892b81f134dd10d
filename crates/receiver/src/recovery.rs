//! Which media packets FEC packets recover (RFC 8627 section 6.3; specs/fec.md 3), by counting.
//!
//! The XOR of packets of which all but one are here is that one. So an FEC packet waits until one of the packets it protects is missing; each
//! packet recovered may complete another. What a media packet and an FEC packet hold is the caller's: bytes of a real stream, nothing in the
//! simulator, which knows its packets by number.

use std::collections::VecDeque;

use thalweg_media::Protected;

/// Media packets remembered behind the newest: four times what an FEC packet can protect (specs/fec.md 3; libwebrtc keeps four times its 48).
pub(crate) const MEDIA: u64 = 4 * Protected::LONGEST;
/// FEC packets that wait for more, the newest (libwebrtc `kMaxFecPackets`).
pub(crate) const FEC_PACKETS: usize = 48;

/// An FEC packet of which more than one packet is missing.
#[derive(Debug)]
struct Waiting<P> {
    missing: Protected,
    fec: P,
}

/// The media packets `M` that came, and the FEC packets `P` that wait for more of them.
#[derive(Debug)]
pub(crate) struct Recovery<M, P> {
    /// Number n is in place n modulo its length, unless a newer one is.
    media: Vec<Option<(u64, M)>>,
    newest: Option<u64>,
    waiting: VecDeque<Waiting<P>>,
}

impl<M, P> Default for Recovery<M, P> {
    fn default() -> Recovery<M, P> {
        Recovery { media: (0..MEDIA).map(|_| None).collect(), newest: None, waiting: VecDeque::new() }
    }
}

impl<M, P> Recovery<M, P> {
    /// The newest media packet that came or was recovered.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Media packet `sequence`, if it is remembered.
    pub(crate) fn media(&self, sequence: u64) -> Option<&M> {
        let (number, media) = self.media[(sequence % MEDIA) as usize].as_ref()?;
        (*number == sequence).then_some(media)
    }

    /// Media packet `sequence` came or was recovered. Copies and packets that are too old change nothing.
    pub(crate) fn on_media(&mut self, sequence: u64, media: M) {
        let place = &mut self.media[(sequence % MEDIA) as usize];
        if place.as_ref().is_some_and(|(number, _)| *number >= sequence) {
            return;
        }
        *place = Some((sequence, media));
        self.newest = self.newest.max(Some(sequence));
        self.waiting.retain_mut(|waiting| match waiting.missing.without(sequence) {
            Some(missing) => {
                waiting.missing = missing;
                true
            }
            None => false,
        });
    }

    /// An FEC packet came: it waits, unless all that it protects are here.
    pub(crate) fn on_fec(&mut self, protects: Protected, fec: P) {
        let mut here = protects.iter().filter(|sequence| self.media(*sequence).is_some());
        let Some(missing) = here.try_fold(protects, |left, sequence| left.without(sequence)) else { return };
        if self.waiting.len() >= FEC_PACKETS {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting { missing, fec });
    }

    /// The next media packet that can be recovered, and the FEC packet that all others of are here; say so with [`Recovery::on_media`]. FEC
    /// packets whose packets are too old are forgotten.
    pub(crate) fn next(&mut self) -> Option<(u64, P)> {
        let newest = self.newest?;
        self.waiting.retain(|waiting| newest.saturating_sub(waiting.missing.first()) < MEDIA);
        let place = self.waiting.iter().position(|waiting| waiting.missing.count() == 1)?;
        let Waiting { missing, fec } = self.waiting.remove(place)?;
        Some((missing.first(), fec))
    }

    /// How many FEC packets wait.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests;
