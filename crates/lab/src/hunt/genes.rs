//! The table of what a search changes about a scenario, besides the steps of its rate.

/// A number of a scenario.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gene {
    /// Its name in files: that of its feature, and its own with its unit.
    pub name: &'static str,
    /// The lowest value.
    pub low: f64,
    /// The highest value.
    pub high: f64,
    /// How it is drawn between them.
    pub scale: Scale,
}

/// How a number is drawn and changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// Uniform.
    Linear,
    /// Uniform in its logarithm.
    Log,
    /// One of these.
    OneOf(&'static [f64]),
}

/// A part of a scenario that it has or has not, with the numbers that describe it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Feature {
    /// Its name in files.
    pub name: &'static str,
    /// Its group, of which a scenario has one feature at most.
    pub group: &'static str,
    /// The share of drawn scenarios that have it.
    pub share: f64,
    /// Its numbers, at least one: a scenario that has the first has the feature.
    pub genes: &'static [Gene],
    /// Its numbers in the simplest scenario; none if that is without it.
    pub plain: &'static [f64],
}

const fn linear(name: &'static str, low: f64, high: f64) -> Gene {
    Gene { name, low, high, scale: Scale::Linear }
}

const fn log(name: &'static str, low: f64, high: f64) -> Gene {
    Gene { name, low, high, scale: Scale::Log }
}

const fn one_of(name: &'static str, values: &'static [f64]) -> Gene {
    Gene { name, low: values[0], high: values[values.len() - 1], scale: Scale::OneOf(values) }
}

const fn part(name: &'static str, group: &'static str, share: f64, genes: &'static [Gene]) -> Feature {
    Feature { name, group, share, genes, plain: &[] }
}

const fn always(name: &'static str, genes: &'static [Gene], plain: &'static [f64]) -> Feature {
    Feature { name, group: name, share: 1.0, genes, plain }
}

/// When something begins, as a share of the run: it is over, or steady, at half of it.
const fn begins(name: &'static str) -> Gene {
    linear(name, 0.05, 0.45)
}

/// Every feature, in the order in which shrinking tries to leave them out.
#[rustfmt::skip]
pub const FEATURES: &[Feature] = &[
    part("policer", "policer", 0.15, &[linear("policer.share", 0.5, 1.1), log("policer.bucket_kb", 3.0, 250.0)]),
    part("loss", "loss", 0.1, &[log("loss.percent", 0.2, 8.0)]),
    part("bursts", "loss", 0.1, &[log("bursts.percent", 0.2, 8.0), log("bursts.packets", 2.0, 20.0)]),
    part("lossy", "loss", 0.1, &[begins("lossy.begins"), linear("lossy.lasts_s", 1.0, 10.0)]),
    part("jitter", "jitter", 0.15, &[linear("jitter.max_ms", 1.0, 50.0)]),
    part("reordering", "jitter", 0.1, &[linear("reordering.max_ms", 1.0, 50.0)]),
    part("halts", "halts", 0.1, &[log("halts.lasts_ms", 20.0, 500.0), log("halts.each_s", 0.5, 10.0)]),
    part("delay-rise", "delay-step", 0.12, &[log("delay-rise.by_ms", 20.0, 400.0), begins("delay-rise.begins")]),
    part("delay-fall", "delay-step", 0.08, &[log("delay-fall.by_ms", 20.0, 400.0), begins("delay-fall.begins")]),
    part("cubic", "others", 0.05, &[begins("cubic.begins")]),
    part("datagrams", "others", 0.05, &[linear("datagrams.share", 0.1, 0.7), begins("datagrams.begins")]),
    part("rival", "others", 0.05, &[begins("rival.begins")]),
    part("lost-reports", "reports", 0.1, &[log("lost-reports.percent", 1.0, 30.0)]),
    part("late-reports", "reports", 0.1, &[log("late-reports.by_ms", 50.0, 2000.0), begins("late-reports.begins"), linear("late-reports.lasts_s", 1.0, 10.0)]),
    part("thin-reverse", "thin-reverse", 0.1, &[log("thin-reverse.kbps", 5.0, 1000.0)]),
    part("undershoot", "undershoot", 0.15, &[linear("undershoot.share", 0.1, 1.0)]),
    part("camera-off", "camera-off", 0.1, &[begins("camera-off.begins"), linear("camera-off.lasts_s", 1.0, 10.0)]),
    // Its upper end is what the last rate carries in two seconds.
    part("queue", "queue", 0.5, &[log("queue.kb", 3.0, 5000.0)]),
    part("codel", "queue", 0.15, &[log("codel.target_ms", 5.0, 50.0)]),
    always("frame-rate", &[one_of("frame-rate.fps", &[15.0, 30.0, 60.0])], &[30.0]),
    always("size", &[one_of("size.lines", &[360.0, 720.0, 1080.0])], &[360.0]),
    always("delay", &[log("delay.forward_ms", 2.0, 150.0), log("delay.reverse_ms", 2.0, 150.0)], &[25.0, 25.0]),
];

impl Feature {
    /// Returns true if every scenario has it.
    pub(super) fn is_always(&self) -> bool {
        !self.plain.is_empty()
    }

    /// The name of the number that says whether a scenario has it.
    pub(super) fn key(&self) -> &'static str {
        self.genes[0].name
    }
}

/// The gene of this name.
pub(super) fn gene(name: &str) -> Option<&'static Gene> {
    FEATURES.iter().flat_map(|feature| feature.genes).find(|gene| gene.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn names_are_unique_and_begin_with_their_features_ranges_are_not_empty_and_groups_have_room() {
        let mut groups: BTreeMap<&str, f64> = BTreeMap::new();
        let mut names = Vec::new();
        for feature in FEATURES {
            *groups.entry(feature.group).or_default() += feature.share;
            assert!(feature.plain.is_empty() || feature.plain.len() == feature.genes.len(), "{}", feature.name);
            for gene in feature.genes {
                assert_eq!(gene.name.split('.').next(), Some(feature.name));
                assert!(0.0 < gene.low && gene.low < gene.high, "{}", gene.name);
                names.push(gene.name);
            }
        }
        assert!(groups.values().all(|share| *share <= 1.0), "{groups:?}");
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
