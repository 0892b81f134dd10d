//! The parts in their running state: everything that a change of scheme replaces.

use alloc::boxed::Box;

use thalweg_control::ecn::{Capped, Ect1Policy};
use thalweg_control::{Controller, PacketId};
use thalweg_types::PacketSizes;
use thalweg_units::{ConfigError, Time};

use crate::frames::FramePolicy;
use crate::pacing::{self, Pacer};
use crate::padding::{self, Continuous, Dummies, RedundantPadding};
use crate::parts::Parts;
use crate::probing::Prober;
use crate::queue::MediaQueue;
use crate::repair::Repair;

pub(super) struct Assembled {
    pub(super) controller: Box<dyn Controller>,
    pub(super) policy: Box<dyn FramePolicy>,
    pub(super) pacing: pacing::Config,
    pub(super) pacer: Pacer,
    pub(super) padding: Continuous,
    pub(super) prober: Prober,
    pub(super) dummies: Option<Dummies>,
    pub(super) redundant: Option<RedundantPadding>,
    pub(super) repair: Option<Repair>,
    pub(super) queue: MediaQueue,
    pub(super) sizes: PacketSizes,
    /// ECN field of packets; `None` for Not-ECT.
    pub(super) ecn: Option<Ect1Policy>,
    /// The first packet sent under this controller; it gets no feedback on earlier ones.
    pub(super) first: PacketId,
}

impl Parts {
    /// Checks every parameter, as [`Engine::with`](crate::Engine::with) does.
    ///
    /// # Errors
    /// When a parameter of a part is out of range.
    pub fn check(self) -> Result<(), ConfigError> {
        Assembled::new(self, PacketId(0), Time::ZERO).map(drop)
    }
}

impl Assembled {
    /// Builds the parts; `first` is their first packet. The controller is given the rates that the policy's encoder can
    /// use.
    pub(super) fn new(parts: Parts, first: PacketId, now: Time) -> Result<Assembled, ConfigError> {
        let Parts { mut controller, frames, pacing, padding, padding_content, repair, packets, loss_detection, ecn } =
            parts;
        loss_detection.check()?;
        if let Some(ecn) = &ecn {
            ecn.check()?;
            if let Some(cap) = ecn.cap {
                controller = Box::new(Capped::new(controller, cap)?);
            }
        }
        if let Some(demand) = frames.demand() {
            controller.on_demand(now, demand);
        }
        Ok(Assembled {
            controller,
            policy: frames,
            pacing,
            pacer: Pacer::new(pacing.burst),
            padding: Continuous::default(),
            prober: Prober::default(),
            dummies: padding.map(padding::Config::build).transpose()?,
            redundant: padding_content.map(|padding_content| padding_content.build(packets)).transpose()?,
            repair: repair.map(|repair| repair.build(packets)).transpose()?,
            queue: MediaQueue::new(packets),
            sizes: packets,
            ecn: ecn.map(|ecn| Ect1Policy::new(ecn.policy)),
            first,
        })
    }
}
