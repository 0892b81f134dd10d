//! Virtual time as the `Instant` that other crates take.

use std::time::{Duration, Instant};

use thalweg_units::Time;

/// The instant that stands for the start of a run. Only times since it are used, so which one it is changes nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Epoch(Instant);

impl Epoch {
    #[expect(clippy::disallowed_methods, reason = "an Instant can be had in no other way")]
    pub(crate) fn new() -> Epoch {
        Epoch(Instant::now())
    }

    /// An epoch for something that takes one of its own while `make` creates it: less than a microsecond earlier.
    pub(crate) fn around<T>(make: impl Fn() -> T) -> (T, Epoch) {
        for _ in 0..100_000 {
            let before = Epoch::new();
            let made = make();
            if Epoch::new().0 - before.0 < Duration::from_nanos(999) {
                return (made, before);
            }
        }
        panic!("this machine takes a microsecond to read its clock: runs would not be the same twice")
    }

    pub(crate) fn at(self, time: Time) -> Instant {
        self.0 + Duration::from_nanos(time.as_nanos())
    }
}
