//! A hunt's senders and scenarios, and how they are played.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use thalweg_lab::behaviour::made_by;
use thalweg_lab::bound::Bound;
use thalweg_lab::hunt::{Figures, Genome, KEPT, Plan, Played, judge, measure};
use thalweg_lab::simulate::{Run, SimulateError};
use thalweg_lab::{Scenario, simulate};
use thalweg_sender::SenderFactory;
use thalweg_units::Seed;

use super::Header;
use crate::commands::setting::{Root, Setting, applied};
use crate::contestant::{self, Contestant};
use crate::interrupt;
use crate::play::{self, Effort, Interrupted};
use crate::progress::Progress;

/// A plan with what it names.
pub(super) struct Hunter<'a> {
    plan: Plan,
    contestant: Option<Contestant>,
    tested: Arc<dyn SenderFactory>,
    references: Vec<Arc<dyn SenderFactory>>,
    /// Parameters set in every scenario.
    settings: Vec<Setting>,
    effort: &'a Effort,
}

impl<'a> Hunter<'a> {
    pub(super) fn open(plan: Plan, effort: &'a Effort) -> anyhow::Result<Hunter<'a>> {
        let contestant =
            plan.contestant.as_deref().map(str::parse::<Contestant>).transpose().map_err(|why| anyhow!(why))?;
        let registry = contestant::registry(contestant.as_slice())?;
        let name = match (&plan.scheme, &contestant) {
            (Some(scheme), None) => scheme.clone(),
            (None, Some(contestant)) => contestant.name.clone(),
            (None, None) => bail!("nobody is hunted: name a scheme with --scheme or an estimator with --contestant"),
            (Some(_), Some(_)) => bail!("the file names a scheme and a contestant: leave one of them out"),
        };
        let mut tested = play::schemes(&registry, &[name])?;
        let references = play::schemes(&registry, &plan.against)?;
        let all = plan.set.iter().map(|text| text.parse::<Setting>().map_err(|why| anyhow!(why)));
        let all = all.collect::<anyhow::Result<Vec<_>>>()?;
        let (settings, of_scheme): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|setting| setting.root() == Root::Scenario);
        of_scheme.iter().try_for_each(|setting| applied(setting, &mut [], &mut tested))?;
        let hunter = Hunter { plan, contestant, tested: tested.remove(0), references, settings, effort };
        // A wrong setting of scenarios is refused now.
        let drawn = hunter.plan.draw(&mut hunter.plan.seed.random());
        hunter.scenario(&drawn, hunter.first_seed())?;
        Ok(hunter)
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The name of the sender under test.
    pub(super) fn name(&self) -> &str {
        self.tested.name()
    }

    pub(super) fn first_seed(&self) -> Seed {
        self.plan.seeds[0]
    }

    /// Parameters set of the sender under test.
    pub(super) fn of_scheme(&self) -> impl Iterator<Item = &String> {
        self.plan.set.iter().filter(|set| set.trim_start().starts_with(Root::Scheme.name()))
    }

    /// All that the lines of a trace depend on: of files in a contestant's command their SHA-256.
    pub(super) fn header(&self) -> anyhow::Result<Header> {
        let mut tested = self.tested.as_scheme().map_or(Ok(self.tested.describe()), toml::to_string)?;
        let policy = self.plan.scheme.iter().filter_map(|scheme| scheme.strip_prefix("onnx:"));
        for file in self.contestant.iter().flat_map(Contestant::words).chain(policy) {
            if Path::new(file).is_file() {
                tested += &format!("{file} = {}\n", thalweg_data::sha256(Path::new(file))?);
            }
        }
        Ok(Header { made_by: made_by(), plan: self.plan.clone(), tested })
    }

    /// The scenario of a genome, with what is set.
    pub(super) fn scenario(&self, genome: &Genome, seed: Seed) -> anyhow::Result<Scenario> {
        let mut scenario = [self.plan.scenario(genome, seed)?];
        self.settings.iter().try_for_each(|setting| applied(setting, &mut scenario, &mut []))?;
        let [scenario] = scenario;
        Ok(scenario)
    }

    /// The runs of scenarios: with the first seed, and with the others where that one is worth it.
    pub(super) fn played(&self, genomes: &[Genome], progress: &Progress) -> anyhow::Result<Vec<Vec<Played>>> {
        let first = self.with_seeds(genomes, &self.plan.seeds[..1], progress)?;
        let is_worth = |played: &[Played]| {
            judge(played, &self.plan.weights).is_some_and(|verdict| verdict.feasible && verdict.worse >= KEPT)
        };
        let worth: Vec<Genome> = genomes
            .iter()
            .zip(&first)
            .filter(|(_, played)| is_worth(played))
            .map(|(genome, _)| genome.clone())
            .collect();
        let mut others = self.with_seeds(&worth, &self.plan.seeds[1..], progress)?.into_iter();
        let all = first.into_iter().map(|mut played| {
            if is_worth(&played) {
                played.extend(others.next().unwrap_or_default());
            }
            played
        });
        Ok(all.collect())
    }

    fn with_seeds(&self, genomes: &[Genome], seeds: &[Seed], progress: &Progress) -> anyhow::Result<Vec<Vec<Played>>> {
        let senders = 1 + self.references.len();
        let count = genomes.len() * seeds.len() * senders;
        let done = play::in_threads(count, self.effort, &|job| {
            let (genome, rest) = (&genomes[job / (seeds.len() * senders)], job % (seeds.len() * senders));
            let sender = if rest % senders == 0 { &self.tested } else { &self.references[rest % senders - 1] };
            match self.figures(genome, seeds[rest / senders], &**sender, progress) {
                Ok(figures) => ControlFlow::Continue(Ok(figures)),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        let mut figures = done.into_iter().map(|(_, done)| done).collect::<anyhow::Result<Vec<_>>>()?.into_iter();
        let of_seed = |seed: &Seed, figures: &mut dyn Iterator<Item = Option<Figures>>| {
            let mut all = figures.take(senders).collect::<Vec<_>>().into_iter();
            let tested = all.next().flatten()?;
            Some(Played { seed: seed.get(), tested, references: all.flatten().collect() })
        };
        Ok(genomes.iter().map(|_| seeds.iter().filter_map(|seed| of_seed(seed, &mut figures)).collect()).collect())
    }

    /// The figures of a run; none of a bound that is not defined for the scenario.
    fn figures(
        &self,
        genome: &Genome,
        seed: Seed,
        sender: &dyn SenderFactory,
        progress: &Progress,
    ) -> anyhow::Result<Option<Figures>> {
        let scenario = self.scenario(genome, seed)?;
        let label = format!("{} over {}", sender.name(), scenario.name);
        let progress = progress.begin(label.clone(), scenario.duration);
        let run = play(&scenario, sender, &mut |now| progress.report(now));
        progress.end();
        match run {
            Ok(run) => Ok(Some(measure(&scenario, &run, self.plan.settled_s(genome)))),
            Err(SimulateError::Interrupted) => Err(Interrupted::for_now(0, 0).into()),
            Err(_) if Bound::is_named_by(sender.name()) => Ok(None),
            Err(error) => Err(error).context(label),
        }
    }

    /// The runs of the sender under test and of the first reference, whole.
    pub(super) fn pair(&self, scenario: &Scenario) -> anyhow::Result<[Run; 2]> {
        let of = |sender: &dyn SenderFactory| {
            play(scenario, sender, &mut |_| ()).with_context(|| format!("{} over {}", sender.name(), scenario.name))
        };
        Ok([of(&*self.tested)?, of(&*self.references[0])?])
    }
}

fn play(
    scenario: &Scenario,
    sender: &dyn SenderFactory,
    report: &mut dyn FnMut(thalweg_units::Time),
) -> Result<Run, SimulateError> {
    simulate(scenario, sender, &mut scenario.find(), &mut |now| {
        report(now);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}
