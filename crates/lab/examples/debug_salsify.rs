use std::sync::Arc;
use thalweg_codecs::CodecTime;
use thalweg_lab::record::Row;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::simulate;
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig};
use thalweg_units::*;
fn main() {
    let delay = || HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false };
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "link".into(), queue, once: false };
    let s = Scenario {
        name: "test".into(),
        duration: Span::from_secs(16),
        seed: Seed::new(1),
        video: Video::scene(Size::new(1280, 720), 60),
        codec: Default::default(),
        codec_time: CodecTime::default(),
        up: PathConfig { hops: vec![bottleneck, delay()] },
        down: PathConfig { hops: vec![delay()] },
        feedback: None,
        measure_quality: false,
        ssim: Default::default(),
        clock_offset: Span::from_millis(1234),
        competitors: Vec::new(),
    };
    let scheme: thalweg_sender::Scheme = std::env::args().nth(1).unwrap_or("salsify".into()).parse().unwrap();
    let link = Arc::new(
        thalweg_link::synthesize::Dropout { at: Span::from_secs(10), ..Default::default() }
            .synthesize(s.duration)
            .unwrap(),
    );
    let run = simulate(&s, &scheme, &mut |_| Ok(link.clone()), &mut |_| {}).unwrap();
    let fresh = run
        .outcome
        .frames
        .iter()
        .filter(|f| f.captured_s >= 11.0)
        .filter_map(|f| f.displayed_s)
        .fold(f64::INFINITY, f64::min)
        - 11.0;
    println!(
        "{} fresh after {fresh:.3}, keyframes {}",
        scheme.name,
        run.outcome.frames.iter().filter(|f| f.keyframe).count()
    );
    for r in run.recorder.records() {
        let row = Row::of(r);
        let t = row.time_ns as f64 / 1e9;
        if t < 6.3
            && ["frame-queued", "frame-displayed", "recovery-began", "variable", "packet-dropped"].contains(&row.event)
            && (row.event != "variable" || ["tau ms", "N packets", "room kB"].contains(&row.what))
        {
            println!(
                "{t:.3} {} {} frame {:?} pic {:?} bytes {:?} val {:?}",
                row.event, row.what, row.frame, row.picture, row.bytes, row.value
            );
        }
    }
    for t in 0..60 {
        let t = 5.0 + t as f64 * 0.1;
        let n: Vec<f64> = run
            .outcome
            .frames
            .iter()
            .filter(|f| f.captured_s >= t && f.captured_s < t + 0.1)
            .filter_map(|f| f.displayed_s.map(|d| d - f.captured_s))
            .collect();
        print!("{t:.1}:{}/{:.2} ", n.len(), n.iter().cloned().fold(0.0, f64::max));
    }
    println!();
}
