//! Rows of a time and a rate, and what they mean: until when each rate holds, rows of one time, pauses.

use thalweg_units::Span;

use crate::error::ReadError;
use crate::hold::{Gaps, Hold};
use crate::options::ReadOptions;
use crate::steps::{LONGEST_MS, Steps, length};

/// A row of a file: its time in milliseconds and its rate in any unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) millis: f64,
    pub(crate) rate: f64,
}

/// Rows farther apart than this, and than [`USUAL`] times the usual, are two recordings (two drives in one file).
const GAP: Span = Span::from_secs(60);
/// How many usual steps a pause has at least.
const USUAL: u64 = 10;
/// The farthest a row may be from the first, pauses included: 31 days. Beyond it the unit of the times is wrong.
pub(crate) const FARTHEST_MS: u64 = 31 * 86_400_000;

/// A fault of the time of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// It is before the one of the row above.
    Falls,
    /// It is more than 31 days after the first.
    IsLate,
    /// It is the time of every row.
    IsAlone,
}

/// The rule that [`Wrong::IsLate`] breaks.
pub(crate) const NOT_LATE: &str = "at most 31 days after the first row: is its unit right?";

/// All that is later, behind a cut, is at this time, some 30,000 years: far from where sums overflow.
const END_MS: f64 = 1e15;

/// Times, each with the mean of the rates of its rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Points {
    /// The first time, in milliseconds.
    first: f64,
    /// Milliseconds after the first, and rates.
    points: Vec<(u64, f64)>,
    /// The median time between points (the upper of two), in milliseconds; 1000 for a single point.
    usual: u64,
    rows: usize,
}

impl Points {
    /// The points of rows in order of their times.
    ///
    /// # Errors
    /// When a time falls, is absurdly late, or is that of all rows. `wrong` is the error of a row by its index, and `Wrong`
    /// what is wrong with its time.
    pub(crate) fn new(
        rows: &[Row],
        options: &ReadOptions,
        wrong: impl Fn(usize, Wrong) -> ReadError,
    ) -> Result<Points, ReadError> {
        let first = rows.first().map_or(0.0, |row| row.millis);
        let (from, to) = options.cut.map_or((0.0, f64::INFINITY), |cut| {
            (cut.from().as_millis_f64(), cut.to().map_or(f64::INFINITY, Span::as_millis_f64))
        });
        let mut points: Vec<(u64, f64)> = Vec::new();
        // The rows of the last point.
        let mut count = 0.0;
        for (index, row) in rows.iter().enumerate() {
            let millis = (row.millis - first).round().min(END_MS);
            if points.last().is_some_and(|(at, _)| millis < *at as f64) {
                return Err(wrong(index, Wrong::Falls));
            }
            if millis.min(to) > from + FARTHEST_MS as f64 {
                return Err(wrong(index, Wrong::IsLate));
            }
            match points.last_mut() {
                Some(last) if last.0 == millis as u64 => {
                    count += 1.0;
                    last.1 += (row.rate - last.1) / count;
                }
                _ => {
                    count = 1.0;
                    points.push((millis as u64, row.rate));
                }
            }
        }
        if points.len() == 1 && rows.len() > 1 {
            return Err(wrong(0, Wrong::IsAlone));
        }
        let spans: Vec<f64> = points.windows(2).map(|pair| (pair[1].0 - pair[0].0) as f64).collect();
        let usual = median(&spans).map_or(1000, |usual| usual as u64);
        Ok(Points { first, points, usual, rows: rows.len() })
    }

    /// The side on which the rates of times without a header hold. A file that begins after 0 says what passed before.
    /// So does one that begins at 0 in whose many rows low rates follow long times, as a download takes longer where it
    /// is slow, and that more than long times follow low rates.
    pub(crate) fn hold(&self) -> Hold {
        /// Fewer rows are no evidence.
        const MANY: usize = 16;
        /// Correlation of the logarithms from which on they belong together.
        const RELATED: f64 = -0.3;
        if self.first > 0.0 {
            return Hold::Before;
        }
        let steps = || self.points.windows(2).map(|pair| ((pair[1].0 - pair[0].0) as f64, pair[0].1, pair[1].1));
        let ends = correlation(steps().map(|(step, _, rate)| (step, rate)));
        let begins = correlation(steps().map(|(step, rate, _)| (step, rate)));
        if self.points.len() >= MANY && ends <= RELATED && ends <= begins { Hold::Before } else { Hold::After }
    }

    /// Each rate for the time on this side of its row. At the open end a row has the usual time, before the first row
    /// at most the time since 0. Pauses as the options say.
    pub(crate) fn steps(&self, hold: Hold, options: &ReadOptions) -> Steps<f64> {
        let (usual, pause) = (self.usual, self.pause(options));
        let spans = self.points.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let first = (self.first.max(0.0).round() as u64).min(usual);
        let lone = (self.points.len() == 1).then_some(usual);
        let spans: Vec<u64> = match (hold, lone) {
            (_, Some(usual)) => vec![usual],
            (Hold::Before, None) => std::iter::once(first).chain(spans).collect(),
            (Hold::After, None) => spans.chain([usual]).collect(),
        };
        let mut steps = Vec::new();
        for (span, (_, rate)) in spans.into_iter().zip(&self.points) {
            let gaps = options.gaps.unwrap_or(Gaps::Cut);
            let left = match gaps {
                Gaps::Cut => None,
                Gaps::Hold => Some(*rate),
                Gaps::Zero => Some(0.0),
            };
            let measured = (if span > pause { usual.min(span) } else { span }, Some(*rate));
            let rest = (span - measured.0, left);
            steps.extend(if hold == Hold::Before { [rest, measured] } else { [measured, rest] });
        }
        steps.retain(|(millis, _)| *millis > 0);
        steps
    }

    /// The longest time between points of one recording, in milliseconds.
    fn pause(&self, options: &ReadOptions) -> u64 {
        let millis = |span: Span| span.as_millis().unsigned_abs();
        options.gap.map_or(millis(GAP).max(self.usual.saturating_mul(USUAL)), millis)
    }

    /// Notes of what is odd about the times.
    ///
    /// # Errors
    /// When the part that is asked for lasts longer than a day, pauses left out.
    pub(crate) fn notes(
        &self,
        steps: &Steps<f64>,
        hold: Hold,
        options: &ReadOptions,
    ) -> Result<Vec<String>, ReadError> {
        let (usual, pause) = (self.usual, self.pause(options));
        let mut notes = Vec::new();
        let merged = self.rows - self.points.len();
        if merged > 0 {
            notes.push(format!("{merged} rows have the time of the row before them (to 1 ms): their mean counts"));
        }
        let spans = || self.points.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let long: Vec<u64> = spans().filter(|span| *span > pause).collect();
        let longest = spans().filter(|span| *span <= pause || options.gaps == Some(Gaps::Hold)).max().unwrap_or(0);
        if longest > usual.saturating_mul(5) {
            notes.push(format!(
                "usually {usual} ms from row to row, at most {longest}: {}",
                match hold {
                    Hold::After => "until a row, the rate before it holds",
                    Hold::Before => "up to a row, its own rate holds",
                }
            ));
        }
        let (is_held, sum) =
            (options.gaps == Some(Gaps::Hold), long.iter().map(|span| span.saturating_sub(usual)).sum::<u64>());
        if !long.is_empty() && !is_held {
            let treated = match options.gaps {
                Some(Gaps::Zero) => "nothing passes in it",
                _ => "it was taken out",
            };
            let pauses = match long.len() {
                1 => format!("a pause of {:.0} s", sum as f64 / 1e3),
                several => format!("{several} pauses of {:.0} s together", sum as f64 / 1e3),
            };
            notes.push(format!("{pauses} between rows: {treated} (:gaps=hold keeps the rate, :gaps=zero has none)"));
        }
        let lasts = match options.cut.and_then(|cut| Some((cut.from(), cut.to()?))) {
            Some((from, to)) => (to - from).as_millis().unsigned_abs(),
            None => {
                let from = options.cut.map_or(0, |cut| cut.from().as_millis().unsigned_abs());
                length(steps).saturating_sub(from)
            }
        };
        let pauses: u64 = steps.iter().filter(|(_, rate)| rate.is_none()).map(|(millis, _)| *millis).sum();
        if lasts.saturating_sub(pauses) > LONGEST_MS {
            let seconds = lasts.saturating_sub(pauses) as f64 / 1e3;
            return Err(ReadError::unclear(format!(
                "it lasts {seconds:.0} s, must be at most a day: is the unit of its times right? If so, cut it by its \
                 name, as in FILE@0s-3600s"
            )));
        }
        Ok(notes)
    }
}

/// Gives rows that a program wrote in bunches, because its output was flushed, times of their own: those of a bunch share
/// the time since the bunch before evenly, those of the first have the median share. Returns what is said of it.
///
/// A bunch has eight rows or more, 5 ms or less apart, and bunches are 100 times as far apart as the longest lasts; the
/// last may have fewer.
pub(crate) fn spread(rows: &mut [Row], hold: Hold) -> Option<String> {
    const FEWEST: usize = 8;
    const NEAR_MS: f64 = 5.0;
    const APART: f64 = 100.0;
    // Where each begins, and the time of its last row.
    let mut bunches: Vec<(usize, f64)> = Vec::new();
    let (mut longest, mut began, mut nearest): (f64, f64, f64) = (0.0, f64::NAN, f64::INFINITY);
    for (index, row) in rows.iter().enumerate() {
        match bunches.last_mut() {
            Some((_, end)) if (0.0..=NEAR_MS).contains(&(row.millis - *end)) => {
                *end = row.millis;
                longest = longest.max(row.millis - began);
            }
            last => {
                nearest = last.map_or(nearest, |(_, end)| nearest.min(row.millis - *end));
                began = row.millis;
                bunches.push((index, row.millis));
            }
        }
    }
    let is_full = bunches.windows(2).all(|pair| pair[1].0 - pair[0].0 >= FEWEST);
    if bunches.len() < 2 || !is_full || nearest < APART * longest.max(NEAR_MS) {
        return None;
    }
    let count = |bunch: usize| bunches.get(bunch + 1).map_or(rows.len(), |next| next.0) - bunches[bunch].0;
    let mut shares: Vec<f64> =
        (1..bunches.len()).map(|bunch| (bunches[bunch].1 - bunches[bunch - 1].1) / count(bunch) as f64).collect();
    let usual = median(&shares)?;
    shares.insert(0, usual);
    let counts: Vec<usize> = (0..bunches.len()).map(count).collect();
    for ((&(first, end), share), count) in bunches.iter().zip(shares).zip(counts) {
        for (place, row) in rows[first..first + count].iter_mut().enumerate() {
            let ends = end - share * (count - place - 1) as f64;
            row.millis = if hold == Hold::Before { ends } else { ends - share };
        }
    }
    let (rows, bunches) = (rows.len(), bunches.len());
    Some(format!("{rows} rows were stamped in {bunches} bunches: spread evenly, {usual:.0} ms each"))
}

/// The median, the upper of two; `None` of nothing.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

/// The mean of rates over their time, pauses left out.
pub(crate) fn mean(steps: &Steps<f64>) -> f64 {
    let kept = || steps.iter().filter_map(|(millis, rate)| Some((*millis as f64, (*rate)?)));
    let time: f64 = kept().map(|(millis, _)| millis).sum();
    if time > 0.0 { kept().map(|(millis, rate)| millis / time * rate).sum() } else { 0.0 }
}

/// The correlation of the logarithms of pairs, without those that have a 0; 0 where one of them does not vary.
fn correlation(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
    let pairs = pairs.filter(|(x, y)| *x > 0.0 && *y > 0.0).map(|(x, y)| (x.ln(), y.ln()));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let count = pairs.len().max(1) as f64;
    let (x, y) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0 / count, sum.1 + pair.1 / count));
    let [both, xx, yy] = pairs.iter().fold([0.0; 3], |[both, xx, yy], pair| {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        [both + dx * dy, xx + dx * dx, yy + dy * dy]
    });
    // Rounding alone is no variation.
    if xx > 1e-12 * count && yy > 1e-12 * count { both / (xx * yy).sqrt() } else { 0.0 }
}
