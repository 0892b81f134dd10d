//! A figure's runs and its authors' points, delay against quality.

use thalweg_video::quality::ssim_db;

use super::Point;
use crate::metrics::percentile;
use crate::outcome::Outcome;
use crate::report::{Scatter, ScatterPoint};

/// A chart for each link, with what the authors published of it. Runs without measured or modelled quality have no place.
pub fn scatters(outcomes: &[Outcome], theirs: &[Point]) -> Vec<Scatter> {
    let mut links: Vec<&str> = Vec::new();
    let mut schemes: Vec<&str> = Vec::new();
    for outcome in outcomes {
        let (link, scheme) = (outcome.summary.trace.as_str(), outcome.summary.scheme.as_str());
        links.extend((!links.contains(&link)).then_some(link));
        schemes.extend((!schemes.contains(&scheme)).then_some(scheme));
    }
    let place = |scheme: &str| schemes.iter().position(|known| *known == scheme);
    let over = |link: &&str| {
        let ours = outcomes.iter().filter(|outcome| outcome.summary.trace == **link).filter_map(|outcome| {
            let summary = &outcome.summary;
            let frames: Vec<f64> = outcome.frames.iter().filter_map(|frame| frame.ssim).map(ssim_db).collect();
            Some(ScatterPoint {
                label: summary.scheme.clone(),
                delay_ms: summary.latency_p95_ms?,
                ssim_db: summary.ssim_db?,
                ssim_range_db: percentile(&frames, 0.05).zip(percentile(&frames, 0.95)),
                scheme: place(&summary.scheme),
                ours: true,
            })
        });
        let theirs = theirs.iter().filter(|point| point.of.link == *link).map(|point| ScatterPoint {
            label: point.of.scheme.into(),
            delay_ms: point.delay_p95_ms,
            ssim_db: point.ssim_db,
            ssim_range_db: Some(point.ssim_range_db),
            scheme: point.of.ours.and_then(place),
            ours: false,
        });
        Scatter { title: (*link).into(), points: ours.chain(theirs).collect() }
    };
    links.iter().map(over).filter(|scatter| !scatter.points.is_empty()).collect()
}
