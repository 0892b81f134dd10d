//! The bounds computed directly from the link, without engine, codec or simulator: the curve of bitrate over latency
//! that no sender exceeds, and each scheme's share of it.

use thalweg_netsim::FindTrace;
use thalweg_units::{Size, Span, Time};
use thalweg_video::footage::Footage;
use thalweg_video::source::Format;

use super::aim::Aim;
use super::known::Known;
use super::point::Point;
use super::{Bound, Kind};
use crate::metrics::latency;
use crate::outcome::{FrameRecord, Outcome};
use crate::scenario::Scenario;

/// Times within which frames are through the link, in ms: docs/bounds.md has 33, 66 and 100. What exceeds a frame's
/// interval and its encoding time uses every opportunity already; the longer ones matter where a frame reaches the
/// encoder's most, and on links so slow that a packet takes as long; the shortest at high frame rates.
const WITHIN_MS: [i64; 20] = [1, 2, 4, 6, 8, 12, 16, 20, 25, 33, 40, 50, 66, 100, 200, 400, 800, 1600, 3200, 6400];

/// A share above 1 by no more than this is 1: sizes of frames are whole bytes, and of a codec its own.
const EXACT: f64 = 1e-3;

/// Bitrate over P95 latency of a sender that knows every opportunity.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// In order of latency, and of bitrate: what has less of it at more latency is left out.
    points: Vec<Point>,
    /// The least latency there is: encoding, delay and decoding, in ms.
    least_ms: f64,
}

/// The outcome of each picture under a bound.
///
/// # Errors
/// When the scenario has no bound; the error says why and what to leave out.
pub fn frames(bound: &Bound, scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<Vec<FrameRecord>, String> {
    let known = Known::of(scenario, find)?;
    let format = Footage::format_of(&scenario.video).map_err(|error| format!("video: {error}"))?;
    Ok(sent(bound.kind, &known, format))
}

fn sent(kind: Kind, known: &Known, format: Format) -> Vec<FrameRecord> {
    let mut aim = Aim::new(kind, known, format.size);
    let (decode, mut shown, mut frames) = (known.decode(format.size), Time::ZERO, Vec::new());
    let captures = (0..).map(|number| Time::ZERO + format.time_of(number)).take_while(|at| *at < known.end);
    for captured in captures {
        let mut frame = FrameRecord::read(captured, format.size);
        let payload = aim.payload(captured, captured, format.interval());
        if payload.get() > 0 {
            let through = aim.sent(captured + aim.encode(), payload, aim.packets(payload));
            shown = shown.max(through + known.after) + decode;
            frame.displayed_s = (shown < known.end).then_some(shown.as_secs_f64());
            frame.bytes = payload.get();
        }
        frames.push(frame);
    }
    frames
}

impl Curve {
    /// The curve of a scenario.
    ///
    /// # Errors
    /// When the scenario has no bound; the error says why and what to leave out.
    pub fn of(scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<Curve, String> {
        let known = Known::of(scenario, find)?;
        let format = Footage::format_of(&scenario.video).map_err(|error| format!("video: {error}"))?;
        let point = |millis: i64| {
            let frames = sent(Kind::Omniscient { within: Span::from_millis(millis) }, &known, format);
            let shown: u64 = frames.iter().filter(|frame| frame.displayed_s.is_some()).map(|frame| frame.bytes).sum();
            Some(Point {
                within_ms: millis as f64,
                latency_p95_ms: latency(&frames)?.p95_ms,
                video_bitrate_bps: shown as f64 * 8.0 / scenario.duration.as_secs_f64(),
            })
        };
        Ok(Curve::through(WITHIN_MS.into_iter().filter_map(point).collect(), least(&known, format.size)))
    }

    fn through(mut points: Vec<Point>, least_ms: f64) -> Curve {
        points.sort_by(|one, other| one.latency_p95_ms.total_cmp(&other.latency_p95_ms));
        let mut most = 0.0;
        points.retain(|point| {
            let more = point.video_bitrate_bps > most;
            most = point.video_bitrate_bps.max(most);
            more
        });
        Curve { points, least_ms }
    }

    /// The most bits per second at this P95 latency: linear between points, from nothing at the least latency there is to
    /// the first point, and after the last as much as there; `None` below the least latency, or without any point.
    pub fn at(&self, p95_ms: f64) -> Option<f64> {
        let last = self.points.last()?;
        let (mut from, mut most) = (self.least_ms, 0.0);
        for Point { latency_p95_ms, video_bitrate_bps, .. } in &self.points {
            if p95_ms < *latency_p95_ms {
                let part = (p95_ms - from) / (latency_p95_ms - from);
                return (part > 0.0 || most > 0.0).then(|| most + part * (video_bitrate_bps - most));
            }
            (from, most) = (*latency_p95_ms, *video_bitrate_bps);
        }
        Some(last.video_bitrate_bps)
    }

    /// Its points, in order of latency.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Adds the curve to an outcome, and the share of it that the scheme has at its own P95 latency. There is none where
    /// the scheme has more, so that this curve is no bound for it: its encoder makes more than 12 Mbps, or what it had more
    /// came in the twentieth of frames that P95 leaves out.
    pub fn judge(&self, outcome: &mut Outcome) {
        let summary = &mut outcome.summary;
        let most = summary.latency_p95_ms.and_then(|p95| self.at(p95));
        let share = most.map(|most| summary.video_bitrate_bps / most);
        summary.bound_share = share.filter(|share| *share <= 1.0 + EXACT).map(|share| share.min(1.0));
        outcome.bound = self.points.clone();
    }
}

fn least(known: &Known, size: Size) -> f64 {
    (known.encode(size) + known.before + known.after + known.decode(size)).as_millis_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_curve_is_linear_between_its_points_and_level_after_the_last() {
        let point =
            |within_ms, latency_p95_ms, video_bitrate_bps| Point { within_ms, latency_p95_ms, video_bitrate_bps };
        let points = vec![point(33.0, 60.0, 2e6), point(100.0, 130.0, 2.9e6), point(66.0, 100.0, 3e6)];
        let curve = Curve::through(points, 40.0);
        assert_eq!(curve.points().iter().map(|point| point.within_ms).collect::<Vec<_>>(), [33.0, 66.0]);
        let at = |p95| curve.at(p95);
        assert_eq!([at(30.0), at(40.0), at(50.0), at(60.0)], [None, None, Some(1e6), Some(2e6)]);
        assert_eq!([at(80.0), at(100.0), at(5000.0)], [Some(2.5e6), Some(3e6), Some(3e6)]);
        assert_eq!(Curve::through(Vec::new(), 40.0).at(100.0), None);
    }
}
