//! Experiments whose figures have bounds: every line with every seed.

use std::ops::ControlFlow;

use anyhow::{Context, bail};
use thalweg_lab::simulate::SimulateError;
use thalweg_papers::{Answer, Bounded, Figure};
use thalweg_units::{Seed, Span};

use super::Arguments;
use crate::play::{self, Interrupted};
use crate::progress::Progress;
use crate::{interrupt, link};

/// The answers of each line, in the order of what it asks.
pub(super) fn play(figure: &Figure, bounded: &Bounded, arguments: &Arguments) -> anyhow::Result<Vec<Vec<Answer>>> {
    if arguments.duration.is_some() {
        bail!("--duration does not fit {}, whose bounds are on parts of a run: leave it out", figure.name);
    }
    let runs = arguments.runs.unwrap_or(figure.setup.runs) as usize;
    let seeds: Vec<Seed> = (arguments.seed.get()..).take(runs).map(Seed::new).collect();
    let lines = &bounded.lines;
    let jobs: Vec<(usize, Seed)> =
        (0..lines.len()).flat_map(|line| seeds.iter().map(move |seed| (line, *seed))).collect();
    let seconds = |line: usize| Span::from_secs_f64(lines[line].seconds());
    let progress = Progress::new(jobs.iter().map(|(line, _)| seconds(*line)));
    let one = |place: usize| -> anyhow::Result<Vec<f64>> {
        let (line, seed) = jobs[place];
        let progress = progress.begin(lines[line].name.clone(), seconds(line));
        let mut say = |now| {
            progress.report(now);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut find = |name: &str| {
            let recorded = arguments.traces().ok().map(|folder| folder.join(name)).filter(|path| path.is_file());
            let name = recorded.map_or_else(|| name.to_string(), |path| path.display().to_string());
            link::find(&name, figure.setup.duration, seed).map_err(|error| format!("{error:#}"))
        };
        let values = lines[line].play(seed, &mut find, &mut say);
        let values = match values {
            Err(SimulateError::Interrupted) => return Err(Interrupted::for_good(place, jobs.len()).into()),
            values => values.with_context(|| format!("{}, seed {}", lines[line].name, seed.get()))?,
        };
        progress.end();
        Ok(values)
    };
    let done = play::in_threads(jobs.len(), &arguments.effort, &|place| match one(place) {
        Ok(values) => ControlFlow::Continue(Ok(values)),
        Err(error) => ControlFlow::Break(Err(error)),
    });
    let values = done.into_iter().map(|(_, values)| values).collect::<anyhow::Result<Vec<Vec<f64>>>>()?;
    let answers = lines.iter().zip(values.chunks(seeds.len())).map(|(line, of_seeds)| {
        let asked = line.asked.iter().enumerate();
        asked
            .map(|(place, asked)| {
                Answer::of(asked.bound, &of_seeds.iter().map(|values| values[place]).collect::<Vec<_>>())
            })
            .collect()
    });
    Ok(answers.collect())
}
