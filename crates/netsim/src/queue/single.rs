//! One queue for all packets, with its discipline.

use thalweg_units::{Random, Rate, Span, Time};

use super::codel::Codel;
use super::codel_ecn::CodelEcn;
use super::fifo::Fifo;
use super::pie::Pie;
use super::predictive::Predictive;
use super::{DropReason, Limits, Marker, Queued, time_of};
use crate::{Ecn, Packet};

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Single<P> {
    packets: Fifo<P>,
    discipline: Discipline,
}

#[derive(Debug, Clone)]
pub(super) enum Discipline {
    Infinite,
    DropTail(Limits),
    DropTailUntil { until: Span, before: Limits, after: Limits },
    DropHead(Limits),
    Codel(Limits, Codel),
    Pie(Limits, Pie),
    CodelEcn(Limits, CodelEcn),
    Marking(Limits, Marking),
    Predictive(Limits, Predictive),
}

/// A marker at the exit of a queue.
#[derive(Debug, Clone)]
pub(super) struct Marking {
    pub(super) marker: Marker,
    /// Leaves ECT(0) alone.
    pub(super) only_ect1: bool,
    /// No threshold is below the time that this many packets of 1500 bytes take.
    pub(super) least_packets: u32,
    pub(super) random: Random,
}

impl Marking {
    fn on_departure<P: Packet>(&mut self, now: Time, rate: impl Fn() -> Rate, queued: &mut Queued<P>) {
        let is_looked_at = match queued.packet.ecn() {
            Ecn::Ect1 => true,
            Ecn::Ect0 => !self.only_ect1,
            Ecn::NotCapable | Ecn::Ce => false,
        };
        if !is_looked_at {
            return;
        }
        let probability = self.marker.probability(now - queued.arrival, time_of(self.least_packets, rate));
        if probability >= 1.0 || probability > 0.0 && self.random.unit() < probability {
            queued.mark(self.marker.reason());
        }
    }
}

impl<P: Packet> Single<P> {
    pub(super) const fn new(discipline: Discipline) -> Single<P> {
        Single { packets: Fifo::new(), discipline }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn push(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        mut queued: Queued<P>,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) {
        let (bytes, packets) = (self.packets.bytes(), self.packets.len());
        let fits = |limits: &Limits| limits.admit(bytes + queued.counted, packets + 1, &rate);
        let is_full = match &self.discipline {
            Discipline::Infinite | Discipline::DropHead(_) => false,
            Discipline::DropTail(limits)
            | Discipline::Codel(limits, _)
            | Discipline::Pie(limits, _)
            | Discipline::CodelEcn(limits, _)
            | Discipline::Marking(limits, _)
            | Discipline::Predictive(limits, _) => !fits(limits),
            Discipline::DropTailUntil { until, before, after } => {
                !fits(if now.since_start() < *until { before } else { after })
            }
        };
        let is_early = match &mut self.discipline {
            Discipline::Pie(_, pie) => pie.on_arrival(now, bytes, is_full),
            _ => false,
        };
        if is_full || is_early {
            dropped(queued, if is_full { DropReason::QueueFull } else { DropReason::QueueManaged });
            return;
        }
        if let Discipline::Predictive(_, predictive) = &mut self.discipline {
            predictive.on_arrival(now, bytes, &mut queued);
        }
        self.packets.push(queued);
        if let Discipline::DropHead(limits) = self.discipline {
            while !limits.admit(self.packets.bytes(), self.packets.len(), &rate) {
                match self.packets.pop() {
                    Some(head) => dropped(head, DropReason::QueueFull),
                    None => break,
                }
            }
        }
    }

    pub(super) fn pop(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) -> Option<Queued<P>> {
        let Single { packets, discipline } = self;
        let managed = |queued| dropped(queued, DropReason::QueueManaged);
        match discipline {
            Discipline::Codel(_, codel) => codel.pop(now, packets, managed),
            Discipline::CodelEcn(_, codel) => codel.pop(now, packets, managed),
            Discipline::Pie(_, pie) => {
                let queued = packets.pop()?;
                pie.on_departure(now, packets.bytes(), queued.counted);
                Some(queued)
            }
            Discipline::Marking(_, marking) => {
                let mut queued = packets.pop()?;
                marking.on_departure(now, rate, &mut queued);
                Some(queued)
            }
            Discipline::Predictive(_, predictive) => {
                let queued = packets.pop()?;
                predictive.on_departure(now, queued.counted);
                Some(queued)
            }
            Discipline::Infinite
            | Discipline::DropTail(_)
            | Discipline::DropTailUntil { .. }
            | Discipline::DropHead(_) => packets.pop(),
        }
    }
}
