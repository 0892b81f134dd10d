//! A simulation in steps of an interval, with what happened in each.

use std::collections::VecDeque;

use thalweg_learned::{Action, Interval, Outside, Setting, Viewed};
use thalweg_units::{Bytes, Rate, Span, Time};

use super::Config;
use crate::Simulation;
use crate::simulate::{SimulateError, Viewer};

/// The time over which the rate of the shown frames is counted: of 30 frames a second a single interval has one or two.
const SHOWN: Span = Span::from_secs(1);

/// Statistics of an interval, beside observation and reward.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Info {
    /// The end of the interval, from the sender's beginning.
    pub at: Span,
    /// The sender's setting.
    pub setting: Setting,
    /// Capacity of the bottleneck; `None` if there is none.
    pub capacity: Option<Rate>,
    /// The sender's statistics.
    pub interval: Interval,
    /// The viewer's experience.
    pub viewed: Viewed,
}

/// See the module.
pub(super) struct Stepped {
    simulation: Simulation,
    outside: Outside,
    interval: Span,
    begin: Time,
    seen: Viewer,
    frozen: Span,
    /// Bytes of the frames shown in each of the last steps, the newest last, with the length of the step.
    shown: VecDeque<(Bytes, Span)>,
}

impl Stepped {
    /// At the beginning of flow 0, which `outside` observes.
    ///
    /// # Errors
    /// When the time before fails.
    pub(super) fn new(mut simulation: Simulation, outside: Outside, config: &Config) -> Result<Stepped, SimulateError> {
        let begin = Time::ZERO + config.scenario.from;
        simulation.run_until(begin)?;
        outside.begin(begin);
        let Some(seen) = simulation.viewer(0).copied() else { unreachable!("the sender under test is a flow") };
        let (interval, shown) = (config.interval, VecDeque::new());
        Ok(Stepped { simulation, outside, interval, begin, seen, frozen: Span::ZERO, shown })
    }

    /// The sender's present setting.
    pub(super) fn setting(&self) -> Setting {
        let limits = self.simulation.engine(0).map(|engine| *engine.limits());
        limits.map_or(self.outside.setting(), |limits| Setting { rate: limits.capacity, window: limits.window })
    }

    /// Plays an interval, or what is left of the scenario; writes the observation at its end.
    ///
    /// # Errors
    /// When the simulation fails.
    pub(super) fn step(&mut self, observation: &mut [f32]) -> Result<Info, SimulateError> {
        let from = self.simulation.now();
        self.simulation.run_until(from + self.interval)?;
        let now = self.simulation.now();
        let interval = self.outside.observe(now, observation);
        let capacity = self.simulation.capacity(0);
        let capacity = capacity.is_known().then(|| capacity.bytes(from, now).per(now - from));
        let viewed = self.viewed(now, now - from);
        Ok(Info { at: now - self.begin, setting: interval.setting, capacity, interval, viewed })
    }

    /// Returns true if the scenario has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.simulation.has_ended()
    }

    fn viewed(&mut self, now: Time, length: Span) -> Viewed {
        let Some(seen) = self.simulation.viewer(0).copied() else { return Viewed::default() };
        let (before, frozen_before) = (self.seen, self.frozen);
        (self.seen, self.frozen) = (seen, seen.frozen(now));
        self.shown.push_back((Bytes::new(seen.bytes.get() - before.bytes.get()), length));
        while self.shown.iter().skip(1).map(|(_, length)| *length).sum::<Span>() >= SHOWN {
            self.shown.pop_front();
        }
        let (bytes, over) =
            self.shown.iter().fold((Bytes::ZERO, Span::ZERO), |(bytes, over), step| (bytes + step.0, over + step.1));
        let frames = seen.frames - before.frames;
        let measured = seen.psnr_db.1 - before.psnr_db.1;
        Viewed {
            frames: frames as u32,
            rate: bytes.per(over),
            latency: match frames {
                0 => seen.age(now),
                frames => (seen.latency - before.latency) / frames as i64,
            },
            frozen: (self.frozen - frozen_before).ratio(length),
            psnr_db: (measured > 0).then(|| (seen.psnr_db.0 - before.psnr_db.0) / measured as f64),
        }
    }
}

/// Refuses an answer that is no action.
///
/// # Errors
/// When it has another number of values, or one is no number.
pub(super) fn setting_of(action: Action, answer: &[f32], now: Setting) -> Result<Setting, SimulateError> {
    action.apply(answer, now).ok_or_else(|| {
        let (count, range) = (action.len(), action.range());
        SimulateError::Scenario(format!(
            "action is {answer:?}, must be {count} finite number{} for '{action}', each from {} to {}",
            if count == 1 { "" } else { "s" },
            range.start(),
            range.end()
        ))
    })
}
