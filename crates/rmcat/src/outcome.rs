//! Result of a case for a contestant, as the table, the page and `--json` show it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use thalweg_lab::scenario::Medium;
use thalweg_units::percentile;

use crate::bar::{Judged, Verdict};
use crate::log::{BIN_S, Log, mean_rate};
use crate::measure::{Figure, NOBODY, Seen};
use crate::network::{Media, Network, Phase};

/// A contestant in a case.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The case's id.
    pub case: String,
    /// Subject of the case.
    pub title: String,
    /// The contestant.
    pub scheme: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The case's length, in seconds.
    pub duration_s: f64,
    /// Where sizes of frames come from.
    pub media: String,
    /// The feedback style.
    pub feedback: String,
    /// Max rate of a flow on the wire, in bit/s.
    pub wire_bps: f64,
    /// The network; `None` for a scenario of its own.
    pub network: Option<Network>,
    /// The phases of each flow.
    pub phases: Vec<Vec<Phase>>,
    /// The bars; none if the contestant was not played because it knows no weights.
    pub bars: Vec<Judged>,
    /// Figures without bars.
    pub figures: Figures,
    /// Trajectories to draw, by seed.
    pub trajectories: Vec<Trajectory>,
    /// Hashes of all events, by seed.
    pub fingerprints: Vec<String>,
}

impl Outcome {
    /// The worst of its bars' verdicts; `None` if it was not played.
    pub fn verdict(&self) -> Option<Verdict> {
        self.bars.iter().filter_map(|bar| bar.verdict).max()
    }

    /// The bar that decides: of those with the worst verdict the one farthest beyond its bound. None if all pass.
    pub fn decided_by(&self) -> Option<&Judged> {
        let worst = self.verdict().filter(|verdict| *verdict != Verdict::Pass)?;
        let excess = |judged: &&Judged| {
            let range = if worst == Verdict::Weak { judged.bar.should } else { judged.bar.must };
            let (low, high) = judged.interval.unwrap_or_default();
            range.excess(low).max(range.excess(high))
        };
        let worst = self.bars.iter().filter(|judged| judged.verdict == Some(worst));
        worst.max_by(|a, b| excess(a).total_cmp(&excess(b)))
    }

    /// Bar on these figures with the worst verdict, and of those the one nearest to a bound.
    pub fn worst_of(&self, figures: &[&str]) -> Option<&Judged> {
        let of =
            self.bars.iter().filter(|judged| judged.verdict.is_some() && figures.contains(&judged.bar.figure.name()));
        let key = |judged: &&Judged| {
            let excess = judged.interval.map_or(f64::NEG_INFINITY, |(low, high)| {
                judged.bar.should.excess(low).max(judged.bar.should.excess(high))
            });
            (judged.verdict, excess)
        };
        of.max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// As `--json` has it. Keys are promised from version 1 on.
    pub fn to_json(&self) -> Value {
        let flows: Vec<Value> = self
            .network
            .iter()
            .flat_map(|network| &network.flows)
            .enumerate()
            .map(|(number, flow)| {
                json!({
                    "flow": number,
                    "from_s": flow.times.0,
                    "until_s": flow.times.1.min(self.duration_s),
                    "pause_s": flow.pause.map(|(from, until)| [from, until]),
                    "one_way_ms": flow.one_way.as_millis_f64(),
                    "weight": flow.weight,
                })
            })
            .collect();
        let phases: Vec<Value> = self
            .phases
            .iter()
            .enumerate()
            .flat_map(|(flow, phases)| phases.iter().map(move |phase| (flow, phase)))
            .map(|(flow, phase)| {
                json!({
                    "flow": flow,
                    "from_s": phase.from_s,
                    "until_s": phase.until_s,
                    "capacity_bps": phase.capacity_bps,
                    "attainable_bps": phase.attainable_bps,
                })
            })
            .collect();
        let bars: Vec<Value> = self
            .bars
            .iter()
            .map(|judged| {
                let bar = &judged.bar;
                json!({
                    "bar": bar.figure.name(),
                    "flow": bar.flow,
                    "from_s": bar.window.0,
                    "until_s": bar.window.1,
                    "unit": bar.figure.unit(),
                    "mean": judged.mean,
                    "ci_low": judged.interval.map(|ends| ends.0),
                    "ci_high": judged.interval.map(|ends| ends.1),
                    "values": judged.values,
                    "must": bar.must.ends(),
                    "should": bar.should.ends(),
                    "source": bar.source,
                    "verdict": judged.verdict,
                    "censored": judged.censored,
                })
            })
            .collect();
        json!({
            "case": self.case,
            "title": self.title,
            "scheme": self.scheme,
            "seeds": self.seeds,
            "duration_s": self.duration_s,
            "media": self.media,
            "feedback": self.feedback,
            "verdict": self.verdict(),
            "flows": flows,
            "phases": phases,
            "bars": bars,
            "figures": self.figures.to_json(),
            "events_fingerprint": self.fingerprints,
        })
    }
}

/// The names of the figures of a whole run.
const FIGURES: [&str; 13] = [
    "utilization",
    "attainable_utilization",
    "one_way_delay_p05_ms",
    "one_way_delay_p50_ms",
    "one_way_delay_p95_ms",
    "queue_delay_p95_ms",
    "self_inflicted_delay_p95_ms",
    "packet_loss_ratio",
    "jain",
    "rate_ratio_20s",
    "oscillations_per_min",
    "feedback_overhead_ratio",
    "filler_bitrate_bps",
];

/// Figures of a whole run; of several runs their means over those that have them; none of no run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures(Option<[Option<f64>; FIGURES.len()]>);

impl Figures {
    pub(crate) fn of(seen: &Seen<'_>, duration_s: f64) -> Figures {
        let whole = (0.0, duration_s);
        let flows = &seen.log.media;
        let delays: Vec<f64> = flows.iter().flat_map(|flow| &flow.arrivals).map(|arrival| arrival.delay_ms).collect();
        // What an omniscient sender's packets would have taken: the same without waiting.
        let unavoidable: Vec<f64> =
            flows.iter().flat_map(|flow| &flow.arrivals).map(|arrival| arrival.delay_ms - arrival.waited_ms).collect();
        let waits: Vec<f64> = flows.iter().flat_map(|flow| &flow.arrivals).map(|arrival| arrival.waited_ms).collect();
        let self_inflicted =
            percentile(&delays, 0.95).zip(percentile(&unavoidable, 0.95)).map(|(with, without)| with - without);
        let [sent, dropped]: [usize; 2] =
            [flows.iter().map(|flow| flow.sent_s.len()).sum(), flows.iter().map(|flow| flow.dropped_s.len()).sum()];
        let capacity = seen.network.map(|network| {
            let first = network.flows[0].forward[0];
            let seconds =
                (0..duration_s as u64).map(|second| network.links[first].rate(second as f64 + 0.5).as_bps_f64());
            seconds.sum::<f64>() / duration_s.floor().max(1.0)
        });
        let received: f64 = flows
            .iter()
            .enumerate()
            .filter(|(flow, _)| {
                seen.network.is_none_or(|network| network.flows[*flow].forward.contains(&network.flows[0].forward[0]))
            })
            .map(|(_, flow)| mean_rate(&flow.received, whole))
            .sum();
        let of_all = |figure: &Figure| {
            let values: Vec<f64> =
                (0..flows.len()).filter_map(|flow| seen.measure(figure, Some(flow), whole).0).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        // While all flows are there and send.
        let together = seen.network.map_or(whole, |network| {
            let times = |(from, until): (f64, f64), flow: &Media| {
                let begin = flow.pause.map_or(flow.times.0, |pause| pause.1);
                (from.max(begin), until.min(flow.times.1))
            };
            network.flows.iter().fold(whole, times)
        });
        let lasts = together.1 - together.0 >= 1.0;
        let of_together = |figure: &Figure| if lasts { seen.measure(figure, None, together).0 } else { None };
        // What a user of a cell could have depends on the others.
        let in_cell = seen
            .network
            .and_then(|network| network.air.as_ref())
            .is_some_and(|air| matches!(air.medium, Medium::Cell(_)));
        // In the order of FIGURES.
        Figures(Some([
            capacity.map(|capacity| received / capacity),
            seen.measure(&Figure::UseOfAll, None, whole).0.filter(|_| !in_cell),
            percentile(&delays, 0.05),
            percentile(&delays, 0.5),
            percentile(&delays, 0.95),
            percentile(&waits, 0.95),
            self_inflicted,
            (sent > 0).then(|| dropped as f64 / sent as f64),
            of_together(&Figure::Jain),
            of_together(&Figure::Ratio).filter(|ratio| *ratio < NOBODY),
            of_all(&Figure::Oscillation),
            of_all(&Figure::Overhead).map(|percent| percent / 100.0),
            of_all(&Figure::Filler).map(|mbps| mbps * 1e6),
        ]))
    }

    pub(crate) fn mean(all: &[&Figures]) -> Figures {
        let mean = |place: usize| {
            let known: Vec<f64> = all.iter().filter_map(|figures| figures.0?[place]).collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        };
        Figures((!all.is_empty()).then(|| std::array::from_fn(mean)))
    }

    /// The figure of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0?[FIGURES.iter().position(|known| *known == name)?]
    }

    fn to_json(&self) -> Value {
        let values = self.0.iter().flatten();
        Value::Object(FIGURES.iter().zip(values).map(|(name, value)| ((*name).to_string(), json!(value))).collect())
    }
}

/// Trajectory of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// Rate that each media flow received by second, in Mbps.
    pub rates: Vec<Vec<f64>>,
    /// Rate that other flows received by second, in Mbps.
    pub cross: Vec<f64>,
    /// Percentiles 5, 50 and 95 of the one-way delay of the first flow's packets by second, in ms; NaN where none
    /// arrived.
    #[serde(deserialize_with = "delays")]
    pub delays: Vec<[f64; 3]>,
    /// How many packets were dropped, of all media flows, by second.
    pub drops: Vec<u32>,
    /// The first flow's target by second, in kbps.
    #[serde(deserialize_with = "target")]
    pub target: Vec<f64>,
}

/// NaN is null in JSON.
fn delays<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<[f64; 3]>, D::Error> {
    let read: Vec<[Option<f64>; 3]> = Vec::deserialize(deserializer)?;
    Ok(read.into_iter().map(|of| of.map(|value| value.unwrap_or(f64::NAN))).collect())
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let read: Vec<Option<f64>> = Vec::deserialize(deserializer)?;
    Ok(read.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

impl Trajectory {
    pub(crate) fn of(log: &Log, duration_s: f64) -> Trajectory {
        let seconds = duration_s.ceil() as usize;
        let by_second = |bins: &[f64]| -> Vec<f64> {
            let per_second = (1.0 / BIN_S).round() as usize;
            let of = |second: usize| bins.iter().skip(second * per_second).take(per_second).sum::<f64>() / 1e6;
            (0..seconds).map(of).collect()
        };
        let mut cross = vec![0.0; seconds];
        for tcp in &log.tcp {
            cross.iter_mut().zip(by_second(&tcp.received)).for_each(|(sum, rate)| *sum += rate);
        }
        let mut drops = vec![0; seconds];
        for at in log.media.iter().flat_map(|flow| &flow.dropped_s) {
            if let Some(count) = drops.get_mut(*at as usize) {
                *count += 1;
            }
        }
        let arrivals = log.media.first().map_or(&[][..], |flow| &flow.arrivals);
        let delays = (0..seconds).map(|second| {
            let at = |time: f64| arrivals.partition_point(|arrival| arrival.at_s < time);
            let within = &arrivals[at(second as f64)..at(second as f64 + 1.0)];
            let delays: Vec<f64> = within.iter().map(|arrival| arrival.delay_ms).collect();
            [0.05, 0.5, 0.95].map(|share| percentile(&delays, share).unwrap_or(f64::NAN))
        });
        let targets = log.media.first().map_or(&[][..], |flow| &flow.target);
        let target = (0..seconds).map(|second| {
            let place = targets.partition_point(|(at, _)| *at < second as f64 + 1.0);
            place.checked_sub(1).map_or(f64::NAN, |last| targets[last].1 / 1e3)
        });
        Trajectory {
            rates: log.media.iter().map(|flow| by_second(&flow.received)).collect(),
            cross,
            delays: delays.collect(),
            drops,
            target: target.collect(),
        }
    }
}
