//! Another scheme in the middle of a call.

use thalweg_control::{Demand, Feedback, Report};
use thalweg_units::{ConfigError, Span, Time};

use super::Engine;
use crate::event::{Event, Why};
use crate::pacing::Pacer;
use crate::probing::Prober;
use crate::queue::MediaQueue;
use crate::scheme::Scheme;

impl Engine {
    /// From now on this is a sender of `scheme`. Numbers go on, what is in flight stays in flight, and the round trip stays known; what
    /// waits is thrown away and the next frame is a keyframe, because another scheme may take another encoder. The new controller
    /// begins as at the start of a call and hears only of packets that it has seen leave.
    ///
    /// # Errors
    /// When a parameter of the scheme is out of range; then nothing has changed.
    pub fn change_scheme(&mut self, now: Time, scheme: &Scheme) -> Result<(), ConfigError> {
        let mut controller = scheme.controller.build()?;
        let policy = scheme.frames.build(self.camera.size)?;
        let dummies = scheme.filler.map(crate::filler::Config::build).transpose()?;
        let useful = scheme.fill_with.map(|fill_with| fill_with.build(scheme.packets)).transpose()?;
        let repair = scheme.repair.map(|repair| repair.build(scheme.packets)).transpose()?;
        self.advance(now);
        if let Some(bounds) = scheme.frames.encoder_bounds() {
            controller.on_demand(now, Demand { min: bounds.min, max: bounds.max });
        }
        let (at, events) = (now, &mut self.events);
        self.queue.flush(|frame, packets| {
            events.push(crate::Timed { at, event: Event::FrameFlushed { frame, packets } });
        });
        if let Some(encoding) = &mut self.encoding {
            encoding.abandoned = true;
        }
        self.discard_slot(Why::SchemeChanged);
        (self.controller, self.policy, self.repair) = (controller, policy, repair);
        (self.dummies, self.useful) = (dummies, useful);
        self.queue = MediaQueue::new(scheme.packets);
        self.sizes = scheme.packets;
        self.pacing = scheme.pacing;
        self.pacer = Pacer::new(scheme.pacing.burst);
        self.padding = Pacer::new(Span::ZERO);
        self.prober = Prober::default();
        self.heard_from = self.next_id;
        self.emit(Event::SchemeChanged);
        self.force_keyframe(Why::SchemeChanged);
        self.refresh();
        Ok(())
    }
}

/// The news without what it says of packets before `first`.
pub(super) fn since<'a>(first: u64, feedback: &Feedback<'a>) -> Feedback<'a> {
    let before = feedback.reports.partition_point(|report: &Report| report.packet.id.0 < first);
    Feedback { reports: &feedback.reports[before..], ..*feedback }
}
