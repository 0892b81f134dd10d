//! Which viewers share an encoder, and at which rates: a ladder of at most so many rungs, each an encoder.
//!
//! While no more viewers are here than encoders are allowed, each has its own, which follows its sender's plans exactly.
//! From one more on they share: a viewer is placed on the rung whose rate is the highest not above its sender's target.
//! Rates of rungs follow what their viewers want, which moves nobody; a viewer that moves to another rung needs a
//! keyframe there.

mod choice;
mod steps;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use thalweg_units::{Rate, Span, Time};

use crate::publish::messages::{Key, RungId};
use choice::{Cost, ENCODER, best, best_for, choose, cost};
use steps::Wanted;

/// Viewers have encoders of their own again when there are few enough of them for this time.
const FEW_FOR: Span = Span::from_secs(5);
/// Least gain of a viewer's move, in steps: a move costs a keyframe, which others get too.
const MOVE: Cost = 2;

/// The rate of the first rung while no viewer has asked for any: what GCC starts with (specs/gcc.md 4).
const FIRST: Rate = Rate::from_kbps(300);

/// Where a viewer's frames come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// An encoder of its own.
    Own,
    /// A shared one.
    Rung(RungId),
}

/// The rungs, and who is where.
#[derive(Debug)]
pub(crate) struct Ladder {
    /// The most encoders for those who may share.
    most: usize,
    members: BTreeMap<Key, Member>,
    rungs: Vec<Rung>,
    next: RungId,
    shares: bool,
    /// Since when there are few enough viewers for an encoder each.
    few: Option<Time>,
}

#[derive(Debug)]
struct Member {
    /// `None` until its sender has asked for a frame.
    wanted: Option<Wanted>,
    rung: Option<RungId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rung {
    id: RungId,
    step: usize,
}

impl Member {
    fn step(&self) -> Option<usize> {
        self.wanted.as_ref().map(Wanted::step)
    }
}

/// Rungs, who would be on which, and what that costs.
struct Arrangement {
    cost: Cost,
    rungs: Vec<Rung>,
    on: Vec<(Key, RungId)>,
}

impl Ladder {
    /// A ladder of at most `most` encoders, at least one.
    pub(crate) fn new(most: usize) -> Ladder {
        Ladder { most: most.max(1), members: BTreeMap::new(), rungs: Vec::new(), next: 0, shares: false, few: None }
    }

    /// Where this viewer's frames should come from.
    pub(crate) fn place(&self, key: Key) -> Place {
        let rung = self.members.get(&key).and_then(|member| member.rung);
        rung.map_or(Place::Own, Place::Rung)
    }

    /// The rungs and their rates.
    pub(crate) fn rungs(&self) -> impl Iterator<Item = (RungId, Rate)> + '_ {
        self.rungs.iter().map(|rung| (rung.id, steps::rate(rung.step)))
    }

    /// These viewers may share, and this is what their senders would ask an encoder for; `None` if they have not asked
    /// yet. To be called several times a second, and when viewers have come.
    pub(crate) fn update(&mut self, now: Time, viewers: &[(Key, Option<Rate>)]) {
        self.members.retain(|key, _| viewers.iter().any(|(other, _)| other == key));
        for (key, target) in viewers {
            let member = self.members.entry(*key).or_insert(Member { wanted: None, rung: None });
            match (&mut member.wanted, target) {
                (Some(wanted), Some(target)) => wanted.update(now, *target),
                (None, Some(target)) => member.wanted = Some(Wanted::new(*target)),
                (_, None) => {}
            }
        }
        self.decide(now);
        if self.shares {
            self.arrange();
        } else {
            self.rungs.clear();
            self.members.values_mut().for_each(|member| member.rung = None);
        }
    }

    /// Decides whether viewers share.
    fn decide(&mut self, now: Time) {
        if self.members.len() > self.most {
            (self.shares, self.few) = (true, None);
        } else {
            let few = *self.few.get_or_insert(now);
            self.shares &= now - few < FEW_FOR;
        }
    }

    fn arrange(&mut self) {
        let stays = self.retuned();
        let other = self.anew();
        let best = if other.cost < stays.cost { other } else { stays };
        for (key, id) in best.on {
            if let Some(member) = self.members.get_mut(&key) {
                member.rung = Some(id);
            }
        }
        let is_used = |rung: &Rung| self.members.values().any(|member| member.rung == Some(rung.id));
        self.next = best.rungs.iter().map(|rung| rung.id + 1).max().unwrap_or(0).max(self.next);
        self.rungs = best.rungs.into_iter().filter(is_used).collect();
    }

    /// The rungs there are, with rates for those who are on them now.
    fn retuned(&self) -> Arrangement {
        let on = |rung: &Rung| {
            let wanted = self.members.values().filter(|member| member.rung == Some(rung.id)).filter_map(Member::step);
            wanted.collect::<Vec<_>>()
        };
        let tuned = |rung: &Rung| match &on(rung)[..] {
            [] => *rung,
            wanted => Rung { step: best_for(wanted), ..*rung },
        };
        self.with(self.rungs.iter().map(tuned).collect())
    }

    /// The best rungs for what is wanted now. As many as can be are those that there are.
    fn anew(&self) -> Arrangement {
        let wanted: Vec<usize> = self.members.values().filter_map(Member::step).collect();
        let steps = if wanted.is_empty() { vec![steps::below(FIRST)] } else { choose(&wanted, self.most) };
        // How many of those on a rung would be on each of the new ones.
        let mut common: BTreeMap<(RungId, usize), usize> = BTreeMap::new();
        for member in self.members.values() {
            if let (Some(id), Some(step)) = (member.rung, member.step())
                && let Some(index) = best(step, &steps)
            {
                *common.entry((id, index)).or_default() += 1;
            }
        }
        let mut most: Vec<((RungId, usize), usize)> = common.into_iter().collect();
        most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut ids: Vec<Option<RungId>> = vec![None; steps.len()];
        for ((id, index), _) in most {
            if ids[index].is_none() && !ids.contains(&Some(id)) {
                ids[index] = Some(id);
            }
        }
        let new = (self.next..).filter(|id| !self.rungs.iter().any(|rung| rung.id == *id));
        let rungs = steps.iter().zip(ids).zip(new).map(|((step, id), new)| Rung { id: id.unwrap_or(new), step: *step });
        self.with(rungs.collect())
    }

    /// Everybody on the best of these rungs, or where they are if that is nearly as good.
    fn with(&self, rungs: Vec<Rung>) -> Arrangement {
        let steps: Vec<usize> = rungs.iter().map(|rung| rung.step).collect();
        let mut all = Arrangement { cost: ENCODER * rungs.len() as Cost, rungs, on: Vec::new() };
        for (key, member) in &self.members {
            // One that wants nothing yet is sent the least.
            let wanted = member.step().unwrap_or(0);
            let Some(best) = best(wanted, &steps).map(|index| all.rungs[index]) else {
                return Arrangement { cost: Cost::MAX, ..all };
            };
            let here = all.rungs.iter().find(|rung| member.rung == Some(rung.id));
            let costs = |rung: Rung| if member.wanted.is_some() { cost(wanted, rung.step) } else { 0 };
            let (rung, moves) = match here {
                Some(here) if costs(*here) <= costs(best) + MOVE => (*here, 0),
                Some(_) => (best, MOVE),
                // A rung that ends, or none yet.
                None => (best, if member.rung.is_some() { MOVE } else { 0 }),
            };
            all.cost += costs(rung) + moves;
            all.on.push((*key, rung.id));
        }
        all
    }
}
