//! Support for tests of controllers: a sender that numbers its packets, and reports on them.

use core::ops::{Deref, DerefMut};

use alloc::vec::Vec;
use thalweg_units::{Bytes, Time};

use crate::controller::Controller;
use crate::feedback::{Acknowledgement, Config, Feedback, History};
use crate::packet::{FramePlace, PacketId, Payload, SentPacket};

/// A packet of a frame: its last packet or another, but not its first.
pub(crate) fn place(frame: u64, last: bool, captured: Time) -> FramePlace {
    FramePlace { frame, first: false, last, offset: Bytes::ZERO, captured, keyframe: false }
}

/// The only packet of a frame.
pub(crate) fn whole(frame: u64, captured: Time) -> FramePlace {
    FramePlace { first: true, ..place(frame, true, captured) }
}

/// A sender's packets.
pub(crate) struct Sender {
    pub(crate) history: History,
    pub(crate) next: u64,
}

impl Default for Sender {
    fn default() -> Sender {
        Sender { history: History::new(Config::default()), next: 0 }
    }
}

impl Sender {
    /// Sends a media packet, with the fields that `set` sets.
    pub(crate) fn send(&mut self, at: Time, bytes: u64, set: impl FnOnce(&mut SentPacket)) -> SentPacket {
        let mut packet = SentPacket::new(PacketId(self.next), at, Bytes::new(bytes));
        set(&mut packet);
        self.next += 1;
        self.history.on_sent(packet)
    }

    /// A packet of frame `frame`, or padding.
    pub(crate) fn packet(&mut self, frame: Option<(u64, bool)>, at: Time, bytes: u64) -> SentPacket {
        self.send(at, bytes, |packet| {
            packet.place = frame.map(|(frame, last)| place(frame, last, at));
            packet.payload = if frame.is_some() { Payload::Media } else { Payload::Padding };
        })
    }

    /// The feedback on these packets, by number, and their arrivals.
    pub(crate) fn report(&mut self, now: Time, arrivals: &[(u64, Time)]) -> Feedback<'_> {
        let reported = |(id, at): &(u64, Time)| Acknowledgement::new(PacketId(*id), Some(*at));
        self.history.on_report(now, &arrivals.iter().map(reported).collect::<Vec<_>>(), None)
    }
}

/// A controller that is given a sender's packets and the reports on them.
pub(crate) struct Flow<C> {
    pub(crate) sender: Sender,
    controller: C,
}

impl<C: Controller> Flow<C> {
    pub(crate) fn new(controller: C) -> Flow<C> {
        Flow { sender: Sender::default(), controller }
    }

    pub(crate) fn send(&mut self, at: Time, bytes: u64, set: impl FnOnce(&mut SentPacket)) -> PacketId {
        let packet = self.sender.send(at, bytes, set);
        self.controller.on_sent(&packet);
        packet.id
    }

    pub(crate) fn report(&mut self, now: Time, arrivals: &[(u64, Time)]) {
        self.controller.on_feedback(&self.sender.report(now, arrivals));
    }

    /// Runs the timeouts that are due.
    pub(crate) fn pass(&mut self, now: Time) {
        if let Some(feedback) = self.sender.history.on_timeout(now) {
            self.controller.on_feedback(&feedback);
        }
        if self.controller.next_timeout() <= now {
            self.controller.on_timeout(now);
        }
    }

    /// Runs the controller's next timeout, and returns when that was.
    pub(crate) fn expire(&mut self) -> Time {
        let due = self.controller.next_timeout();
        self.controller.on_timeout(due);
        due
    }

    /// Decisions since the last call, with their reasons.
    pub(crate) fn decisions(&mut self) -> Vec<(&'static str, &'static str)> {
        core::iter::from_fn(|| self.controller.poll_decision()).map(|decision| (decision.what, decision.why)).collect()
    }
}

impl<C> Deref for Flow<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.controller
    }
}

impl<C> DerefMut for Flow<C> {
    fn deref_mut(&mut self) -> &mut C {
        &mut self.controller
    }
}
