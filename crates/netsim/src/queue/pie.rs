//! PIE as implemented in Mahimahi (specs/linkemu.md 3): in whole milliseconds and bytes; only the drop probability is a
//! fraction.

use thalweg_units::{Bytes, ConfigError, Random, Seed, Span, Time, check};

/// The drop probability is updated this often, in ms.
const UPDATE: u64 = 30;
/// A departure-rate measurement covers this many bytes.
const THRESHOLD: u64 = 16_384;
/// A queue shorter than two packets never drops early.
const FEW_BYTES: u64 = 3_008;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Pie {
    reference: u64,
    max_burst: u64,
    probability: f64,
    burst: u64,
    current: u64,
    previous: u64,
    updated: u64,
    /// Departure rate, bytes per ms; 0 while unknown.
    rate: u64,
    /// Bytes departed since the measurement began, and when it began.
    measuring: Option<(u64, u64)>,
    random: Random,
}

impl Pie {
    pub(super) fn new(reference: Span, max_burst: Span, seed: Seed) -> Result<Pie, ConfigError> {
        check("pie.reference", reference).is(reference >= Span::from_millis(1), "at least 1ms")?;
        check("pie.max_burst", max_burst).is(max_burst >= Span::ZERO, "0ms or longer")?;
        let max_burst = max_burst.as_millis() as u64;
        Ok(Pie {
            reference: reference.as_millis() as u64,
            max_burst,
            probability: 0.0,
            burst: max_burst,
            current: 0,
            previous: 0,
            updated: 0,
            rate: 0,
            measuring: None,
            random: seed.child("pie").random(),
        })
    }

    /// A packet arrives at a queue of `bytes`; returns whether it is dropped early. `full` queues drop it anyway.
    pub(super) fn on_arrival(&mut self, now: Time, bytes: Bytes, full: bool) -> bool {
        self.update(now.as_millis(), bytes.get());
        if full || self.burst > 0 {
            return false;
        }
        let calm = self.previous < self.reference / 2 && self.probability < 0.2;
        if calm || bytes.get() < FEW_BYTES {
            return false;
        }
        self.random.unit() < self.probability
    }

    /// A packet of `size` departed; `bytes` remain in the queue.
    pub(super) fn on_departure(&mut self, now: Time, bytes: Bytes, size: Bytes) {
        let now = now.as_millis();
        let (bytes, size) = (bytes.get(), size.get());
        if bytes >= THRESHOLD && self.measuring.is_none() {
            self.measuring = Some((0, now));
        }
        if let Some((departed, began)) = &mut self.measuring {
            *departed += size;
            let elapsed = now - *began;
            if *departed > THRESHOLD && elapsed > 0 {
                let sample = *departed / elapsed;
                self.rate = if self.rate == 0 { sample } else { self.rate - self.rate / 8 + sample / 8 };
                self.measuring = (bytes >= THRESHOLD).then_some((0, now));
                self.burst -= self.burst.min(elapsed);
            }
        }
        self.update(now, bytes);
    }

    fn update(&mut self, now: u64, bytes: u64) {
        while now - self.updated > UPDATE {
            self.previous = self.current;
            self.current = bytes.checked_div(self.rate).unwrap_or(0);
            let (current, previous, reference) = (self.current as f64, self.previous as f64, self.reference as f64);
            let step = 0.125 * (current - reference) + 1.25 * (current - previous);
            let scale = match self.probability {
                p if p < 0.01 => 128.0,
                p if p < 0.1 => 32.0,
                _ => 16.0,
            };
            self.probability = (self.probability + step / scale).clamp(0.0, 1.0);
            if self.current == 0 && self.previous == 0 && bytes == 0 && self.probability < 1.0 {
                self.probability *= 0.98;
            }
            self.burst = self.burst.saturating_sub(UPDATE);
            self.updated += UPDATE;
            let half = self.reference / 2;
            if self.probability == 0.0 && self.current < half && self.previous < half && self.rate > 0 {
                self.measuring = None;
                self.rate = 0;
                self.burst = self.max_burst;
            }
        }
    }
}
