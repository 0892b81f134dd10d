//! Capacity of a path: what it can carry at each moment, whatever is sent.

use alloc::sync::Arc;
use alloc::vec::Vec;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::bottleneck::PACKET_INFORMATION;
use crate::serial::Rates;
use crate::trace::{OPPORTUNITY, Trace};

/// Bytes of one opportunity without Mahimahi's packet information: a packet of this size takes all of it.
const PACKET: Bytes = Bytes::new(1500);

/// The capacity of one hop.
#[derive(Debug, Clone, PartialEq)]
pub enum Capacity {
    /// A trace with opportunities of 1500 bytes.
    Trace {
        /// The trace.
        trace: Arc<Trace>,
        /// Played once instead of in a loop.
        once: bool,
    },
    /// Rates.
    Rates(Rates),
    /// A policer, which has no queue: a rate, and a bucket that is full at the beginning.
    Policer {
        /// The rate at which tokens come.
        rate: Rate,
        /// The most tokens there are.
        bucket: Bytes,
    },
}

impl Capacity {
    /// The bytes it can carry within [from, to), from the IP header upwards. A policer's bucket counts at the beginning
    /// of the path's time, so that no more than this passes in any time from there.
    pub fn bytes(&self, from: Time, to: Time) -> Bytes {
        match self {
            Capacity::Trace { trace, once: false } => PACKET * trace.opportunities(from, to),
            Capacity::Trace { trace, once: true } => {
                // The last opportunity is still one.
                let end = Time::ZERO + trace.period() + Span::from_nanos(1);
                PACKET * trace.opportunities(from.min(end), to.min(end))
            }
            Capacity::Rates(rates) => rates.passes(from, to),
            Capacity::Policer { rate, bucket } => {
                let full = if from == Time::ZERO && to > from { *bucket } else { Bytes::ZERO };
                full + rate.over((to - from).max(Span::ZERO))
            }
        }
    }

    /// Returns true if packets wait here for their turn: a changed rate ([`Change::Rate`](crate::Change::Rate)) is this hop's.
    pub fn is_bottleneck(&self) -> bool {
        !matches!(self, Capacity::Policer { .. })
    }
}

/// The capacity of a path: the least of its bottlenecks and policers at each moment, and the rates that its bottlenecks
/// were given in place of their own while it was played.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathCapacity {
    hops: Vec<Capacity>,
    /// The rates that were set, each from its time on; `None` is the hops' own again.
    set: Vec<(Time, Option<Rate>)>,
}

impl PathCapacity {
    /// The capacity of a path with these hops, starting at the sender.
    pub(crate) fn new(hops: Vec<Capacity>) -> PathCapacity {
        PathCapacity { hops, set: Vec::new() }
    }

    /// The hops that limit it, starting at the sender.
    pub fn hops(&self) -> &[Capacity] {
        &self.hops
    }

    /// Returns true if it has a bottleneck, whose rate can be set.
    pub fn has_bottleneck(&self) -> bool {
        self.hops.iter().any(Capacity::is_bottleneck)
    }

    /// The rate that its bottlenecks have at `at` in place of their own.
    pub fn set_rate(&self, at: Time) -> Option<Rate> {
        self.set.iter().rev().find(|(since, _)| *since <= at)?.1
    }

    /// From `now` on every bottleneck has this rate; `None` is its own again. Times are in order.
    pub fn set(&mut self, now: Time, rate: Option<Rate>) {
        self.set.push((now, rate));
    }

    /// The bytes it can carry within [from, to), from the IP header upwards: of each stretch between two changes the
    /// least that any hop can. `None` if nothing limits it.
    pub fn bytes(&self, from: Time, to: Time) -> Option<Bytes> {
        let mut sum = Bytes::ZERO;
        let mut begin = from;
        while begin < to {
            let next = self.set.iter().map(|(since, _)| *since).find(|since| *since > begin);
            let end = next.unwrap_or(to).min(to);
            let set = self.set_rate(begin);
            let carried = |hop: &Capacity| match set {
                Some(rate) if hop.is_bottleneck() => rate.over(end - begin),
                _ => hop.bytes(begin, end),
            };
            sum += self.hops.iter().map(carried).min()?;
            begin = end;
        }
        (!self.hops.is_empty()).then_some(sum)
    }

    /// Bytes that `packets` packets of `size` in total take of it. In a trace's opportunities Mahimahi's packet
    /// information is counted too: 4 bytes a packet, of 1504.
    pub fn taken(&self, size: Bytes, packets: u64) -> f64 {
        let in_opportunities = |hop: &Capacity| matches!(hop, Capacity::Trace { .. });
        if self.hops.iter().any(in_opportunities) && self.hops.iter().all(in_opportunities) {
            return (size + PACKET_INFORMATION * packets).as_f64() * PACKET.as_f64() / OPPORTUNITY.as_f64();
        }
        size.as_f64()
    }
}
