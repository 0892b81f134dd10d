//! Queues in front of a bottleneck, and why packets are dropped.

mod codel;
mod pie;

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, Time, above, check};

use codel::Codel;
use pie::Pie;

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// The queue's active queue management dropped it (CoDel, PIE).
    QueueManaged,
    /// It was lost at random on the path.
    Lost,
    /// The link was off.
    LinkOff,
    /// It exceeded a policer's rate.
    Policed,
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

    /// Whether so many packets may be in the queue of a link with this rate.
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

/// A queue in operation.
#[derive(Debug, Clone)]
pub(crate) struct Queue<P> {
    packets: VecDeque<Queued<P>>,
    bytes: Bytes,
    discipline: Discipline,
}

#[derive(Debug, Clone)]
enum Discipline {
    Infinite,
    DropTail(Limits),
    DropTailUntil { until: Span, before: Limits, after: Limits },
    DropHead(Limits),
    Codel(Limits, Codel),
    Pie(Limits, Pie),
}

impl QueueConfig {
    pub(crate) fn build<P>(&self, seed: Seed) -> Result<Queue<P>, ConfigError> {
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
        };
        Ok(Queue { packets: VecDeque::new(), bytes: Bytes::ZERO, discipline })
    }
}

impl<P> Queue<P> {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Adds `queued` at `now` to the queue of a link of this rate; `dropped` is called with each packet dropped to do
    /// so.
    pub(crate) fn push(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        queued: Queued<P>,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) {
        let fits = |queue: &Queue<P>, limits: &Limits| {
            limits.admit(queue.bytes + queued.counted, queue.packets.len() as u64 + 1, &rate)
        };
        let refused = match &self.discipline {
            Discipline::Infinite | Discipline::DropHead(_) => None,
            Discipline::DropTail(limits) | Discipline::Codel(limits, _) | Discipline::Pie(limits, _) => {
                (!fits(self, limits)).then_some(DropReason::QueueFull)
            }
            Discipline::DropTailUntil { until, before, after } => {
                let limits = if now.since_start() < *until { before } else { after };
                (!fits(self, limits)).then_some(DropReason::QueueFull)
            }
        };
        let bytes = self.bytes;
        let early = match &mut self.discipline {
            Discipline::Pie(_, pie) => pie.on_arrival(now, bytes, refused.is_some()),
            _ => false,
        };
        if let Some(why) = refused.or(early.then_some(DropReason::QueueManaged)) {
            dropped(queued, why);
            return;
        }
        self.bytes += queued.counted;
        self.packets.push_back(queued);
        if let Discipline::DropHead(limits) = self.discipline {
            while !limits.admit(self.bytes, self.packets.len() as u64, &rate) {
                match self.take() {
                    Some(head) => dropped(head, DropReason::QueueFull),
                    None => break,
                }
            }
        }
    }

    /// Removes the next packet at `now`; `dropped` is called with what queue management drops before or after it.
    pub(crate) fn pop(&mut self, now: Time, mut dropped: impl FnMut(Queued<P>, DropReason)) -> Option<Queued<P>> {
        if let Discipline::Codel(limits, mut codel) = self.discipline.clone_codel() {
            let popped = codel.pop(now, self, |queued| dropped(queued, DropReason::QueueManaged));
            self.discipline = Discipline::Codel(limits, codel);
            return popped;
        }
        let popped = self.take()?;
        let bytes = self.bytes;
        if let Discipline::Pie(_, pie) = &mut self.discipline {
            pie.on_departure(now, bytes, popped.counted);
        }
        Some(popped)
    }

    fn take(&mut self) -> Option<Queued<P>> {
        let queued = self.packets.pop_front()?;
        self.bytes -= queued.counted;
        Some(queued)
    }
}

impl Discipline {
    /// CoDel needs the queue while it decides, so its few words of state are copied out for the time.
    fn clone_codel(&self) -> Discipline {
        match self {
            Discipline::Codel(limits, codel) => Discipline::Codel(*limits, *codel),
            _ => Discipline::Infinite,
        }
    }
}
