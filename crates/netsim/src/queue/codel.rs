//! CoDel as implemented in Mahimahi (specs/linkemu.md 3): the packet found late is delivered and the one after it
//! dropped.

use thalweg_units::{ConfigError, Span, Time, check};

use super::Queued;
use super::fifo::Fifo;
use crate::trace::OPPORTUNITY;

/// The state, in whole milliseconds as in Mahimahi's source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codel {
    target: u64,
    interval: u64,
    /// When the first packet above the target may be dropped; 0 if none is above it.
    first_above: u64,
    drop_next: u64,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl Codel {
    pub(super) fn new(target: Span, interval: Span) -> Result<Codel, ConfigError> {
        let millis = |name: &str, span: Span, example| {
            check(name, span).within(Span::from_millis(1).., example).map(|()| span.as_millis() as u64)
        };
        Ok(Codel {
            target: millis("codel.target", target, "5ms")?,
            interval: millis("codel.interval", interval, "100ms")?,
            first_above: 0,
            drop_next: 0,
            count: 0,
            last_count: 0,
            dropping: false,
        })
    }

    /// Takes one packet; returns also whether it was above the target for a whole interval.
    fn take<P>(&mut self, now: u64, queue: &mut Fifo<P>) -> Option<(Queued<P>, bool)> {
        let queued = queue.pop()?;
        if queue.is_empty() {
            self.first_above = 0;
            return Some((queued, false));
        }
        let waited = now - queued.arrival.as_millis();
        let left = queue.bytes();
        let mut late = false;
        if waited < self.target || left <= OPPORTUNITY {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + self.interval;
        } else {
            late = now >= self.first_above;
        }
        Some((queued, late))
    }

    pub(super) fn pop<P>(
        &mut self,
        now: Time,
        queue: &mut Fifo<P>,
        mut dropped: impl FnMut(Queued<P>),
    ) -> Option<Queued<P>> {
        let now = now.as_millis();
        let (result, late) = self.take(now, queue)?;
        if self.dropping {
            self.dropping = late;
            while self.dropping && now >= self.drop_next {
                // Mahimahi's source would fail an assertion on an empty queue here.
                let Some((following, still_late)) = self.take(now, queue) else {
                    self.dropping = false;
                    break;
                };
                dropped(following);
                self.count += 1;
                if still_late {
                    self.drop_next += self.step();
                } else {
                    self.dropping = false;
                }
            }
        } else if late {
            if let Some((following, _)) = self.take(now, queue) {
                dropped(following);
            }
            self.dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let recent = now.saturating_sub(self.drop_next) < 16 * self.interval;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = now + self.step();
            self.last_count = self.count;
        }
        Some(result)
    }

    fn step(&self) -> u64 {
        (self.interval as f64 / libm::sqrt(self.count.max(1) as f64)) as u64
    }
}
