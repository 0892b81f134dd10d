//! Comparison of two schemes link by link, and of all their frames together: the statistics of Vidaptive's figures
//! (its section 5.2).

use super::distribution::{Distribution, Quantiles};
use super::sample::{Sample, compare};
use thalweg_lab::metrics::mean;
use thalweg_lab::statistics::distinct;

/// How a figure compares schemes over several links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Statistic {
    /// The ratio or difference of the means over links.
    #[default]
    OfMeans,
    /// The mean over links of each link's ratio or difference, its extremes, on which share of links it is better, and
    /// percentiles over the frames of all links together.
    PerLink,
}

impl Statistic {
    /// Heading of its tables.
    pub fn name(self) -> &'static str {
        match self {
            Statistic::OfMeans => "of the means over links",
            Statistic::PerLink => "mean of each link's",
        }
    }

    /// Compares runs of one scheme with those of another, over the same links.
    pub fn compare(self, ours: &[&Sample], base: &[&Sample]) -> Vec<(&'static str, Option<f64>)> {
        match self {
            Statistic::OfMeans => compare(ours, base),
            Statistic::PerLink => per_link(ours, base),
        }
    }
}

/// The numbers of a comparison by their keys.
pub type Comparison = Vec<(&'static str, Option<f64>)>;

/// Each link's comparison ([`compare`]), by link: the points that a box over links is drawn of.
pub fn each_link<'a>(ours: &[&'a Sample], base: &[&Sample]) -> Vec<(&'a str, Comparison)> {
    let links = distinct(ours.iter().map(|sample| sample.summary.trace.as_str()));
    links.into_iter().map(|link| (link, compared(&over(ours, link), &over(base, link)))).collect()
}

/// A number of each link's comparison, of those that have it.
pub fn values_over_links(links: &[(&str, Comparison)], key: &str) -> Vec<f64> {
    let value = |of: &Comparison| of.iter().find(|(known, _)| *known == key)?.1;
    links.iter().filter_map(|(_, of)| value(of)).collect()
}

fn over<'a>(samples: &[&'a Sample], link: &str) -> Vec<&'a Sample> {
    samples.iter().filter(|sample| sample.summary.trace == link).copied().collect()
}

fn compared(ours: &[&Sample], base: &[&Sample]) -> Vec<(&'static str, Option<f64>)> {
    let mut values = compare(ours, base);
    values.push(("taller_share", taller(ours, base)));
    values
}

/// The share of pictures that both sent which ours sent with more lines.
fn taller(ours: &[&Sample], base: &[&Sample]) -> Option<f64> {
    let (mut both, mut taller) = (0u32, 0u32);
    for (ours, base) in ours.iter().zip(base) {
        for (ours, base) in ours.heights.iter().zip(&base.heights).filter(|(ours, base)| **ours > 0 && **base > 0) {
            both += 1;
            taller += u32::from(ours > base);
        }
    }
    (both > 0).then(|| f64::from(taller) / f64::from(both))
}

fn per_link(ours: &[&Sample], base: &[&Sample]) -> Vec<(&'static str, Option<f64>)> {
    let links = each_link(ours, base);
    let of = |key: &str| values_over_links(&links, key);
    let most = |key: &str| of(key).into_iter().max_by(f64::total_cmp);
    let least = |key: &str| of(key).into_iter().min_by(f64::total_cmp);
    let share = |is: &dyn Fn(f64, f64) -> bool| {
        let (psnr, latency) = (of("psnr_gain_db"), of("latency_p95_gain_ms"));
        let better = psnr.iter().zip(&latency).filter(|(psnr, latency)| is(**psnr, **latency)).count();
        (!psnr.is_empty() && psnr.len() == latency.len()).then(|| better as f64 / psnr.len() as f64)
    };
    let keys: Vec<&'static str> = compared(&[], &[]).into_iter().map(|(key, _)| key).collect();
    let mut values: Vec<(&'static str, Option<f64>)> = keys.into_iter().map(|key| (key, mean(of(key)))).collect();
    let frame_rate = |samples: &[&Sample]| samples.iter().map(|one| one.summary.frame_rate_fps).min_by(f64::total_cmp);
    values.extend([
        ("video_bitrate_ratio_max", most("video_bitrate_ratio")),
        ("latency_p95_ratio_min", least("latency_p95_ratio")),
        ("latency_p95_gain_max_ms", most("latency_p95_gain_ms")),
        ("frame_rate_ratio_min", least("frame_rate_ratio")),
        ("frame_rate_min_fps", frame_rate(ours)),
        ("psnr_better_share", share(&|psnr, _| psnr > 0.0)),
        ("latency_p95_better_share", share(&|_, latency| latency < 0.0)),
        ("both_better_share", share(&|psnr, latency| psnr > 0.0 && latency < 0.0)),
        ("one_better_share", share(&|psnr, latency| psnr > 0.0 || latency < 0.0)),
    ]);
    let all = |of: Distribution| (pooled(ours, of), pooled(base, of));
    let (latency, psnr) = (all(Distribution::Latency), all(Distribution::Psnr));
    let psnr = psnr.0.zip(psnr.1);
    let gains = psnr.map(|(ours, base)| std::array::from_fn::<f64, 5, _>(|place| ours.at[place] - base.at[place]));
    values.extend([
        ("pooled_latency_p50_ms", latency.0.map(|ours| ours.at[2])),
        ("pooled_latency_p95_ms", latency.0.map(|ours| ours.at[4])),
        ("pooled_latency_p95_gain_ms", latency.0.zip(latency.1).map(|(ours, base)| ours.at[4] - base.at[4])),
        ("pooled_psnr_gain_db", psnr.map(|(ours, base)| ours.mean - base.mean)),
        ("pooled_psnr_p95_gain_db", gains.map(|gains| gains[4])),
        ("pooled_psnr_gain_min_db", gains.and_then(|gains| gains.into_iter().min_by(f64::total_cmp))),
    ]);
    values
}

/// The box of all values of these runs; `None` where the figure did not ask for the distribution.
pub fn pooled(samples: &[&Sample], of: Distribution) -> Option<Quantiles> {
    Quantiles::of(samples.iter().flat_map(|sample| sample.values_of(of)).map(|value| f64::from(*value)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::sample;

    /// A run over a link with this video rate, PSNR and P95 latency, and with these latencies of frames.
    fn run(link: &str, kbps: f64, psnr: f64, p95: f64, latencies: &[f32]) -> Sample {
        let values = [("video_bitrate_bps", kbps * 1e3), ("psnr_db", psnr), ("latency_p95_ms", p95)];
        let mut sample = sample(&values.map(|(key, value)| (key, Some(value))));
        sample.summary.trace = link.into();
        sample.distributed = vec![(Distribution::Latency, latencies.to_vec())];
        sample
    }

    #[test]
    fn ratios_are_averaged_link_by_link_and_frames_are_pooled() {
        let base = [run("a", 100.0, 30.0, 500.0, &[10.0, 20.0]), run("b", 1000.0, 40.0, 100.0, &[30.0])];
        let ours = [run("a", 300.0, 33.0, 200.0, &[1.0]), run("b", 1000.0, 39.0, 140.0, &[2.0, 3.0])];
        let (ours, base): (Vec<_>, Vec<_>) = (ours.iter().collect(), base.iter().collect());
        let of = |statistic: Statistic, key: &str| {
            statistic.compare(&ours, &base).into_iter().find(|(known, _)| *known == key).unwrap().1
        };
        assert_eq!(of(Statistic::PerLink, "video_bitrate_ratio"), Some(2.0));
        assert!((of(Statistic::OfMeans, "video_bitrate_ratio").unwrap() - 1300.0 / 1100.0).abs() < 1e-12);
        assert_eq!(of(Statistic::PerLink, "video_bitrate_ratio_max"), Some(3.0));
        assert_eq!(of(Statistic::PerLink, "latency_p95_gain_ms"), Some(-130.0));
        assert_eq!(of(Statistic::PerLink, "latency_p95_gain_max_ms"), Some(40.0));
        assert_eq!(of(Statistic::PerLink, "latency_p95_better_share"), Some(0.5));
        assert_eq!(of(Statistic::PerLink, "both_better_share"), Some(0.5));
        assert_eq!(of(Statistic::PerLink, "one_better_share"), Some(0.5));
        assert_eq!(of(Statistic::PerLink, "pooled_latency_p50_ms"), Some(2.0));
        assert!((of(Statistic::PerLink, "pooled_latency_p95_gain_ms").unwrap() - (2.9 - 29.0)).abs() < 1e-5);
        assert_eq!(of(Statistic::PerLink, "pooled_psnr_gain_db"), None);
    }

    #[test]
    fn pictures_count_as_taller_where_both_schemes_sent_them() {
        let with = |heights: &[u16]| {
            let mut sample = run("a", 1.0, 1.0, 1.0, &[]);
            sample.heights = heights.to_vec();
            sample
        };
        let (ours, base) = (with(&[720, 0, 360, 360, 180]), with(&[360, 360, 0, 360, 360]));
        assert_eq!(taller(&[&ours], &[&base]), Some(1.0 / 3.0));
        assert_eq!(taller(&[&with(&[])], &[&base]), None);
    }
}
