//! Scenarios shared by tests.

use std::sync::Arc;

use thalweg_codecs::Codec;
use thalweg_codecs::libvpx::Settings;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate::Run;
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Bytes, Size, Span};

pub fn delay() -> HopConfig {
    HopConfig::delay(Span::from_millis(25))
}

/// The built-in scene through VP8 over one bottleneck called `link`, 25 ms each way.
pub fn scenario(seconds: i64, size: Size) -> Scenario {
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    Scenario {
        duration: Span::from_secs(seconds),
        video: Video::scene(size, 30),
        codec: Codec::Vp8(Settings::default()),
        forward: PathConfig { hops: vec![bottleneck, delay()] },
        measure_quality: false,
        ..Scenario::over("link")
    }
}

pub fn play(scenario: &Scenario, scheme: &str, link: Trace) -> Run {
    let (scheme, link): (Scheme, _) = (scheme.parse().unwrap(), Arc::new(link));
    simulate(scenario, &scheme, &mut |_| Ok(link.clone()), &mut unattended).unwrap()
}
