//! Feedback that does not come: a reverse path too slow for a report on each packet, a forward path that fails.

use std::sync::Arc;

use crate::scenarios::support::{delay, named, scenario};
use thalweg_codecs::Codec;
use thalweg_lab::record::What;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::simulate::Run;
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, LossModel, PathConfig, QueueConfig, Trace};
use thalweg_sender::{Event, Scheme};
use thalweg_units::{Bytes, Rate, Size, Span};

/// A minute of the encoder model over a megabit, with this reverse path.
fn play(scheme: &Scheme, reverse: Option<Rate>, loss: Option<LossModel>) -> Run {
    let plain = scenario(60, Size::HD);
    let mut forward = plain.forward.clone();
    forward.hops.extend(loss.map(HopConfig::Loss));
    let queue = QueueConfig::DropTail(Limits::bytes(Bytes::new(1_500_000)));
    let bottleneck = HopConfig::Bottleneck { trace: "reverse".into(), queue, once: false };
    let hops = reverse.map(|_| bottleneck).into_iter().chain([delay()]).collect();
    let codec = Codec::Model(Default::default());
    let scenario = Scenario { codec, forward, reverse: PathConfig { hops }, ..plain };
    let link = |rate| Arc::new(Trace::constant(rate).expect("a rate"));
    let (there, back) = (link(Rate::from_kbps(1000)), link(reverse.unwrap_or(Rate::from_kbps(1000))));
    let mut find = |name: &str| Ok(if name == "reverse" { back.clone() } else { there.clone() });
    simulate(&scenario, scheme, &mut find, &mut unattended).expect("it is played")
}

#[test]
fn reports_come_as_often_as_the_reverse_path_carries_them() {
    // With a report on each packet 62 % were used of the second.
    for (kbps, used, p95_ms) in [(None, 0.93..1.0, 60.0..130.0), (Some(100), 0.86..1.0, 60.0..160.0)] {
        let summary = play(&named("vidaptive"), kbps.map(Rate::from_kbps), None).outcome.summary;
        println!("reverse path of {kbps:?} kbps: used {:?}, P95 {:?} ms", summary.utilization, summary.latency_p95_ms);
        let (utilization, p95) = (summary.utilization.expect("a link"), summary.latency_p95_ms.expect("frames"));
        assert!(used.contains(&utilization) && p95_ms.contains(&p95), "{kbps:?}: {utilization}, {p95} ms");
    }
}

#[test]
fn a_window_that_was_lost_is_found_again_by_probes() {
    // As in Salsify's figure 8, but for the rate: it fails after 5 s and is back after 0.2, both exponential.
    let fails = LossModel::OnOff { on: Span::from_secs(5), off: Span::from_millis(200) };
    let mut without = named("vidaptive");
    without.loss_detection.probe_packets = 0;
    for (what, scheme, p95_ms, reasons) in
        [("probes", named("vidaptive"), 80.0..400.0, 1..200), ("none", without, 600.0..3000.0, 0..1)]
    {
        let run = play(&scheme, None, Some(fails));
        let is_probe = |what: &What| matches!(what, What::Sender(Event::ProbeTimeout { .. }));
        let probes = run.recorder.records().filter(|record| is_probe(&record.what)).count();
        let p95 = run.outcome.summary.latency_p95_ms.expect("frames");
        println!("{what}: {probes} probe timeouts, P95 {p95} ms");
        assert!(p95_ms.contains(&p95) && reasons.contains(&probes), "{what}: {probes}, {p95} ms");
    }
}

/// Mbps of video over 2 Mbps in two minutes, where these shares of packets are lost on the way there and back.
fn video(scheme: &str, forward: f64, reverse: f64) -> f64 {
    let lossy = |probability| HopConfig::Loss(LossModel::Random { probability });
    let rate = HopConfig::Rate { rate: "2Mbps".parse().expect("a rate"), queue: QueueConfig::Infinite };
    let scenario = Scenario {
        duration: Span::from_secs(120),
        forward: PathConfig { hops: vec![lossy(forward), rate, delay()] },
        reverse: PathConfig { hops: vec![lossy(reverse), delay()] },
        measure_quality: false,
        ..Scenario::over("unused")
    };
    scenario.play(&named(scheme)).expect("it is played").outcome.summary.video_bitrate_bps / 1e6
}

#[test]
fn lost_reports_are_no_lost_media() {
    for (scheme, share) in [
        ("gcc", 0.9..1.05),
        ("gcc:2023", 0.9..1.05),
        ("gcc:2017", 0.9..1.05),
        ("gcc:loss", 0.9..1.05),
        ("vidaptive:gcc", 0.9..1.05),
        ("scream:libwebrtc", 0.9..1.05),
        ("nada", 0.9..1.05),
        ("cnadu", 0.9..1.05),
        ("tfrc", 0.9..1.05),
        ("bbr", 0.9..1.05),
        // They take what the reports name as what arrived in an interval: with a tenth fewer, less by a tenth and more.
        ("rrtcc", 0.8..1.0),
        ("fbra", 0.7..0.95),
    ] {
        let [whole, some] = [0.0, 0.1].map(|reverse| video(scheme, 0.0, reverse));
        println!("{scheme}: {whole:.2} Mbps, with a tenth of the reports lost {some:.2}");
        assert!(share.contains(&(some / whole)), "{scheme}: {some} of {whole}");
    }
}

#[test]
fn gcc_with_a_tenth_lost_in_both_directions_is_as_with_the_media_alone() {
    for (scheme, mbps) in [("gcc", 1.0..1.35), ("gcc:2023", 0.95..1.3)] {
        for reverse in [0.0, 0.1] {
            let video = video(scheme, 0.1, reverse);
            println!("{scheme}, {reverse} of the reports lost: {video:.2} Mbps");
            assert!(mbps.contains(&video), "{scheme}, {reverse}: {video}");
        }
    }
}
