//! The pictures that have come: the newest few, which encoders may still request, and how many the camera missed.

use std::collections::VecDeque;

use thalweg_units::Time;
use thalweg_video::source::Format;

use super::camera::{Seen, Taken};
use crate::publish::overload::Tally;

/// Pictures kept: the newest, or the one before while a new one arrives.
const KEPT: usize = 8;
/// Frames kept that are encoded already, which refer to one another and may come many at once: two seconds.
const KEPT_ENCODED: usize = 64;

/// The newest pictures, and the camera's count.
#[derive(Debug)]
pub(crate) struct Pictures {
    /// Their size and rate.
    pub(crate) format: Format,
    /// When picture 0 is captured.
    pub(crate) begin: Time,
    kept: VecDeque<Taken>,
    /// The number of the next picture.
    next: u64,
    /// Pictures that the camera skipped.
    pub(crate) missed: u64,
    /// The same over the last seconds.
    pub(crate) camera: Tally,
}

impl Pictures {
    pub(crate) fn new(format: Format, begin: Time) -> Pictures {
        Pictures { format, begin, kept: VecDeque::new(), next: 0, missed: 0, camera: Tally::default() }
    }

    /// The camera took this one; numbers that it left out are pictures that it missed.
    pub(crate) fn on_taken(&mut self, now: Time, taken: &Taken) {
        let missed = taken.number.saturating_sub(self.next);
        self.missed += missed;
        self.camera.add(now, missed, missed + 1);
    }

    /// The next picture, given by another program.
    pub(crate) fn given(&self, now: Time, seen: Seen) -> Taken {
        Taken { number: self.next, captured: now, seen }
    }

    pub(crate) fn put(&mut self, taken: Taken) {
        let kept = if matches!(taken.seen, Seen::Frame(_)) { KEPT_ENCODED } else { KEPT };
        self.next = taken.number + 1;
        self.kept.push_back(taken);
        if self.kept.len() > kept {
            self.kept.pop_front();
        }
    }

    /// The picture of this number, unless it is too old.
    pub(crate) fn find(&self, number: u64) -> Option<&Taken> {
        self.kept.iter().rev().find(|taken| taken.number == number)
    }
}
