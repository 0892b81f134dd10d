//! How late packets arrive behind those of newer frames.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};

/// Lateness counts for this time.
const MEMORY: Span = Span::from_secs(10);
/// Frames of which the first packet's arrival is remembered.
const FRAMES: usize = 64;

/// The longest wait for a packet of the last seconds; 0 on a path that keeps packets in order.
#[derive(Debug)]
pub(super) struct Lateness {
    /// The newest frames, each newer than those before it, and when the first packet of each arrived.
    newest: VecDeque<(u64, Time)>,
    longest: Span,
    until: Time,
    /// No packet is waited for any longer.
    most: Span,
}

impl Lateness {
    pub(super) fn new(most: Span) -> Lateness {
        Lateness { newest: VecDeque::new(), longest: Span::ZERO, until: Time::ZERO, most }
    }

    /// Takes the arrival of a packet of a frame.
    pub(super) fn on_packet(&mut self, now: Time, frame: u64) {
        let newer = self.newest.iter().find(|(newer, _)| frame < *newer);
        if let Some(late) = newer.map(|(_, at)| now - *at) {
            if late >= self.get(now) {
                (self.longest, self.until) = (late.min(self.most), now + MEMORY);
            }
        } else if self.newest.back().is_none_or(|(newest, _)| *newest < frame) {
            self.newest.push_back((frame, now));
            if self.newest.len() > FRAMES {
                self.newest.pop_front();
            }
        }
    }

    /// How long packets of a frame are waited for once those of a newer one arrive.
    pub(super) fn get(&self, now: Time) -> Span {
        if now < self.until { self.longest } else { Span::ZERO }
    }
}
