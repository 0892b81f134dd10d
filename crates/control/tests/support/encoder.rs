//! An encoder of 30 frames a second that does what its controller's scheme would have it do.

use thalweg_control::{FramePlace, SendLimits};
use thalweg_units::{Bytes, Rate, Span, Time};

/// Between two frames.
pub const INTERVAL: Span = Span::from_nanos(33_333_333);
/// Packets are at most this long on the wire.
pub const PACKET: Bytes = Bytes::new(1200);
/// And at least: headers.
const MIN_FRAME: Bytes = Bytes::new(80);
/// A slice that leaves back to back has so many packets, or it would measure nothing (specs/camel.md, packets per burst).
const PACKETS_OF_A_SLICE: u64 = 4;
/// The least that camel's encoder is aimed at.
const MIN: Rate = Rate::from_kbps(50);

/// A packet that waits to leave.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub size: Bytes,
    pub place: FramePlace,
    /// Packets of one slice leave back to back.
    pub slice: u64,
    pub since: Time,
}

/// The encoder.
#[derive(Debug)]
pub struct Encoder {
    /// What frames have of what they may have.
    share: f64,
    max: Rate,
    kept: f64,
    frames: u64,
    slices: u64,
}

impl Encoder {
    pub fn new(share: f64, max: Rate) -> Encoder {
        Encoder { share, max, kept: 0.0, frames: 0, slices: 0 }
    }

    /// The next frame's packets; none where the controller holds frames back or leaves no room for one. `queued` waits.
    pub fn frame(&mut self, now: Time, limits: &SendLimits, queued: Bytes) -> Vec<Waiting> {
        self.kept += limits.media.share();
        if self.kept < 1.0 {
            return Vec::new();
        }
        self.kept -= 1.0;
        let size = self.size(limits, queued);
        if limits.media.frame().is_some() && size < MIN_FRAME {
            return Vec::new();
        }
        let sizes = match limits.burst {
            Some(max) => slices(size, max),
            None => packets(size).into_iter().map(|packet| vec![packet]).collect(),
        };
        let (frame, count) = (self.frames, sizes.iter().flatten().count());
        self.frames += 1;
        let mut waiting = Vec::with_capacity(count);
        let mut offset = Bytes::ZERO;
        for slice in sizes {
            for size in slice {
                let (first, last) = (waiting.is_empty(), waiting.len() + 1 == count);
                let place = FramePlace { frame, first, last, offset, captured: now, keyframe: frame == 0 };
                waiting.push(Waiting { size: size.max(MIN_FRAME), place, slice: self.slices, since: now });
                offset += size;
            }
            self.slices += 1;
        }
        waiting
    }

    /// By the room where the controller counts frames (Salsify), by camel's rule where it has bursts, by the target else.
    fn size(&self, limits: &SendLimits, queued: Bytes) -> Bytes {
        let max = self.max.over(INTERVAL);
        match (limits.media.frame(), limits.burst) {
            (Some(room), _) => room.saturating_sub(queued).min(max).scale(self.share),
            (None, Some(_)) => {
                // As the `camel` scheme aims its encoder: 95 %, and what waits is gone in a quarter of a second.
                let target = limits.capacity.scale(0.95) - queued.per(Span::from_millis(250));
                target.max(MIN).min(self.max).scale(self.share).over(INTERVAL)
            }
            (None, None) => limits.capacity.min(self.max).scale(self.share).over(INTERVAL),
        }
    }
}

/// Full packets and what is left.
fn packets(size: Bytes) -> Vec<Bytes> {
    let full = size.get() / PACKET.get();
    let left = size - PACKET * full;
    let mut packets = vec![PACKET; full as usize];
    packets.extend(Some(left).filter(|left| *left > Bytes::ZERO));
    packets
}

/// Equal slices of at most `max`, each of at least four equal packets.
fn slices(size: Bytes, max: Bytes) -> Vec<Vec<Bytes>> {
    let equal = |size: u64, parts: u64| (0..parts).map(move |i| size * (i + 1) / parts - size * i / parts);
    let slice = |size: u64| {
        let packets = size.div_ceil(PACKET.get()).max(PACKETS_OF_A_SLICE);
        equal(size, packets).map(Bytes::new).collect()
    };
    let size = size.max(MIN_FRAME * PACKETS_OF_A_SLICE);
    equal(size.get(), size.get().div_ceil(max.get())).map(slice).collect()
}
