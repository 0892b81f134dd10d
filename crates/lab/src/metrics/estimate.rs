//! Accuracy of a controller's estimate relative to the available rate (specs/metrics.md 6).

/// Seconds excluded after a change of the available rate (R).
const SETTLING_S: usize = 5;
/// The available rate has changed if it differs by at least this share from the previous second: more than a steady
/// link varies because of how its opportunities fall into seconds.
const CHANGE: f64 = 0.1;
/// If less than this share of seconds would count, the path changes all the time: then only its beginning is excluded.
const MIN_COUNTED: f64 = 0.25;
/// An estimate has settled when it stays within this share of the available rate
const SETTLED: f64 = 0.1;
/// for this long, in seconds,
const STAYS_S: f64 = 5.0;
/// except for this share of its samples (R): a packet train delayed by another flow or by jitter does not unsettle the
/// estimate.
const STRAY: f64 = 0.05;

/// Samples of an estimate: (seconds, bit/s), in order.
pub type Samples<'a> = &'a [(f64, f64)];

/// An estimate compared with the available rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// Mean of 1 - |E - C| / C, each at least 0.
    pub accuracy: f64,
    /// Mean of (E - C) / C: above 0 if the estimate is too high.
    pub bias: f64,
    /// Standard deviation of (E - C) / C.
    pub deviation: f64,
}

/// The rate available to a flow.
#[derive(Debug, Clone, Copy)]
pub struct Available<'a> {
    /// In Mbps, by bin; constant within a whole second.
    pub mbps: &'a [f64],
    /// The width of a bin, in seconds.
    pub bin_s: f64,
}

impl Available<'_> {
    /// In bit/s; `None` outside the run and where the rate was zero.
    fn at(&self, second: f64) -> Option<f64> {
        let mbps = *self.mbps.get((second / self.bin_s + 1e-6) as usize)?;
        (mbps > 0.0).then_some(mbps * 1e6)
    }

    /// Which seconds count: those not within five seconds after a change. The beginning counts as a change.
    fn counted(&self, begin: usize) -> Vec<bool> {
        let seconds = (self.mbps.len() as f64 * self.bin_s).ceil() as usize;
        let of = |second: usize| self.at(second as f64 + 0.5).unwrap_or(0.0);
        let changes = |second: usize| {
            second == begin || second > begin && (of(second) - of(second - 1)).abs() > CHANGE * of(second - 1)
        };
        let within = |second: usize, is: &dyn Fn(usize) -> bool| {
            (second.saturating_sub(SETTLING_S - 1)..=second).any(is) || second < begin
        };
        let counted: Vec<bool> = (0..seconds).map(|second| !within(second, &changes)).collect();
        let left = counted.iter().filter(|counted| **counted).count() as f64;
        if left < MIN_COUNTED * seconds.saturating_sub(begin) as f64 {
            return (0..seconds).map(|second| !within(second, &|second| second == begin)).collect();
        }
        counted
    }
}

/// Accuracy of `samples` relative to the available rate from `from` to `until` seconds, excluding the seconds after a
/// change; `None` if no second counts. `begin` is when the flow began, in seconds.
pub fn accuracy(samples: Samples, available: Available, begin: f64, (from, until): (f64, f64)) -> Option<Accuracy> {
    let counted = available.counted(begin as usize);
    let counts = |at: f64| at >= from && at < until && counted.get(at as usize) == Some(&true);
    let (mut accuracy, mut bias, mut squares, mut count) = (0.0, 0.0, 0.0, 0u32);
    for (at, estimate) in samples.iter().filter(|(at, _)| counts(*at)) {
        let Some(capacity) = available.at(*at) else { continue };
        let off = (estimate - capacity) / capacity;
        accuracy += (1.0 - off.abs()).max(0.0);
        bias += off;
        squares += off * off;
        count += 1;
    }
    let count = f64::from(count);
    (count > 0.0).then(|| {
        let (accuracy, bias) = (accuracy / count, bias / count);
        Accuracy { accuracy, bias, deviation: (squares / count - bias * bias).max(0.0).sqrt() }
    })
}

/// Seconds from `from` until the estimate is within a tenth of the available rate and stays there for five seconds, or
/// until `until` if that is sooner; `None` if it never settles.
pub fn settling_time(samples: Samples, available: Available, (from, until): (f64, f64)) -> Option<f64> {
    let near = |(at, estimate): &(f64, f64)| {
        available.at(*at).is_some_and(|capacity| (estimate - capacity).abs() <= SETTLED * capacity)
    };
    let after: Vec<(f64, f64)> = samples.iter().filter(|(at, _)| *at >= from && *at < until).copied().collect();
    let settled = |index: &usize| {
        let begin = after[*index].0;
        let stay: Vec<bool> = after[*index..].iter().take_while(|(at, _)| *at < begin + STAYS_S).map(near).collect();
        let strays = stay.iter().filter(|near| !**near).count() as f64;
        stay[0] && strays <= STRAY * stay.len() as f64
    };
    (0..after.len()).find(settled).map(|index| after[index].0 - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 90 s of a value in bins or samples of 100 ms.
    fn of(value: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..900).map(|tenth| value(f64::from(tenth) * 0.1 + 1e-9)).collect()
    }

    fn samples(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        of(value).into_iter().enumerate().map(|(index, value)| (index as f64 * 0.1, value)).collect()
    }

    const WHOLE: (f64, f64) = (0.0, 90.0);

    #[test]
    fn what_is_off_by_a_tenth_either_way_is_nine_tenths_accurate_and_biased_so() {
        let mbps = of(|_| 2.0);
        let available = Available { mbps: &mbps, bin_s: 0.1 };
        for (share, bias) in [(1.1, 0.1), (0.9, -0.1)] {
            let found = accuracy(&samples(|_| 2e6 * share), available, 0.0, WHOLE).unwrap();
            assert!((found.accuracy - 0.9).abs() < 1e-9 && (found.bias - bias).abs() < 1e-9, "{found:?}");
        }
        // Three times too much is as inaccurate as twice too much.
        let much = accuracy(&samples(|_| 6e6), available, 0.0, WHOLE).unwrap();
        assert!(much.accuracy == 0.0 && (much.bias - 2.0).abs() < 1e-9, "{much:?}");
    }

    #[test]
    fn an_estimate_deviates_by_its_spread_and_not_by_its_bias() {
        let mbps = of(|_| 2.0);
        let available = Available { mbps: &mbps, bin_s: 0.1 };
        let swings = |at: f64| if at % 2.0 < 1.0 { 1e6 } else { 2e6 };
        let of = |value: &dyn Fn(f64) -> f64| accuracy(&samples(value), available, 0.0, (10.0, 90.0)).unwrap();
        let (steady, swinging) = (of(&|_| 1e6), of(&swings));
        assert!(steady.deviation < 1e-9 && (swinging.deviation - 0.25).abs() < 1e-9, "{steady:?} {swinging:?}");
        assert!((swinging.bias + 0.25).abs() < 1e-9, "{swinging:?}");
    }

    #[test]
    fn five_seconds_after_a_change_do_not_count_and_the_beginning_is_one() {
        let mbps = of(|at| if (30.0..60.0).contains(&at) { 1.0 } else { 2.0 });
        let available = Available { mbps: &mbps, bin_s: 0.1 };
        // Wrong for five seconds after each change and at the beginning, and correct otherwise.
        let right = |at: f64| if (30.0..60.0).contains(&at) { 1e6 } else { 2e6 };
        let late = |seconds: f64| samples(move |at| if at % 30.0 < seconds { 5e5 } else { right(at) });
        assert!((accuracy(&late(5.0), available, 0.0, WHOLE).unwrap().accuracy - 1.0).abs() < 1e-9);
        let six = accuracy(&late(6.0), available, 0.0, WHOLE).unwrap().accuracy;
        // One second of 25 each time: 0.25, 0.5 and 0.25 accurate.
        assert!((six - (1.0 - (0.75 + 0.5 + 0.75) / 75.0)).abs() < 1e-3, "{six}");
        assert_eq!(accuracy(&late(0.0), available, 0.0, (31.0, 34.9)), None);
        // A flow that begins at 40 s has its five excluded seconds then.
        let joined = accuracy(&late(0.0), available, 40.0, (0.0, 46.0)).unwrap();
        assert!((joined.accuracy - 1.0).abs() < 1e-9);
        assert_eq!(accuracy(&late(0.0), available, 40.0, (0.0, 45.0)), None);
    }

    #[test]
    fn on_a_path_that_changes_each_second_only_the_beginning_is_left_out() {
        let mbps = of(|at| 1.0 + (at.floor() % 3.0));
        let available = Available { mbps: &mbps, bin_s: 0.1 };
        let found = accuracy(
            &samples(|at| if at < 5.0 { 9e9 } else { (1.0 + (at.floor() % 3.0)) * 1e6 }),
            available,
            0.0,
            WHOLE,
        );
        assert!((found.unwrap().accuracy - 1.0).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn an_estimate_has_settled_when_it_stays() {
        let mbps = of(|at| if at < 30.0 { 2.0 } else { 1.0 });
        let available = Available { mbps: &mbps, bin_s: 0.1 };
        let passing = samples(|at| match at {
            at if at < 30.0 => 2e6,
            // Through the band, below it, and back into it.
            at if at < 31.0 => 1e6,
            at if at < 33.0 => 7e5,
            _ => 1.05e6,
        });
        let settled = settling_time(&passing, available, (30.0, 60.0)).unwrap();
        assert!((settled - 3.0).abs() < 0.11, "{settled}");
        assert_eq!(settling_time(&samples(|_| 2e6), available, (30.0, 60.0)), None);
        assert_eq!(settling_time(&samples(|_| 2e6), available, (10.0, 30.0)), Some(0.0));
    }
}
