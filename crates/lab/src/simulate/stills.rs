//! Pictures of a run's worst moments, for its report: what the camera saw, and what the viewer saw.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use thalweg_codecs::webp;
use thalweg_units::{Size, Time};
use thalweg_video::{Picture, scale};

use crate::outcome::{BEGINNING_S, Still, Worst};

/// Width of a still, in pixels: two of them fit beside each other on a page.
const WIDTH: u16 = 480;
/// VP8's quantiser of a still: fine enough that what is seen is the run's doing.
const QUANTIZER: u8 = 20;

/// A picture with its capture time.
type Captured<T> = (Time, T);

/// How bad a moment of a picture captured at this time is; larger is worse. Whatever comes later is worse than the first
/// frames, which are poor and late in every run.
fn badness(captured: Time, value: f64) -> (bool, f64) {
    (captured.as_secs_f64() >= BEGINNING_S, value)
}

/// A bad moment.
struct Found {
    at: Time,
    badness: (bool, f64),
    source: Captured<Arc<Picture>>,
    shown: Captured<Arc<Picture>>,
}

/// The worst moments so far.
#[derive(Default)]
pub(super) struct Stills {
    /// Picture that the viewer sees.
    on_screen: Option<Captured<Arc<Picture>>>,
    latency: Option<Found>,
    quality: Option<Found>,
}

impl Stills {
    /// Returns true if the viewer's picture has never been as old as now.
    pub(super) fn is_oldest(&self, now: Time) -> bool {
        let age = |captured: Time| badness(captured, (now - captured).as_secs_f64());
        self.on_screen.as_ref().is_some_and(|(captured, _)| worse(&self.latency, age(*captured)))
    }

    /// The picture on the screen is replaced at `now`, when the camera sees `source`: the oldest so far.
    pub(super) fn on_oldest(&mut self, now: Time, source: Captured<Arc<Picture>>) {
        if let Some(shown) = self.on_screen.take() {
            self.latency =
                Some(Found { at: now, badness: badness(shown.0, (now - shown.0).as_secs_f64()), source, shown });
        }
    }

    /// A picture captured at this time is shown instead of its source.
    pub(super) fn on_shown(
        &mut self,
        now: Time,
        captured: Time,
        psnr_db: f64,
        source: Arc<Picture>,
        shown: Arc<Picture>,
    ) {
        let badness = badness(captured, -psnr_db);
        if worse(&self.quality, badness) {
            let (source, shown) = ((captured, source), (captured, shown.clone()));
            self.quality = Some(Found { at: now, badness, source, shown });
        }
        self.on_screen = Some((captured, shown));
    }

    /// The stills of the run.
    pub(super) fn finish(self) -> Vec<Still> {
        let found = [(Worst::Latency, self.latency), (Worst::Quality, self.quality)];
        found.into_iter().filter_map(|(worst, found)| found?.still(worst)).collect()
    }
}

fn worse(known: &Option<Found>, badness: (bool, f64)) -> bool {
    known.as_ref().is_none_or(|known| badness > known.badness)
}

impl Found {
    fn still(self, worst: Worst) -> Option<Still> {
        Some(Still {
            worst,
            at_s: self.at.as_secs_f64(),
            source_captured_s: self.source.0.as_secs_f64(),
            shown_captured_s: self.shown.0.as_secs_f64(),
            source: small(&self.source.1)?,
            shown: small(&self.shown.1)?,
        })
    }
}

/// The picture, small, as a data URI.
fn small(picture: &Picture) -> Option<String> {
    let Size { width, height } = picture.size();
    let to = WIDTH.min(width);
    let size = Size::new(to, (u32::from(height) * u32::from(to) / u32::from(width).max(1)).max(1) as u16);
    Some(format!("data:image/webp;base64,{}", STANDARD.encode(webp(&scale(picture, size), QUANTIZER)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Span;

    #[test]
    fn a_moment_of_the_first_second_is_kept_only_where_there_is_no_later_one() {
        let (mut stills, grey) = (Stills::default(), Arc::new(Picture::filled(Size::new(96, 54), 90, 128, 128)));
        for (captured, psnr) in [(0, 10.0), (1000, 40.0), (1033, 39.0), (1067, 41.0)] {
            let captured = Time::from_millis(captured);
            stills.on_shown(captured + Span::from_millis(100), captured, psnr, grey.clone(), grey.clone());
        }
        assert_eq!(stills.finish()[0].shown_captured_s, 1.033);
    }

    #[test]
    fn the_oldest_picture_seen_and_the_poorest_are_kept_with_what_the_camera_saw() {
        let mut stills = Stills::default();
        let at = Time::from_millis;
        let grey = |luma| Picture::filled(Size::new(960, 540), luma, 128, 128);
        // Shown 100, 100 and 900 ms after capture, the third of them poor.
        for (captured, shown, psnr) in [(0, 100, 40.0), (33, 133, 39.0), (67, 967, 20.0), (100, 1000, 30.0)] {
            let (captured, now) = (at(captured), at(shown));
            if stills.is_oldest(now) {
                stills.on_oldest(now, (at(shown - 10), Arc::new(grey(200))));
            }
            stills.on_shown(now, captured, psnr, Arc::new(grey(90)), Arc::new(grey(60)));
        }
        let stills = stills.finish();
        let times = |still: &Still| (still.worst, still.at_s, still.source_captured_s, still.shown_captured_s);
        assert_eq!(
            stills.iter().map(times).collect::<Vec<_>>(),
            [(Worst::Latency, 0.967, 0.957, 0.033), (Worst::Quality, 0.967, 0.067, 0.067)]
        );
        assert!(stills.iter().all(|still| still.source.starts_with("data:image/webp;base64,UklGR")));
        assert_ne!(stills[1].source, stills[1].shown);
    }
}
