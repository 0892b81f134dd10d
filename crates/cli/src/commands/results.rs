//! How results are shown and judged: options that `compare` and `run` share.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use thalweg_lab::Outcome;
use thalweg_lab::metrics::{Summary, doubts};
use thalweg_lab::report::About;

use super::conditions::{self, Condition};
use super::playing::Playing;
use crate::play::{Job, Played};
use crate::{interrupt, play, progress, table};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Results {
    /// Print one JSON object instead of tables
    #[arg(long, group = "form")]
    json: bool,
    /// Print comma-separated values, a line for each run, instead of tables
    #[arg(long, group = "form")]
    csv: bool,
    /// Print tables in Markdown
    #[arg(long, group = "form")]
    markdown: bool,
    /// The columns, by name or by key of summary.json, separated by commas: video,p95,latency_p50_ms
    #[arg(long, value_delimiter = ',', conflicts_with = "json")]
    columns: Vec<String>,
    /// Sort the rows of tables by this column, the best first
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["json", "csv"])]
    sort: Option<String>,
    /// Fail (exit code 3) if this condition holds for a scheme: `latency_p95_ms > 200`; repeatable
    ///
    /// For one scheme: `vidaptive: latency_p95_ms > 200`. Against another scheme, by pairs of runs:
    /// `vidaptive: ratio(video_bitrate_bps, gcc) < 1.2`, `difference(psnr_db, gcc) < 0.5`. The mean over all runs counts.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// Write the conditions of --fail-if as a JUnit file, a test case each
    #[arg(long, value_name = "FILE", requires = "fail_if")]
    junit: Option<PathBuf>,
}

impl Results {
    /// Refuses options that cannot be followed, before anything is played.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        table::chosen(&self.columns, [])?;
        table::chosen(self.sort.as_slice(), []).map(|_| ())
    }

    /// Returns true if standard output is for people.
    pub(crate) fn is_text(&self) -> bool {
        !(self.json || self.csv)
    }

    /// Plays the jobs, and shows what was played even if not all of it could be.
    pub(crate) fn of(&self, mut jobs: Vec<Job>, playing: &Playing) -> anyhow::Result<()> {
        let Playing { out, resume, effort, .. } = playing;
        play::prepare(&mut jobs, out, *resume)?;
        interrupt::listen();
        self.conclude(play::all(&jobs, *resume, effort)?, jobs.len(), out)
    }

    /// Shows what was played of so many jobs, and returns why it is not all.
    pub(crate) fn conclude(&self, played: Played, jobs: usize, out: &Path) -> anyhow::Result<()> {
        let Played { outcomes, problem } = played;
        let Some(problem) = problem else { return self.show(&outcomes, out) };
        if outcomes.is_empty() {
            return Err(problem);
        }
        // All may be played, and some not written.
        if outcomes.len() < jobs {
            eprintln!("partial: {} of {jobs} runs", outcomes.len());
        }
        if let Err(error) = self.show(&outcomes, out) {
            eprintln!("thalweg: {error:#}");
        }
        Err(problem)
    }

    /// Prints the results, then writes the report into `out`, then judges the conditions.
    pub(crate) fn show(&self, outcomes: &[Outcome], out: &Path) -> anyhow::Result<()> {
        let runs: Vec<Summary> = outcomes.iter().map(|outcome| outcome.summary.clone()).collect();
        self.print(&runs)?;
        let notes = table::notes(&runs);
        match self.is_text() {
            true => notes.iter().for_each(|note| outln!("{note}")),
            false => notes.iter().for_each(|note| note!("{note}")),
        }
        let about = About { title: play::title(&runs), ..About::default() };
        play::write_report(outcomes, about, &out.join("report.html"))?;
        if cfg!(not(feature = "parquet")) {
            note!(
                "no events.parquet: this build lacks the feature `parquet` (cargo build --release -p thalweg-cli has it)"
            );
        }
        self.judge(&runs)
    }

    fn print(&self, runs: &[Summary]) -> anyhow::Result<()> {
        let columns = table::chosen(&self.columns, runs)?;
        if self.json {
            let whole = serde_json::json!({ "runs": runs, "schemes": table::json(runs) });
            outln!("{}", serde_json::to_string_pretty(&whole)?);
            return Ok(());
        }
        if self.csv {
            out!("{}", table::raw(runs, &columns).csv());
            return Ok(());
        }
        let sort = if self.sort.is_some() { table::chosen(self.sort.as_slice(), runs)?.pop() } else { None };
        for (place, table) in table::tables(runs, &columns, sort).iter().enumerate() {
            if place > 0 {
                outln!("");
            }
            if !table.title.is_empty() {
                outln!("{}", table.title);
            }
            if self.markdown {
                out!("{}", table.grid.markdown());
            } else {
                out!("{}", table.grid.text(progress::width_of_output(), progress::bold()));
            }
        }
        table::feedback(runs).iter().for_each(|line| outln!("{line}"));
        table::videos(runs).iter().for_each(|line| outln!("{line}"));
        table::traffic(runs).iter().for_each(|line| outln!("{line}"));
        doubts(runs).iter().for_each(|line| note!("{line}"));
        Ok(())
    }

    fn judge(&self, runs: &[Summary]) -> anyhow::Result<()> {
        let verdicts: Vec<_> = self.fail_if.iter().map(|condition| condition.judge(runs)).collect::<Result<_, _>>()?;
        let verdicts: Vec<_> = verdicts.into_iter().flatten().collect();
        if let Some(path) = &self.junit {
            std::fs::write(path, conditions::junit(&verdicts)).with_context(|| path.display().to_string())?;
        }
        let held: Vec<String> = verdicts.iter().filter(|verdict| verdict.holds).map(ToString::to_string).collect();
        if held.is_empty() { Ok(()) } else { bail!(conditions::Failed(held.join("; "))) }
    }
}
