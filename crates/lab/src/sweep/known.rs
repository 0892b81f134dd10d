//! Results of a sweep that are known already, and a check that this build and machine still make the same.

use thalweg_units::Seed;

use super::{Parts, Row, Shard, Sweep};

/// The share of the known rows that is played again to see whether this build and machine still make the same.
const CHECKED: f64 = 0.01;

/// The runs of a shard.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Known {
    /// The rows of those that are known, in order.
    pub rows: Vec<Row>,
    /// The numbers of the other jobs, in order.
    pub left: Vec<u32>,
}

/// A run that was played again and is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "job {job} ({scheme} over {trace}, seed {seed}) is not what it was: fingerprint {was}, and it is {is} now. Another build \
     or machine made what is there: give another folder, or go on with that build"
)]
pub struct Changed {
    job: u32,
    scheme: String,
    trace: String,
    seed: u64,
    was: String,
    is: String,
}

impl Known {
    /// Results of a shard in `parts`.
    pub fn of(sweep: &Sweep, shard: Shard, parts: &Parts) -> Known {
        let mut known = Known::default();
        for job in (0..sweep.len()).filter(|job| shard.has(*job)) {
            match sweep.key_of(job).and_then(|key| parts.row(key, job, sweep.cells(job))) {
                Some(row) => known.rows.push(row),
                None => known.left.push(job),
            }
        }
        known
    }

    /// Some of the rows, whose jobs are to be played again: by chance, but the same for the same number of rows.
    pub fn to_check(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        let count = ((rows.len() as f64 * CHECKED).ceil() as usize).min(rows.len());
        let mut random = Seed::new(rows.len() as u64).child("sweep.check").random();
        for place in 0..count {
            let other = place + random.below((rows.len() - place) as u64) as usize;
            rows.swap(place, other);
        }
        rows.truncate(count);
        rows
    }
}

impl Row {
    /// Checks that the run, played again, has the same row.
    ///
    /// # Errors
    /// When it has not.
    pub fn check(&self, again: &Row) -> Result<(), Changed> {
        if self == again {
            return Ok(());
        }
        let shown = |row: &Row| if row.fingerprint.is_empty() { row.error.clone() } else { row.fingerprint.clone() };
        Err(Changed {
            job: again.job,
            scheme: again.scheme.clone(),
            trace: again.trace.clone(),
            seed: again.seed,
            was: shown(self),
            is: shown(again),
        })
    }
}
