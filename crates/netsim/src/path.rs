//! Paths: chains of hops.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, Time};

use crate::bottleneck::Bottleneck;
use crate::capacity::{Capacity, PathCapacity};
use crate::delay::{Delay, Delays, Jitter};
use crate::duplicate::Duplicate;
use crate::loss::{Loss, LossModel};
use crate::middlebox::{EcnFault, Middlebox};
use crate::policer::Policer;
use crate::queue::QueueConfig;
use crate::serial::{Rates, Serial};
use crate::trace::{Schedule, Trace};
use crate::{Change, Departure, Drop, Ecn, Link, MarkReason, Packet};

/// One hop of a path.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub enum HopConfig {
    /// A trace-driven bottleneck.
    Bottleneck {
        /// The trace's name, which the builder of the path resolves.
        trace: String,
        /// The queue in front of it.
        #[cfg_attr(feature = "serde", serde(default))]
        queue: QueueConfig,
        /// Plays the trace only once instead of in a loop.
        #[cfg_attr(feature = "serde", serde(default))]
        once: bool,
    },
    /// A bottleneck with a constant rate, or with rates in turn.
    Rate {
        /// The rate, such as `1Mbps`, `2Mbps/1Mbps@30s` (each for 30 s), `500kbps@5s/5Mbps@25s` (each for its own time)
        /// or `500kbps@3s/5Mbps` (the last stays).
        rate: Rates,
        /// The queue in front of it.
        #[cfg_attr(feature = "serde", serde(default))]
        queue: QueueConfig,
    },
    /// Delay with jitter.
    Delay {
        /// The fixed delay of every packet, or delays in turn such as `10ms@3s/80ms`.
        delay: Delays,
        /// The extra delay.
        #[cfg_attr(feature = "serde", serde(default))]
        jitter: Jitter,
        /// Lets packets overtake one another.
        #[cfg_attr(feature = "serde", serde(default))]
        reorders: bool,
    },
    /// Random loss or outages.
    Loss(LossModel),
    /// Packets that pass twice.
    Duplicate {
        /// The probability that a packet is copied, 0 to 1.
        probability: f64,
        /// How long after its packet a copy passes; 0 for directly behind it.
        #[cfg_attr(feature = "serde", serde(default))]
        after: Span,
    },
    /// A token bucket that drops what exceeds it ([`Policer`]).
    Policer {
        /// The rate at which tokens come.
        rate: Rate,
        /// The most tokens there are: the longest burst that passes.
        bucket: Bytes,
    },
    /// A middlebox that clears ECN fields, or drops packets for them.
    Middlebox(EcnFault),
}

impl HopConfig {
    /// A fixed delay without jitter.
    pub fn delay(delay: Span) -> HopConfig {
        HopConfig::Delay { delay: delay.into(), jitter: Jitter::None, reorders: false }
    }
}

/// A path in one direction.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PathConfig {
    /// Its hops, starting at the sender.
    pub hops: Vec<HopConfig>,
}

/// Resolves the name of a trace in a path's configuration; the error says why there is none.
pub type FindTrace<'a> = dyn FnMut(&str) -> Result<Arc<Trace>, String> + 'a;

/// Why a path could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathError<E> {
    /// A trace was not found or could not be read.
    Trace(E),
    /// A parameter is out of range.
    Config(ConfigError),
}

impl<E: fmt::Display> fmt::Display for PathError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathError::Trace(error) => error.fmt(f),
            PathError::Config(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Display + fmt::Debug> core::error::Error for PathError<E> {}

impl PathConfig {
    /// Builds the path, with no packets on it. `find` returns a trace by its name.
    ///
    /// # Errors
    /// When a trace cannot be found, or a parameter is out of range.
    pub fn build<P: Packet + 'static + Send, E>(
        &self,
        seed: Seed,
        find: &mut dyn FnMut(&str) -> Result<Arc<Trace>, E>,
    ) -> Result<Path<P>, PathError<E>> {
        let mut hops: Vec<Hop<P>> = Vec::new();
        let mut limits = Vec::new();
        for (index, hop) in self.hops.iter().enumerate() {
            let seed = seed.child(&alloc::format!("hop {index}"));
            hops.push(match hop {
                HopConfig::Bottleneck { trace, queue, once } => {
                    let trace = find(trace).map_err(PathError::Trace)?;
                    limits.push(Capacity::Trace { trace: trace.clone(), once: *once });
                    let schedule = if *once { Schedule::once(trace) } else { Schedule::looped(trace) };
                    Box::new(Bottleneck::new(schedule, queue, seed).map_err(PathError::Config)?)
                }
                HopConfig::Rate { rate, queue } => {
                    limits.push(Capacity::Rates(rate.clone()));
                    Box::new(Serial::new(rate.clone(), queue, seed).map_err(PathError::Config)?)
                }
                HopConfig::Delay { delay, jitter, reorders } => {
                    delay.check().and_then(|()| jitter.check()).map_err(PathError::Config)?;
                    Box::new(Delay::jittered(delay.clone(), *jitter, *reorders, seed))
                }
                HopConfig::Loss(model) => Box::new(Loss::new(*model, seed).map_err(PathError::Config)?),
                HopConfig::Duplicate { probability, after } => {
                    Box::new(Duplicate::new(*probability, *after, seed).map_err(PathError::Config)?)
                }
                HopConfig::Policer { rate, bucket } => {
                    limits.push(Capacity::Policer { rate: *rate, bucket: *bucket });
                    Box::new(Policer::new(*rate, *bucket).map_err(PathError::Config)?)
                }
                HopConfig::Middlebox(fault) => Box::new(Middlebox::new(*fault)),
            });
        }
        if hops.is_empty() {
            hops.push(Box::new(Delay::fixed(Span::ZERO)));
        }
        Ok(Path { hops, next: (Time::NEVER, 0), capacity: PathCapacity::new(limits) })
    }
}

/// A packet on the path, with the time it has waited in queues so far.
struct Carried<P> {
    packet: P,
    queued: Span,
}

impl<P: Packet> Packet for Carried<P> {
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn flow(&self) -> u64 {
        self.packet.flow()
    }

    fn marked(&self) -> Option<MarkReason> {
        self.packet.marked()
    }

    fn mark(&mut self, why: MarkReason) {
        self.packet.mark(why);
    }

    fn bleach(&mut self) {
        self.packet.bleach();
    }

    fn duplicate(&mut self) -> Option<Carried<P>> {
        Some(Carried { packet: self.packet.duplicate()?, queued: self.queued })
    }
}

type Hop<P> = Box<dyn Link<Carried<P>> + Send>;

/// A chain of hops. A packet that leaves one reaches the next at that instant.
pub struct Path<P> {
    hops: Vec<Hop<P>>,
    /// The time and hop of the next event: computed once after each change, because it is read far more often.
    next: (Time, usize),
    capacity: PathCapacity,
}

impl<P> Path<P> {
    /// Its capacity at each moment, with the changes so far.
    pub fn capacity(&self) -> &PathCapacity {
        &self.capacity
    }

    /// Among hops due at the same instant the one nearest to the sender goes first.
    fn find_next(&mut self) {
        let due = self.hops.iter().enumerate().map(|(index, hop)| (hop.next_event(), index));
        self.next = due.min().unwrap_or((Time::NEVER, 0));
    }
}

impl<P> Link<P> for Path<P> {
    fn offer(&mut self, now: Time, size: Bytes, packet: P) {
        self.hops[0].offer(now, size, Carried { packet, queued: Span::ZERO });
        self.find_next();
    }

    /// The reported queueing time is the sum over all hops.
    fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        // Packets advance in order of time, so that no hop sees a later packet before an earlier one.
        while self.next.0 <= now {
            let (at, index) = self.next;
            let mut out = None;
            if let Some(Departure { at, size, queued, packet: carried }) = self.hops[index].poll(at) {
                let (packet, queued) = (carried.packet, carried.queued + queued);
                match self.hops.get_mut(index + 1) {
                    Some(hop) => hop.offer(at, size, Carried { packet, queued }),
                    None => out = Some(Departure { at, size, queued, packet }),
                }
            }
            self.find_next();
            if out.is_some() {
                return out;
            }
        }
        None
    }

    fn next_event(&self) -> Time {
        self.next.0
    }

    fn poll_drop(&mut self) -> Option<Drop<P>> {
        let dropped = self.hops.iter_mut().find_map(|hop| hop.poll_drop())?;
        Some(Drop { at: dropped.at, size: dropped.size, why: dropped.why, packet: dropped.packet.packet })
    }

    /// Every bottleneck gets the rate. The first hop with a delay gets the whole delay and the others none, and the
    /// same with loss.
    fn change(&mut self, now: Time, change: &Change) -> bool {
        let rest = match change {
            Change::Rate(_) => *change,
            Change::Delay(_) => Change::Delay(Span::ZERO),
            Change::Loss(_) => Change::Loss(0.0),
        };
        let mut changed = false;
        for hop in &mut self.hops {
            changed |= hop.change(now, if changed { &rest } else { change });
        }
        if let (true, Change::Rate(rate)) = (changed, change) {
            self.capacity.set(now, *rate);
        }
        self.find_next();
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DropReason;
    use alloc::vec;
    use proptest::prelude::*;

    fn path(hops: Vec<HopConfig>, traces: &[(&str, Trace)]) -> Path<u64> {
        let traces: Vec<_> = traces.iter().map(|(name, trace)| (*name, Arc::new(trace.clone()))).collect();
        let mut find = |name: &str| {
            traces.iter().find(|(known, _)| *known == name).map(|(_, trace)| trace.clone()).ok_or(name.len())
        };
        PathConfig { hops }.build(Seed::new(1), &mut find).unwrap()
    }

    fn bottleneck(trace: &str, queue: QueueConfig) -> HopConfig {
        HopConfig::Bottleneck { trace: trace.into(), queue, once: false }
    }

    fn delay(millis: i64) -> HopConfig {
        HopConfig::delay(Span::from_millis(millis))
    }

    #[test]
    fn negative_delays_and_jitter_are_refused() {
        let jitter = Jitter::TruncatedNormal { deviation: Span::from_millis(5), max: Span::from_millis(-1) };
        for hop in [delay(-1), HopConfig::Delay { delay: Span::ZERO.into(), jitter, reorders: false }] {
            let built = PathConfig { hops: vec![hop] }.build::<u64, String>(Seed::new(1), &mut |_| Err(String::new()));
            let Some(PathError::Config(error)) = built.err() else { panic!("it was built") };
            assert!(alloc::format!("{error}").contains("is -1ms, must be at least 0ms"), "{error}");
        }
    }

    #[test]
    fn a_policer_before_a_bottleneck_drops_what_exceeds_it_and_a_changed_rate_is_not_its_own() {
        let policer = HopConfig::Policer { rate: Rate::from_kbps(256), bucket: Bytes::new(2000) };
        let rate = HopConfig::Rate { rate: "1Mbps".parse().unwrap(), queue: QueueConfig::Infinite };
        let mut path = path(vec![policer, rate], &[]);
        assert_eq!(path.capacity().hops().iter().filter(|hop| hop.is_bottleneck()).count(), 1);
        (0..3).for_each(|number| path.offer(Time::ZERO, Bytes::new(1000), number));
        assert_eq!(left_after(&mut path), [(0, 8), (1, 16)]);
        assert_eq!(path.poll_drop().map(|lost| (lost.packet, lost.why)), Some((2, DropReason::Policed)));
        assert!(path.change(Time::from_millis(20), &Change::Rate(Some(Rate::from_kbps(8000)))));
        (3..6).for_each(|number| path.offer(Time::from_millis(51), Bytes::new(1000), number));
        assert_eq!(left_after(&mut path), [(3, 52)]);
    }

    #[test]
    fn two_cellular_hops_add_their_delays() {
        let traces = [("a", Trace::new(vec![10]).unwrap()), ("b", Trace::new(vec![7]).unwrap())];
        let hops = vec![bottleneck("a", QueueConfig::Infinite), delay(25), bottleneck("b", QueueConfig::Infinite)];
        let mut path = path(hops, &traces);
        path.offer(Time::from_millis(3), Bytes::new(1500), 1);
        // It leaves the first hop at 10 and reaches the second at 35, whose opportunity at 35 comes before the arrival.
        let left = path.poll(Time::from_millis(1000)).unwrap();
        assert_eq!((left.at, left.queued), (Time::from_millis(42), Span::from_millis(7 + 7)));
    }

    #[test]
    fn a_missing_trace_is_an_error_of_the_lookup() {
        let config = PathConfig { hops: vec![bottleneck("nowhere", QueueConfig::Infinite)] };
        let built = config.build::<u64, String>(Seed::new(1), &mut |name| Err(alloc::format!("no trace '{name}'")));
        assert_eq!(built.err(), Some(PathError::Trace("no trace 'nowhere'".into())));
    }

    /// Departures from now on: (number, ms).
    fn left_after(path: &mut Path<u64>) -> Vec<(u64, u64)> {
        let far = Time::from_secs_f64(1e4);
        core::iter::from_fn(|| path.poll(far)).map(|left| (left.packet, left.at.as_millis())).collect()
    }

    #[test]
    fn a_changed_rate_holds_for_what_waits_and_for_the_rest_of_what_is_leaving() {
        let rate = HopConfig::Rate { rate: "100kbps".parse().unwrap(), queue: QueueConfig::Infinite };
        let mut path = path(vec![rate, delay(5)], &[]);
        (0..3).for_each(|number| path.offer(Time::ZERO, Bytes::new(1250), number));
        // At 50 ms half of the first is through; the other half takes 500 ms at a tenth of the rate.
        assert!(path.change(Time::from_millis(50), &Change::Rate(Some(Rate::from_kbps(10)))));
        // At 1050 ms half of the second is, and from then on the path is as it was built.
        assert_eq!(path.poll(Time::from_millis(1050)).unwrap().at, Time::from_millis(555));
        path.change(Time::from_millis(1050), &Change::Rate(None));
        assert_eq!(left_after(&mut path), [(1, 1105), (2, 1205)]);
    }

    #[test]
    fn a_traces_rate_changes_and_the_trace_goes_on_where_it_would_be() {
        let traces = [("t", Trace::new(vec![100]).unwrap())];
        let mut path = path(vec![bottleneck("t", QueueConfig::Infinite)], &traces);
        (0..4).for_each(|number| path.offer(Time::ZERO, Bytes::new(1496), number));
        assert_eq!(path.poll(Time::from_millis(130)).unwrap().at, Time::from_millis(100));
        // 12,000 bits at 1.2 Mbps are 10 ms: at 140 and 150; then at the next hundred.
        path.change(Time::from_millis(130), &Change::Rate(Some(Rate::from_kbps(1200))));
        assert_eq!([140, 150].map(|at| path.poll(Time::from_millis(at)).unwrap().packet), [1, 2]);
        path.change(Time::from_millis(155), &Change::Rate(None));
        assert_eq!(left_after(&mut path), [(3, 200)]);
    }

    #[test]
    fn delays_are_set_as_a_whole_loss_where_it_is_random_and_what_a_path_has_not_stays_unchanged() {
        let loss = HopConfig::Loss(LossModel::Random { probability: 0.0 });
        let mut path = path(vec![delay(20), delay(5), loss], &[]);
        path.offer(Time::ZERO, Bytes::new(100), 0);
        assert!(path.change(Time::ZERO, &Change::Delay(Span::from_millis(40))));
        path.offer(Time::from_millis(1), Bytes::new(100), 1);
        assert_eq!(left_after(&mut path), [(0, 20), (1, 41)]);
        assert!(path.change(Time::ZERO, &Change::Loss(1.0)));
        path.offer(Time::from_millis(2), Bytes::new(100), 2);
        assert_eq!(left_after(&mut path), []);
        assert!(!path.change(Time::ZERO, &Change::Rate(Some(Rate::from_kbps(1)))));
    }

    proptest! {
        /// Packets are conserved and stay in order, and the number of polls does not change the result.
        #[test]
        fn every_packet_leaves_once_or_is_dropped_however_often_the_path_is_polled(
            gaps in proptest::collection::vec(1u64..30, 1..40),
            offers in proptest::collection::vec((0u64..4_000, 40u64..1500), 1..150),
            limit in 1u64..20,
        ) {
            let mut at = 0;
            let trace = Trace::new(gaps.iter().map(|gap| { at += gap; at }).collect()).unwrap();
            let queue = QueueConfig::DropTail(crate::queue::Limits::packets(limit));
            let run = |step_us: u64| {
                let mut path = path(vec![bottleneck("t", queue), delay(25)], &[("t", trace.clone())]);
                let (mut now, mut left, mut dropped) = (Time::ZERO, Vec::new(), Vec::new());
                let mut next_poll = Time::ZERO;
                for (number, (gap, size)) in offers.iter().enumerate() {
                    now += Span::from_micros(*gap as i64);
                    while step_us > 0 && next_poll < now {
                        while let Some(out) = path.poll(next_poll) { left.push((out.at, out.packet)); }
                        next_poll += Span::from_micros(step_us as i64);
                    }
                    path.offer(now, Bytes::new(*size), number as u64);
                }
                while let Some(out) = path.poll(Time::from_secs_f64(1e5)) { left.push((out.at, out.packet)); }
                while let Some(lost) = path.poll_drop() { dropped.push(lost.packet); }
                (left, dropped)
            };
            let (left, dropped) = run(0);
            prop_assert_eq!(left.len() + dropped.len(), offers.len());
            prop_assert!(left.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 < pair[1].1));
            prop_assert_eq!(&run(300), &(left.clone(), dropped.clone()));
            prop_assert_eq!(&run(50_000), &(left, dropped));
        }
    }
}
