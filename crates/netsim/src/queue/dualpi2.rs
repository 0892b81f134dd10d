//! DualPI2 (RFC 9332), with the order of decisions of Linux's `sch_dualpi2`.

use thalweg_units::{Bytes, ConfigError, Random, Rate, Seed, Span, Time, above, check};

use super::fifo::Fifo;
use super::{DropReason, Limits, MTU, MarkReason, Marker, Queued, time_of};
use crate::{Ecn, Packet};

/// The least limit of the queue when it is given as a time: some twenty packets (specs/l4s.md 2.2).
const LEAST_LIMIT: Bytes = Bytes::new(30_000);

/// A queue for packets that say ECT(1), whose senders answer marks in proportion, and one for all others, served so
/// that neither starves. A PI controller holds the classic queue at its target; its probability p drops or marks
/// classic packets with p^2 and marks others with `coupling` times p, so that both kinds of flows get similar rates.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, rename_all = "kebab-case", deny_unknown_fields)
)]
pub struct DualPi2Config {
    /// Limits of both queues together, applied drop-tail; by default what the link carries in 250 ms, and at least
    /// 30 kB.
    pub limits: Option<Limits>,
    /// The target of the classic queue's delay.
    pub target: Span,
    /// How often the probability changes.
    pub update: Span,
    /// Its change for each second of delay above the target.
    pub alpha: f64,
    /// Its change for each second by which the delay grew.
    pub beta: f64,
    /// k: how many times p the probability of marks for low latency is.
    pub coupling: f64,
    /// When packets in the queue for low latency are marked for their own delay.
    pub marker: Marker,
    /// The marker has no threshold below the time that this many packets of 1500 bytes take at the link's rate. Linux
    /// has no such bound; below some 20 Mbps its step of 1 ms is less than two packets take, and marks all that follow
    /// another.
    pub least_packets: u32,
    /// Which queue is served.
    pub scheduler: Scheduler,
    /// The reaction when `coupling` times p is above 1.
    pub overload: Overload,
    /// Spaces marks and drops evenly in place of at random (RFC 9332 appendix A).
    pub even: bool,
}

impl Default for DualPi2Config {
    /// Linux's defaults, rounded (specs/l4s.md 2.2).
    fn default() -> DualPi2Config {
        DualPi2Config {
            limits: None,
            target: Span::from_millis(15),
            update: Span::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            marker: Marker::Step { at: Span::from_millis(1) },
            least_packets: 0,
            scheduler: Scheduler::default(),
            overload: Overload::default(),
            even: false,
        }
    }
}

/// Which of two queues is served while both have packets.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum Scheduler {
    /// Weighted round robin by bytes, as in Linux.
    WeightedRoundRobin {
        /// The classic queue's part of the link, in percent, 1 to 99.
        classic_percent: u8,
    },
    /// The packet that arrived first, were those for low latency this much earlier (RFC 9332 section 4.2.2).
    TimeShiftedFifo {
        /// How much earlier.
        shift: Span,
    },
}

impl Default for Scheduler {
    fn default() -> Scheduler {
        Scheduler::WeightedRoundRobin { classic_percent: 10 }
    }
}

/// Treatment of packets for low latency in an overloaded queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
pub enum Overload {
    /// They are dropped as classic ones are.
    #[default]
    Drop,
    /// They are marked, p stays at `1 / coupling`, and the queue's limit drops.
    Overflow,
}

impl DualPi2Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if let Some(limits) = &self.limits {
            limits.check()?;
        }
        check("dualpi2.target", self.target).within(above(Span::ZERO), "target = \"15ms\"")?;
        check("dualpi2.update", self.update).within(Span::from_millis(1).., "update = \"16ms\"")?;
        check("dualpi2.alpha", self.alpha).within(0.0.., "alpha = 0.16")?;
        check("dualpi2.beta", self.beta).within(0.0.., "beta = 3.2")?;
        check("dualpi2.coupling", self.coupling).within(1.0..=16.0, "coupling = 2.0")?;
        self.marker.check()?;
        match self.scheduler {
            Scheduler::WeightedRoundRobin { classic_percent } => {
                check("dualpi2.scheduler.classic_percent", classic_percent).within(1..=99, "classic_percent = 10")
            }
            Scheduler::TimeShiftedFifo { shift } => {
                check("dualpi2.scheduler.shift", shift).within(Span::ZERO.., "shift = \"50ms\"")
            }
        }
    }
}

/// Which of the two queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Low,
    Classic,
}

/// The outcome for a packet that leaves its queue.
enum Verdict {
    Pass,
    Mark(MarkReason),
    Drop,
}

/// See [`DualPi2Config`].
#[derive(Debug, Clone)]
pub(super) struct DualPi2<P> {
    config: DualPi2Config,
    low: Fifo<P>,
    classic: Fifo<P>,
    /// p, and the delay when it last changed.
    probability: f64,
    previous: Span,
    next_update: Time,
    /// Bytes times percent by which the classic queue is behind, above 0, or ahead.
    credit: i64,
    /// Accumulated share of the next mark or drop in each queue, where these are even.
    low_count: f64,
    classic_count: f64,
    random: Random,
}

impl<P: Packet> DualPi2<P> {
    pub(super) fn new(config: DualPi2Config, seed: Seed) -> Result<DualPi2<P>, ConfigError> {
        config.check()?;
        let mut queue = DualPi2 {
            config,
            low: Fifo::new(),
            classic: Fifo::new(),
            probability: 0.0,
            previous: Span::ZERO,
            next_update: Time::ZERO + config.update,
            credit: 0,
            low_count: 0.0,
            classic_count: 0.0,
            random: seed.child("dualpi2").random(),
        };
        queue.credit = queue.initial_credit();
        Ok(queue)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low.is_empty() && self.classic.is_empty()
    }

    fn bytes(&self) -> Bytes {
        self.low.bytes() + self.classic.bytes()
    }

    fn len(&self) -> u64 {
        self.low.len() + self.classic.len()
    }

    fn fifo(&mut self, class: Class) -> &mut Fifo<P> {
        match class {
            Class::Low => &mut self.low,
            Class::Classic => &mut self.classic,
        }
    }

    pub(super) fn push(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        queued: Queued<P>,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) {
        self.update(now);
        let bytes = self.bytes() + queued.counted;
        let fits = match &self.config.limits {
            Some(limits) => limits.admit(bytes, self.len() + 1, rate),
            None => bytes <= rate().over(Span::from_millis(250)).max(LEAST_LIMIT),
        };
        if !fits {
            dropped(queued, DropReason::QueueFull);
            return;
        }
        let class = if queued.packet.ecn().is_low_latency() { Class::Low } else { Class::Classic };
        self.fifo(class).push(queued);
    }

    pub(super) fn pop(
        &mut self,
        now: Time,
        rate: impl Fn() -> Rate,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) -> Option<Queued<P>> {
        self.update(now);
        let least = time_of(self.config.least_packets, rate);
        loop {
            let Some(class) = self.served(now) else {
                self.credit = self.initial_credit();
                return None;
            };
            let mut queued = self.fifo(class).pop()?;
            match self.judge(class, (now - queued.arrival, least), queued.packet.ecn()) {
                Verdict::Drop => {
                    dropped(queued, DropReason::QueueManaged);
                    continue;
                }
                Verdict::Mark(why) => queued.mark(why),
                Verdict::Pass => {}
            }
            self.pay(class, queued.counted);
            return Some(queued);
        }
    }

    /// Changes p at each time that has come. Between two calls nothing entered or left, so that what waits now waited
    /// then.
    fn update(&mut self, now: Time) {
        let DualPi2Config { target, update, alpha, beta, coupling, overload, .. } = self.config;
        while self.next_update <= now {
            let at = self.next_update;
            let delay = [&self.low, &self.classic].into_iter().filter_map(|queue| queue.sojourn(at)).max();
            let delay = delay.unwrap_or(Span::ZERO);
            if delay == Span::ZERO && self.previous == Span::ZERO && self.probability == 0.0 {
                // Nothing changes until a packet comes.
                let missed = (now - at).as_nanos() / update.as_nanos();
                self.next_update = at + update * (missed + 1);
                return;
            }
            let change = alpha * (delay - target).as_secs_f64() + beta * (delay - self.previous).as_secs_f64();
            let most = match overload {
                Overload::Drop => 1.0,
                Overload::Overflow => 1.0 / coupling,
            };
            self.probability = (self.probability + change).clamp(0.0, most);
            self.previous = delay;
            self.next_update = at + update;
        }
    }

    /// The queue to serve; `None` if both are empty.
    fn served(&self, now: Time) -> Option<Class> {
        let (low, classic) = match (self.low.sojourn(now), self.classic.sojourn(now)) {
            (None, None) => return None,
            (Some(_), None) => return Some(Class::Low),
            (None, Some(_)) => return Some(Class::Classic),
            (Some(low), Some(classic)) => (low, classic),
        };
        let is_low = match self.config.scheduler {
            Scheduler::WeightedRoundRobin { .. } => self.credit <= 0,
            Scheduler::TimeShiftedFifo { shift } => low + shift >= classic,
        };
        Some(if is_low { Class::Low } else { Class::Classic })
    }

    /// A packet that waited `sojourn` has been taken off its queue; no threshold is below `least`.
    fn judge(&mut self, class: Class, (sojourn, least): (Span, Span), ecn: Ecn) -> Verdict {
        let p = self.probability;
        let is_managed = self.bytes() >= MTU * 2;
        let coupled = if is_managed { self.config.coupling * p } else { 0.0 };
        let over = coupled > 1.0;
        match class {
            Class::Classic if !is_managed || !self.hits_squared(p) => Verdict::Pass,
            Class::Classic if over || !ecn.is_capable() => Verdict::Drop,
            Class::Classic => Verdict::Mark(MarkReason::Classic),
            Class::Low if over && self.config.overload == Overload::Drop && self.hits_squared_at_random(p) => {
                Verdict::Drop
            }
            Class::Low if over => Verdict::Mark(MarkReason::Coupled),
            Class::Low => {
                // RFC 9332's ramp leaves a queue of one packet alone; Linux's step does not.
                let is_alone = matches!(self.config.marker, Marker::Ramp { .. }) && self.low.is_empty();
                let native = if is_alone { 0.0 } else { self.config.marker.probability(sojourn, least) };
                self.low_mark(coupled, native)
            }
        }
    }

    /// Draws a mark or drop for the other queue's sake (`coupled`), or for this one's own (`native`).
    fn low_mark(&mut self, coupled: f64, native: f64) -> Verdict {
        if self.config.even {
            self.low_count += coupled.max(native);
            if self.low_count <= 1.0 {
                return Verdict::Pass;
            }
            self.low_count -= 1.0;
            return Verdict::Mark(if coupled >= native { MarkReason::Coupled } else { self.config.marker.reason() });
        }
        let draw = if coupled > 0.0 || native > 0.0 && native < 1.0 { self.random.unit() } else { 0.0 };
        if draw < coupled {
            Verdict::Mark(MarkReason::Coupled)
        } else if draw < native {
            Verdict::Mark(self.config.marker.reason())
        } else {
            Verdict::Pass
        }
    }

    /// Returns true with probability p^2, for a classic packet.
    fn hits_squared(&mut self, p: f64) -> bool {
        if !self.config.even {
            return self.hits_squared_at_random(p);
        }
        self.classic_count += p * p;
        let hit = self.classic_count > 1.0;
        if hit {
            self.classic_count -= 1.0;
        }
        hit
    }

    fn hits_squared_at_random(&mut self, p: f64) -> bool {
        self.random.unit() < p && self.random.unit() < p
    }

    fn initial_credit(&self) -> i64 {
        match self.config.scheduler {
            Scheduler::WeightedRoundRobin { classic_percent } => {
                let classic = i64::from(classic_percent);
                MTU.get() as i64 * (classic - (100 - classic))
            }
            Scheduler::TimeShiftedFifo { .. } => 0,
        }
    }

    /// A packet of one queue leaves: if the other waits, the balance moves.
    fn pay(&mut self, class: Class, size: Bytes) {
        let Scheduler::WeightedRoundRobin { classic_percent } = self.config.scheduler else { return };
        let (classic, size) = (i64::from(classic_percent), size.get() as i64);
        match class {
            Class::Low if !self.classic.is_empty() => self.credit += classic * size,
            Class::Classic if !self.low.is_empty() => self.credit -= (100 - classic) * size,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
