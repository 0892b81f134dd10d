//! Figures of a run that a search judges by. Rates and losses are those of its last third, in which the link is steady.

use serde::{Deserialize, Serialize};
use thalweg_codecs::Codec;
use thalweg_sender::Event;
use thalweg_units::{Size, Time};

use crate::explain::Timeline;
use crate::metrics::{Due, interval, mean, stall};
use crate::record::{Record, Row, What};
use crate::simulate::Run;
use crate::{Scenario, Undershoot};

/// Figures of one sender in one scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Delivered in the last third, in Mbps.
    pub rate_mbps: f64,
    /// The rate that the sender could have had there, in Mbps: its share of the link, and no more than its encoder makes.
    pub could_mbps: f64,
    /// The same rate in packets of 1200 bytes a picture.
    pub packets_a_picture: f64,
    /// The share of packets that the path dropped there.
    pub loss: f64,
    /// On-screen SSIM of the whole run, in dB.
    pub screen_db: f64,
    /// 95th percentile of the latency of the whole run, in ms; that of the whole run if nothing was shown.
    pub delay_p95_ms: f64,
    /// Time in which a picture was due and none was new, in seconds.
    pub frozen_s: f64,
    /// From the end of the last change until 0.8 of what it could have was delivered for 2 s, in seconds; to the end of the
    /// run if never.
    pub recovery_s: f64,
    /// The cause of its rate in the middle of the last third, in a word ([`Timeline::cause`]).
    pub cause: String,
}

/// Bits of a packet of 1200 bytes.
const PACKET_BITS: f64 = 9600.0;
/// Recovered: so much of what it could have, as in RMCAT's bounds.
const RECOVERED: f64 = 0.8;
/// The mean over so many seconds, for so many.
const MEAN_S: f64 = 0.5;
const HELD_S: f64 = 2.0;

/// Four digits behind the point: they read back exactly, and order runs well enough.
fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The figures of a run of this scenario, whose last change ends at `settled_s` seconds.
pub fn measure(scenario: &Scenario, run: &Run, settled_s: f64) -> Figures {
    let (summary, series) = (&run.outcome.summary, &run.outcome.series);
    let duration = scenario.duration.as_secs_f64();
    let steady = duration * 2.0 / 3.0;
    let most = most_mbps(scenario);
    let could: Vec<f64> = match &series.available_mbps[..] {
        [] => series.capacity_mbps.iter().map(|mbps| mbps.min(most)).collect(),
        available => available.iter().map(|mbps| (mbps * undershoot(scenario)).min(most)).collect(),
    };
    let bin = series.bin_s;
    let tail = |values: &[f64]| mean(values.iter().skip((steady / bin) as usize).copied()).unwrap_or_default();
    let rate_mbps = tail(&series.delivered_mbps);
    let fps = scenario.video.frame_rate.as_f64();
    let shown: Vec<f64> = run.outcome.frames.iter().filter_map(|frame| frame.displayed_s).collect();
    let interval = interval(run.outcome.frames.iter().map(|frame| frame.captured_s));
    let due = Due { begin: 0.0, end: duration, interval, off: &series.camera_off };
    let recovery_s = recovered(&series.delivered_mbps, &could, bin, settled_s).unwrap_or(duration - settled_s);
    Figures {
        rate_mbps: round(rate_mbps),
        could_mbps: round(tail(&could)),
        packets_a_picture: round(rate_mbps * 1e6 / PACKET_BITS / fps),
        loss: round(loss(run.recorder.records(), Time::from_secs_f64(steady))),
        screen_db: round(summary.screen_ssim_db.unwrap_or_default()),
        delay_p95_ms: round(summary.latency_p95_ms.unwrap_or(duration * 1e3)),
        frozen_s: round(stall(&shown, &due).excess_ratio * due.length()),
        recovery_s: round(recovery_s),
        cause: timeline(run).cause(duration * 5.0 / 6.0),
    }
}

/// The timeline of a run, whose events were kept.
pub(super) fn timeline(run: &Run) -> Timeline {
    let mut timeline = Timeline::default();
    run.recorder.records().for_each(|record| timeline.add(&Row::of(record)));
    timeline
}

fn undershoot(scenario: &Scenario) -> f64 {
    match &scenario.undershoot {
        Undershoot::Windows(windows) => windows.first().map_or(1.0, |window| window.ratio),
        _ => 1.0,
    }
}

/// The most that the encoder model makes of its video, in Mbps.
fn most_mbps(scenario: &Scenario) -> f64 {
    let Codec::Model(model) = &scenario.codec else { return f64::INFINITY };
    let content = model.content.content();
    let bits = content.points.last().map_or(f64::INFINITY, |point| point.bits_per_pixel);
    let size = scenario.video.size.unwrap_or(Size::HD);
    let (pixels, of_points) = (size.pixels() as f64, Size::HD.pixels() as f64);
    let frame = bits * of_points * libm::pow(pixels / of_points, content.size_exponent);
    frame * scenario.video.frame_rate.as_f64() / 1e6 * undershoot(scenario)
}

/// The share of the sender's packets sent from `from` on that the path dropped.
fn loss<'a>(records: impl Iterator<Item = &'a Record>, from: Time) -> f64 {
    let (mut sent, mut dropped) = (0u32, 0u32);
    for record in records.filter(|record| record.flow == 0 && record.at >= from) {
        match &record.what {
            What::Sender(Event::PacketSent { .. }) => sent += 1,
            What::Dropped { .. } => dropped += 1,
            _ => {}
        }
    }
    f64::from(dropped) / f64::from(sent.max(1))
}

/// How long after `from` the mean begins to stay high enough.
fn recovered(delivered: &[f64], could: &[f64], bin: f64, from: f64) -> Option<f64> {
    let [window, held] = [MEAN_S, HELD_S].map(|seconds| (seconds / bin).round() as usize);
    let mean = |values: &[f64], begin: usize| values[begin..begin + window].iter().sum::<f64>();
    let is_high = |begin: usize| mean(delivered, begin) >= RECOVERED * mean(could, begin);
    let (begin, bins) = ((from / bin).ceil() as usize, delivered.len().min(could.len()));
    let held_at = |at: &usize| (*at..=at + held - window).all(is_high);
    let at = (begin..(bins + 1).saturating_sub(held)).find(held_at)?;
    Some((at as f64 * bin - from).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_the_first_moment_from_which_the_mean_stays_at_four_fifths_for_two_seconds() {
        let could = [1.0; 100];
        let mut delivered = [0.1; 100];
        // A second at 0.9 is too short; from 6 s on 0.85 stays.
        delivered[30..40].fill(0.9);
        delivered[60..].fill(0.85);
        assert_eq!(recovered(&delivered, &could, 0.1, 2.0), Some(4.0));
        assert_eq!(recovered(&delivered, &could, 0.1, 7.0), Some(0.0));
        assert_eq!(recovered(&[0.5; 100], &could, 0.1, 2.0), None);
        assert_eq!(recovered(&[1.0; 100], &could, 0.1, 8.5), None);
    }

    #[test]
    fn an_encoder_makes_no_more_than_its_finest_pictures() {
        let of = |size, undershoot| {
            let mut scenario = Scenario { undershoot, ..Scenario::over("1Mbps") };
            scenario.video.size = Some(size);
            most_mbps(&scenario)
        };
        let (hd, small) = (of(Size::HD, Undershoot::None), of(Size::new(640, 360), Undershoot::None));
        assert!(hd > 2.0 * small && small > 1.0, "{hd} {small}");
        assert_eq!(of(Size::HD, Undershoot::always(0.5)), hd / 2.0);
    }
}
