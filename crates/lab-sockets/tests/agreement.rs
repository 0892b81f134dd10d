//! The simulator and the emulator agree. The bounds allow for a machine under load; docs/live.md has the values of an
//! idle one.

#[path = "../../../tests/in_real_time.rs"]
mod in_real_time;

use std::sync::Arc;

use in_real_time::in_real_time;
use thalweg_lab::scenario::Competitor;
use thalweg_lab::{Scenario, simulate, unattended};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{DatagramsConfig, HopConfig, PathConfig, QueueConfig, Trace};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_units::{Bytes, Span};

fn scenario(seconds: i64) -> Scenario {
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(150_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    let delay = HopConfig::delay(Span::from_millis(25));
    Scenario {
        name: "constant".into(),
        duration: Span::from_secs(seconds),
        forward: PathConfig { hops: vec![bottleneck, delay] },
        clock_offset: Span::ZERO,
        ..Scenario::over("link")
    }
}

fn named(scheme: &str) -> Arc<dyn SenderFactory> {
    Registry::new().find(scheme).unwrap()
}

fn find(_: &str) -> Result<Arc<Trace>, String> {
    let rate = "2Mbps".parse().map_err(|error| format!("{error:?}"))?;
    Trace::constant(rate).map(Arc::new).map_err(|error| error.to_string())
}

#[test]
fn the_simulator_and_the_emulator_agree_on_a_constant_link() {
    in_real_time(|| {
        let played = thalweg_lab_sockets::run(&scenario(8), &named("gcc"), &mut find, &mut unattended).unwrap();
        let simulated = simulate(&played.scenario, &*played.scheme, &mut find, &mut unattended).unwrap();
        let (live, expected) = (&played.run.outcome.summary, &simulated.outcome.summary);
        println!("live: {live:?}\nsimulated: {expected:?}\n{:?}", played.timing);
        assert!(live.live && !expected.live);
        let close = |what: &str, live: f64, expected: f64, by: f64| {
            assert!((live - expected).abs() <= by, "{what}: {live} live, {expected} simulated, may differ by {by}");
        };
        close("wire rate", live.wire_bitrate_bps, expected.wire_bitrate_bps, 0.2 * expected.wire_bitrate_bps);
        close("video rate", live.video_bitrate_bps, expected.video_bitrate_bps, 0.2 * expected.video_bitrate_bps);
        close("frames a second", live.frame_rate_fps, expected.frame_rate_fps, 3.0);
        let (p50, p95) = (expected.latency_p50_ms.unwrap(), expected.latency_p95_ms.unwrap());
        close("median latency", live.latency_p50_ms.unwrap(), p50, 20.0);
        close("latency of 95 %", live.latency_p95_ms.unwrap(), p95, 0.5 * p95 + 40.0);
        close("PSNR", live.psnr_db.unwrap(), expected.psnr_db.unwrap(), 1.0);
        // Both are equal except for the bytes by which padding made of retransmissions misses its size.
        let (accounted, actual) = (played.timing.accounted.get() as f64, played.timing.actual.get() as f64);
        close("bytes on the wire", actual, accounted, 0.001 * accounted);
    });
}

#[test]
fn what_only_the_simulator_has_is_refused_in_words() {
    let traffic = Competitor::Datagrams(DatagramsConfig::default());
    let refused = [
        (Scenario { competitors: vec![traffic], ..scenario(1) }, "has 1 competitors"),
        (Scenario { clock_offset: Span::from_millis(5), ..scenario(1) }, "clock_offset is 5ms"),
        (scenario(0), "duration is"),
    ];
    for (scenario, words) in refused {
        let error =
            thalweg_lab_sockets::run(&scenario, &named("gcc"), &mut find, &mut unattended).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = thalweg_lab_sockets::run(&scenario(1), &named("salsify"), &mut find, &mut unattended)
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("salsify:standard-decoder"), "{error}");
}
