//! The page's data: what `web/report.js` draws, as compact JSON.

use serde::Serialize;

use super::colours::Style;
use super::series::Series;

/// All that is drawn.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Data {
    pub(super) entries: Vec<Named>,
    /// Number of entries that are schemes under test.
    pub(super) schemes: usize,
    /// Duration of the longest run, in seconds.
    pub(super) seconds: f64,
    /// Times of points, shared by all lines that have the same: milliseconds since the one before.
    pub(super) times: Vec<Vec<i64>>,
    pub(super) cells: Vec<Charts>,
    pub(super) scatters: Vec<Points>,
}

/// An entry of the legend.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Named {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) style: Style,
}

/// The charts of a link and a video.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Charts {
    pub(super) charts: Vec<Chart>,
}

/// A chart.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) unit: &'static str,
    /// The unit of the horizontal axis if that is not time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) x: Option<&'static str>,
    pub(super) height: u16,
    /// Makes the axis of values, or of a distribution's quantity, logarithmic.
    pub(super) log: bool,
    /// Keeps lines constant until the next point.
    pub(super) steps: bool,
    /// Begins the axis at zero.
    pub(super) zero: bool,
    /// The width of means that are drawn while the whole run is in view, in seconds; zero for none.
    pub(super) coarse: f64,
    /// Where the axis ends at the latest; lines may go beyond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top: Option<f64>,
    /// Name of the grey area, and its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) area: Option<(&'static str, Line)>,
    pub(super) lines: Vec<Line>,
    /// Name of the ticks at the top, and their times for entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) marks: Option<(&'static str, Vec<Times>)>,
}

/// An entry's times, in seconds.
type Times = (usize, Vec<f64>);

/// A line of an entry.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Line {
    pub(super) entry: usize,
    /// The place of its times in [`Data::times`], or its own horizontal values.
    pub(super) x: Places,
    pub(super) y: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) low: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) high: Vec<f64>,
}

/// Horizontal values.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Places {
    Times(usize),
    Own(Vec<f64>),
}

impl Default for Places {
    fn default() -> Places {
        Places::Own(Vec::new())
    }
}

/// A chart of delay against quality, or against the rate of video.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Points {
    pub(super) title: String,
    /// Label of the vertical axis.
    pub(super) y: &'static str,
    /// Begins that axis at zero.
    pub(super) zero: bool,
    /// An entry's line through these places: the most that any sender could have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) curve: Option<(usize, Vec<(f64, f64)>)>,
    pub(super) points: Vec<Spot>,
    /// The Pareto front: delay and quality.
    pub(super) front: Vec<(f64, f64)>,
}

/// A scheme in it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Spot {
    pub(super) label: String,
    pub(super) entry: Option<usize>,
    pub(super) ours: bool,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) range: Option<(f64, f64)>,
}

impl Data {
    /// A series as a line; over time if not `own`.
    pub(super) fn line(&mut self, entry: usize, series: &Series, own: bool) -> Line {
        let places = series.points.iter().map(|point| point.0);
        let x = if own {
            Places::Own(places.map(short).collect())
        } else {
            let millis: Vec<i64> = places.map(|at| (at * 1e3).round() as i64).collect();
            let since = std::iter::once(0).chain(millis.iter().copied());
            let times: Vec<i64> = millis.iter().zip(since).map(|(at, before)| at - before).collect();
            Places::Times(self.times.iter().position(|known| *known == times).unwrap_or_else(|| {
                self.times.push(times);
                self.times.len() - 1
            }))
        };
        let band = series.band.as_deref().unwrap_or(&[]);
        Line {
            entry,
            x,
            y: series.points.iter().map(|point| short(point.1)).collect(),
            low: band.iter().map(|ends| short(ends.0)).collect(),
            high: band.iter().map(|ends| short(ends.1)).collect(),
        }
    }

    /// The data as JSON that may stand inside a `script` element, whatever names it has.
    pub(super) fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string(self)?.replace('<', "\\u003c"))
    }
}

/// Four digits: more than a chart can show.
fn short(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let digits = 10f64.powi(3 - value.abs().log10().floor() as i32);
    (value * digits).round() / digits
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::outcome::{self, FrameRecord, Outcome};
    use thalweg_units::{Size, Time};

    /// A run of 60 s with what real ones have.
    pub(in crate::report) fn outcome(link: &str, scheme: &str, seed: u64) -> Outcome {
        let better = if scheme == "gcc" { 1.0 } else { 2.0 };
        let summary = serde_json::json!({
            "scheme": scheme, "trace": link, "video": "scene", "seed": seed, "duration_s": 60.0,
            "video_bitrate_bps": 1e6 * better, "wire_bitrate_bps": 2e6, "padding_bitrate_bps": 0.0, "psnr_db": 30.0 + better,
            "latency_p95_ms": 400.0 / better, "frame_rate_fps": 30.0, "stall_ratio": 0.0, "packet_loss_ratio": 0.0,
            "tail_missing": 0, "events_fingerprint": "",
        });
        let frames = (0..1800).map(|i| {
            let at = f64::from(i) / 30.0;
            let late = if i == 900 { 1.5 } else { 0.1 + f64::from(i * 7919 % 1000) / 9e3 };
            let psnr_db = Some(if i == 600 { 20.0 } else { 30.0 + f64::from(i * 104_729 % 1000) / 90.0 });
            FrameRecord {
                displayed_s: Some(at + late),
                queued_s: Some(at),
                bytes: 5000,
                psnr_db,
                ..FrameRecord::read(Time::from_secs_f64(at), Size::HD)
            }
        });
        let bins = |scale: f64| (0..600).map(|i| scale * f64::from(i * 31 % 977) / 300.0).collect::<Vec<_>>();
        let series = outcome::Series {
            bin_s: 0.1,
            capacity_mbps: bins(2.0),
            available_mbps: bins(2.0),
            sent_mbps: bins(better),
            video_mbps: bins(better),
            padding_mbps: bins(0.1),
            delivered_mbps: bins(better),
            variables: vec![("capacity_bps".into(), (0..600).map(|i| (f64::from(i) * 0.1003, 1.234e6)).collect())],
            ..outcome::Series::default()
        };
        Outcome {
            summary: serde_json::from_value(summary).unwrap(),
            codec: "a model".into(),
            series,
            frames: frames.collect(),
            screen: Vec::new(),
            queue_delay_percentiles_ms: Vec::new(),
            stills: Vec::new(),
            bound: Vec::new(),
        }
    }

    #[test]
    fn lines_at_the_same_times_share_them() {
        let mut data = Data::default();
        let series = |value| Series { points: vec![(0.033, value), (0.067, 12345.678)], band: None };
        let lines = [data.line(0, &series(0.1), false), data.line(1, &series(0.2), false)];
        assert_eq!(data.times, [vec![33, 34]]);
        assert_eq!(lines[1].y, [0.2, 12350.0]);
        assert!(matches!(lines[1].x, Places::Times(0)));
    }
}
