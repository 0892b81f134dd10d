//! Whole runs: `cargo bench -p thalweg-lab --bench whole_run`.
//!
//! How many times faster than real time a core plays one flow with the encoder model, all events recorded; and how much of a run
//! with libvpx and pixel metrics is neither. CPU time of this thread, so that other work on the machine counts less.

use std::sync::Arc;

use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate;
use thalweg_link::synthesize::Preset;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig, Trace};
use thalweg_units::{Rate, Seed, Size, Span};
use thalweg_video::quality::Ssim;

fn scenario(codec: &str, seconds: i64) -> Scenario {
    let delay = || HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false };
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue: QueueConfig::Infinite, once: false };
    Scenario {
        name: "bench".into(),
        duration: Span::from_secs(seconds),
        seed: Seed::new(1),
        video: Video::scene(Size::HD, 30),
        codec: codec.parse::<Codec>().expect("a codec of this build"),
        codec_time: CodecTime::default(),
        up: PathConfig { hops: vec![bottleneck, delay()] },
        down: PathConfig { hops: vec![delay()] },
        feedback: None,
        measure_quality: true,
        ssim: Ssim::Window,
        clock_offset: Span::ZERO,
        competitors: Vec::new(),
    }
}

/// CPU seconds of one run, packets sent and events recorded.
fn run(codec: &str, scheme: &str, link: &Arc<Trace>, seconds: i64) -> (f64, u64, u64) {
    let scenario = scenario(codec, seconds);
    let scheme = scheme.parse().expect("a known scheme");
    let before = cpu_seconds();
    let run = simulate(&scenario, &scheme, &mut |_| Ok(link.clone()), &mut |_| {}).expect("a run");
    let taken = cpu_seconds() - before;
    let events = run.recorder.len() as u64;
    let sent = |record: &&thalweg_lab::record::Record| {
        matches!(record.what, thalweg_lab::record::What::Sender(thalweg_sender::Event::PacketSent { .. }))
    };
    (taken, run.recorder.records().filter(sent).count() as u64, events)
}

fn main() {
    let seconds = 600;
    let preset: Preset = "lte-driving".parse().expect("a known preset");
    let links = [
        ("2 Mbps", Arc::new(Trace::constant(Rate::from_kbps(2000)).expect("a rate above 0"))),
        ("lte-driving", Arc::new(preset.model.synthesize(Span::from_secs(seconds), Seed::new(1)).expect("a link"))),
    ];
    println!("encoder model, {seconds} s of one flow, 720p30, all events recorded");
    println!(
        "{:14} {:12} {:>12} {:>10} {:>10} {:>10}",
        "scheme", "link", "x real time", "packets/s", "ns/packet", "ns/event"
    );
    let mut model = f64::NAN;
    for scheme in ["gcc", "copa", "vidaptive", "vidaptive:rocc"] {
        for (name, link) in &links {
            let best = (0..5).map(|_| run("model", scheme, link, seconds)).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((taken, packets, events)) = best else { continue };
            if (scheme, *name) == ("vidaptive", "lte-driving") {
                model = taken / seconds as f64;
            }
            println!(
                "{scheme:14} {name:12} {:>12.0} {:>10.0} {:>10.0} {:>10.0}",
                seconds as f64 / taken,
                packets as f64 / seconds as f64,
                taken * 1e9 / packets as f64,
                taken * 1e9 / events as f64
            );
        }
    }
    if std::env::args().any(|argument| argument == "--quick") {
        return;
    }
    let (taken, ..) = run("vp8", "vidaptive", &links[1].1, 30);
    let real = taken / 30.0;
    println!("\nlibvpx VP8, built-in scene, PSNR and SSIM of every frame: vidaptive over lte-driving, 720p30");
    println!(
        "{:.1} ms of CPU a second; what is neither codec nor pixels (the model run's): {:.2} ms, {:.2} %",
        real * 1e3,
        model * 1e3,
        100.0 * model / real
    );
}

fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
