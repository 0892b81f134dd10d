//! The curves of several scenarios.

use std::collections::BTreeMap;
use std::sync::Mutex;

use thalweg_netsim::FindTrace;
use xxhash_rust::xxh3::xxh3_128;

use super::LONGEST_JUDGED;
use super::curve::Curve;
use crate::outcome::Outcome;
use crate::scenario::Scenario;

/// How many curves are kept: each takes about 600 bytes.
const MOST: usize = 65_536;

/// The curve of each scenario, computed once for all of its schemes; none where it is not defined.
#[derive(Debug, Default)]
pub struct Curves(Mutex<BTreeMap<u128, Option<Curve>>>);

impl Curves {
    /// No curves yet.
    pub const fn new() -> Curves {
        Curves(Mutex::new(BTreeMap::new()))
    }

    /// Adds the bound of its scenario to an outcome, and its share of it.
    pub fn judge(&self, scenario: &Scenario, find: &mut FindTrace<'_>, outcome: &mut Outcome) {
        self.judge_as(scenario, scenario, find, outcome);
    }

    /// The same of a scenario that is known by another: one whose files are named by their content, where a name may stand
    /// for several.
    pub(crate) fn judge_as(
        &self,
        known_by: &Scenario,
        scenario: &Scenario,
        find: &mut FindTrace<'_>,
        outcome: &mut Outcome,
    ) {
        if scenario.duration > LONGEST_JUDGED {
            return;
        }
        // A scenario that could not be written could not have been read.
        let Ok(text) = serde_json::to_vec(known_by) else { return };
        let key = xxh3_128(&text);
        let known = self.0.lock().ok().and_then(|known| known.get(&key).cloned());
        let curve = known.unwrap_or_else(|| {
            // Not under the lock: two threads may compute the same curve, but none waits for another one's.
            let curve = Curve::of(scenario, find).ok();
            self.keep(key, curve.clone());
            curve
        });
        if let Some(curve) = curve {
            curve.judge(outcome);
        }
    }

    fn keep(&self, key: u128, curve: Option<Curve>) {
        let Ok(mut known) = self.0.lock() else { return };
        if known.len() >= MOST {
            // Any one: keys are hashes.
            known.pop_first();
        }
        known.insert(key, curve);
    }
}
