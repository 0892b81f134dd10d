//! Traffic models as the media of a scheme.

use crate::scenarios::support::{play, scenario};
use thalweg_codecs::Codec;
use thalweg_codecs::traffic;
use thalweg_lab::record::What;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_netsim::Trace;
use thalweg_sender::Event;
use thalweg_units::{Rate, Size, Time};

fn with(model: &str) -> Scenario {
    let config = traffic::Config::of(model.parse().unwrap());
    let video = Video { frame_rate: config.frame_rate(), ..Video::scene(Size::new(640, 360), 30) };
    Scenario { codec: Codec::Traffic(config), video, measure_quality: true, ..scenario(30, Size::new(640, 360)) }
}

#[test]
fn schemes_fill_a_narrow_link_with_fixfps_and_leave_a_wide_one_at_its_max_rate() {
    for scheme in ["gcc", "nada"] {
        for (kbps, low, high) in [(1000, 650e3, 960e3), (4000, 1_150e3, 1_501e3)] {
            let run = play(&with("fixfps"), scheme, Trace::constant(Rate::from_kbps(kbps)).unwrap());
            let summary = &run.outcome.summary;
            let made = summary.video_bitrate_bps;
            assert!((low..high).contains(&made), "{scheme} over {kbps} kbps: {made}");
            assert_eq!((summary.psnr_db, summary.ssim_db), (None, None), "{scheme}: quality is never invented");
        }
    }
}

#[test]
fn noise_of_the_interval_makes_frames_late_by_a_twentieth_of_an_interval_and_more() {
    let waits = |model| {
        let run = play(&with(model), "gcc", Trace::constant(Rate::from_kbps(4000)).unwrap());
        let (mut read, mut waits) = (Time::ZERO, Vec::new());
        for record in run.recorder.records() {
            match record.what {
                What::Sender(Event::EncodeStarted { .. }) => read = record.at,
                What::Sender(Event::FrameQueued { .. }) => waits.push((record.at - read).as_millis_f64()),
                _ => {}
            }
        }
        waits.iter().sum::<f64>() / waits.len() as f64
    };
    // 0.15 of 33.3 ms.
    let late = waits("statistical") - waits("fixfps");
    assert!((4.3..5.7).contains(&late), "{late} ms");
}
