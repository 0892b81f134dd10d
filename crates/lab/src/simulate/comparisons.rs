//! Comparisons with the camera's pictures: of each frame that is shown, and of what stands on the screen at each of the
//! camera's times, so that a frozen picture counts as long as it is seen (docs/reference/metrics.md).

use std::sync::Arc;

use thalweg_units::{Span, Time};
use thalweg_video::Picture;
use thalweg_video::footage::Footage;
use thalweg_video::quality::{Ssim, Vmaf, ms_ssim, psnr};
use thalweg_video::source::Format;

use super::SimulateError;
use crate::outcome::{FrameRecord, OnScreen, Quality};
use crate::scenario::Scenario;

/// What the viewer sees.
struct Seen {
    picture: u64,
    since: Time,
    shown: Arc<Picture>,
    /// The comparison with its own source.
    comparison: usize,
}

pub(super) struct Comparisons {
    ssim: Ssim,
    ms_ssim: bool,
    vmaf: Option<Vmaf>,
    /// The program and the model of VMAF, once it has finished.
    tool: Option<String>,
    interval: Span,
    /// Every comparison, in order.
    done: Vec<Quality>,
    /// The comparison of each picture that was shown.
    shown: Vec<(u64, usize)>,
    /// What stood on the screen, with its comparison.
    screen: Vec<(OnScreen, usize)>,
    seen: Option<Seen>,
}

impl Comparisons {
    /// For pictures of this format, or for an encoder model's, which are never compared.
    pub(super) fn new(scenario: &Scenario, format: Format, has_pixels: bool) -> Result<Comparisons, SimulateError> {
        let vmaf = (scenario.vmaf && has_pixels).then(|| Vmaf::start(format)).transpose()?;
        Ok(Comparisons {
            ssim: scenario.ssim,
            ms_ssim: scenario.ms_ssim,
            vmaf,
            tool: None,
            interval: format.interval(),
            done: Vec::new(),
            shown: Vec::new(),
            screen: Vec::new(),
            seen: None,
        })
    }

    /// A picture is shown: its quality.
    pub(super) fn on_shown(
        &mut self,
        now: Time,
        picture: u64,
        source: &Picture,
        shown: Arc<Picture>,
    ) -> Result<Quality, SimulateError> {
        let comparison = self.compare(source, &shown)?;
        self.shown.push((picture, comparison));
        self.seen = Some(Seen { picture, since: now, shown, comparison });
        Ok(self.done[comparison])
    }

    /// The camera captures a picture. What stands on the screen since several of its intervals is compared with as many
    /// pictures later than its own: what the viewer would see there had none been left out.
    pub(super) fn on_camera(&mut self, now: Time, footage: &mut Footage) -> Result<(), SimulateError> {
        let Some(Seen { picture, since, shown, comparison }) = &self.seen else { return Ok(()) };
        let age = ((now - *since).as_nanos() / self.interval.as_nanos().max(1)).unsigned_abs();
        let (picture, shown, mut comparison) = (*picture, shown.clone(), *comparison);
        if age > 0 {
            let Some(source) = footage.picture(picture + age)? else { return Ok(()) };
            comparison = self.compare(&source, &shown)?;
        }
        let quality = self.done[comparison];
        self.screen.push((OnScreen { at_s: now.as_secs_f64(), picture, age, quality }, comparison));
        Ok(())
    }

    fn compare(&mut self, source: &Picture, shown: &Picture) -> Result<usize, SimulateError> {
        if let Some(vmaf) = &mut self.vmaf {
            vmaf.compare(source, shown)?;
        }
        self.done.push(Quality {
            psnr_db: psnr(source, shown),
            ssim: self.ssim.measure(source, shown),
            ms_ssim: if self.ms_ssim { ms_ssim(source, shown) } else { None },
            vmaf: None,
        });
        Ok(self.done.len() - 1)
    }

    /// Waits for VMAF: call it when the run has ended.
    pub(super) fn finish(&mut self) -> Result<(), SimulateError> {
        let Some(vmaf) = self.vmaf.take().filter(|_| !self.done.is_empty()) else { return Ok(()) };
        let scores = vmaf.finish()?;
        self.done.iter_mut().zip(scores.each).for_each(|(quality, score)| quality.vmaf = Some(score));
        self.tool = Some(scores.tool);
        Ok(())
    }

    /// Completes the records of pictures; returns what stood on the screen, and the tool of VMAF.
    pub(super) fn into_screen(self, frames: &mut [FrameRecord]) -> (Vec<OnScreen>, Option<String>) {
        for (picture, comparison) in &self.shown {
            if let Some(frame) = frames.get_mut(*picture as usize) {
                let Quality { ms_ssim, vmaf, .. } = self.done[*comparison];
                (frame.ms_ssim, frame.vmaf) = (ms_ssim, vmaf);
            }
        }
        let screen = self.screen.into_iter();
        let screen = screen.map(|(seen, comparison)| OnScreen { quality: self.done[comparison], ..seen });
        (screen.collect(), self.tool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Seed, Size};
    use thalweg_video::Video;

    #[test]
    fn a_frozen_picture_counts_at_each_of_the_cameras_times_against_what_should_have_followed_it() {
        let video = Video::scene(Size::new(192, 168), 30);
        let mut footage = Footage::open(&video, Seed::new(1)).unwrap();
        let scenario = Scenario { ms_ssim: true, ..Scenario::over("2Mbps") };
        let mut comparisons = Comparisons::new(&scenario, footage.format(), true).unwrap();
        let at = Time::from_millis;
        let mut source = |number| footage.picture(number).unwrap().unwrap();
        let [one, two, three, five] = [1, 2, 3, 5].map(&mut source);
        // Shown at 110 ms without a fault, and not replaced before 205 ms; then three pictures in a burst.
        comparisons.on_camera(at(100), &mut footage).unwrap();
        comparisons.on_shown(at(110), 1, &one, one.clone()).unwrap();
        for camera in [133, 167, 200] {
            comparisons.on_camera(at(camera), &mut footage).unwrap();
        }
        for (shown, number, picture) in [(205, 3, &three), (206, 4, &five), (207, 5, &five)] {
            comparisons.on_shown(at(shown), number, picture, picture.clone()).unwrap();
        }
        comparisons.on_camera(at(233), &mut footage).unwrap();
        let mut frames: Vec<FrameRecord> =
            (0..6).map(|number| FrameRecord::read(at(number * 33), video.scene_format().size)).collect();
        let (screen, tool) = comparisons.into_screen(&mut frames);
        let seen: Vec<_> = screen.iter().map(|seen| (seen.picture, seen.age, seen.quality.psnr_db)).collect();
        let wanted = [(1, 0, 100.0), (1, 1, psnr(&two, &one)), (1, 2, psnr(&three, &one)), (5, 0, 100.0)];
        assert_eq!(seen, wanted);
        assert!(wanted[2].2 < wanted[1].2 && wanted[1].2 < 50.0, "{wanted:?}");
        assert_eq!(
            frames.iter().map(|frame| frame.ms_ssim).collect::<Vec<_>>(),
            [None, Some(1.0), None, Some(1.0), Some(1.0), Some(1.0)]
        );
        assert_eq!(tool, None);
    }
}
