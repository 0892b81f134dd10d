//! The pictures that have come: the newest few, which encoders may still request, and how many the camera missed.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};
use thalweg_video::source::Format;

use super::camera::{Seen, Taken};
use crate::publish::overload::Tally;

/// Without a picture for so long the source counts as silent, or for two intervals where these are longer (libwebrtc
/// `video/video_send_stream_impl.cc`, `kEncoderTimeOut`: from then on it pads no more).
const SILENT: Span = Span::from_secs(2);
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
    /// When the last one came.
    last: Option<Time>,
    /// They are given by somebody who sends, or another program.
    are_given: bool,
    /// None came when it was last looked at.
    was_silent: bool,
}

impl Pictures {
    pub(crate) fn new(format: Format, begin: Time) -> Pictures {
        let (kept, camera) = Default::default();
        let (last, are_given, was_silent) = (None, false, false);
        Pictures { format, begin, kept, next: 0, missed: 0, camera, last, are_given, was_silent }
    }

    /// The camera took this one; numbers that it left out are pictures that it missed.
    pub(crate) fn on_taken(&mut self, now: Time, taken: &Taken) {
        let missed = taken.number.saturating_sub(self.next);
        self.missed += missed;
        self.camera.add(now, missed, missed + 1);
    }

    /// The next picture, given by another program.
    pub(crate) fn given(&mut self, now: Time, seen: Seen) -> Taken {
        self.are_given = true;
        Taken { number: self.next, captured: now, seen }
    }

    pub(crate) fn put(&mut self, now: Time, taken: Taken) {
        self.last = Some(now);
        let kept = if matches!(taken.seen, Seen::Frame(_)) { KEPT_ENCODED } else { KEPT };
        self.next = taken.number + 1;
        self.kept.push_back(taken);
        if self.kept.len() > kept {
            self.kept.pop_front();
        }
    }

    /// The reason why no pictures come, while none do.
    pub(crate) fn awaited(&self, now: Time) -> Option<&'static str> {
        let Some(last) = self.last else { return Some("no picture has come yet") };
        let is_silent = now - last > SILENT.max(self.format.interval() * 2);
        is_silent.then_some(if self.are_given { "the sender has left or pauses" } else { "the source pauses" })
    }

    /// Returns whether pictures come no more, or again, since the last call.
    pub(crate) fn turned_silent(&mut self, now: Time) -> Option<bool> {
        let is_silent = self.last.is_some() && self.awaited(now).is_some();
        let was_silent = std::mem::replace(&mut self.was_silent, is_silent);
        (is_silent != was_silent).then_some(is_silent)
    }

    /// The picture of this number, unless it is too old.
    pub(crate) fn find(&self, number: u64) -> Option<&Taken> {
        self.kept.iter().rev().find(|taken| taken.number == number)
    }
}
