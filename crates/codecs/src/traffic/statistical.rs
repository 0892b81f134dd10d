//! The statistical source of RFC 8593 section 5, and syncodecs' like it: noise about the target, and a transient with a
//! large first frame after a large change.

use serde::{Deserialize, Serialize};
use thalweg_units::{Bytes, ConfigError, Random, Rate, Span, above, check};

use super::Made;
use super::noise::{check_scale, laplace, lateness};

/// Parameters; the defaults are RFC 8593's (specs/rmcat.md 5).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Statistical {
    /// A new target is ignored within this time of the last one taken, to the nearest frame (tau_v).
    pub update_interval: Span,
    /// Max change of the target at once, as a share of it, unless the change is a large one; absent for any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_step: Option<f64>,
    /// A change by more than this share of the target begins a transient; above 0.
    pub big_change: f64,
    /// Frames of a transient, at least 2 (K_d).
    pub transient_frames: u32,
    /// Size of its first frame, above 0 (K_B).
    pub transient_first: Bytes,
    /// Scale of the Laplace noise of sizes in steady state, 0 to 1 (SCALE_B).
    pub size_noise: f64,
    /// Scale of the Laplace noise of intervals, 0 to 1 (SCALE_t).
    pub interval_noise: f64,
}

/// Frames of a transient are at least this share of the steady size.
const LEAST: f64 = 0.2;

impl Default for Statistical {
    fn default() -> Statistical {
        Statistical {
            update_interval: Span::from_millis(200),
            max_step: None,
            big_change: 0.5,
            transient_frames: 8,
            transient_first: Bytes::new(13_500),
            size_noise: 0.15,
            interval_noise: 0.15,
        }
    }
}

impl Statistical {
    /// syncodecs' Statistics.
    pub fn syncodecs() -> Statistical {
        Statistical {
            update_interval: Span::from_millis(100),
            max_step: Some(0.1),
            transient_frames: 10,
            transient_first: Bytes::new(4270),
            ..Statistical::default()
        }
    }

    /// The transients of syncodecs' Hybrid.
    pub fn hybrid() -> Statistical {
        Statistical {
            update_interval: Span::from_millis(50),
            max_step: Some(0.05),
            big_change: 0.1,
            ..Statistical::syncodecs()
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check("statistical.update_interval", self.update_interval).within(Span::ZERO.., "200ms")?;
        check("statistical.max_step", self.max_step.unwrap_or(1.0)).within(0.001..=1.0, "0.1, or absent")?;
        check("statistical.big_change", self.big_change).within(above(0.0), "0.5")?;
        check("statistical.transient_frames", self.transient_frames).within(2..=10_000, "8")?;
        check("statistical.transient_first", self.transient_first).within(above(Bytes::ZERO), "13.5kB")?;
        check_scale("statistical.size_noise", self.size_noise)?;
        check_scale("statistical.interval_noise", self.interval_noise)
    }
}

/// Its state.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The target taken, in bit/s, and the time since then.
    target: Option<f64>,
    since: Span,
    /// Frames of the transient that are left.
    left: u32,
}

impl State {
    pub(super) fn next(&mut self, config: &Statistical, target: Rate, interval: Span, random: &mut Random) -> Made {
        let taken = self.take(config, target, interval);
        let steady = taken * interval.as_secs_f64() / 8.0;
        let bytes = self.transient(config, steady);
        let bytes = bytes.unwrap_or_else(|| steady * (1.0 + laplace(random, config.size_noise)));
        Made { bytes: Some(bytes), late: lateness(random, config.interval_noise) }
    }

    /// The rate of the next frame in bit/s: the new target, or what is kept of the old one.
    pub(super) fn take(&mut self, config: &Statistical, target: Rate, interval: Span) -> f64 {
        let new = target.as_bps_f64();
        match self.target {
            None => {
                self.target = Some(new);
                self.left = config.transient_frames;
            }
            Some(old) if new != old && self.since + interval / 2 >= config.update_interval => {
                self.since = Span::ZERO;
                let is_big = (new / old - 1.0).abs() > config.big_change;
                self.target = Some(match config.max_step {
                    Some(step) if !is_big => new.clamp(old * (1.0 - step), old * (1.0 + step)),
                    _ => new,
                });
                if is_big {
                    self.left = config.transient_frames;
                }
            }
            Some(_) => {}
        }
        self.since += interval;
        self.target.unwrap_or(new)
    }

    /// The size of the next frame if it belongs to a transient.
    pub(super) fn transient(&mut self, config: &Statistical, steady: f64) -> Option<f64> {
        let (frames, first) = (f64::from(config.transient_frames), config.transient_first.as_f64());
        let left = self.left;
        self.left = left.saturating_sub(1);
        match left {
            0 => None,
            left if left == config.transient_frames => Some(first),
            _ => Some(((frames * steady - first) / (frames - 1.0)).max(LEAST * steady)),
        }
    }
}
