//! An encoder with undershoot, for each scheme.

use std::collections::BTreeMap;

use crate::scenarios::support::{play, scenario};
use thalweg_codecs::Codec;
use thalweg_lab::record::What;
use thalweg_lab::scenario::Scenario;
use thalweg_netsim::Trace;
use thalweg_sender::Event;
use thalweg_units::{Rate, Seed, Size, Time};

/// Encoded rate over the sender's target, from a second and a half after the beginning of each block of 6 s.
fn made(scenario: &Scenario, scheme: &str) -> Vec<f64> {
    let run = play(scenario, scheme, Trace::constant(Rate::from_kbps(1500)).unwrap());
    let (mut targets, mut sums) = (BTreeMap::new(), vec![(0.0, 0.0); 6]);
    for record in run.recorder.records() {
        let seconds = record.at.as_secs_f64();
        match record.what {
            What::Sender(Event::EncodeStarted { picture, target, .. }) => {
                targets.insert(picture, target.as_bps_f64() / 30.0);
            }
            What::Sender(Event::FrameQueued { picture, size, .. }) if seconds % 6.0 > 1.5 => {
                let (made, asked) = &mut sums[(seconds / 6.0) as usize];
                *made += size.bits() as f64;
                *asked += targets[&picture];
            }
            _ => {}
        }
    }
    sums.into_iter().map(|(made, asked)| made / asked).collect()
}

#[test]
fn every_scheme_meets_the_ratios_that_the_seed_draws() {
    let undershoot = "0.5:1,1:1@6s".parse().unwrap();
    let codec = Codec::Model(Default::default());
    let scenario = |seed| Scenario {
        seed: Seed::new(seed),
        codec: codec.clone(),
        undershoot: Clone::clone(&undershoot),
        ..scenario(36, Size::new(320, 180))
    };
    let drawn = |scenario: &Scenario| -> Vec<f64> {
        let ratios = scenario.undershoot.build(scenario.seed.child("flow 0")).unwrap();
        (0..6).map(|block| ratios.at(Time::from_millis(6000 * block))).collect()
    };
    assert_ne!(drawn(&scenario(1)), drawn(&scenario(2)));
    let scenario = scenario(1);
    let drawn = drawn(&scenario);
    assert!(drawn.contains(&0.5) && drawn.contains(&1.0), "{drawn:?}");
    for scheme in ["gcc", "vidaptive"] {
        for (made, drawn) in made(&scenario, scheme).into_iter().zip(&drawn) {
            assert!((made / drawn - 1.0).abs() < 0.15, "{scheme}: {made:.3}, not {drawn}");
        }
    }
}
