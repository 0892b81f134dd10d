//! The policy: begins groups, encodes frames at their place in the layers, and sends those that the selector chooses.

use alloc::vec;
use alloc::vec::Vec;

use thalweg_control::Demand;
use thalweg_types::layers::Pattern;
use thalweg_types::{EncodePlan, EncodedFrame, Target};
use thalweg_units::{Bytes, Rate, Size, Span, Time};

use super::made::Made;
use super::selector::Selector;
use super::{Aim, Config};
use crate::event::Why;
use crate::frames::policy::{FramePlan, FramePolicy, Occasion, View};
use crate::frames::rate_targeted::EncoderBounds;
use crate::frames::resolution::{Resolution, Signals};

/// Within a group the encoder's target stays between these multiples of the group's mean rate: what a large keyframe
/// cost or omitted frames saved is spread, but not all of it over the last few frames.
const STEERED: (f64, f64) = (0.7, 1.4);

/// See the module.
#[derive(Debug, Clone)]
pub struct Selection {
    pattern: Pattern,
    selector: Selector,
    aim: Aim,
    encoder: EncoderBounds,
    resolution: Resolution,
    /// The frame size of the group.
    size: Size,
    /// The place in its group of the next picture.
    next: u32,
    /// True if a frame that the rest of the group refers to was left out because of missing feedback.
    broken: bool,
    /// The place of the picture in the encoder.
    encoding: u32,
    /// The numbers of the group's sent frames, by place.
    sent: Vec<Option<u64>>,
    target: Rate,
    made: Made,
}

impl Selection {
    pub(super) fn new(config: &Config, pattern: Pattern, selector: Selector, resolution: Resolution) -> Selection {
        Selection {
            pattern,
            selector,
            aim: config.aim,
            encoder: config.encoder,
            size: resolution.size(),
            resolution,
            next: 0,
            broken: false,
            encoding: 0,
            sent: vec![None; pattern.period() as usize],
            target: config.encoder.min,
            made: Made::default(),
        }
    }

    /// Returns true if the path is in an outage: anything sent now would only wait.
    fn is_stopped(view: &View) -> bool {
        view.limits.media.share() <= 0.0
    }

    fn begins(&self, view: &View) -> bool {
        (self.next == 0 || view.keyframe_due || self.broken) && !Selection::is_stopped(view)
    }

    fn begin(&mut self, view: &View) {
        let period = view.interval * i64::from(self.pattern.period());
        let allowed = || view.limits.capacity.over(period).saturating_sub(view.queue.bytes);
        let wire = view.limits.media.period().unwrap_or_else(allowed);
        self.selector.begin(wire);
        self.sent.fill(None);
        (self.next, self.broken) = (0, false);
        self.made.end(self.pattern.period());
        self.size = self.resolution.size();
    }

    /// Sets the target to the rest of the budget over the rest of the group.
    fn aim(&mut self, view: &View) {
        let rate = match self.aim {
            Aim::Fixed(rate) => rate,
            Aim::Budget(share) => {
                let period = self.pattern.period();
                let whole = self.selector.budget().per(view.interval * i64::from(period));
                let left = self.selector.budget().saturating_sub(self.selector.spent());
                let left = left.per(view.interval * i64::from((period - self.next).max(1)));
                let steered = left.clamp(whole.scale(STEERED.0), whole.scale(STEERED.1));
                steered.scale(share * view.payload_share / self.made.ratio())
            }
        };
        self.target = rate.clamp(self.encoder.min, self.encoder.max);
    }

    /// The reference of the frame at `place`: the number of the frame it refers to, if that was sent.
    fn reference(&self, place: u32) -> Option<u64> {
        let parent = self.pattern.refers_to(place)?;
        self.sent.get(parent as usize).copied().flatten()
    }

    /// Leaves the next picture unencoded.
    fn leave_out(&mut self, place: u32) {
        self.selector.leave_out(place);
        self.next = (place + 1) % self.pattern.period();
    }
}

impl FramePolicy for Selection {
    fn demand(&self) -> Option<Demand> {
        Some(self.encoder.demand())
    }

    fn layers(&self) -> u8 {
        self.pattern.layers()
    }

    fn begins_period(&self, view: &View) -> Option<Span> {
        self.begins(view).then(|| view.interval * i64::from(self.pattern.period()))
    }

    fn plan(&mut self, view: &View) -> FramePlan {
        let signals =
            Signals { now: view.now, outage: false, alpha: 1.0, target: self.target, interval: view.interval };
        if view.occasion != Occasion::QueueEmpty {
            self.resolution.on_camera(&signals);
        }
        if self.begins(view) {
            self.begin(view);
        }
        let place = self.next;
        if Selection::is_stopped(view) {
            self.broken |= self.pattern.layer(place).number == 0;
            self.leave_out(place);
            return FramePlan::Skip(Why::NoFeedback);
        }
        if !self.selector.is_possible(place) {
            self.leave_out(place);
            return FramePlan::Skip(Why::ReferenceLeftOut);
        }
        self.aim(view);
        self.made.ask(self.target.over(view.interval));
        self.encoding = place;
        self.next = (place + 1) % self.pattern.period();
        let mut plan = EncodePlan::new(vec![Target::Rate(self.target)], self.size, view.interval);
        self.pattern.plan(place, self.reference(place), &mut plan);
        FramePlan::Encode(plan)
    }

    fn choose(&mut self, view: &View, candidates: &[EncodedFrame]) -> Option<usize> {
        let frame = candidates.first();
        self.resolution.on_encoded(view.now, frame);
        let Some(frame) = frame else {
            self.selector.leave_out(self.encoding);
            return None;
        };
        self.made.add(frame.size);
        let wire = Bytes::scale(frame.size, 1.0 / view.payload_share.clamp(0.1, 1.0));
        self.selector.consider(self.encoding, wire).then_some(0)
    }

    fn on_queued(&mut self, _now: Time, frame: u64, _encoded: &EncodedFrame, _packets: u16) {
        if let Some(sent) = self.sent.get_mut(self.encoding as usize) {
            *sent = Some(frame);
        }
    }

    fn inspect(&self, see: &mut dyn FnMut(&'static str, f64)) {
        see("target_bps", self.target.as_bps_f64());
        see("group kB", self.selector.budget().as_f64() / 1e3);
        see("spent kB", self.selector.spent().as_f64() / 1e3);
        see("height", f64::from(self.size.height));
    }
}
