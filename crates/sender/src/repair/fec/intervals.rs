//! One FEC packet after every N of media: what FBRA probes with (its FEC interval; specs/fbra.md 3).
//!
//! The group is of packets in a row, whatever frames they are of. A group is closed early when its oldest packet would come too late for
//! its deadline once another frame has gone by: at 128 kbps and a packet a frame, 14 packets are half a second.

use alloc::vec::Vec;

use thalweg_units::{Span, Time};

use super::{Amount, Fec, Uncovered};

/// What the controller asks for, and how far the group has come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Interval {
    /// N; `None` for no FEC.
    asked: Option<u16>,
    /// Packets in the group, by their weight.
    counted: f64,
    /// When the picture before the last was captured.
    before: Option<Time>,
    /// When the last picture was captured.
    last: Option<Time>,
}

impl Interval {
    /// The time between the last two pictures.
    fn between_pictures(&self) -> Span {
        self.before.zip(self.last).map_or(Span::ZERO, |(before, last)| last - before)
    }
}

impl Fec {
    /// From now on one packet after every `asked` of media; of what is not protected yet, nothing will be if there is to be none.
    pub fn set_interval(&mut self, asked: Option<u16>) {
        let changed = core::mem::replace(&mut self.interval.asked, asked) != asked;
        if changed && asked.is_none() {
            self.open_group();
        }
    }

    /// Whether the controller says how much.
    pub fn is_asked_for(&self) -> bool {
        self.config.amount == Amount::Asked
    }

    fn open_group(&mut self) {
        self.interval.counted = 0.0;
        self.uncovered.clear();
    }

    /// A media packet left; its group may be whole now.
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

    /// FEC over what of the group can still be of use.
    fn close_group(&mut self, now: Time, path_rtt: Span) {
        let deadline = self.config.deadline;
        let packets: Vec<Uncovered> =
            self.uncovered.iter().filter(|packet| packet.is_of_use(now, path_rtt, deadline)).copied().collect();
        self.open_group();
        self.make(&packets, 0, 1, 0.0);
    }
}

#[cfg(test)]
mod tests;
