//! Many environments, stepped together.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::thread;

use thalweg_units::{ConfigError, Seed, check};

use super::Config;
use super::single::{Environment, Step, check_len};
use super::stepped::Info;
use crate::FindTrace;
use crate::simulate::SimulateError;

/// Reset of an environment whose episode has ended: the modes of gymnasium's vector environments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Autoreset {
    /// The next step begins an episode: its action is ignored, its reward 0.
    #[default]
    NextStep,
    /// The same step begins an episode: the observation is the new episode's first, and that of the old one's end is
    /// in [`Environments::final_observation`].
    SameStep,
    /// Nothing: the caller begins episodes by [`Environments::reset_some`].
    Disabled,
}

impl Autoreset {
    /// All modes.
    pub const ALL: [Autoreset; 3] = [Autoreset::NextStep, Autoreset::SameStep, Autoreset::Disabled];

    /// The name: `next-step`, `same-step` or `disabled`.
    pub const fn name(self) -> &'static str {
        match self {
            Autoreset::NextStep => "next-step",
            Autoreset::SameStep => "same-step",
            Autoreset::Disabled => "disabled",
        }
    }
}

impl fmt::Display for Autoreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Autoreset {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Autoreset, ConfigError> {
        let found = Autoreset::ALL.into_iter().find(|mode| mode.name() == name);
        found.ok_or_else(|| {
            let names = Autoreset::ALL.map(Autoreset::name).join(", ");
            ConfigError::because(format!("unknown autoreset mode '{name}': expected one of {names}"))
        })
    }
}

/// `n` environments. Environment `i` of seed `s` is the single environment of seed [`Environments::seed_of`]`(s, i)`,
/// however many threads step them.
pub struct Environments {
    members: Vec<Member>,
    threads: NonZeroUsize,
    autoreset: Autoreset,
    observation_len: usize,
    action_len: usize,
    /// `n` observations of ends, row by row; empty unless the mode is [`Autoreset::SameStep`].
    finals: Vec<f32>,
}

struct Member {
    environment: Environment,
    ended: bool,
    info: Option<Info>,
}

impl Environments {
    /// `count` environments before their first episodes, stepped by up to `threads` threads.
    ///
    /// # Errors
    /// When the count is zero, or an episode cannot be played; the error suggests a fix.
    pub fn new(
        config: &Config,
        count: usize,
        threads: NonZeroUsize,
        autoreset: Autoreset,
        find: &mut FindTrace<'_>,
    ) -> Result<Environments, SimulateError> {
        check("environments", count).within(1.., "64")?;
        let first = Environment::new(config, find)?;
        let (observation_len, action_len) = (first.observation_len(), first.action_len());
        let member = |_| Member { environment: Environment::of(first.episodes().clone()), ended: true, info: None };
        let finals = if autoreset == Autoreset::SameStep { vec![0.0; count * observation_len] } else { Vec::new() };
        let members = (0..count).map(member).collect();
        Ok(Environments { members, threads, autoreset, observation_len, action_len, finals })
    }

    /// The seed of environment `index` when all are reset with `seed`.
    pub fn seed_of(seed: Seed, index: usize) -> Seed {
        seed.child(&format!("environment {index}"))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Never: there is at least one.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Configuration of the environments.
    pub fn config(&self) -> &Config {
        self.members[0].environment.config()
    }

    /// Mode of resets after an episode's end.
    pub fn autoreset(&self) -> Autoreset {
        self.autoreset
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self) -> usize {
        self.observation_len
    }

    /// How many numbers an action has.
    pub fn action_len(&self) -> usize {
        self.action_len
    }

    /// Begins an episode in each. `observations` is n x d, row by row. `None` goes on with the seeds before.
    ///
    /// # Errors
    /// When `observations` has a wrong length, or a simulation fails.
    pub fn reset(&mut self, seed: Option<Seed>, observations: &mut [f32]) -> Result<(), SimulateError> {
        let which = vec![true; self.len()];
        self.reset_some(seed, &which, observations)
    }

    /// The same for those that `which` selects; the rows of the others stay as they are.
    ///
    /// # Errors
    /// As for [`Environments::reset`]; also when `which` does not have one value for each.
    pub fn reset_some(
        &mut self,
        seed: Option<Seed>,
        which: &[bool],
        observations: &mut [f32],
    ) -> Result<(), SimulateError> {
        let of = |index| seed.map(|seed| Environments::seed_of(seed, index));
        self.reset_each(&(0..self.len()).map(of).collect::<Vec<_>>(), which, observations)
    }

    /// The same with a seed for each: that of the single environment which it then is.
    ///
    /// # Errors
    /// As for [`Environments::reset_some`]; also when `seeds` does not have one for each.
    pub fn reset_each(
        &mut self,
        seeds: &[Option<Seed>],
        which: &[bool],
        observations: &mut [f32],
    ) -> Result<(), SimulateError> {
        check_len("seeds", seeds.len(), self.len())?;
        check_len("which", which.len(), self.len())?;
        check_len("observations", observations.len(), self.len() * self.observation_len)?;
        let rows = observations.chunks_exact_mut(self.observation_len);
        let work = self.members.iter_mut().zip(rows).zip(which).enumerate();
        let work = work.filter(|(_, (_, which))| **which).map(|(index, (pair, _))| (index, pair)).collect();
        in_threads(self.threads, work, &|(index, (member, row)): (usize, (&mut Member, &mut [f32]))| {
            (member.ended, member.info) = (false, None);
            member.environment.reset(seeds[index], row)
        })
    }

    /// Acts in each. `actions` is n x a and `observations` n x d, row by row; `rewards` and `truncated` have one value
    /// for each.
    ///
    /// # Errors
    /// When an array has a wrong length, an action is none, an environment was not reset, or a simulation fails: the
    /// error names the environment.
    pub fn step(
        &mut self,
        actions: &[f32],
        observations: &mut [f32],
        rewards: &mut [f64],
        truncated: &mut [bool],
    ) -> Result<(), SimulateError> {
        let (count, autoreset) = (self.len(), self.autoreset);
        check_len("actions", actions.len(), count * self.action_len)?;
        check_len("observations", observations.len(), count * self.observation_len)?;
        check_len("rewards", rewards.len(), count)?;
        check_len("truncated", truncated.len(), count)?;
        let mut finals = self.finals.chunks_exact_mut(self.observation_len);
        let work = self
            .members
            .iter_mut()
            .zip(actions.chunks_exact(self.action_len))
            .zip(observations.chunks_exact_mut(self.observation_len))
            .zip(rewards.iter_mut().zip(truncated))
            .map(|(((member, action), row), result)| Work { member, action, row, result, last: finals.next() })
            .enumerate()
            .collect();
        in_threads(self.threads, work, &|(index, work): (usize, Work<'_>)| {
            let named = |error| SimulateError::Scenario(format!("environment {index}: {error}"));
            work.run(autoreset).map_err(named)
        })
    }

    /// The environment `index` itself: its episode and what it is made of.
    pub fn environment(&self, index: usize) -> Option<&Environment> {
        self.members.get(index).map(|member| &member.environment)
    }

    /// Statistics of the last interval of environment `index`; `None` directly after its reset.
    pub fn info(&self, index: usize) -> Option<&Info> {
        self.members.get(index)?.info.as_ref()
    }

    /// The observation at the end of the episode that environment `index` ended in the last step; of use only where that
    /// step said `truncated` and the mode is [`Autoreset::SameStep`], otherwise `None` or an older one.
    pub fn final_observation(&self, index: usize) -> Option<&[f32]> {
        self.finals.chunks_exact(self.observation_len).nth(index)
    }
}

/// A step of one environment.
struct Work<'a> {
    member: &'a mut Member,
    action: &'a [f32],
    row: &'a mut [f32],
    result: (&'a mut f64, &'a mut bool),
    last: Option<&'a mut [f32]>,
}

impl Work<'_> {
    fn run(self, autoreset: Autoreset) -> Result<(), SimulateError> {
        let Work { member, action, row, result, last } = self;
        if member.ended && autoreset == Autoreset::NextStep && member.environment.episode().is_some() {
            (member.ended, member.info) = (false, None);
            (*result.0, *result.1) = (0.0, false);
            return member.environment.reset(None, row);
        }
        let Step { reward, truncated, info } = member.environment.step(action, row)?;
        (*result.0, *result.1) = (reward, truncated);
        (member.ended, member.info) = (truncated, Some(info));
        if let (true, Some(last)) = (truncated, last) {
            last.copy_from_slice(row);
            member.ended = false;
            member.environment.reset(None, row)?;
        }
        Ok(())
    }
}

/// Does each piece of work, in so many threads. Pieces are dealt out beforehand: environments cost about the same.
fn in_threads<W: Send>(
    threads: NonZeroUsize,
    mut work: Vec<W>,
    run: &(dyn Fn(W) -> Result<(), SimulateError> + Sync),
) -> Result<(), SimulateError> {
    let threads = threads.get().min(work.len());
    if threads < 2 {
        return work.into_iter().try_for_each(run);
    }
    let share = work.len().div_ceil(threads);
    thread::scope(|scope| {
        let mut others = Vec::new();
        while work.len() > share {
            let part = work.split_off(work.len() - share);
            others.push(scope.spawn(move || part.into_iter().try_for_each(run)));
        }
        let own = work.into_iter().try_for_each(run);
        let joined = others
            .into_iter()
            .rev()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // Of several errors that of the first environment.
        joined.fold(own, |first, next| first.and(next))
    })
}
