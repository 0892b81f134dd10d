//! Scenarios shared by tests.

use std::sync::Arc;

use thalweg_codecs::libvpx::Settings;
use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::Undershoot;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate::Run;
use thalweg_lab::{simulate, unattended};
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, PathConfig, QueueConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Bytes, Rate, Seed, Size, Span};
use thalweg_video::quality::Ssim;

pub fn delay() -> HopConfig {
    HopConfig::delay(Span::from_millis(25))
}

/// The built-in scene through VP8 over one bottleneck called `link`, 25 ms each way.
pub fn scenario(seconds: i64, size: Size) -> Scenario {
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    Scenario {
        name: "test".into(),
        duration: Span::from_secs(seconds),
        seed: Seed::new(1),
        video: Video::scene(size, 30),
        codec: Codec::Vp8(Settings::default()),
        undershoot: Undershoot::None,
        codec_time: CodecTime::default(),
        forward: PathConfig { hops: vec![bottleneck, delay()] },
        reverse: PathConfig { hops: vec![delay()] },
        links: Vec::new(),
        media: Vec::new(),
        routes: Vec::new(),
        from: Span::ZERO,
        until: None,
        pauses: Vec::new(),
        changes: Vec::new(),
        audio: None,
        feedback: None,
        measure_quality: false,
        ssim: Ssim::default(),
        ms_ssim: false,
        vmaf: false,
        request_feedback_every: None,
        call: false,
        discard_after: None,
        playout: None,
        clock_offset: Span::from_millis(1234),
        competitors: Vec::new(),
    }
}

/// The link of Vidaptive's Fig. 1 and of the Chromium measurements.
pub fn square_wave() -> Trace {
    Trace::periodic(Rate::from_kbps(2000), Rate::from_kbps(500), Span::from_secs(40)).unwrap()
}

/// The known scheme of this name.
pub fn named(name: &str) -> Scheme {
    name.parse().unwrap()
}

pub fn play(scenario: &Scenario, scheme: &str, link: Trace) -> Run {
    let link = Arc::new(link);
    simulate(scenario, &named(scheme), &mut |_| Ok(link.clone()), &mut unattended).unwrap()
}
