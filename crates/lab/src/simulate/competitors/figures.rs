//! Computes the figures of the competitors from events.

use thalweg_units::Time;

use super::traffic::{CrossTraffic, Kind, Source};
use crate::metrics::Traffic;
use crate::outcome::{Outcome, Share};
use crate::record::{Recorder, Tally};

/// Adds the competing senders and the cross traffic to the outcome of the sender under test.
pub(in crate::simulate) fn others(
    outcome: &mut Outcome,
    senders: &[Outcome],
    cross: &CrossTraffic,
    recorder: &Recorder,
    end: Time,
) {
    outcome.summary.competitors = senders.iter().map(|sender| sender.summary.clone()).collect();
    let share = |sender: &Outcome| Share {
        name: sender.summary.scheme.clone(),
        delivered_mbps: sender.series.delivered_mbps.clone(),
    };
    outcome.series.others = senders.iter().map(share).collect();
    if cross.sources.is_empty() {
        return;
    }
    let bins = outcome.series.delivered_mbps.len();
    let nothing = Tally::default();
    for source in &cross.sources {
        let tally = recorder.tally(source.flow).unwrap_or(&nothing);
        let traffic = figures(name(source, &cross.sources), source, tally, end);
        outcome.series.others.push(Share { name: traffic.name.clone(), delivered_mbps: tally.delivered.values(bins) });
        outcome.summary.traffic.push(traffic);
    }
}

/// The name of a source, with its number within its kind if there are several.
fn name(source: &Source, all: &[Source]) -> String {
    let same: Vec<u16> = all.iter().filter(|other| other.name == source.name).map(|other| other.flow).collect();
    match same.iter().position(|flow| *flow == source.flow) {
        Some(place) if same.len() > 1 => format!("{} {}", source.name, place + 1),
        _ => source.name.to_string(),
    }
}

fn figures(name: String, source: &Source, tally: &Tally, end: Time) -> Traffic {
    let until = source.until.map_or(end, |until| end.min(Time::ZERO + until));
    let lasts = (until - (Time::ZERO + source.from)).as_secs_f64().max(0.0);
    let (pages, active_s) = match &source.kind {
        Kind::Tcp(tcp) if tcp.flow.reads_pages() => {
            let open = tcp.flow.open_page().map_or(0.0, |(asked, _)| (until - asked).as_secs_f64());
            (Some(tally.pages_s.len() as u64), tally.pages_s.iter().sum::<f64>() + open.max(0.0))
        }
        Kind::Tcp(_) | Kind::Datagrams(_) => (None, lasts),
    };
    let mean = |sum: f64, count: u64| (count > 0).then(|| sum / count as f64);
    Traffic {
        name,
        from_s: source.from.as_secs_f64(),
        until_s: until.as_secs_f64(),
        active_s,
        delivered_bps: if active_s > 0.0 { tally.delivered_bytes.bits() as f64 / active_s } else { 0.0 },
        loss_ratio: tally.drops as f64 / (tally.arrivals + tally.drops).max(1) as f64,
        pages,
        page_mean_s: mean(tally.pages_s.iter().sum(), tally.pages_s.len() as u64),
    }
}
