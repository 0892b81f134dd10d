//! Limited slots: event streams of each viewer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of slots that each key has taken.
#[derive(Clone)]
pub(super) struct Slots<K>(Arc<Mutex<BTreeMap<K, usize>>>);

impl<K> Default for Slots<K> {
    fn default() -> Slots<K> {
        Slots(Arc::default())
    }
}

impl<K: Ord + Clone> Slots<K> {
    /// Takes a slot, unless `key` has `max` already.
    pub(super) fn take(&self, key: K, max: usize) -> Option<Slot<K>> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.get(&key).copied().unwrap_or(0);
        (own < max).then(|| {
            taken.insert(key.clone(), own + 1);
            Slot { slots: self.clone(), key }
        })
    }
}

/// A slot, released when dropped.
pub(super) struct Slot<K: Ord> {
    slots: Slots<K>,
    key: K,
}

impl<K: Ord> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut taken = self.slots.0.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.get_mut(&self.key) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(taken.remove(&self.key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_given_up_to_the_limits_and_come_back() {
        let slots = Slots::default();
        let (first, second) = (slots.take("here", 2), slots.take("here", 2));
        assert!(first.is_some() && second.is_some() && slots.take("here", 2).is_none());
        let third = slots.take("there", 2);
        assert!(third.is_some());
        drop((first, second, third));
        assert!(slots.0.lock().unwrap().is_empty());
    }
}
