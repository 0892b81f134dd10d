//! A least delay that holds no longer: the path has become longer.
//!
//! Behind a queue that stands, packets arrive one behind the other at the rate of the path, those of a frame as its first
//! one behind the frame before. Where a frame's first packet comes much later after the last one than packets of a frame
//! follow each other, the path stood idle before it. If that goes on for a while and yet no frame is as early as the least,
//! the least is of another path. All frames are late by the same then; behind packets of another flow they are not.

use thalweg_units::{Bytes, Span, Time};

use super::JITTER;
use crate::estimate::Average;

/// For this long no frame was as early as the least.
const AFTER: Span = Span::from_millis(1000);
/// In that time at least this many frames came.
const FRAMES: u32 = 8;
/// Frames follow one another this many times as slowly as packets of frames do.
const TIMES: f64 = 2.5;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Raised {
    /// The time between packets of a frame, as they arrive.
    within: Average,
    late: Option<Late>,
}

/// Frames that came later than the least delay.
#[derive(Debug, Clone, Copy)]
struct Late {
    since: Time,
    frames: u32,
    /// Between each first packet and the packet before it.
    between: Span,
    /// The same if the path had served all of that time.
    served: Span,
    least: Span,
    most: Span,
}

impl Raised {
    pub(super) fn new(within: Average) -> Raised {
        Raised { within, late: None }
    }

    /// The time between packets of a frame.
    pub(super) fn within(&self) -> Option<Span> {
        self.within.value()
    }

    /// A packet arrived `gap` behind another of its frame.
    pub(super) fn on_behind(&mut self, gap: Span, size: Bytes) {
        self.within.add(gap, size);
    }

    /// A frame's first packet arrived `gap` after the packet before it, `late` or not; returns the least delay now if it
    /// has risen. `usual` is the size of which `within` gives the time.
    pub(super) fn on_first(&mut self, at: Time, delay: Span, gap: Span, late: bool, share: f64) -> Option<Span> {
        let Some(within) = self.within.value().filter(|_| late) else {
            self.late = None;
            return None;
        };
        let since = self.late.unwrap_or(Late {
            since: at,
            frames: 0,
            between: Span::ZERO,
            served: Span::ZERO,
            least: delay,
            most: delay,
        });
        let now = Late {
            since: since.since,
            frames: since.frames + 1,
            between: since.between + gap,
            served: since.served + within.scale(share),
            least: since.least.min(delay),
            most: since.most.max(delay),
        };
        if now.most - now.least > JITTER {
            self.late = None;
            return None;
        }
        let is_over = at - now.since >= AFTER && now.frames >= FRAMES;
        self.late = (!is_over).then_some(now);
        (is_over && now.between > now.served.scale(TIMES)).then_some(now.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Smoothing;

    /// The least delay after two seconds of frames each 33 ms whose packets follow each other by 2 ms, `late` by turns.
    fn after(late: [i64; 2]) -> Option<Span> {
        let mut raised = Raised::new(Smoothing::default().build().unwrap());
        raised.on_behind(Span::from_millis(2), crate::packet::MSS);
        (0..60).find_map(|frame| {
            let delay = Span::from_millis(late[frame as usize % 2]);
            raised.on_first(Time::from_millis(33 * frame), delay, Span::from_millis(31), true, 1.0)
        })
    }

    #[test]
    fn frames_that_are_late_by_the_same_over_an_idle_path_come_over_a_longer_one_and_others_behind_packets_of_another_flow()
     {
        assert_eq!(after([104, 100]), Some(Span::from_millis(100)));
        assert_eq!(after([100, 105]), Some(Span::from_millis(100)), "at the bound");
        assert_eq!(after([106, 100]), None);
    }
}
