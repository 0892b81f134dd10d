//! Queues in front of a bottleneck, and why packets are dropped.

mod codel;
mod codel_ecn;
mod dualpi2;
mod dualpi2_webrtc;
mod fifo;
mod fq_codel;
mod marker;
mod pie;
mod predictive;
mod single;

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, Time, above, check};

use crate::packet::{MarkReason, Packet};
use codel::Codel;
use codel_ecn::CodelEcn;
use dualpi2::DualPi2;
pub use dualpi2::{DualPi2Config, Overload, Scheduler};
use dualpi2_webrtc::DualPi2Webrtc;
use fq_codel::FqCodel;
pub use fq_codel::FqCodelConfig;
pub use marker::Marker;
use pie::Pie;
use predictive::Predictive;
use single::{Discipline, Marking, Single};

/// A full packet.
const MTU: Bytes = Bytes::new(1500);

/// How long so many full packets take at a link's rate, which is asked for only if there are any.
fn time_of(packets: u32, rate: impl Fn() -> Rate) -> Span {
    match packets {
        0 => Span::ZERO,
        packets => rate().time_for(MTU * u64::from(packets)),
    }
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// The queue's active queue management dropped it (CoDel, PIE, DualPI2, FQ-CoDel).
    QueueManaged,
    /// It was lost at random on the path.
    Lost,
    /// The link was off.
    LinkOff,
    /// It exceeded a policer's rate.
    Policed,
    /// A middlebox drops packets that are capable of ECN.
    EcnCapable,
}

/// The kind and limits of a queue. Sizes count as in Mahimahi, with 4 bytes of packet information per packet.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum QueueConfig {
    /// Never drops.
    #[default]
    Infinite,
    /// Drops packets that arrive at a full queue.
    DropTail(Limits),
    /// Drop-tail with limits that change at a given time: a path that moves to another router.
    DropTailUntil {
        /// When the limits change, since the start.
        until: Span,
        /// The limits until then.
        before: Limits,
        /// The limits from then on.
        after: Limits,
    },
    /// Drops packets from the head until the arriving one fits.
    DropHead(Limits),
    /// Controlled delay, with the peculiarities of Mahimahi's implementation (specs/linkemu.md 3).
    Codel {
        /// Limits, applied drop-tail.
        limits: Limits,
        /// The target queueing delay.
        target: Span,
        /// How long the target may be exceeded.
        interval: Span,
    },
    /// Proportional integral controller enhanced, as in Mahimahi.
    Pie {
        /// Limits, applied drop-tail.
        limits: Limits,
        /// The reference queueing delay.
        reference: Span,
        /// Bursts up to this long are not dropped.
        max_burst: Span,
    },
    /// Controlled delay as RFC 8289 has it, which marks packets that are capable of ECN and drops others.
    CodelEcn {
        /// Limits, applied drop-tail.
        limits: Limits,
        /// The target queueing delay.
        target: Span,
        /// How long the target may be exceeded.
        interval: Span,
        /// Packets with ECT(1) that waited longer are marked at once.
        #[cfg_attr(feature = "serde", serde(default))]
        threshold: Option<Span>,
    },
    /// A queue for each flow, with a CoDel that marks at the exit of each (RFC 8290).
    FqCodel(FqCodelConfig),
    /// Marks what leaves by how long it waited: for a path that only senders with scalable control use.
    Marking {
        /// Limits, applied drop-tail.
        limits: Limits,
        /// When packets are marked.
        marker: Marker,
        /// Leaves ECT(0) alone.
        #[cfg_attr(feature = "serde", serde(default))]
        only_ect1: bool,
        /// No threshold is below the time that this many packets of 1500 bytes take at the link's rate.
        #[cfg_attr(feature = "serde", serde(default))]
        least_packets: u32,
    },
    /// Marks what arrives by how long it is going to wait, at the rate of the last 20 ms: as a base station could.
    Predictive {
        /// Limits, applied drop-tail.
        limits: Limits,
        /// When packets are marked, by the delay that is predicted.
        marker: Marker,
    },
    /// A queue for low latency and a classic one, coupled (RFC 9332).
    #[cfg_attr(feature = "serde", serde(rename = "dualpi2"))]
    DualPi2(DualPi2Config),
    /// The dual queue of libwebrtc's tests (specs/l4s.md 2.7).
    #[cfg_attr(feature = "serde", serde(rename = "dualpi2-webrtc"))]
    DualPi2Webrtc {
        /// The target delay.
        target: Span,
        /// While more waits than passes at this rate in twice the target, everything is marked or dropped.
        #[cfg_attr(feature = "serde", serde(default))]
        link_rate: Option<Rate>,
    },
}

/// Limits of a queue; at least one is set, and all that are set hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Limits {
    /// Max bytes.
    pub bytes: Option<Bytes>,
    /// Max packets.
    pub packets: Option<u64>,
    /// Max time that the bytes in the queue take, at the link's rate when a packet arrives; what is in the queue stays
    /// when the rate falls. While the rate is 0 the last one above 0 counts, and of a trace its mean. An empty queue
    /// takes any packet.
    pub time: Option<Span>,
}

impl Limits {
    /// At most `bytes`.
    pub const fn bytes(bytes: Bytes) -> Limits {
        Limits { bytes: Some(bytes), packets: None, time: None }
    }

    /// At most `packets`.
    pub const fn packets(packets: u64) -> Limits {
        Limits { bytes: None, packets: Some(packets), time: None }
    }

    /// At most what the link carries in `time`.
    pub const fn time(time: Span) -> Limits {
        Limits { bytes: None, packets: None, time: Some(time) }
    }

    /// Returns true if so many packets may be in the queue of a link with this rate.
    fn admit(&self, bytes: Bytes, packets: u64, rate: impl Fn() -> Rate) -> bool {
        self.bytes.is_none_or(|limit| bytes <= limit)
            && self.packets.is_none_or(|limit| packets <= limit)
            && self.time.is_none_or(|limit| packets == 1 || bytes <= rate().over(limit))
    }

    fn check(&self) -> Result<(), ConfigError> {
        let any = self.bytes.is_some() || self.packets.is_some() || self.time.is_some();
        check("queue limits", "empty")
            .is(any, "bytes = \"64kB\", packets = 256, time = \"300ms\", or several of them")?;
        check("queue limits", "0")
            .is(self.packets != Some(0) && self.bytes != Some(Bytes::ZERO), "room for at least one packet")?;
        let Some(time) = self.time else { return Ok(()) };
        check("queue limits", time).within(above(Span::ZERO), "time = \"300ms\"")
    }
}

/// A packet in a queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued<P> {
    pub(crate) arrival: Time,
    /// Size as Mahimahi counts it: IP bytes and packet information.
    pub(crate) counted: Bytes,
    pub(crate) packet: P,
}

impl<P: Packet> Queued<P> {
    /// Marks the packet, unless it is marked already; its transport is capable of ECN.
    fn mark(&mut self, why: MarkReason) {
        let ecn = self.packet.ecn();
        debug_assert!(ecn.is_capable(), "a packet whose transport is not capable of ECN is dropped, not marked");
        if ecn != crate::Ecn::Ce {
            self.packet.mark(why);
        }
    }
}

/// A queue in operation.
#[derive(Debug, Clone)]
pub(crate) struct Queue<P>(Kind<P>);

#[derive(Debug, Clone)]
enum Kind<P> {
    Single(Single<P>),
    FqCodel(FqCodel<P>),
    DualPi2(DualPi2<P>),
    DualPi2Webrtc(DualPi2Webrtc<P>),
}

impl QueueConfig {
    pub(crate) fn build<P: Packet>(&self, seed: Seed) -> Result<Queue<P>, ConfigError> {
        let discipline = match *self {
            QueueConfig::Infinite => Discipline::Infinite,
            QueueConfig::DropTail(limits) => {
                limits.check()?;
                Discipline::DropTail(limits)
            }
            QueueConfig::DropTailUntil { until, before, after } => {
                before.check()?;
                after.check()?;
                Discipline::DropTailUntil { until, before, after }
            }
            QueueConfig::DropHead(limits) => {
                limits.check()?;
                Discipline::DropHead(limits)
            }
            QueueConfig::Codel { limits, target, interval } => {
                limits.check()?;
                Discipline::Codel(limits, Codel::new(target, interval)?)
            }
            QueueConfig::Pie { limits, reference, max_burst } => {
                limits.check()?;
                Discipline::Pie(limits, Pie::new(reference, max_burst, seed)?)
            }
            QueueConfig::CodelEcn { limits, target, interval, threshold } => {
                limits.check()?;
                Discipline::CodelEcn(limits, CodelEcn::new("codel-ecn", target, interval, threshold)?)
            }
            QueueConfig::Marking { limits, marker, only_ect1, least_packets } => {
                limits.check()?;
                marker.check()?;
                let random = seed.child("marking").random();
                Discipline::Marking(limits, Marking { marker, only_ect1, least_packets, random })
            }
            QueueConfig::Predictive { limits, marker } => {
                limits.check()?;
                marker.check()?;
                Discipline::Predictive(limits, Predictive::new(marker, seed))
            }
            QueueConfig::FqCodel(config) => return Ok(Queue(Kind::FqCodel(FqCodel::new(config)?))),
            QueueConfig::DualPi2(config) => return Ok(Queue(Kind::DualPi2(DualPi2::new(config, seed)?))),
            QueueConfig::DualPi2Webrtc { target, link_rate } => {
                return Ok(Queue(Kind::DualPi2Webrtc(DualPi2Webrtc::new(target, link_rate, seed)?)));
            }
        };
        Ok(Queue(Kind::Single(Single::new(discipline))))
    }
}

impl<P: Packet> Queue<P> {
    pub(crate) fn is_empty(&self) -> bool {
        match &self.0 {
            Kind::Single(queue) => queue.is_empty(),
            Kind::FqCodel(queue) => queue.is_empty(),
            Kind::DualPi2(queue) => queue.is_empty(),
            Kind::DualPi2Webrtc(queue) => queue.is_empty(),
        }
    }

    /// Adds `queued` at `now` to the queue of a link of this rate; `dropped` is called with each packet dropped to do
    /// so.
    pub(crate) fn push(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        queued: Queued<P>,
        dropped: impl FnMut(Queued<P>, DropReason),
    ) {
        match &mut self.0 {
            Kind::Single(queue) => queue.push(now, rate, queued, dropped),
            Kind::FqCodel(queue) => queue.push(rate, queued, dropped),
            Kind::DualPi2(queue) => queue.push(now, rate, queued, dropped),
            Kind::DualPi2Webrtc(queue) => queue.push(queued, dropped),
        }
    }

    /// Removes the next packet at `now`, with the mark that the queue gives it; `dropped` is called with what queue
    /// management drops before or after it.
    pub(crate) fn pop(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        dropped: impl FnMut(Queued<P>, DropReason),
    ) -> Option<Queued<P>> {
        match &mut self.0 {
            Kind::Single(queue) => queue.pop(now, rate, dropped),
            Kind::FqCodel(queue) => queue.pop(now, dropped),
            Kind::DualPi2(queue) => queue.pop(now, rate, dropped),
            Kind::DualPi2Webrtc(queue) => queue.pop(now),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Ecn;

    /// A packet with an ECN field.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) struct Numbered {
        pub(crate) number: u64,
        pub(crate) flow: u64,
        pub(crate) ecn: Ecn,
        pub(crate) marked: Option<MarkReason>,
    }

    impl Packet for Numbered {
        fn ecn(&self) -> Ecn {
            self.ecn
        }

        fn flow(&self) -> u64 {
            self.flow
        }

        fn mark(&mut self, why: MarkReason) {
            (self.ecn, self.marked) = (Ecn::Ce, Some(why));
        }

        fn bleach(&mut self) {
            self.ecn = Ecn::NotCapable;
        }
    }

    pub(crate) const fn packet(number: u64, ecn: Ecn) -> Numbered {
        Numbered { number, flow: 0, ecn, marked: None }
    }

    /// One that arrived at this millisecond, which is also its number.
    pub(crate) fn queued(ms: u64, size: u64, ecn: Ecn) -> Queued<Numbered> {
        Queued { arrival: Time::from_millis(ms), counted: Bytes::new(size), packet: packet(ms, ecn) }
    }
}
