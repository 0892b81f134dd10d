//! All viewers, and which of them need service: work is done for those alone, so that hundreds cost what they send.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_units::Time;

use super::viewer::Viewer;
use crate::publish::messages::Key;

/// The viewers, by key.
#[derive(Default)]
pub(crate) struct Viewers {
    all: BTreeMap<Key, Entry>,
    /// When each needs service even if nothing happens to it.
    times: BTreeSet<(Time, Key)>,
    /// Those to which something may have happened since they were last served.
    touched: Vec<Key>,
}

struct Entry {
    viewer: Viewer,
    /// Its entry in [`Viewers::times`].
    time: Time,
    is_touched: bool,
}

impl Viewers {
    pub(crate) fn insert(&mut self, viewer: Viewer) {
        let (key, time) = (viewer.key, viewer.wake());
        self.times.insert((time, key));
        self.all.insert(key, Entry { viewer, time, is_touched: false });
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<Viewer> {
        let Entry { viewer, time, .. } = self.all.remove(&key)?;
        self.times.remove(&(time, key));
        Some(viewer)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = Key> + '_ {
        self.all.keys().copied()
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Viewer> {
        self.all.values().map(|entry| &entry.viewer)
    }

    pub(crate) fn get(&self, key: Key) -> Option<&Viewer> {
        self.all.get(&key).map(|entry| &entry.viewer)
    }

    /// A viewer, which is served next.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut Viewer> {
        let entry = self.all.get_mut(&key)?;
        if !entry.is_touched {
            entry.is_touched = true;
            self.touched.push(key);
        }
        Some(&mut entry.viewer)
    }

    /// All viewers, which are served next.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Viewer> {
        let touched = &mut self.touched;
        self.all.iter_mut().map(|(key, entry)| {
            if !entry.is_touched {
                entry.is_touched = true;
                touched.push(*key);
            }
            &mut entry.viewer
        })
    }

    /// All viewers, for changes after which none has to be scheduled.
    pub(crate) fn values_mut_untouched(&mut self) -> impl Iterator<Item = &mut Viewer> {
        self.all.values_mut().map(|entry| &mut entry.viewer)
    }

    /// When the next viewer needs service.
    pub(crate) fn wake(&self) -> Time {
        if self.touched.is_empty() { self.times.first().map_or(Time::NEVER, |(time, _)| *time) } else { Time::ZERO }
    }

    /// Passes those that need service to `serve`: first those whose time has come, the earliest first, then those to
    /// which something has happened.
    pub(crate) fn serve(&mut self, now: Time, mut serve: impl FnMut(&mut Viewer)) {
        let mut keys: Vec<Key> = self.times.iter().take_while(|(time, _)| *time <= now).map(|(_, key)| *key).collect();
        let is_due = |key: &Key| self.all.get(key).is_some_and(|entry| entry.time <= now);
        keys.extend(std::mem::take(&mut self.touched).into_iter().filter(|key| !is_due(key)));
        for key in keys {
            let Some(entry) = self.all.get_mut(&key) else { continue };
            serve(&mut entry.viewer);
            entry.is_touched = false;
            let time = entry.viewer.wake();
            if time != entry.time {
                self.times.remove(&(entry.time, key));
                self.times.insert((time, key));
                entry.time = time;
            }
        }
    }
}
