//! Which metrics of quality are measured beside PSNR and SSIM: options that `compare` and `run` share.

use anyhow::bail;
use thalweg_lab::Scenario;
use thalweg_video::quality::Vmaf;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Quality")]
pub(super) struct Quality {
    /// Measure VMAF too, by the ffmpeg that THALWEG_FFMPEG names, which must have libvmaf
    ///
    /// Doubles the time of the run (see the book, Commands, Quality).
    #[arg(long)]
    vmaf: bool,
    /// Measure MS-SSIM too (Wang et al. 2003, five scales)
    #[arg(long)]
    ms_ssim: bool,
}

impl Quality {
    /// Adds these metrics to scenarios, and refuses before anything is played what cannot be measured.
    pub(super) fn add_to(&self, scenarios: &mut [Scenario]) -> anyhow::Result<()> {
        for scenario in scenarios.iter_mut() {
            scenario.vmaf |= self.vmaf;
            scenario.ms_ssim |= self.ms_ssim;
        }
        check(scenarios)
    }
}

fn check(scenarios: &[Scenario]) -> anyhow::Result<()> {
    for (name, is_asked) in [("vmaf", asked(scenarios, |it| it.vmaf)), ("ms_ssim", asked(scenarios, |it| it.ms_ssim))] {
        let Some(scenario) = is_asked else { continue };
        if scenario.codec.is_model() || !scenario.measure_quality {
            let why = if scenario.codec.is_model() { "an encoder model has none" } else { "measure_quality is false" };
            bail!(
                "{name} compares pixels, and {why}: use --encoder vp8 with measure_quality = true, or leave {name} out"
            );
        }
    }
    if asked(scenarios, |scenario| scenario.vmaf).is_some() {
        Vmaf::check()?;
    }
    Ok(())
}

fn asked(scenarios: &[Scenario], metric: fn(&Scenario) -> bool) -> Option<&Scenario> {
    scenarios.iter().find(|scenario| metric(scenario))
}
