//! webrtc-rs's own figures of its estimator, again through our seam.
//!
//! `rtc-interceptor/benches/congestion_control.rs` of webrtc-rs/rtc (ae66413, August 2026) drives the estimator in a
//! closed loop over a path of arithmetic, without randomness, and its README has the results. [`play`] is that loop
//! and that path around any [`Estimator`].

use std::collections::VecDeque;

use thalweg_control::{Fate, PacketId, Report, SentPacket};
use thalweg_lab::contestant::{Estimator, Limits};
use thalweg_units::{Bytes, Rate, Span, Time};

const PACKET: Bytes = Bytes::new(1200);
const PACKET_BITS: f64 = 9600.0;
const TICK: Span = Span::from_millis(1);
const REPORT_INTERVAL: Span = Span::from_millis(100);
const PROPAGATION: Span = Span::from_millis(20);
/// The estimator's own bounds there (`GCC_MIN_BITRATE`, `GCC_MAX_BITRATE`).
const BOUNDS: (Rate, Rate) = (Rate::from_kbps(100), Rate::from_kbps(100_000));

/// Load that counts as a path's queue against its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Queue {
    /// As that bench does: all that has entered since the queue was last empty.
    SinceEmpty,
    /// Bytes not served yet.
    Waiting,
}

/// One of its five paths, and what its README says about it.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The name there.
    pub name: &'static str,
    capacity: f64,
    queue: f64,
    /// Every packet with a number that this divides is lost.
    lost_one_in: Option<u64>,
    start: Rate,
    seconds: i64,
    /// When its capacity becomes five times as much.
    widens: Option<Time>,
    /// The README's row.
    pub published: Figures,
}

/// A row of its table; rates in Mbit/s, and shares of 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// The last target.
    pub last: f64,
    /// The mean target of the last 30 % of the run.
    pub settled: f64,
    /// The share of the capacity that was delivered in that time.
    pub used: f64,
    /// Packets lost of those sent.
    pub lost: f64,
    /// When the mean of 2 s came within 35 % of the capacity for good, in seconds.
    pub converged: Option<f64>,
}

const fn case(name: &'static str, capacity: f64, queue: f64, start: Rate, published: Figures) -> Case {
    Case { name, capacity, queue, lost_one_in: None, start, seconds: 30, widens: None, published }
}

const fn row(last: f64, settled: f64, used: f64, lost: f64, converged: Option<f64>) -> Figures {
    Figures { last, settled, used, lost, converged }
}

/// Its five paths (`PathProfile`, and `main` of the bench).
pub const CASES: [Case; 5] = [
    case("steady", 3e6, 3e6, Rate::from_kbps(300), row(3.02, 2.19, 0.730, 0.0, Some(25.3))),
    case("queue building (4x)", 3e5, 6e6, Rate::from_kbps(1200), row(0.84, 0.36, 0.796, 0.198, None)),
    Case {
        lost_one_in: Some(5),
        ..case("lossy (1 in 5)", 3e6, 3e6, Rate::from_kbps(1200), row(0.10, 0.10, 0.027, 0.200, None))
    },
    Case {
        lost_one_in: Some(20),
        ..case("mildly lossy (1 in 20)", 3e6, 3e6, Rate::from_kbps(1200), row(1.32, 1.32, 0.423, 0.050, None))
    },
    Case {
        seconds: 40,
        widens: Some(Time::from_millis(15_000)),
        ..case("recovering (5x step)", 6e5, 6e6, Rate::from_kbps(1200), row(2.15, 1.79, 0.599, 0.056, Some(37.7)))
    },
];

/// The path of a case.
struct Path {
    case: Case,
    queue: Queue,
    entered: f64,
    drains: Time,
    under_way: VecDeque<(SentPacket, Time)>,
    seen: Vec<Report>,
}

impl Path {
    fn capacity(&self, now: Time) -> f64 {
        if self.case.widens.is_some_and(|at| now >= at) { 5.0 * self.case.capacity } else { self.case.capacity }
    }

    fn offer(&mut self, now: Time, packet: SentPacket) {
        self.arrive(now);
        let waiting = match self.queue {
            Queue::SinceEmpty => self.entered,
            Queue::Waiting => {
                let left = self.under_way.partition_point(|(_, arrival)| *arrival - PROPAGATION <= now);
                (self.under_way.len() - left) as f64 * PACKET_BITS
            }
        };
        let is_lost = self.case.lost_one_in.is_some_and(|one_in| (packet.id.0 + 1).is_multiple_of(one_in));
        if is_lost || waiting + PACKET_BITS > self.case.queue {
            self.seen.push(Report::new(packet, Fate::Lost));
            return;
        }
        self.drains = self.drains.max(now) + Span::from_secs_f64(PACKET_BITS / self.capacity(now));
        self.entered += PACKET_BITS;
        self.under_way.push_back((packet, self.drains + PROPAGATION));
    }

    fn arrive(&mut self, now: Time) {
        while let Some(&(packet, at)) = self.under_way.front().filter(|(_, at)| *at <= now) {
            self.under_way.pop_front();
            self.seen.push(Report::new(packet, Fate::arrived(at)));
        }
        if now >= self.drains {
            self.entered = 0.0;
        }
    }
}

/// Plays a case: the sender sends at the target, and a report of what was seen comes back at once, ten a second.
pub fn play(case: Case, queue: Queue, make: impl Fn(Limits) -> Box<dyn Estimator>) -> Figures {
    let mut estimator = make(Limits { start: case.start, min: BOUNDS.0, max: BOUNDS.1 });
    let (under_way, seen) = (VecDeque::new(), Vec::new());
    let mut path = Path { case, queue, entered: 0.0, drains: Time::ZERO, under_way, seen };
    let mut targets = vec![(Time::ZERO, estimator.target().as_bps_f64())];
    let mut delivered: Vec<(Time, f64)> = Vec::new();
    let (mut now, mut credit, mut sent, mut lost) = (Time::ZERO, 0.0, 0, 0u64);
    let (end, mut next_report) = (Time::ZERO + Span::from_secs(case.seconds), Time::ZERO + REPORT_INTERVAL);
    while now < end {
        now += TICK;
        credit += estimator.target().as_bps_f64() * TICK.as_secs_f64();
        while credit >= PACKET_BITS {
            credit -= PACKET_BITS;
            path.offer(now, SentPacket::new(PacketId(sent), now, PACKET));
            sent += 1;
        }
        path.arrive(now);
        if now < next_report {
            continue;
        }
        next_report += REPORT_INTERVAL;
        let reports = std::mem::take(&mut path.seen);
        let arrived = reports.iter().filter(|report| report.arrival().is_some()).count();
        lost += (reports.len() - arrived) as u64;
        delivered.push((now, arrived as f64 * PACKET_BITS));
        if !reports.is_empty() {
            estimator.on_reports(now, &reports);
            targets.push((now, estimator.target().as_bps_f64()));
        }
    }
    let capacity = path.capacity(end);
    let tail = Span::from_secs_f64(case.seconds as f64 * 0.3);
    let of_tail = |series: &[(Time, f64)]| -> Vec<f64> {
        series.iter().filter(|(at, _)| *at >= end - tail).map(|(_, value)| *value).collect()
    };
    let (last_targets, bits) = (of_tail(&targets), of_tail(&delivered).iter().sum::<f64>());
    Figures {
        last: targets.last().map_or(0.0, |(_, target)| target / 1e6),
        settled: mean(&last_targets) / 1e6,
        used: bits / (capacity * tail.as_secs_f64()),
        lost: lost as f64 / sent as f64,
        converged: converged(&targets, capacity),
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn converged(targets: &[(Time, f64)], capacity: f64) -> Option<f64> {
    let mut since = None;
    for (index, (at, _)) in targets.iter().enumerate() {
        let recent = targets[..=index].iter().filter(|(other, _)| *at - *other <= Span::from_secs(2));
        let mean = mean(&recent.map(|(_, target)| *target).collect::<Vec<_>>());
        if (mean - capacity).abs() <= 0.35 * capacity {
            since.get_or_insert(at.as_secs_f64());
        } else {
            since = None;
        }
    }
    since
}

impl Figures {
    /// Returns true if each figure is within a tenth of the published one, or within its last printed digit.
    pub fn agrees(&self, published: &Figures) -> bool {
        let near = |ours: f64, theirs: f64, digit: f64| (ours - theirs).abs() <= (0.1 * theirs).max(digit);
        near(self.last, published.last, 0.01)
            && near(self.settled, published.settled, 0.01)
            && near(self.used, published.used, 0.001)
            && near(self.lost, published.lost, 0.001)
            && match (self.converged, published.converged) {
                (Some(ours), Some(theirs)) => near(ours, theirs, 0.1),
                (ours, theirs) => ours == theirs,
            }
    }
}
