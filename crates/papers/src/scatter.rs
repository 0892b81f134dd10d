//! A figure's runs and its authors' points as delay against quality.

use thalweg_units::percentile;
use thalweg_video::quality::ssim_db;

use super::{Published, Reading};
use thalweg_lab::outcome::Outcome;
use thalweg_lab::report::{Scatter, ScatterPoint};

/// A chart for each link, with the published points. Runs without measured or modelled quality are excluded.
pub fn scatters(outcomes: &[Outcome], published: &[Published]) -> Vec<Scatter> {
    let mut links: Vec<&str> = Vec::new();
    let mut schemes: Vec<&str> = Vec::new();
    for outcome in outcomes {
        let (link, scheme) = (outcome.summary.trace.as_str(), outcome.summary.scheme.as_str());
        links.extend((!links.contains(&link)).then_some(link));
        schemes.extend((!schemes.contains(&scheme)).then_some(scheme));
    }
    let place = |scheme: &str| schemes.contains(&scheme).then(|| scheme.to_string());
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
        let over: Vec<&Published> = published.iter().filter(|known| known.link == Some(*link)).collect();
        let theirs = over.iter().filter(|known| known.key == Reading::LatencyP95.key()).filter_map(|delay| {
            let is_its = |known: &&&Published| known.scheme == delay.scheme && known.key == Reading::Ssim.key();
            Some(ScatterPoint {
                label: delay.scheme.into(),
                delay_ms: delay.value,
                ssim_db: over.iter().find(is_its)?.value,
                ssim_range_db: None,
                scheme: place(delay.scheme),
                ours: false,
            })
        });
        Scatter { title: (*link).into(), points: ours.chain(theirs).collect() }
    };
    links.iter().map(over).filter(|scatter| !scatter.points.is_empty()).collect()
}

/// Runs that another run beats in both delay and quality, on the same link: (link, beaten, by).
pub fn beaten(outcomes: &[Outcome]) -> Vec<(String, String, String)> {
    let of = |scatter: Scatter| {
        let pairs = scatter.points.iter().flat_map(|point| scatter.points.iter().map(move |other| (point, other)));
        let beaten = pairs.filter(|(point, other)| other.is_better(point));
        let names = beaten.map(|(point, other)| (scatter.title.clone(), point.label.clone(), other.label.clone()));
        names.collect::<Vec<_>>()
    };
    scatters(outcomes, &[]).into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::summary;
    use thalweg_lab::metrics::Summary;
    use thalweg_lab::outcome::Series;

    fn outcome(link: &str, scheme: &str, latency_p95_ms: f64, ssim: Option<f64>) -> Outcome {
        let latency_p95_ms = Some(latency_p95_ms);
        Outcome {
            summary: Summary { latency_p95_ms, ssim_db: ssim, ..summary(scheme, link) },
            codec: String::new(),
            series: Series::default(),
            frames: Vec::new(),
            screen: Vec::new(),
            queue_delay_percentiles_ms: Vec::new(),
            stills: Vec::new(),
            bound: Vec::new(),
        }
    }

    #[test]
    fn each_link_has_its_chart_with_the_papers_points_in_the_colour_of_what_answers_to_them() {
        let outcomes = [
            outcome("a", "gcc", 300.0, Some(12.0)),
            outcome("a", "vidaptive", 200.0, Some(13.0)),
            outcome("b", "gcc", 90.0, None),
        ];
        let of = |scheme, key, value| Published::new(Some("a"), scheme, key, value);
        let published = [
            of("gcc", "latency_p95_ms", 500.0),
            of("gcc", "ssim_db", 10.0),
            of("Skype", "ssim_db", 8.0),
            of("Skype", "latency_p95_ms", 600.0),
            of("Hangouts", "latency_p95_ms", 700.0),
        ];
        let charts = scatters(&outcomes, &published);
        assert_eq!(charts.len(), 1, "a link without quality has no chart");
        let schemes: Vec<_> = charts[0].points.iter().map(|point| (point.ours, point.scheme.as_deref())).collect();
        assert_eq!(schemes, [(true, Some("gcc")), (true, Some("vidaptive")), (false, Some("gcc")), (false, None)]);
    }

    #[test]
    fn what_is_beaten_on_both_is_named_with_what_beats_it() {
        let runs = |second: f64| {
            [
                outcome("a", "gcc", 300.0, Some(12.0)),
                outcome("a", "vidaptive", 200.0, Some(second)),
                outcome("b", "gcc", 1.0, Some(1.0)),
            ]
        };
        let names = ("a".to_string(), "gcc".to_string(), "vidaptive".to_string());
        assert_eq!(beaten(&runs(13.0)), [names]);
        assert_eq!(beaten(&runs(11.0)), []);
    }
}
