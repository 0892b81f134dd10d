//! Comparisons with the camera's pictures: of each frame that is shown, and of what stands on the screen at each of the
//! camera's times, so that a frozen picture counts as long as it is seen (docs/reference/metrics.md).

use std::sync::Arc;

use thalweg_codecs::model::Ageing;
use thalweg_codecs::{Codec, ModelledQuality};
use thalweg_units::{Size, Span, Time};
use thalweg_video::Picture;
use thalweg_video::footage::Footage;
use thalweg_video::quality::{Ssim, Vmaf, ms_ssim, psnr, ssim_db, ssim_of_db};
use thalweg_video::source::Format;

use super::SimulateError;
use crate::outcome::{FrameRecord, OnScreen, Quality};
use crate::scenario::Scenario;

/// Source of the comparisons.
#[derive(Clone, Copy)]
enum Kind {
    /// Nothing is compared.
    None,
    Pixels,
    /// An encoder model's own estimates, and how they fall with time.
    Modelled(Ageing),
}

/// Picture that the viewer sees.
struct Seen {
    picture: u64,
    since: Time,
    /// `None` of a model.
    shown: Option<Arc<Picture>>,
    /// The comparison with its own source.
    comparison: usize,
}

pub(super) struct Comparisons {
    kind: Kind,
    ssim: Ssim,
    ms_ssim: bool,
    vmaf: Option<Vmaf>,
    /// The program and the model of VMAF, once it has finished.
    tool: Option<String>,
    size: Size,
    interval: Span,
    /// Every comparison, in order.
    done: Vec<Quality>,
    /// The comparison of each picture that was shown.
    shown: Vec<(u64, usize)>,
    /// Pictures on the screen, with their comparisons.
    screen: Vec<(OnScreen, usize)>,
    /// The same before anything was shown, with the camera's picture it was compared with.
    blank: Vec<(u64, OnScreen, usize)>,
    seen: Option<Seen>,
}

impl Comparisons {
    /// For pictures of this format, encoded by `codec`.
    pub(super) fn new(scenario: &Scenario, codec: &Codec, format: Format) -> Result<Comparisons, SimulateError> {
        let kind = match codec {
            Codec::Traffic(_) => Kind::None,
            _ if !scenario.measure_quality => Kind::None,
            Codec::Model(config) => Kind::Modelled(config.content.content().ageing),
            _ => Kind::Pixels,
        };
        let vmaf = (scenario.vmaf && matches!(kind, Kind::Pixels)).then(|| Vmaf::start(format)).transpose()?;
        Ok(Comparisons {
            kind,
            ssim: scenario.ssim,
            ms_ssim: scenario.ms_ssim,
            vmaf,
            tool: None,
            size: format.size,
            interval: format.interval(),
            done: Vec::new(),
            shown: Vec::new(),
            screen: Vec::new(),
            blank: Vec::new(),
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
        self.see(Seen { picture, since: now, shown: Some(shown), comparison });
        Ok(self.done[comparison])
    }

    /// A model's picture of this quality is shown.
    pub(super) fn on_modelled(&mut self, now: Time, picture: u64, quality: ModelledQuality) {
        let comparison = self.estimated(quality);
        self.see(Seen { picture, since: now, shown: None, comparison });
    }

    fn see(&mut self, seen: Seen) {
        // What the camera saw before the first picture shown was left out; that one and later ones are under way.
        let left_out = self.blank.drain(..).filter(|(number, ..)| *number < seen.picture);
        self.screen.extend(left_out.map(|(_, screen, comparison)| (screen, comparison)));
        self.seen = Some(seen);
    }

    /// The camera captures picture `number`. What stands on the screen since several of its intervals is compared with as
    /// many pictures later than its own: what the viewer would see there had none been left out. Before the first it is
    /// grey.
    pub(super) fn on_camera(
        &mut self,
        now: Time,
        number: u64,
        footage: Option<&mut Footage>,
    ) -> Result<(), SimulateError> {
        let (picture, age, compared_with) = match &self.seen {
            None => (None, 0, number),
            Some(seen) => {
                let age = ((now - seen.since).as_nanos() / self.interval.as_nanos().max(1)).unsigned_abs();
                (Some(seen.picture), age, seen.picture + age)
            }
        };
        let comparison = match (&self.seen, self.kind) {
            (_, Kind::None) => return Ok(()),
            (Some(seen), _) if age == 0 => seen.comparison,
            (seen, Kind::Pixels) => {
                let shown = seen.as_ref().and_then(|seen| seen.shown.clone());
                let shown = shown.unwrap_or_else(|| Arc::new(grey(self.size)));
                let source = footage.map(|footage| footage.picture(compared_with)).transpose()?.flatten();
                let Some(source) = source else { return Ok(()) };
                self.compare(&source, &shown)?
            }
            (None, Kind::Modelled(ageing)) => self.estimated(ageing.blank()),
            (Some(seen), Kind::Modelled(ageing)) => {
                let Quality { psnr_db, ssim, .. } = self.done[seen.comparison];
                let fresh = ModelledQuality { psnr_db, ssim_db: ssim_db(ssim) };
                self.estimated(ageing.after(fresh, self.interval * age as i64))
            }
        };
        let screen = OnScreen { at_s: now.as_secs_f64(), picture, age, quality: self.done[comparison] };
        match picture {
            None => self.blank.push((number, screen, comparison)),
            Some(_) => self.screen.push((screen, comparison)),
        }
        Ok(())
    }

    /// Adds a model's estimate to the comparisons.
    fn estimated(&mut self, quality: ModelledQuality) -> usize {
        let ModelledQuality { psnr_db, ssim_db } = quality;
        self.done.push(Quality { psnr_db, ssim: ssim_of_db(ssim_db), ms_ssim: None, vmaf: None });
        self.done.len() - 1
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
        // Where nothing was ever shown, all of the run was grey.
        let blank = self.blank.into_iter().map(|(_, screen, comparison)| (screen, comparison));
        let screen = self.screen.into_iter().chain(blank);
        let screen = screen.map(|(seen, comparison)| OnScreen { quality: self.done[comparison], ..seen });
        (screen.collect(), self.tool)
    }
}

/// The picture that stands for a screen on which nothing was shown yet.
fn grey(size: Size) -> Picture {
    Picture::filled(size, 128, 128, 128)
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
        let mut comparisons = Comparisons::new(&scenario, &Codec::default(), footage.format()).unwrap();
        let at = Time::from_millis;
        let mut source = |number| footage.picture(number).unwrap().unwrap();
        let [zero, one, two, three, five] = [0, 1, 2, 3, 5].map(&mut source);
        // Picture 0 is left out and picture 1 shown at 110 ms without a fault, which is not replaced before 205 ms; then
        // three pictures come in a burst.
        for (number, camera) in [(0, 0), (1, 33), (2, 67), (3, 100)] {
            comparisons.on_camera(at(camera), number, Some(&mut footage)).unwrap();
        }
        comparisons.on_shown(at(110), 1, &one, one.clone()).unwrap();
        for (number, camera) in [(4, 133), (5, 167), (6, 200)] {
            comparisons.on_camera(at(camera), number, Some(&mut footage)).unwrap();
        }
        for (shown, number, picture) in [(205, 3, &three), (206, 4, &five), (207, 5, &five)] {
            comparisons.on_shown(at(shown), number, picture, picture.clone()).unwrap();
        }
        comparisons.on_camera(at(233), 7, Some(&mut footage)).unwrap();
        let mut frames: Vec<FrameRecord> =
            (0..6).map(|number| FrameRecord::read(at(number * 33), video.scene_format().size)).collect();
        let (screen, tool) = comparisons.into_screen(&mut frames);
        let seen: Vec<_> = screen.iter().map(|seen| (seen.picture, seen.age, seen.quality.psnr_db)).collect();
        let wanted = [
            (None, 0, psnr(&zero, &grey(video.scene_format().size))),
            (Some(1), 0, 100.0),
            (Some(1), 1, psnr(&two, &one)),
            (Some(1), 2, psnr(&three, &one)),
            (Some(5), 0, 100.0),
        ];
        assert_eq!(seen, wanted);
        assert!(wanted[0].2 < wanted[3].2 && wanted[3].2 < wanted[2].2 && wanted[2].2 < 50.0, "{wanted:?}");
        assert_eq!(
            frames.iter().map(|frame| frame.ms_ssim).collect::<Vec<_>>(),
            [None, Some(1.0), None, Some(1.0), Some(1.0), Some(1.0)]
        );
        assert_eq!(tool, None);
    }

    #[test]
    fn a_models_estimate_falls_while_its_picture_stands_and_where_nothing_is_shown_all_is_grey() {
        let scenario = Scenario::over("2Mbps");
        let format = Video::scene(Size::HD, 30).scene_format();
        let build = || Comparisons::new(&scenario, &scenario.codec, format).unwrap();
        let play = |mut comparisons: Comparisons, show: bool| {
            for number in 0..10 {
                let at = Time::ZERO + format.time_of(number);
                comparisons.on_camera(at, number, None).unwrap();
                if show && number == 3 {
                    let quality = ModelledQuality { psnr_db: 40.0, ssim_db: 15.0 };
                    comparisons.on_modelled(at + Span::from_millis(1), 2, quality);
                }
            }
            let (screen, _) = comparisons.into_screen(&mut []);
            screen.iter().map(|seen| (seen.picture, seen.age, seen.quality.psnr_db)).collect::<Vec<_>>()
        };
        let grey = play(build(), false);
        assert!(grey.len() == 10 && grey.iter().all(|seen| seen == &grey[0] && seen.0.is_none()), "{grey:?}");
        let seen = play(build(), true);
        // Pictures 0 and 1 were left out, 2 came after two intervals: that is its latency and costs nothing.
        assert_eq!(seen[..2], grey[..2]);
        assert_eq!((seen[2], seen.len()), ((Some(2), 0, 40.0), 8));
        assert!(seen[2..].windows(2).all(|pair| pair[1].1 == pair[0].1 + 1 && pair[1].2 < pair[0].2), "{seen:?}");
        assert!(seen[7].2 > grey[0].2);
    }
}
