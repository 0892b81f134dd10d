//! Short versions of Rebera's tables and its figure 6 (specs/rebera.md 8), with an encoder model.

use std::sync::Arc;

use thalweg_codecs::{Codec, model};
use thalweg_lab::metrics::Summary;
use thalweg_lab::scenario::Scenario;
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::synthesize::Synthetic;
use thalweg_netsim::{HopConfig, LossModel, QueueConfig};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::ControllerConfig;
use thalweg_units::{Seed, Size, Span};

use crate::scenarios::support::{delay, named, scenario};

/// Runs over these hops; a bottleneck of any trace is the synthetic LTE link.
fn play(seconds: i64, hops: Vec<HopConfig>, scheme: &Scheme) -> Summary {
    let base = scenario(seconds, Size::new(1280, 720));
    let mut scenario = Scenario { codec: Codec::Model(model::Config::default()), measure_quality: true, ..base };
    scenario.forward.hops = hops.into_iter().chain([delay()]).collect();
    let lte: Synthetic = "lte-driving".parse().unwrap();
    let lte = Arc::new(lte.synthesize(Span::from_secs(seconds), Seed::new(1).child("link")).unwrap());
    let run = simulate(&scenario, scheme, &mut |_| Ok(lte.clone()), &mut unattended).unwrap();
    run.outcome.summary
}

fn rates(rates: &str) -> HopConfig {
    HopConfig::Rate { rate: rates.parse().unwrap(), queue: QueueConfig::Infinite }
}

fn lte() -> HopConfig {
    HopConfig::Bottleneck { trace: "lte".into(), queue: QueueConfig::Infinite, once: false }
}

fn used(summary: &Summary) -> f64 {
    summary.utilization.unwrap()
}

fn queued(summary: &Summary) -> f64 {
    summary.queue_delay_p95_ms.unwrap()
}

#[test]
fn on_a_staircase_more_than_83_percent_is_used_whichever_end_measures() {
    for (name, min) in [("rebera", 0.83), ("rebera:sender", 0.83), ("rebera:paper", 0.7)] {
        let hop = rates("300kbps/400kbps/500kbps/600kbps/500kbps/400kbps/300kbps@60s");
        let summary = play(420, vec![hop], &named(name));
        println!("{name}: {} {} {}", used(&summary), queued(&summary), summary.frame_rate_fps);
        assert!((min..0.97).contains(&used(&summary)), "{name}: {}", used(&summary));
        assert!((20.0..160.0).contains(&queued(&summary)), "{name}: {}", queued(&summary));
        assert!((27.0..=30.0).contains(&summary.frame_rate_fps), "{name}: {}", summary.frame_rate_fps);
    }
}

#[test]
fn an_encoder_aimed_at_a_forecast_makes_a_little_less_and_the_path_stays_as_full() {
    let of = |name: &str| play(60, vec![lte()], &named(name));
    let (now, forecast) = (of("vidaptive"), of("vidaptive+forecast"));
    let video = forecast.video_bitrate_bps / now.video_bitrate_bps;
    println!("video {video}, used {} {}", used(&now), used(&forecast));
    assert!((0.85..1.0).contains(&video), "{video}");
    assert!((used(&forecast) - used(&now)).abs() < 0.03, "{} {}", used(&now), used(&forecast));
}

#[test]
fn the_more_often_the_path_may_bear_less_than_planned_the_more_is_used_and_waits() {
    let of = |delta: f64| {
        let mut scheme = named("rebera");
        let ControllerConfig::Rebera(config) = &mut scheme.controller else { panic!("{scheme:?}") };
        config.margin.delta = delta;
        play(400, vec![lte()], &scheme)
    };
    let (careful, daring) = (of(0.05), of(0.5));
    println!("{} {}, {} {}", used(&careful), queued(&careful), used(&daring), queued(&daring));
    assert!((0.25..0.6).contains(&used(&careful)) && (0.45..0.9).contains(&used(&daring)));
    assert!(used(&daring) > 1.1 * used(&careful));
    assert!(queued(&daring) > 1.1 * queued(&careful) && queued(&daring) < 5_000.0);
}

#[test]
fn loss_costs_use_and_is_not_taken_for_a_backlog() {
    let of = |probability: f64| {
        let loss = (probability > 0.0).then_some(HopConfig::Loss(LossModel::Random { probability }));
        play(300, loss.into_iter().chain([rates("800kbps")]).collect(), &named("rebera"))
    };
    let [none, some, much] = [0.0, 0.05, 0.1].map(of);
    println!("{} {} {}", used(&none), used(&some), used(&much));
    assert!((0.83..0.97).contains(&used(&none)));
    assert!(used(&none) > used(&some) && used(&some) > used(&much), "{} {} {}", used(&none), used(&some), used(&much));
    // If lost data were counted as queued, the budget would fall to zero within minutes.
    assert!(used(&much) > 0.55, "{}", used(&much));
}

#[test]
fn two_hops_and_a_reverse_path_of_its_own_carry_it() {
    let hops = || vec![lte(), HopConfig::delay(Span::from_millis(15)), rates("1Mbps")];
    let summary = play(120, hops(), &named("rebera"));
    println!("{} {}", summary.wire_bitrate_bps, summary.frame_rate_fps);
    assert!((250_000.0..950_000.0).contains(&summary.wire_bitrate_bps), "{}", summary.wire_bitrate_bps);
    assert!((20.0..=30.0).contains(&summary.frame_rate_fps));
}
