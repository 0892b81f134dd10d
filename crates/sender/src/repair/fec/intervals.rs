//! One FEC packet after every N media packets: FBRA's probe (its FEC interval; specs/fbra.md 3).
//!
//! A group consists of consecutive packets, of one or several frames. It is closed early if after one more frame its
//! FEC packet would come too late for the deadline of its oldest packet: at 128 kbps and one packet per frame, 14
//! packets are half a second.

use alloc::vec::Vec;

use thalweg_units::{Span, Time};

use super::{Amount, Fec, Uncovered};

/// The interval the controller asks for, and the state of the present group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Interval {
    /// N; `None` for no FEC.
    asked: Option<u16>,
    /// Packets in the group, by weight.
    counted: f64,
    /// Capture time of the picture before the last.
    before: Option<Time>,
    /// Capture time of the last picture.
    last: Option<Time>,
}

impl Interval {
    /// The time between the last two pictures.
    fn between_pictures(&self) -> Span {
        self.before.zip(self.last).map_or(Span::ZERO, |(before, last)| last - before)
    }
}

impl Fec {
    /// From now on one FEC packet after every `asked` media packets. With `None`, packets not yet protected stay
    /// unprotected.
    pub fn set_interval(&mut self, asked: Option<u16>) {
        let changed = core::mem::replace(&mut self.interval.asked, asked) != asked;
        if changed && asked.is_none() {
            self.open_group();
        }
    }

    /// Returns true if the controller sets the amount of FEC.
    pub fn is_asked_for(&self) -> bool {
        self.config.amount == Amount::Asked
    }

    fn open_group(&mut self) {
        self.interval.counted = 0.0;
        self.uncovered.clear();
    }

    /// A media packet left; its group may now be complete.
    pub(super) fn count(&mut self, now: Time, packet: Uncovered, path_rtt: Span) {
        let captured = packet.fragment.captured;
        if self.interval.last != Some(captured) {
            (self.interval.before, self.interval.last) = (self.interval.last, Some(captured));
        }
        let Some(asked) = self.interval.asked else { return };
        let (ends_frame, weight) = (packet.fragment.index + 1 >= packet.fragment.count, self.weight(&packet.fragment));
        if weight > 0.0 {
            self.interval.counted += weight;
            self.uncovered.push_back(packet);
        }
        let later = now + self.interval.between_pictures();
        let deadline = self.config.deadline;
        let too_late_next = |packet: &Uncovered| !packet.is_of_use(later, path_rtt, deadline);
        let full = self.interval.counted >= f64::from(asked) || self.uncovered.len() as u64 == self.config.packets;
        if full || ends_frame && self.uncovered.front().is_some_and(too_late_next) {
            self.close_group(now, path_rtt);
        }
    }

    /// Makes FEC over those packets of the group that can still be useful.
    fn close_group(&mut self, now: Time, path_rtt: Span) {
        let deadline = self.config.deadline;
        let packets: Vec<Uncovered> =
            self.uncovered.iter().filter(|packet| packet.is_of_use(now, path_rtt, deadline)).copied().collect();
        self.open_group();
        self.make(packets.iter(), 0.0);
    }
}

#[cfg(test)]
mod tests;
