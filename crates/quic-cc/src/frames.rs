//! Frames as a congestion controller below the application sees them: packets that leave close behind each other.

use thalweg_control::FramePlace;
use thalweg_units::{Bytes, Rate, Span, Time};

/// A packet begins a frame if it leaves so many times later than the pacing rate would have it ...
const LATE: i64 = 2;
/// ... and so much, the resolution of the timers that pace.
const LATENESS: Span = Span::from_millis(2);

/// SQP and Pudica measure the path by trains of packets: whole frames, which QUIC does not tell apart. What follows at the
/// pace belongs to the frame, and what comes later begins the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames {
    newest: Option<FramePlace>,
    /// When the last packet left, and its size.
    last: Option<(Time, Bytes)>,
}

impl Frames {
    /// The place of a packet that leaves now.
    pub(crate) fn on_sent(&mut self, now: Time, size: Bytes, pacing: Rate) -> FramePlace {
        let due = |(at, size): (Time, Bytes)| at + pacing.time_for(size) * LATE + LATENESS;
        let follows = self.last.is_some_and(|last| now <= due(last));
        let before = self.last.replace((now, size)).map_or(Bytes::ZERO, |(_, size)| size);
        let place = match self.newest {
            Some(newest) if follows => FramePlace { first: false, offset: newest.offset + before, ..newest },
            newest => FramePlace {
                frame: newest.map_or(0, |newest| newest.frame + 1),
                first: true,
                last: false,
                offset: Bytes::ZERO,
                captured: now,
                keyframe: false,
            },
        };
        self.newest = Some(place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_at_the_pace_belongs_to_the_frame_and_what_comes_later_begins_the_next() {
        let mut frames = Frames::default();
        // 1200 bytes at 2 Mbps take 4.8 ms.
        let places = [0, 5, 10, 33, 38].map(|at| {
            let place = frames.on_sent(Time::from_millis(at), Bytes::new(1200), Rate::from_kbps(2000));
            (place.frame, place.first, place.offset.get(), place.captured.as_millis())
        });
        assert_eq!(
            places,
            [(0, true, 0, 0), (0, false, 1200, 0), (0, false, 2400, 0), (1, true, 0, 33), (1, false, 1200, 33)]
        );
    }
}
