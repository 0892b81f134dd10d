//! libwebrtc's own scenarios (specs/rmcat.md 8).

mod cases;

use std::sync::Arc;

use cases::Case;
use thalweg_control::Payload;
use thalweg_lab::record::{Record, What};
use thalweg_lab::simulate::Simulation;
use thalweg_sender::scheme::RateLimits;
use thalweg_sender::{Event, Registry, Scheme};
use thalweg_units::{Rate, Span};

/// What is measured within a window, or at its end. Rates are in kbps, times in ms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Figure {
    /// The controller's target at the end.
    Target,
    /// The least of the targets at whole seconds.
    LeastTarget,
    /// The greatest of them.
    GreatestTarget,
    /// The least over the greatest.
    LeastOverGreatestTarget,
    /// The target at the end less that at this second.
    TargetOverEarlier(f64),
    /// The target less the padding rate, at the end.
    PaddingBelowTarget,
    /// The most dips of 100 kbps below its first value that the target has in any 500 ms, seen every 50 ms.
    Dips,
    /// How long the last frame waited in the pacer.
    PacerDelay,
    /// The mean of smoothed round trips.
    RoundTrip,
    /// Packets dropped of those sent, in %.
    Loss,
    /// Packets of video sent.
    VideoPackets,
    /// Packets of audio sent.
    AudioPackets,
}

/// How often the limits are read.
const STEP: Span = Span::from_millis(50);

struct Seen {
    /// By flow: time in seconds, target, padding rate, smoothed round trip.
    limits: Vec<Vec<(f64, f64, f64, f64)>>,
    records: Vec<Record>,
}

fn scheme(case: &Case) -> Scheme {
    let [min, start, max] = case.limits.map(Rate::from_kbps);
    let named: Scheme = case.scheme.parse().unwrap();
    let mut scheme = named.within(RateLimits { min, start, max, wire: max }).unwrap();
    (case.trial)(&mut scheme);
    scheme
}

fn play(case: &Case) -> Seen {
    let mut find = |name: &str| Err::<Arc<_>, _>(format!("no trace {name}"));
    let mut simulation = Simulation::new(&case.scenario, &scheme(case), &Registry::new(), &mut find).unwrap();
    let mut limits: Vec<Vec<(f64, f64, f64, f64)>> = vec![Vec::new(); 2];
    while !simulation.has_ended() {
        let now = simulation.now() + STEP;
        simulation.run_until(now).unwrap();
        for (flow, series) in limits.iter_mut().enumerate() {
            let Some(engine) = simulation.engine(flow) else { continue };
            let kbps = |rate: Rate| rate.as_kbps_f64();
            let sending = engine.limits();
            let srtt = engine.srtt().as_millis_f64();
            series.push((now.as_secs_f64(), kbps(sending.capacity), kbps(sending.padding_rate), srtt));
        }
    }
    Seen { limits, records: simulation.finish().recorder.records().cloned().collect() }
}

impl Seen {
    fn within(&self, flow: usize, (from, until): (f64, f64)) -> impl Iterator<Item = &(f64, f64, f64, f64)> {
        self.limits[flow].iter().filter(move |(at, ..)| (from - 1e-6..=until + 1e-6).contains(at))
    }

    fn last(&self, flow: usize, until: f64) -> (f64, f64, f64, f64) {
        *self.within(flow, (0.0, until)).last().unwrap()
    }

    fn packets(&self, payload: Payload, (from, until): (f64, f64)) -> f64 {
        let sent = self.records.iter().filter(|record| {
            let of = matches!(record.what, What::Sender(Event::PacketSent { payload: found, .. }) if found == payload);
            of && record.flow == 0 && (from..until).contains(&record.at.as_secs_f64())
        });
        sent.count() as f64
    }

    fn measure(&self, figure: Figure, flow: usize, window: (f64, f64)) -> f64 {
        let whole = |at: f64| (at - at.round()).abs() < 1e-6;
        let targets = || self.within(flow, window).filter(|(at, ..)| whole(*at)).map(|(_, target, ..)| *target);
        let (least, greatest) = (targets().fold(f64::INFINITY, f64::min), targets().fold(0.0, f64::max));
        match figure {
            Figure::Target => self.last(flow, window.1).1,
            Figure::LeastTarget => least,
            Figure::GreatestTarget => greatest,
            Figure::LeastOverGreatestTarget => least / greatest,
            Figure::TargetOverEarlier(at) => self.last(flow, window.1).1 - self.last(flow, at).1,
            Figure::PaddingBelowTarget => {
                let (_, target, padding, _) = self.last(flow, window.1);
                target - padding
            }
            Figure::Dips => {
                let series: Vec<f64> = self.within(flow, window).skip(1).map(|(_, target, ..)| *target).collect();
                let dips = |end: usize| dips(&series[(end + 1).saturating_sub(10)..=end]);
                (0..series.len()).map(dips).max().unwrap_or(0) as f64
            }
            Figure::PacerDelay => {
                let delays = self.records.iter().filter_map(|record| match record.what {
                    What::Sender(Event::FrameSent { delay, .. }) => Some(delay),
                    _ => None,
                });
                delays.last().unwrap().as_millis_f64()
            }
            Figure::RoundTrip => {
                let all: Vec<f64> = self.within(flow, window).map(|(.., srtt)| *srtt).collect();
                all.iter().sum::<f64>() / all.len() as f64
            }
            Figure::Loss => {
                let dropped = self
                    .records
                    .iter()
                    .filter(|record| record.flow == 0 && matches!(record.what, What::Dropped { .. }));
                let sent = [Payload::Media, Payload::Audio, Payload::Repair, Payload::Padding]
                    .map(|payload| self.packets(payload, window));
                dropped.count() as f64 * 100.0 / sent.iter().sum::<f64>()
            }
            Figure::VideoPackets => self.packets(Payload::Media, window),
            Figure::AudioPackets => self.packets(Payload::Audio, window),
        }
    }
}

/// How often values fall 100 kbps below the first one, having been there before.
fn dips(values: &[f64]) -> usize {
    let (mut count, mut high) = (0, true);
    for value in &values[1..] {
        if value + 100.0 < values[0] && high {
            (count, high) = (count + 1, false);
        } else if *value == values[0] {
            high = true;
        } else if *value > values[0] {
            high = false;
        }
    }
    count
}

#[test]
fn report() {
    for case in cases::goog_cc().iter().chain(&cases::ramp_up()).chain(&cases::scream()) {
        if std::env::var("CASE").is_ok_and(|only| !case.id.contains(&only)) {
            continue;
        }
        let seen = play(case);
        for (figure, flow, window, (low, high)) in &case.bars {
            let value = seen.measure(*figure, *flow, *window);
            let holds = (*low..=*high).contains(&value);
            println!(
                "{} {} {figure:?} {flow} {window:?} {low} {high} = {value:.2}",
                if holds { "ok  " } else { "FAIL" },
                case.id
            );
        }
        if std::env::var("SERIES").is_ok() {
            for (at, target, padding, srtt) in &seen.limits[0] {
                println!("   {at:.2} {target:.0} {padding:.0} {srtt:.0}");
            }
        }
    }
}
