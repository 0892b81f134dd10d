//! Quality on the screen, with an encoder model and with libvpx: leaving pictures out gains nothing.

use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_codecs::libvpx::Settings;
use thalweg_control::{Controller, Feedback, SendLimits};
use thalweg_lab::metrics::Summary;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::Trace;
use thalweg_sender::frames::{EncodePlan, FramePlan, FramePolicy, Target, View};
use thalweg_sender::{Parts, SenderFactory, Why};
use thalweg_units::{ConfigError, Rate, Size};

use crate::scenarios::support::scenario;

const RATE: Rate = Rate::from_kbps(400);
/// Rate of the path, and of the pacer: no frame waits.
const LINK: Rate = Rate::from_kbps(4000);

#[derive(Debug, Clone)]
struct Steady;

impl Controller for Steady {
    fn on_feedback(&mut self, _: &Feedback<'_>) {}

    fn limits(&self) -> SendLimits {
        SendLimits::of_rate(LINK)
    }
}

/// Encodes every so many-th picture, from one on, with the bits of those it leaves out.
#[derive(Debug, Clone, Copy)]
struct Every {
    every: i64,
    from: i64,
    seen: i64,
}

impl FramePolicy for Every {
    fn plan(&mut self, view: &View) -> FramePlan {
        let number = self.seen;
        self.seen += 1;
        if number < self.from || number % self.every != 0 {
            return FramePlan::Skip(Why::Pushback);
        }
        let targets = vec![Target::Rate(RATE)];
        FramePlan::Encode(EncodePlan::new(targets, view.source, view.interval * self.every))
    }
}

impl SenderFactory for Every {
    fn name(&self) -> &str {
        "every"
    }

    fn parts(&self, _source: Size) -> Result<Parts, ConfigError> {
        Ok(Parts::new(Box::new(Steady), Box::new(*self)))
    }
}

fn played(codec: &Codec, every: i64, from: i64) -> Summary {
    let size = Size::new(320, 180);
    let scenario = Scenario { codec: codec.clone(), measure_quality: true, ..scenario(10, size) };
    let link = Arc::new(Trace::constant(LINK).unwrap());
    let sender = Every { every, from, seen: 0 };
    simulate(&scenario, &sender, &mut |_| Ok(link.clone()), &mut unattended).unwrap().outcome.summary
}

fn codecs() -> [Codec; 2] {
    [Codec::Model(Default::default()), Codec::Vp8(Settings::default())]
}

#[test]
fn two_of_three_pictures_left_out_make_shown_frames_better_and_what_stands_on_the_screen_worse() {
    for codec in codecs() {
        let (all, third) = (played(&codec, 1, 0), played(&codec, 3, 0));
        let figures =
            |run: &Summary| [run.psnr_db, run.ssim_db, run.screen_psnr_db, run.screen_ssim_db].map(Option::unwrap);
        let (of_all, of_third) = (figures(&all), figures(&third));
        println!("{codec}: {of_all:?}, of every third {of_third:?}; {:?}", [all.shown_fps, third.shown_fps]);
        let [psnr, ssim, screen_psnr, screen_ssim] = [0, 1, 2, 3].map(|place| of_third[place] - of_all[place]);
        // The same bits for a third of the frames.
        assert!((third.video_bitrate_bps / all.video_bitrate_bps - 1.0).abs() < 0.2, "{codec}");
        assert!(psnr > 1.0 && ssim > 1.0, "{codec}: {psnr} and {ssim} dB more of what was shown");
        assert!(screen_psnr < -1.0 && screen_ssim < -1.0, "{codec}: {screen_psnr} and {screen_ssim} dB on the screen");
        // What stands there is worth less where a frame came an interval late.
        assert!((of_all[2] - of_all[0]).abs() < 1.5 && (of_all[3] - of_all[1]).abs() < 1.5, "{codec}: {of_all:?}");
    }
}

#[test]
fn a_sender_that_begins_two_seconds_late_has_two_seconds_of_a_grey_screen() {
    for codec in codecs() {
        let (all, late) = (played(&codec, 1, 0), played(&codec, 1, 60));
        let screen = |run: &Summary| [run.screen_psnr_db, run.screen_ssim_db].map(Option::unwrap);
        println!("{codec}: {:?}, begun late {:?}", screen(&all), screen(&late));
        // A fifth of the run: at 16 dB instead of 33 it costs the mean 3 to 4 dB.
        assert!((-7.0..-2.0).contains(&(screen(&late)[0] - screen(&all)[0])), "{codec}");
        // 1 dB or more of SSIM: a fifth at 0.6 instead of 0.88.
        assert!(screen(&late)[1] < screen(&all)[1] - 1.0, "{codec}");
        assert!((late.in_time_ratio.unwrap() - 0.8).abs() < 0.05, "{codec}: {:?}", late.in_time_ratio);
        assert!(all.in_time_ratio.unwrap() > 0.95, "{codec}: {:?}", all.in_time_ratio);
    }
}

#[test]
fn a_sender_that_shows_nothing_has_a_grey_screen_and_no_frame_in_time() {
    for codec in codecs() {
        let nothing = played(&codec, 1, 1 << 40);
        assert_eq!((nothing.psnr_db, nothing.in_time_ratio), (None, Some(0.0)), "{codec}");
        assert!((8.0..18.0).contains(&nothing.screen_psnr_db.unwrap()), "{codec}: {:?}", nothing.screen_psnr_db);
    }
}
