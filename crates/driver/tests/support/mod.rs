//! A sender at the driver's target over a bottleneck with a queue, and reports at intervals.

use std::collections::VecDeque;

use thalweg_driver::{Acked, Departure, Driver, Joined, Outcome};
use thalweg_units::{Bytes, Rate, Span, Time};

/// The size of packets.
pub const PACKET: Bytes = Bytes::new(1162);
const TICK: Span = Span::from_millis(1);

/// A path.
#[derive(Debug, Clone, Copy)]
pub struct Path {
    pub name: &'static str,
    pub capacity: Rate,
    pub one_way: Span,
    pub queue: Span,
    /// Every packet whose number this divides is lost.
    pub lost_one_in: Option<u64>,
    pub report_interval: Span,
    pub duration: Span,
}

impl Path {
    pub fn all() -> [Path; 3] {
        let steady = Path {
            name: "steady",
            capacity: Rate::from_kbps(2000),
            one_way: Span::from_millis(25),
            queue: Span::from_millis(300),
            lost_one_in: None,
            report_interval: Span::from_millis(50),
            duration: Span::from_secs(20),
        };
        let lossy = Path { name: "lossy", lost_one_in: Some(20), ..steady };
        let slow = Path {
            name: "slow reports",
            report_interval: Span::from_millis(100),
            one_way: Span::from_millis(60),
            ..steady
        };
        [steady, lossy, slow]
    }
}

/// A packet, and when it arrives if it does.
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    key: u64,
    departed: Time,
    arrival: Option<Time>,
}

/// Record of a run: each report, and the target after it.
pub struct Run {
    pub reports: Vec<(Time, Vec<Packet>)>,
    pub targets: Vec<(Time, Rate)>,
}

/// Plays a driver that sees each departure.
pub fn play(mut driver: Driver, path: &Path) -> Run {
    let (mut reports, mut targets) = (Vec::new(), Vec::new());
    let (mut under_way, mut now, mut credit, mut key) = (VecDeque::new(), Time::ZERO, 0.0, 0);
    let (mut free_at, mut next_report) = (Time::ZERO, Time::ZERO + path.report_interval);
    while now < Time::ZERO + path.duration {
        now += TICK;
        if driver.next_timeout() <= now {
            driver.on_timeout(now);
        }
        credit += driver.target().as_bps_f64() * TICK.as_secs_f64();
        while credit >= PACKET.bits() as f64 {
            credit -= PACKET.bits() as f64;
            key += 1;
            driver.on_sent(now, Departure::new(key, PACKET)).expect("each key once");
            let begins = free_at.max(now);
            let fits = begins - now <= path.queue && path.lost_one_in.is_none_or(|one_in| key % one_in != 0);
            if fits {
                free_at = begins + path.capacity.time_for(PACKET);
            }
            under_way.push_back(Packet { key, departed: now, arrival: fits.then(|| free_at + path.one_way) });
        }
        if now < next_report {
            continue;
        }
        next_report += path.report_interval;
        // What had arrived when the report left, and what is missing before it.
        let left = now - path.one_way;
        let newest = under_way.iter().rposition(|packet| packet.arrival.is_some_and(|at| at <= left));
        let reported: Vec<Packet> = under_way.drain(..newest.map_or(0, |newest| newest + 1)).collect();
        if reported.is_empty() {
            continue;
        }
        let acked: Vec<Acked> = reported.iter().map(|packet| Acked::new(packet.key, packet.arrival, false)).collect();
        driver.on_acks(now, &acked, None).expect("seen");
        reports.push((now, reported));
        targets.push((now, driver.target()));
    }
    Run { reports, targets }
}

impl Run {
    /// The targets of a driver that learns of the same departures only with their reports.
    pub fn joined(&self, mut driver: Driver) -> Vec<(Time, Rate)> {
        Run::join(&mut driver, &self.reports)
    }

    /// Reports to a driver; returns the target after each.
    pub fn join(driver: &mut Driver, reports: &[(Time, Vec<Packet>)]) -> Vec<(Time, Rate)> {
        let mut targets = Vec::new();
        for (now, reported) in reports {
            while driver.next_timeout() <= *now {
                driver.on_timeout(driver.next_timeout());
            }
            let outcome =
                |arrival: Option<Time>| arrival.map_or(Outcome::Missing, |at| Outcome::Arrived { at, ce: false });
            let join = |packet: &Packet| Joined::new(packet.key, PACKET, packet.departed, outcome(packet.arrival));
            driver.join(*now, &reported.iter().map(join).collect::<Vec<_>>()).expect("each key once");
            targets.push((*now, driver.target()));
        }
        targets
    }

    /// The mean target of the second half.
    pub fn mean(targets: &[(Time, Rate)]) -> Rate {
        let half = &targets[targets.len() / 2..];
        Rate::from_bps_f64(half.iter().map(|(_, target)| target.as_bps_f64()).sum::<f64>() / half.len() as f64)
    }

    /// The largest share by which a target differs.
    pub fn worst(&self, others: &[(Time, Rate)]) -> f64 {
        let differs = |(one, other): (&(Time, Rate), &(Time, Rate))| {
            (one.1.as_bps_f64() - other.1.as_bps_f64()).abs() / one.1.as_bps_f64()
        };
        self.targets.iter().zip(others).map(differs).fold(0.0, f64::max)
    }
}
