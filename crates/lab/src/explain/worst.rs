//! The moments of a run that are worth asking about.

use std::collections::BTreeMap;

use super::timeline::{Timeline, between};
use super::words::{moment, rate, span};
use crate::metrics::Due;
use crate::outcome::Series;

/// Two moments of one kind are at least this far apart, in seconds: else they are one.
const APART: f64 = 2.0;
/// Use of the link is judged over this time, in seconds.
const MEAN: f64 = 1.0;

/// A moment worth asking about.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// When, in seconds.
    pub at: f64,
    /// Description of the moment.
    pub text: String,
    /// Why the rate was what it was.
    pub why: String,
}

/// The worst moments of one kind, the worst first.
#[derive(Debug, Clone, PartialEq)]
pub struct Worst {
    /// In what respect.
    pub what: &'static str,
    /// The moments; none if nothing of this kind happened.
    pub moments: Vec<Moment>,
}

/// Capacity of the link in the second before `at`, in bit/s; `None` if the run has no bottleneck.
pub fn capacity(series: &Series, at: f64) -> Option<f64> {
    let is_link = series.capacity_mbps.iter().any(|mbps| *mbps > 0.0);
    let mbps = mean(&series.capacity_mbps, series.bin_s, at - MEAN, at).filter(|_| is_link)?;
    Some(mbps * 1e6)
}

/// The mean of the bins from one moment to another; `None` if there are none.
fn mean(values: &[f64], bin_s: f64, from: f64, to: f64) -> Option<f64> {
    let place = |at: f64| ((at / bin_s).round().max(0.0) as usize).min(values.len());
    crate::metrics::mean(values[place(from)..place(to).max(place(from))].iter().copied())
}

/// The `count` worst that are apart.
fn pick<T>(mut found: Vec<(f64, f64, T)>, count: usize) -> Vec<(f64, f64, T)> {
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut picked: Vec<(f64, f64, T)> = Vec::new();
    for one in found {
        if picked.len() == count {
            break;
        }
        if picked.iter().all(|known| (known.0 - one.0).abs() >= APART) {
            picked.push(one);
        }
    }
    picked
}

impl Timeline {
    /// The `count` worst moments of each kind in a run with this series, in which pictures were due so.
    pub fn worst(&self, series: &Series, due: &Due, count: usize) -> Vec<Worst> {
        let why = |at: f64| self.why(at, capacity(series, at));
        vec![
            Worst { what: "latest frames", moments: self.latest(count, &why) },
            Worst { what: "longest freezes", moments: self.freezes(series, due, count, &why) },
            Worst { what: "most capacity left unused", moments: self.unused(series, count, &why) },
            Worst { what: "deepest queue of the link", moments: self.deepest(series, count, &why) },
        ]
    }

    fn latest(&self, count: usize, why: &dyn Fn(f64) -> String) -> Vec<Moment> {
        let shown = self.frames.iter().filter_map(|(number, frame)| frame.shown.map(|shown| (shown, *number, *frame)));
        let found =
            shown.map(|(shown, number, frame)| (frame.queued, frame.latency_ms, (shown, number, frame))).collect();
        let moments = pick(found, count).into_iter().map(|(queued, latency, (shown, number, frame))| {
            let captured = shown - latency / 1e3;
            let sent = frame.sent.unwrap_or(shown);
            let waited = between(&self.waited, queued, shown).iter().map(|(_, waited)| *waited).fold(0.0, f64::max);
            let text = format!(
                "frame {number} was shown {} after its capture at {}: {} until it was encoded, {} in the sender, {} on the \
                 way (up to {} in the link's queue)",
                span(latency),
                moment(captured),
                span((queued - captured) * 1e3),
                span((sent - queued) * 1e3),
                span((shown - sent) * 1e3),
                span(waited),
            );
            Moment { at: queued, text, why: why(queued) }
        });
        moments.collect()
    }

    fn freezes(&self, series: &Series, due: &Due, count: usize, why: &dyn Fn(f64) -> String) -> Vec<Moment> {
        let mut shown: Vec<f64> = self.frames.values().filter_map(|frame| frame.shown).collect();
        shown.sort_by(f64::total_cmp);
        // A run that shows nothing is one freeze.
        let begins = if shown.is_empty() { vec![0.0] } else { shown };
        let ends = begins.iter().skip(1).copied().chain([due.end]);
        let gaps = begins.iter().zip(ends).map(|(from, to)| (*from, due.on(to) - due.on(*from), to));
        let found = gaps.filter(|(_, gap, _)| *gap > due.threshold()).collect();
        let moments = pick(found, count).into_iter().map(|(from, gap, to)| {
            let link = mean(&series.capacity_mbps, series.bin_s, from, to).filter(|_| capacity(series, to).is_some());
            let link = link.map(|mbps| format!("the link carried {}", rate(mbps * 1e6)));
            let causes: Vec<String> = [link, self.during(from, to)].into_iter().flatten().collect();
            let cause = if causes.is_empty() { String::new() } else { format!(": {}", causes.join(", ")) };
            // Asked about in the middle: at the beginning nothing is wrong yet, at the end all is over.
            let at = from + gap / 2.0;
            let (gap, from) = (span(gap * 1e3), moment(from));
            Moment { at, text: format!("nothing new was shown for {gap} from {from}{cause}"), why: why(at) }
        });
        moments.collect()
    }

    /// Description of the pictures and packets of a gap.
    fn during(&self, from: f64, to: f64) -> Option<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, entry) in between(&self.entries, from, to) {
            let what = match entry.event.as_str() {
                "picture-skipped" => format!("pictures skipped, {}", entry.why),
                "frame-flushed" => "frames thrown away unsent".into(),
                "frame-abandoned" => "frames given up by the receiver".into(),
                "frame-discarded" => "frames past their deadline".into(),
                _ => continue,
            };
            *counts.entry(what).or_default() += 1;
        }
        for (_, why) in between(&self.dropped, from, to) {
            *counts.entry(format!("packets dropped, {why}")).or_default() += 1;
        }
        if between(&self.waited, from, to).is_empty() {
            return Some("no packet arrived".into());
        }
        let (what, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
        Some(format!("{count} {what}"))
    }

    fn unused(&self, series: &Series, count: usize, why: &dyn Fn(f64) -> String) -> Vec<Moment> {
        let bin = series.bin_s;
        let mean = |values: &[f64], at: f64| mean(values, bin, at - MEAN, at).unwrap_or_default();
        let ends = (0..series.capacity_mbps.len()).map(|index| (index + 1) as f64 * bin).filter(|at| *at >= MEAN);
        let found = ends.map(|at| {
            let had = mean(&series.capacity_mbps, at);
            let others: f64 = series.others.iter().map(|other| mean(&other.delivered_mbps, at)).sum();
            (at, had - mean(&series.delivered_mbps, at) - others, had)
        });
        let found = found.filter(|(_, left, _)| *left > 0.0).collect();
        let moments = pick(found, count).into_iter().map(|(at, left, had)| {
            let (left, had) = (rate(left * 1e6), rate(had * 1e6));
            Moment { at, text: format!("{left} of the link's {had} were unused in the second before"), why: why(at) }
        });
        moments.collect()
    }

    fn deepest(&self, series: &Series, count: usize, why: &dyn Fn(f64) -> String) -> Vec<Moment> {
        let found = self.waited.iter().filter(|(_, waited)| *waited > 0.0);
        let found = found.map(|(at, waited)| (*at, *waited, ())).collect();
        let moments = pick(found, count).into_iter().map(|(arrived, waited, ())| {
            // The packet entered the queue then: what was sent before it made the queue.
            let at = (arrived - waited / 1e3).max(0.0);
            let sent: f64 = between(&self.sent, at - MEAN, at).iter().map(|(_, sent)| sent.bytes).sum();
            let sent = rate(sent * 8.0 / MEAN);
            let had = capacity(series, at).map_or(String::new(), |had| format!(" into a link of {}", rate(had)));
            let (waited, since) = (span(waited), moment(at));
            let text = format!("a packet waited {waited} from {since}, after a second of {sent} on the wire{had}");
            Moment { at, text, why: why(at) }
        });
        moments.collect()
    }
}
