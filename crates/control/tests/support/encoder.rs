//! An encoder of 30 frames a second that follows its controller's scheme.

use thalweg_control::{FramePlace, SendLimits};
use thalweg_units::{Bytes, Random, Rate, Span, Time};

use super::simulation::Scenario;

/// The frame interval.
pub const INTERVAL: Span = Span::from_nanos(33_333_333);
/// Max packet size on the wire.
pub const PACKET: Bytes = Bytes::new(1200);
/// Min frame size: headers only.
const MIN_FRAME: Bytes = Bytes::new(80);
/// Packets per slice that leaves back to back; with fewer, nothing would be measured (specs/camel.md, packets per
/// burst).
const PACKETS_OF_A_SLICE: u64 = 4;
/// The min target of camel's encoder.
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
    /// The size of frames as a share of what they may have.
    share: f64,
    max: Rate,
    full_until: Time,
    leaves_room: bool,
    spread: f64,
    random: Random,
    kept: f64,
    frames: u64,
    slices: u64,
}

impl Encoder {
    pub fn new(scenario: &Scenario, share: f64, max: Rate) -> Encoder {
        let Scenario { spread, leaves_room, .. } = *scenario;
        let full_until = Time::from_millis(1000 * scenario.full_until);
        let random = scenario.seed.child("frames").random();
        Encoder { share, max, full_until, leaves_room, spread, random, kept: 0.0, frames: 0, slices: 0 }
    }

    /// The packets of the next frame; none if the controller holds frames back or leaves no room for one. `queued`
    /// bytes wait.
    pub fn frame(&mut self, now: Time, limits: &SendLimits, queued: Bytes) -> Vec<Waiting> {
        self.kept += limits.media.share();
        if self.kept < 1.0 {
            return Vec::new();
        }
        self.kept -= 1.0;
        let size = self.size(now, limits, queued);
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

    /// The frame size: by the room if the controller counts frames (Salsify), by camel's rule if it has bursts,
    /// otherwise by the target.
    fn size(&mut self, now: Time, limits: &SendLimits, queued: Bytes) -> Bytes {
        let share = if now < self.full_until { 1.0 } else { self.share };
        let share = share * (1.0 + self.spread * self.random.normal()).clamp(0.3, 2.5);
        let max = self.max.over(INTERVAL);
        match (limits.media.frame(), limits.burst) {
            (Some(room), _) => room.saturating_sub(queued).min(max).scale(share),
            (None, Some(_)) => {
                // As in the `camel` scheme: 95 % of the target, minus what empties the queue in a quarter of a second.
                let room = limits.capacity.scale(0.95) - queued.per(Span::from_millis(250));
                let target = if self.leaves_room { room } else { limits.capacity };
                target.max(MIN).min(self.max).scale(share).over(INTERVAL)
            }
            (None, None) => limits.capacity.min(self.max).scale(share).over(INTERVAL),
        }
    }
}

/// Full packets, and one with the remainder.
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
