//! The effort that a machine can afford: the configured preset, or a faster one while frames take too long.

use thalweg_units::Span;

use super::settings::Preset;

/// Share of the picture interval above which a faster preset is taken. What is left is for the other work of the same
/// cores (packets, a decoder on the same machine) and for frames that take longer than the mean.
const TOO_SLOW: f64 = 0.7;
/// Share below which the configured preset is tried again: the standard preset takes up to 2.4 times as long as the
/// fast one (720p, 1.5 to 4 Mbps).
const FAST_ENOUGH: f64 = 0.25;
/// No frame counts for more: a keyframe, or a moment of other work, is no reason to change.
const MOST: f64 = 2.0;
/// Weight of the newest frame in the mean: about half a second of 30 fps.
const NEWEST: f64 = 1.0 / 16.0;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Effort {
    /// Mean share of the picture interval that a frame took since the last change; `None` before the first.
    taken: Option<f64>,
    is_reduced: bool,
}

impl Effort {
    /// The preset for the next frame.
    pub(super) fn preset(&self, configured: Preset) -> Preset {
        if self.is_reduced { Preset::Fast } else { configured }
    }

    /// Takes the time of a frame.
    pub(super) fn on_frame(&mut self, took: Span, interval: Span) {
        let share = (took.as_secs_f64() / interval.as_secs_f64()).min(MOST);
        // Begins at what is neither too much nor too little.
        let mean = self.taken.unwrap_or((TOO_SLOW + FAST_ENOUGH) / 2.0);
        let mean = mean + NEWEST * (share - mean);
        let changes = if self.is_reduced { mean < FAST_ENOUGH } else { mean > TOO_SLOW };
        self.is_reduced ^= changes;
        self.taken = Some(mean).filter(|_| !changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Span = Span::from_millis(33);

    /// The presets of frames that take this long.
    fn presets(effort: &mut Effort, frames: u64, took: i64) -> Vec<Preset> {
        let preset = |_| {
            effort.on_frame(Span::from_millis(took), INTERVAL);
            effort.preset(Preset::Standard)
        };
        (0..frames).map(preset).collect()
    }

    #[test]
    fn frames_that_take_longer_than_a_picture_lasts_are_made_faster_within_half_a_second() {
        let mut effort = Effort::default();
        let made = presets(&mut effort, 16, 40);
        assert_eq!((made[3], made[15]), (Preset::Standard, Preset::Fast), "one slow frame is no reason");
        assert!(
            presets(&mut effort, 300, 15).iter().all(|preset| *preset == Preset::Fast),
            "standard would take 36 ms"
        );
        assert_eq!(presets(&mut effort, 60, 5).last(), Some(&Preset::Standard), "it would take 12 ms");
    }

    #[test]
    fn a_machine_that_keeps_up_has_the_configured_preset() {
        let mut effort = Effort::default();
        assert!(presets(&mut effort, 300, 20).iter().all(|preset| *preset == Preset::Standard));
        presets(&mut effort, 1, 200);
        assert_eq!(effort.preset(Preset::Slow), Preset::Slow, "a keyframe of a moment");
    }
}
