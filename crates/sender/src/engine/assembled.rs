//! The parts in their running state: everything that a change of scheme replaces.

use alloc::boxed::Box;

use thalweg_control::ecn::{Capped, Ect1Policy};
use thalweg_control::{Controller, PacketId, SentPacket};
use thalweg_types::{Content, PacketSizes};
use thalweg_units::{ConfigError, Time};

use crate::frames::FramePolicy;
use crate::pacing::bucket::{self, Bucket};
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
    pub(super) bucket: Option<Bucket>,
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
            bucket: pacing.bucket.map(bucket::Config::build).transpose()?,
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

    /// Charges a packet to the bucket, or to the pacer where it has no tokens. Audio, padding and probes spend none.
    pub(super) fn charge(&mut self, now: Time, packet: &SentPacket, content: &Content) {
        let spends = packet.probe.is_none() && !matches!(content, Content::Padding | Content::Audio { .. });
        let is_paid = spends && self.bucket.as_mut().is_some_and(|bucket| bucket.spend(packet.size));
        if !is_paid {
            self.pacer.on_sent(now, packet.size);
        }
    }
}
