//! A hunt's senders and scenarios, and how they are played.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use thalweg_lab::behaviour::made_by;
use thalweg_lab::bound::Bound;
use thalweg_lab::hunt::{Figures, Genome, KEPT, Plan, Played, judge, measure};
use thalweg_lab::simulate::{Run, SimulateError};
use thalweg_lab::{Scenario, simulate};
use thalweg_sender::SenderFactory;
use thalweg_units::{Seed, Time};

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

    /// The runs of scenarios: with the first seed, and with each further one where those before are worth it.
    pub(super) fn played(&self, genomes: &[Genome], progress: &Progress) -> anyhow::Result<Vec<Vec<Played>>> {
        let senders: Vec<_> = std::iter::once(&self.tested).chain(&self.references).collect();
        let mut runs: Vec<Vec<Played>> = vec![Vec::new(); genomes.len()];
        for (before, seed) in self.plan.seeds.iter().enumerate() {
            let is_worth = |runs: &[Played]| {
                let verdict = judge(runs, &self.plan.weights);
                runs.len() == before && verdict.is_none_or(|verdict| verdict.feasible && verdict.worse >= KEPT)
            };
            let worth: Vec<usize> = (0..genomes.len()).filter(|genome| is_worth(&runs[*genome])).collect();
            let done = play::in_threads(worth.len() * senders.len(), self.effort, &|job| {
                let (genome, sender) = (&genomes[worth[job / senders.len()]], senders[job % senders.len()]);
                match self.figures(genome, *seed, &**sender, progress) {
                    Ok(figures) => ControlFlow::Continue(Ok(figures)),
                    Err(error) => ControlFlow::Break(Err(error)),
                }
            });
            let figures = done.into_iter().map(|(_, done)| done).collect::<anyhow::Result<Vec<Option<Figures>>>>()?;
            for (genome, figures) in worth.into_iter().zip(figures.chunks(senders.len())) {
                let references = figures[1..].iter().flatten().cloned().collect();
                let tested = figures[0].clone();
                runs[genome].extend(tested.map(|tested| Played { seed: seed.get(), tested, references }));
            }
        }
        Ok(runs)
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
        let progress = progress.begin(sender.name().into(), scenario.duration);
        let run = play(&scenario, sender, &mut |now| progress.report(now));
        progress.end();
        match run {
            Ok(run) => Ok(Some(measure(&scenario, &run, self.plan.settled_s(genome)))),
            Err(error) if Bound::is_named_by(sender.name()) && !error.is::<Interrupted>() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The runs of the sender under test and of the first reference, whole.
    pub(super) fn pair(&self, scenario: &Scenario) -> anyhow::Result<[Run; 2]> {
        let of = |sender: &dyn SenderFactory| play(scenario, sender, &mut |_| ());
        Ok([of(&*self.tested)?, of(&*self.references[0])?])
    }
}

fn play(scenario: &Scenario, sender: &dyn SenderFactory, report: &mut dyn FnMut(Time)) -> anyhow::Result<Run> {
    let run = simulate(scenario, sender, &mut scenario.find(), &mut |now| {
        report(now);
        if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    run.map_err(|error| match error {
        SimulateError::Interrupted => Interrupted::for_now(0, 0).into(),
        error => anyhow!(error).context(format!("{} over {}", sender.name(), scenario.name)),
    })
}
