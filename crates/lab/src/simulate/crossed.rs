//! A link that flows cross: a path, or a medium that stations share.

use thalweg_netsim::{Cell, Change, Departure, Drop, FindTrace, Link, Path, PathCapacity, PathConfig, PathError};
use thalweg_netsim::{Port, SharedLink, Wifi};
use thalweg_units::{Bytes, Seed, Time};

use super::SimulateError;
use crate::scenario::{FORWARD, Medium, REVERSE};

/// See the module.
pub(super) enum Crossed<P> {
    Path(Path<P>),
    Shared(Box<dyn SharedLink<P> + Send>),
}

impl<P: thalweg_netsim::Packet + Copy + Send + 'static> Crossed<P> {
    /// The path of this name.
    ///
    /// # Errors
    /// When a trace cannot be found, or a parameter is out of range.
    pub(super) fn path(
        name: &str,
        path: &PathConfig,
        seed: Seed,
        find: &mut FindTrace<'_>,
    ) -> Result<Crossed<P>, SimulateError> {
        let problem = |error: PathError<String>| {
            SimulateError::Path(match name {
                FORWARD | REVERSE => error.to_string(),
                name => format!("link '{name}': {error}"),
            })
        };
        Ok(Crossed::Path(path.build(seed, find).map_err(problem)?))
    }

    /// The medium of this name.
    ///
    /// # Errors
    /// When a parameter is out of range.
    pub(super) fn medium(name: &str, medium: &Medium, seed: Seed) -> Result<Crossed<P>, SimulateError> {
        let problem = |error| SimulateError::Path(format!("medium '{name}': {error}"));
        let shared: Box<dyn SharedLink<P> + Send> = match medium {
            Medium::Wifi(config) => Box::new(Wifi::new(config, seed).map_err(problem)?),
            Medium::Cell(config) => {
                let mut read = |path: &str| {
                    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
                    thalweg_netsim::cell::read_eta(&text).map_err(|error| format!("{path}: {error}"))
                };
                Box::new(Cell::new(config, seed, &mut read).map_err(problem)?)
            }
        };
        Ok(Crossed::Shared(shared))
    }

    /// How many stations it has, if it is a medium, whose ports routes name.
    pub(super) fn stations(&self) -> Option<usize> {
        match self {
            Crossed::Path(_) => None,
            Crossed::Shared(shared) => Some(shared.stations()),
        }
    }

    /// Its capacity at each moment; none of a medium, whose capacity depends on who sends.
    pub(super) fn capacity(&self) -> Option<&PathCapacity> {
        match self {
            Crossed::Path(path) => Some(path.capacity()),
            Crossed::Shared(_) => None,
        }
    }

    /// A packet arrives; a medium takes it at `port`.
    pub(super) fn offer(&mut self, now: Time, port: Option<Port>, size: Bytes, packet: P) {
        match (self, port) {
            (Crossed::Path(path), _) => path.offer(now, size, packet),
            (Crossed::Shared(shared), Some(port)) => shared.offer(now, port, size, packet),
            (Crossed::Shared(_), None) => unreachable!("a route over a medium has a port"),
        }
    }

    /// The next packet that left at or before `now`.
    pub(super) fn poll(&mut self, now: Time) -> Option<Departure<P>> {
        match self {
            Crossed::Path(path) => path.poll(now),
            Crossed::Shared(shared) => shared.poll(now),
        }
    }

    /// The next packet that was dropped.
    pub(super) fn poll_drop(&mut self) -> Option<Drop<P>> {
        match self {
            Crossed::Path(path) => path.poll_drop(),
            Crossed::Shared(shared) => shared.poll_drop(),
        }
    }

    pub(super) fn next_event(&self) -> Time {
        match self {
            Crossed::Path(path) => path.next_event(),
            Crossed::Shared(shared) => shared.next_event(),
        }
    }

    /// Changes a property; returns whether there is one.
    pub(super) fn change(&mut self, now: Time, change: &Change) -> bool {
        match self {
            Crossed::Path(path) => path.change(now, change),
            Crossed::Shared(_) => false,
        }
    }
}
