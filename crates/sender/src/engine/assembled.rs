//! The parts at work: what a change of scheme replaces, all at once.

use alloc::boxed::Box;

use thalweg_control::{Controller, PacketId};
use thalweg_media::PacketSizes;
use thalweg_units::{ConfigError, Span, Time};

use crate::filler::{self, Dummies, Useful};
use crate::frames::FramePolicy;
use crate::pacing::{self, Pacer};
use crate::parts::Parts;
use crate::probing::Prober;
use crate::queue::MediaQueue;
use crate::repair::Repair;

pub(super) struct Assembled {
    pub(super) controller: Box<dyn Controller>,
    pub(super) policy: Box<dyn FramePolicy>,
    pub(super) pacing: pacing::Config,
    pub(super) pacer: Pacer,
    pub(super) padding: Pacer,
    pub(super) prober: Prober,
    pub(super) dummies: Option<Dummies>,
    pub(super) useful: Option<Useful>,
    pub(super) repair: Option<Repair>,
    pub(super) queue: MediaQueue,
    pub(super) sizes: PacketSizes,
    /// The first packet that the controller sees leave.
    pub(super) first: PacketId,
}

impl Assembled {
    /// Parts that begin with packet `first`. The controller is told what the policy's encoder could use.
    pub(super) fn new(parts: Parts, first: PacketId, now: Time) -> Result<Assembled, ConfigError> {
        let Parts { mut controller, frames, pacing, filler, fill_with, repair, packets } = parts;
        if let Some(demand) = frames.demand() {
            controller.on_demand(now, demand);
        }
        Ok(Assembled {
            controller,
            policy: frames,
            pacing,
            pacer: Pacer::new(pacing.burst),
            padding: Pacer::new(Span::ZERO),
            prober: Prober::default(),
            dummies: filler.map(filler::Config::build).transpose()?,
            useful: fill_with.map(|fill_with| fill_with.build(packets)).transpose()?,
            repair: repair.map(|repair| repair.build(packets)).transpose()?,
            queue: MediaQueue::new(packets),
            sizes: packets,
            first,
        })
    }
}
