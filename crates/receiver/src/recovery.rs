//! Decides which media packets FEC packets can recover (RFC 8627 section 6.3; specs/fec.md 3), by counting.
//!
//! The XOR of an FEC packet and all but one of its protected packets is the missing one. So an FEC packet waits until
//! exactly one of the packets it protects is missing; each recovered packet may complete another. The caller decides
//! what a media packet and an FEC packet hold: bytes for a real stream, nothing in the simulator, which knows its
//! packets by number.

use std::collections::VecDeque;

use thalweg_types::Protected;

/// How far behind the newest media packets are remembered: four times the span an FEC packet can protect (specs/fec.md
/// 3; libwebrtc keeps four times its 48).
pub(crate) const MEDIA: u64 = 4 * Protected::LONGEST;
/// Max number of waiting FEC packets; the newest are kept (libwebrtc `kMaxFecPackets`).
pub(crate) const FEC_PACKETS: usize = 48;

/// An FEC packet with more than one of its packets missing.
#[derive(Debug)]
struct Waiting<P> {
    missing: Protected,
    fec: P,
}

/// Received media packets `M`, and waiting FEC packets `P`.
#[derive(Debug)]
pub(crate) struct Recovery<M, P> {
    /// Ring buffer: number n is at index n modulo its length, unless overwritten by a newer one.
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
    /// The newest media packet, received or recovered.
    pub(crate) fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// Media packet `sequence`, if it is remembered.
    pub(crate) fn media(&self, sequence: u64) -> Option<&M> {
        let (number, media) = self.media[(sequence % MEDIA) as usize].as_ref()?;
        (*number == sequence).then_some(media)
    }

    /// Media packet `sequence` was received or recovered. Duplicates and packets that are too old change nothing.
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

    /// An FEC packet was received: it waits, unless all packets it protects are here.
    pub(crate) fn on_fec(&mut self, protects: Protected, fec: P) {
        let mut here = protects.iter().filter(|sequence| self.media(*sequence).is_some());
        let Some(missing) = here.try_fold(protects, |left, sequence| left.without(sequence)) else { return };
        if self.waiting.len() >= FEC_PACKETS {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Waiting { missing, fec });
    }

    /// The next media packet that can be recovered, with the FEC packet to recover it from; confirm the recovery with
    /// [`Recovery::on_media`]. FEC packets whose media packets are too old are dropped.
    pub(crate) fn next(&mut self) -> Option<(u64, P)> {
        let newest = self.newest?;
        self.waiting.retain(|waiting| newest.saturating_sub(waiting.missing.first()) < MEDIA);
        let place = self.waiting.iter().position(|waiting| waiting.missing.count() == 1)?;
        let Waiting { missing, fec } = self.waiting.remove(place)?;
        Some((missing.first(), fec))
    }

    /// Number of waiting FEC packets.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }
}

#[cfg(test)]
mod tests;
