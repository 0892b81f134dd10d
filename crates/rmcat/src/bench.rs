//! Playing cases and judging them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use thalweg_lab::kept::{Kept, Planned};
use thalweg_lab::unattended;

use crate::bar::{Bar, judge};
use crate::case::{Case, Options};
use crate::contestant::Contestant;
use crate::job::Job;
use crate::measure::Measured;
use crate::outcome::{Figures, Outcome};
use crate::run::{BenchErrorCause, Others, Played, phases, play};

/// Bench to play.
pub struct Bench<'a> {
    /// The cases.
    pub cases: Vec<Case>,
    /// Who plays them.
    pub contestants: Vec<&'a dyn Contestant>,
    /// With which seeds.
    pub seeds: Vec<u64>,
    /// Options common to all cases.
    pub options: Options,
}

/// Why a bench could not be played.
#[derive(Debug, thiserror::Error)]
#[error("case {case}, {contestant}: {cause}")]
pub struct BenchError {
    /// The case.
    pub case: String,
    /// The contestant.
    pub contestant: String,
    /// The cause.
    pub cause: BenchErrorCause,
}

/// How a run ended; without a result if the contestant cannot play the case.
type Ended = Result<Option<Played>, BenchError>;

/// A case, a contestant and a seed, the first two by their places.
type Place = (usize, usize, u64);

/// Called from several threads when a run is over, with its case and its contestant; returns whether to go on.
pub type Progress<'a> = dyn Fn(&Case, &str) -> bool + Sync + 'a;

impl Bench<'_> {
    /// Plays everything on `threads` threads, and judges it: an outcome for each case and contestant, in this order;
    /// `None` if `progress` stopped it.
    ///
    /// # Errors
    /// When a case cannot be played by a contestant.
    pub fn run(&self, threads: usize, progress: &Progress<'_>) -> Result<Option<Vec<Outcome>>, BenchError> {
        let (outcomes, is_whole) = self.run_kept(threads, None, progress)?;
        Ok(is_whole.then_some(outcomes))
    }

    /// The same, but keeps each run of a scheme as soon as it is played, and plays none that is kept. Those are no
    /// progress. If `progress` stopped it, returns the outcomes of which every seed was played, and false.
    ///
    /// # Errors
    /// As [`Bench::run`], and when what is kept cannot be read or written.
    pub fn run_kept(
        &self,
        threads: usize,
        kept: Option<&Kept>,
        progress: &Progress<'_>,
    ) -> Result<(Vec<Outcome>, bool), BenchError> {
        let jobs = self.places();
        let results: Vec<Mutex<Option<Ended>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
        let others = Others::default();
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let work = || {
            while !stopped.load(Ordering::Relaxed) {
                let job = next.fetch_add(1, Ordering::Relaxed);
                let Some(place) = jobs.get(job) else { break };
                let (case, contestant) = (&self.cases[place.0], self.contestants[place.1]);
                let played = self.known_or_played(*place, kept, &others).map_err(|cause| BenchError {
                    case: case.id.clone(),
                    contestant: contestant.name().to_string(),
                    cause,
                });
                let failed = played.is_err();
                let is_known = played.as_ref().is_ok_and(|(_, is_known)| *is_known);
                if let Ok(mut place) = results[job].lock() {
                    *place = Some(played.map(|(played, _)| played));
                }
                if failed || !is_known && !progress(case, contestant.name()) {
                    stopped.store(true, Ordering::Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.clamp(1, jobs.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        let played = results.into_iter().map(|place| place.into_inner().ok().flatten().transpose());
        let mut played = played.collect::<Result<Vec<Option<Option<Played>>>, BenchError>>()?.into_iter();
        let mut outcomes = Vec::new();
        for case in &self.cases {
            for contestant in &self.contestants {
                let runs: Vec<_> = played.by_ref().take(self.seeds.len()).collect();
                let runs: Option<Vec<Option<Played>>> = runs.into_iter().collect();
                outcomes.extend(runs.map(|runs| self.outcome(case, contestant.name(), &runs)));
            }
        }
        let is_whole = outcomes.len() == self.cases.len() * self.contestants.len();
        Ok((outcomes, is_whole))
    }

    /// The runs that are not kept, for other machines to play. Their results are as text what [`Job::play`] returns.
    ///
    /// # Errors
    /// With the name of a contestant that is no scheme: it is a process of this machine.
    pub fn left(&self, kept: &Kept) -> Result<Vec<Planned<Job>>, String> {
        let mut left = Vec::new();
        for place in self.places() {
            let contestant = self.contestants[place.1].name();
            let job = self.job(place).ok_or_else(|| {
                format!("{contestant} is a process of this machine: other machines play schemes of `thalweg schemes`")
            })?;
            let key = job.key();
            if !kept.has(key) {
                left.push(Planned { key, seconds: self.cases[place.0].duration.as_secs_f64(), job });
            }
        }
        Ok(left)
    }

    /// The runs in order.
    fn places(&self) -> Vec<Place> {
        let pairs = (0..self.cases.len())
            .flat_map(|case| (0..self.contestants.len()).map(move |contestant| (case, contestant)));
        let of_seeds = |(case, contestant)| self.seeds.iter().map(move |seed| (case, contestant, *seed));
        pairs.flat_map(of_seeds).collect()
    }

    /// A run as text; `None` of a contestant that is no scheme.
    fn job(&self, (case, contestant, seed): Place) -> Option<Job> {
        Some(Job::new(&self.cases[case], self.contestants[contestant].as_scheme()?, seed, &self.options))
    }

    /// A run, and whether it was known.
    fn known_or_played(
        &self,
        place: Place,
        kept: Option<&Kept>,
        others: &Others,
    ) -> Result<(Option<Played>, bool), BenchErrorCause> {
        let kept = kept.and_then(|kept| Some((kept, self.job(place)?.key())));
        if let Some((kept, key)) = kept
            && let Some(known) = kept.get(key)?
        {
            return Ok((known, true));
        }
        let (case, contestant) = (&self.cases[place.0], self.contestants[place.1]);
        let played = play(case, contestant, place.2, &self.options, others, &mut unattended)?;
        if let Some((kept, key)) = kept {
            kept.put(key, &played)?;
        }
        Ok((played, false))
    }

    fn outcome(&self, case: &Case, contestant: &str, runs: &[Option<Played>]) -> Outcome {
        let runs: Vec<&Played> = runs.iter().flatten().collect();
        let of_bar = |(place, bar): (usize, &Bar)| {
            let measured: Vec<Measured> = runs.iter().map(|run| run.measured[place]).collect();
            judge(bar, &measured)
        };
        let judged = if runs.is_empty() { Vec::new() } else { case.bars.iter().enumerate().map(of_bar).collect() };
        let network = case.network(&self.options);
        Outcome {
            case: case.id.clone(),
            title: case.title.clone(),
            scheme: contestant.to_string(),
            seeds: self.seeds.clone(),
            duration_s: case.duration.as_secs_f64(),
            media: self.options.media.to_string(),
            feedback: self.options.feedback.map_or("its own".to_string(), |style| style.to_string()),
            wire_bps: case.limits.wire.as_bps_f64(),
            phases: phases(case, network.as_ref()),
            network,
            bars: judged,
            figures: Figures::mean(&runs.iter().map(|run| &run.figures).collect::<Vec<_>>()),
            trajectories: runs.iter().map(|run| run.trajectory.clone()).collect(),
            fingerprints: runs.iter().map(|run| format!("{:016x}", run.fingerprint)).collect(),
        }
    }
}
