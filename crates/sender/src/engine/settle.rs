//! Consequences of what an input changed, drawn once at its end.
//!
//! An input says in [`Changed`] what it changed, and [`Engine::settle`] does what follows, in this order:
//!
//! 1. the queue: the frame policy checks it, and may throw it away;
//! 2. the policy: what it concluded from reports, frames or a queue thrown away (recovery, frames to forget);
//! 3. the controller: its decisions and its limits, which pacer, padding and repair then keep to;
//! 4. the waiting picture: the policy plans it, and sees the queue and the limits as the steps above left them. A policy
//!    that plans a group of frames announces it to the controller first, and plans with the limits for that group.
//!
//! No step changes what an earlier one looks at, so a second settling does nothing. Where what follows from one change
//! must be recorded before the next change, there are two inputs: the controller's timer and then the other timers, what
//! the controller makes of a frame and then the frame.

use alloc::boxed::Box;
use core::mem;

use thalweg_control::{SendLimits, Signal};
use thalweg_units::{Bytes, Rate, Time};

use super::{Engine, Output};
use crate::event::{Event, Timed, Why};
use crate::frames::{FramePlan, Occasion, QueueVerdict, QueueView};
use crate::pacing::PacingRate;

/// Changes of an input, for [`Engine::settle`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Media joined or left the queue, or time passed that it waited.
    pub(super) queue: bool,
    /// The frame policy was told something that it may conclude from.
    pub(super) policy: bool,
    /// The controller was told something that may change its limits.
    pub(super) controller: bool,
    /// Why the waiting picture, if there is one, may be encoded now.
    pub(super) picture: Option<Occasion>,
}

impl Engine {
    /// Processes an input: time advances to `now`, `change` makes its change and records it in `changed`, and the
    /// engine settles.
    pub(super) fn input(&mut self, now: Time, change: impl FnOnce(&mut Engine)) {
        self.advance(now);
        change(self);
        self.settle();
    }

    /// Does what follows from what changed, in the order in which one step may change what the next one sees.
    pub(super) fn settle(&mut self) {
        if mem::take(&mut self.changed.queue) {
            self.watch_queue();
        }
        if mem::take(&mut self.changed.policy) {
            self.follow_policy();
        }
        if mem::take(&mut self.changed.controller) {
            self.apply_limits();
        }
        if let Some(occasion) = self.changed.picture.take() {
            self.consider(occasion);
        }
        debug_assert_eq!(self.changed, Changed::default(), "a step of settling changed what an earlier one looks at");
    }

    /// Lets the frame policy check the queue.
    fn watch_queue(&mut self) {
        let view = self.queue_view();
        match self.parts.policy.on_queue(self.now, &view) {
            QueueVerdict::Keep => {}
            QueueVerdict::Pause => self.emit(Event::Paused { age: view.age(self.now) }),
            QueueVerdict::Resume => self.emit(Event::Resumed { why: Why::QueueEmpty }),
            QueueVerdict::Flush => self.flush(&view),
        }
    }

    /// Encoder Reset: the queue is too old to be worth sending; throws it away and starts over with a keyframe.
    fn flush(&mut self, view: &QueueView) {
        self.emit(Event::Reset { age: view.age(self.now), packets: view.packets });
        let (now, events) = (self.now, &mut self.events);
        self.parts.queue.flush(|frame, packets| {
            events.push(Timed { at: now, event: Event::FrameFlushed { frame, packets } });
        });
        if let Some(repair) = &mut self.parts.repair {
            repair.flush();
        }
        if let Some(encoding) = &mut self.encoding {
            encoding.orphaned = true;
        }
        self.discard_slot(Why::QueueFlushed);
        if !self.parts.policy.on_flushed(self.now) {
            self.force_keyframe(Why::QueueFlushed);
        }
        self.changed.policy = true;
    }

    /// Applies what the policy concluded.
    fn follow_policy(&mut self) {
        let recovering = self.parts.policy.is_recovering(self.now);
        if recovering && !self.recovering {
            self.emit(Event::RecoveryBegan);
        }
        self.recovering = recovering;
        while let Some(frame) = self.parts.policy.poll_forgotten() {
            self.outputs.push_back(Output::Forget { frame });
        }
    }

    /// Applies what the controller allows now.
    fn apply_limits(&mut self) {
        while let Some(decision) = self.parts.controller.poll_decision() {
            self.emit(Event::Decision(Box::new(decision)));
        }
        let queued = self.parts.queue.wire_bytes();
        let limits = self.parts.controller.limits();
        self.ceiling.on_limits(&limits);
        self.limits = self.ceiling.bound(self.now, self.srtt(), queued, limits);
        let rate = self.pacing_rate();
        self.parts.pacer.set_rate(self.now, rate);
        self.parts.padding.set_limit(self.now, self.limits.padding);
        if let Some(repair) = &mut self.parts.repair {
            repair.set_wire(self.now, self.limits.capacity);
            repair.set_fec_interval(self.limits.fec_interval);
            repair.set_losses_ended(self.limits.losses_ended);
        }
        let moved = |a: u64, b: u64| a.abs_diff(b) > b / 100;
        let window = |limits: &SendLimits| limits.window.map_or(0, Bytes::get);
        if moved(self.limits.capacity.as_bps(), self.reported.capacity.as_bps())
            || moved(window(&self.limits), window(&self.reported))
        {
            self.reported = self.limits;
            let SendLimits { window, capacity, .. } = self.limits;
            self.emit(Event::SendLimits { window, pacing: rate, capacity });
        }
    }

    fn pacing_rate(&self) -> Rate {
        let rate = match (self.parts.pacing.rate, self.limits.window) {
            (PacingRate::Controller, _) | (PacingRate::WindowRate(_), None) => self.limits.pacing,
            (PacingRate::WindowRate(factor), Some(window)) => window.per(self.srtt()).scale(factor),
            (PacingRate::Unpaced, _) => Rate::MAX,
        };
        rate.min(self.parts.pacing.limit.unwrap_or(Rate::MAX)).min(self.ceiling.rate())
    }

    /// Asks the policy what to do with the waiting picture, if there is one and the encoder is free.
    fn consider(&mut self, occasion: Occasion) {
        let Some(slot) = self.slot.filter(|_| self.encoding.is_none()) else { return };
        let mut view = self.seen(occasion, self.now - slot.read);
        if let Some(period) = self.parts.policy.begins_period(&view) {
            self.parts.controller.on_signal(self.now, Signal::Period(period));
            self.ceiling.period = period;
            self.apply_limits();
            view = self.seen(occasion, self.now - slot.read);
        }
        match self.parts.policy.plan(&view) {
            FramePlan::Encode(plan) => {
                self.slot = None;
                self.start_encoding(slot, plan);
            }
            FramePlan::Hold(why) => self.emit(Event::PictureHeld { picture: slot.picture, why }),
            FramePlan::Skip(why) => self.discard_slot(why),
        }
    }
}
