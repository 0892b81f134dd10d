//! Useful padding.

use std::sync::Arc;

use crate::scenarios::support::{delay, scenario};
use thalweg_codecs::Codec;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_lab::{simulate, unattended};
use thalweg_netsim::{HopConfig, LossModel, PathConfig, Trace};
use thalweg_sender::Scheme;
use thalweg_units::{Rate, Seed, Size, Span};

/// Number of calls per figure.
const SEEDS: u64 = 8;

/// A call of forty seconds over 50 ms each way with losses.
fn losing(model: Option<LossModel>, seed: u64) -> Scenario {
    let clean = scenario(40, Size::new(1280, 720));
    let mut hops = clean.forward.hops.clone();
    hops.extend(model.map(HopConfig::Loss));
    let more = HopConfig::delay(Span::from_millis(25));
    hops.push(more.clone());
    Scenario {
        forward: PathConfig { hops },
        reverse: PathConfig { hops: vec![delay(), more] },
        seed: Seed::new(seed),
        video: Video::scene(Size::new(1280, 720), 30),
        codec: Codec::Model(Default::default()),
        ..clean
    }
}

/// The results of those calls.
#[derive(Debug, Clone, Copy, Default)]
struct Played {
    wire_mbps: f64,
    padding_mbps: f64,
    /// Share of the time in stalls.
    stalled: f64,
    /// Share of the pictures shown later than 200 ms after capture, or never.
    late: f64,
}

fn play(scheme: &str, model: Option<LossModel>) -> Played {
    let scheme: Scheme = scheme.parse().unwrap();
    let mut played = Played::default();
    for seed in 1..=SEEDS {
        let link = Arc::new(Trace::constant(Rate::from_kbps(3000)).unwrap());
        let run = simulate(&losing(model, seed), &scheme, &mut |_| Ok(link.clone()), &mut unattended).unwrap();
        let frames = &run.outcome.frames;
        let in_time = |shown: f64, captured: f64| shown - captured < 0.2;
        let late = frames.iter().filter(|frame| !frame.displayed_s.is_some_and(|at| in_time(at, frame.captured_s)));
        played.late += late.count() as f64 / frames.len() as f64 / SEEDS as f64;
        let summary = &run.outcome.summary;
        played.wire_mbps += summary.wire_bitrate_bps / 1e6 / SEEDS as f64;
        played.padding_mbps += summary.padding_bitrate_bps / 1e6 / SEEDS as f64;
        played.stalled += summary.stall_ratio / SEEDS as f64;
    }
    played
}

fn random(probability: f64) -> Option<LossModel> {
    Some(LossModel::Random { probability })
}

/// Loss bursts of 30 ms, 3 % of the time: a Markov chain that steps with each packet would give shorter bursts to
/// senders of smaller packets.
const BURSTS: LossModel = LossModel::OnOff { on: Span::from_millis(970), off: Span::from_millis(30) };

#[test]
fn fec_for_dummies_takes_no_more_of_the_wire_and_leaves_fewer_frames_late_the_more_is_lost() {
    // The share of time in stalls with dummies and with FEC, and the share of late frames that remain with FEC.
    for (model, still, late) in [
        (None, [0.0..0.002, 0.0..0.002], 1.1),
        (random(0.01), [0.01..0.04, 0.0..0.01], 0.75),
        (random(0.03), [0.04..0.1, 0.005..0.035], 0.5),
        (random(0.1), [0.25..0.45, 0.04..0.15], 0.5),
        (Some(BURSTS), [0.04..0.09, 0.03..0.075], 1.0),
    ] {
        let (dummies, fec) = (play("vidaptive", model), play("vidaptive+fec", model));
        println!("{model:?}: {dummies:?} and {fec:?}");
        let wire = fec.wire_mbps / dummies.wire_mbps;
        assert!((0.95..1.05).contains(&wire), "{model:?}: {wire} of the wire");
        assert!(fec.padding_mbps > 0.2 && dummies.padding_mbps > 0.2, "{model:?}: {dummies:?} and {fec:?}");
        let stand = still[0].contains(&dummies.stalled) && still[1].contains(&fec.stalled);
        assert!(stand, "{model:?}: {dummies:?} and {fec:?}");
        assert!(fec.late <= late * dummies.late, "{model:?}: {dummies:?} and {fec:?}");
    }
}
