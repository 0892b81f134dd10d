//! Environments for reinforcement learning.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use thalweg_lab::environment::{Autoreset, Config, Environment, Environments, Rows, rows};
use thalweg_lab::scenario::{Competitor, Sender};
use thalweg_lab::{Scenario, run_folder, simulate, simulate_with, unattended};
use thalweg_learned::{Action, LearnedSender, Observation, Reward, Terms};
use thalweg_netsim::{HopConfig, QueueConfig, Trace};
use thalweg_sender::{Registry, Scheme};
use thalweg_units::{Rate, Seed, Size, Span};
use thalweg_video::Video;

const SEED: Seed = Seed::new(11);

fn find(name: &str) -> Result<Arc<Trace>, String> {
    Trace::named(name, Span::from_secs(30), Seed::new(1)).map(Arc::new).map_err(|error| error.to_string())
}

/// Calls of three seconds over one of three links.
fn config(observation: Observation) -> Config {
    let scenario = Scenario { duration: Span::from_secs(3), ..Scenario::over("2Mbps") };
    let links = ["lte-driving", "1Mbps/300kbps@2s", "5Mbps"].map(String::from).to_vec();
    Config { links, observation, ..Config::new(scenario) }
}

fn threads(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).unwrap()
}

/// An action that depends on what was observed, so that a wrong observation changes all that follows.
fn act(observation: &[f32], step: usize) -> f32 {
    let sum: f64 = observation.iter().map(|number| f64::from(*number)).sum();
    ((sum + step as f64) * 0.37).sin() as f32
}

/// Observations, rewards and ends of so many steps of one environment, reset where an episode ends.
fn alone(config: &Config, seed: Seed, steps: usize) -> Vec<(Vec<f32>, f64, bool)> {
    let mut environment = Environment::new(config, &mut find).unwrap();
    let mut observation = vec![0.0; environment.observation_len()];
    environment.reset(Some(seed), &mut observation).unwrap();
    let (mut ended, mut seen) = (false, Vec::new());
    for step in 0..steps {
        if std::mem::take(&mut ended) {
            environment.reset(None, &mut observation).unwrap();
            seen.push((observation.clone(), 0.0, false));
            continue;
        }
        let action = act(&observation, step);
        let done = environment.step(&[action], &mut observation).unwrap();
        ended = done.truncated;
        seen.push((observation.clone(), done.reward, done.truncated));
    }
    seen
}

/// The same of many.
fn together(config: &Config, count: usize, workers: usize, steps: usize) -> Vec<Vec<(Vec<f32>, f64, bool)>> {
    let mut many = Environments::new(config, count, threads(workers), Autoreset::NextStep, &mut find).unwrap();
    let length = many.observation_len();
    let mut observations = vec![0.0; count * length];
    many.reset(Some(SEED), &mut observations).unwrap();
    let (mut rewards, mut truncated) = (vec![0.0; count], vec![false; count]);
    let mut seen = vec![Vec::new(); count];
    for step in 0..steps {
        let actions: Vec<f32> = observations.chunks(length).map(|observation| act(observation, step)).collect();
        many.step(&actions, &mut observations, &mut rewards, &mut truncated).unwrap();
        for (index, seen) in seen.iter_mut().enumerate() {
            let row = observations[index * length..][..length].to_vec();
            seen.push((row, rewards[index], truncated[index]));
        }
    }
    seen
}

#[test]
fn an_environment_among_many_is_the_single_one_of_its_seed_however_many_threads_step_them() {
    for observation in Observation::ALL {
        let config = config(observation);
        let one = together(&config, 5, 1, 120);
        assert!(one == together(&config, 5, 4, 120), "{observation}: threads change something");
        for (index, seen) in one.iter().enumerate() {
            let single = alone(&config, Environments::seed_of(SEED, index), 120);
            assert!(*seen == single, "{observation}: environment {index}");
        }
        // 50 steps of 60 ms, then a reset: steps 50 and 101 end episodes.
        let ends: Vec<usize> = (0..120).filter(|step| one[0][*step].2).collect();
        assert_eq!(ends, [49, 100], "{observation}");
        assert!(one[0] != one[1], "{observation}: two seeds are alike");
        assert!(one[0].iter().any(|(row, ..)| row.iter().filter(|number| **number != 0.0).count() > 50));
    }
}

#[test]
fn a_policy_in_use_sees_and_does_what_it_saw_and_did_in_its_environment() {
    for observation in Observation::ALL {
        let config = Config { links: Vec::new(), ..config(observation) };
        let mut environment = Environment::new(&config, &mut find).unwrap();
        let mut row = vec![0.0; environment.observation_len()];
        environment.reset(Some(SEED), &mut row).unwrap();
        let (mut trained, mut wire) = (vec![row.clone()], 0.0);
        while trained.len() <= 50 {
            let step = environment.step(&[act(&row, trained.len())], &mut row).unwrap();
            wire += step.info.interval.sent.as_f64();
            trained.push(row.clone());
        }
        let scenario = Scenario {
            seed: environment.episode().unwrap().seed,
            measure_quality: false,
            ..environment.config().scenario.clone()
        };

        let seen = Arc::new(Mutex::new(Vec::new()));
        let terms = Terms { observation, action: config.action, interval: config.interval, start: config.start };
        let noted = seen.clone();
        let sender = LearnedSender::new("learned", terms, move || {
            let noted = noted.clone();
            Ok(Box::new(move |row: &[f32], answer: &mut [f32]| {
                let mut noted = noted.lock().unwrap();
                noted.push(row.to_vec());
                answer[0] = act(row, noted.len());
            }))
        });
        let run = simulate(&scenario, &sender, &mut find, &mut unattended).unwrap();
        let seen = seen.lock().unwrap();
        // At the end of the last interval the run is over.
        assert!(*seen == trained[..50], "{observation}");
        assert_eq!(run.outcome.summary.wire_bitrate_bps * 3.0 / 8.0, wire);
        assert!(!run.outcome.summary.machine_dependent);
    }
}

#[test]
fn links_and_beginnings_are_drawn_by_the_seed_and_the_scenarios_own_path_otherwise() {
    let mut environment = Environment::new(&config(Observation::Raw), &mut find).unwrap();
    let mut row = vec![0.0; environment.observation_len()];
    let mut episode = |seed| {
        environment.reset(seed, &mut row).unwrap();
        environment.episode().unwrap().clone()
    };
    let first = episode(Some(SEED));
    let drawn: Vec<_> = (0..30).map(|_| episode(None)).collect();
    assert_eq!(episode(Some(SEED)), first);
    assert_eq!((0..30).map(|_| episode(None)).collect::<Vec<_>>(), drawn);
    for link in ["lte-driving", "1Mbps/300kbps@2s", "5Mbps"] {
        assert!(drawn.iter().any(|episode| episode.link.as_deref() == Some(link)), "{link}");
    }
    assert!(drawn.iter().all(|episode| episode.offset < Span::from_secs(30)));

    let own = Config { links: Vec::new(), ..config(Observation::Raw) };
    let mut environment = Environment::new(&own, &mut find).unwrap();
    environment.reset(Some(SEED), &mut row).unwrap();
    let step = environment.step(&[0.0], &mut row).unwrap();
    // Of 2 Mbit/s, nine or ten opportunities of 1500 bytes in 60 ms.
    let capacity = step.info.capacity.unwrap();
    assert!(environment.episode().unwrap().link.is_none());
    assert!([1800, 2000].map(Rate::from_kbps).contains(&capacity), "{capacity}");
}

#[test]
fn an_episode_over_a_part_of_a_link_has_the_capacity_of_that_part() {
    // A link that changes each second: an episode that begins at 700 ms changes after 300 ms, five intervals.
    let config = Config { links: vec!["5Mbps/1Mbps@1s".into()], ..config(Observation::Raw) };
    let mut environment = Environment::new(&config, &mut find).unwrap();
    let mut row = vec![0.0; environment.observation_len()];
    environment.reset(Some(SEED), &mut row).unwrap();
    for _ in 0..20 {
        environment.reset(None, &mut row).unwrap();
        let offset = environment.episode().unwrap().offset.as_millis();
        let mut changes = Vec::new();
        let mut before = None;
        for _ in 0..50 {
            let info = environment.step(&[-1.0], &mut row).unwrap().info;
            let is_fast = info.capacity.unwrap() > Rate::from_kbps(3000);
            if before.replace(is_fast).is_some_and(|before| before != is_fast) {
                changes.push(info.at.as_millis());
            }
        }
        // One of three may come in the first interval.
        assert!((2..=3).contains(&changes.len()), "{offset} ms: {changes:?}");
        // In the interval in which the link changes, or in the next if it changes near the end.
        for at in changes {
            let into = (offset + at) % 1000;
            assert!(into <= 120, "{offset} ms: at {at} ms, {into} ms after a change");
        }
    }
}

#[test]
fn rewards_and_ends_are_those_of_the_scenario() {
    // 600 kbit/s over 2 Mbit/s: nothing queues, nothing is lost. Half of the scale is 632 kbit/s.
    let own = Config { links: Vec::new(), ..config(Observation::Mowgli) };
    let longer = Scenario { duration: Span::from_millis(10_030), ..own.scenario.clone() };
    let total = |reward: Reward, action: f32| {
        let config = Config { scenario: longer.clone(), reward, ..own.clone() };
        let mut environment = Environment::new(&config, &mut find).unwrap();
        let mut row = vec![0.0; environment.observation_len()];
        environment.reset(Some(SEED), &mut row).unwrap();
        let (mut rewards, mut last) = (Vec::new(), None);
        while !last.is_some_and(|step: thalweg_lab::environment::Step| step.truncated) {
            let step = environment.step(&[action], &mut row).unwrap();
            rewards.push(step.reward);
            last = Some(step);
        }
        // The last interval is what is left.
        let last = last.unwrap();
        assert_eq!(
            (rewards.len(), last.info.at, last.info.interval.length),
            (168, longer.duration, Span::from_millis(10))
        );
        assert!(
            environment.step(&[action], &mut row).err().unwrap().to_string().contains("reset the environment first")
        );
        rewards[50..].iter().sum::<f64>() / (rewards.len() - 50) as f64
    };
    for reward in [Reward::default(), Reward::R3Net, Reward::Mowgli] {
        let (low, middle, above) = (total(reward, -1.0), total(reward, 0.0), total(reward, 0.9));
        assert!(
            middle > low + 0.05 && middle > above,
            "{reward}: {low} at 50 kbps, {middle} at 632, {above} above 2 Mbps"
        );
    }
}

#[test]
fn each_autoreset_mode_ends_episodes_as_gymnasium_defines_it() {
    let config = config(Observation::Raw);
    let of = |mode| Environments::new(&config, 2, threads(1), mode, &mut find).unwrap();
    let mut modes = Autoreset::ALL.map(of);
    let length = modes[0].observation_len();
    let mut rows = vec![vec![0.0; 2 * length]; 3];
    let (mut rewards, mut truncated) = (vec![vec![0.0; 2]; 3], vec![vec![false; 2]; 3]);
    for (many, rows) in modes.iter_mut().zip(&mut rows) {
        many.reset(Some(SEED), rows).unwrap();
        assert!(rows.iter().all(|number| *number == 0.0) && many.info(0).is_none());
    }
    let mut step = |modes: &mut [Environments], rows: &mut [Vec<f32>]| -> Vec<Result<(f64, bool), String>> {
        let each = modes.iter_mut().zip(rows).zip(rewards.iter_mut().zip(&mut truncated));
        each.map(|((many, rows), (rewards, truncated))| {
            let done = many.step(&[0.1, 0.2], rows, rewards, truncated);
            done.map(|()| (rewards[1], truncated[1])).map_err(|error| error.to_string())
        })
        .collect()
    };
    for _ in 0..49 {
        assert!(step(&mut modes, &mut rows).iter().all(|done| done.as_ref().is_ok_and(|done| !done.1)));
    }
    let last = step(&mut modes, &mut rows);
    assert!(last.iter().all(|done| *done == last[0] && done.as_ref().is_ok_and(|done| done.1)), "{last:?}");
    let [next, same, disabled] = &mut modes;
    // The end's observation, or the beginning's with the end's beside it.
    assert!(rows[0] == rows[2] && rows[0].iter().any(|number| *number != 0.0));
    assert!(rows[1].iter().all(|number| *number == 0.0));
    assert_eq!(same.final_observation(1), Some(&rows[0][length..]));
    assert!(next.final_observation(1).is_none() && disabled.final_observation(1).is_none());
    assert_eq!(same.info(1).map(|info| info.at), Some(Span::from_secs(3)));

    let after = step(&mut modes, &mut rows);
    // The next step begins the next episode there, and there it is its first step.
    assert!(after[0] == Ok((0.0, false)) && rows[0].iter().all(|number| *number == 0.0), "{after:?}");
    assert!(after[1].as_ref().is_ok_and(|done| !done.1), "{after:?}");
    let refused = after[2].as_ref().unwrap_err();
    assert!(refused.starts_with("environment 0: no episode is running: reset"), "{refused}");
    let [next, same, disabled] = &mut modes;
    assert!(next.info(1).is_none() && same.info(1).is_some_and(|info| info.at == Span::from_millis(60)));
    let before = rows[2].clone();
    disabled.reset_some(None, &[false, true], &mut rows[2]).unwrap();
    assert!(rows[2][..length] == before[..length] && rows[2][length..].iter().all(|number| *number == 0.0));
    let after = step(&mut modes, &mut rows);
    assert_eq!(after[0].as_ref().map(|done| done.1), Ok(false));
    assert!(after[2].is_err(), "the first was not reset");
}

#[test]
fn what_is_no_action_or_no_array_of_the_right_size_is_refused() {
    let config = config(Observation::Raw);
    let mut many = Environments::new(&config, 2, threads(1), Autoreset::NextStep, &mut find).unwrap();
    let (mut rows, mut rewards, mut truncated) = (vec![0.0; 2 * 288], vec![0.0; 2], vec![false; 2]);
    let before = many.step(&[0.0; 2], &mut rows, &mut rewards, &mut truncated).err().unwrap().to_string();
    assert!(before.contains("environment 0: no episode is running"), "{before}");
    let short = many.reset(None, &mut rows[1..]).err().unwrap().to_string();
    assert_eq!(short, "observations is 575 numbers, must be 576 numbers");
    many.reset(Some(SEED), &mut rows).unwrap();
    let mut refused =
        |actions: &[f32]| many.step(actions, &mut rows, &mut rewards, &mut truncated).err().unwrap().to_string();
    assert_eq!(refused(&[0.0]), "actions is 1 numbers, must be 2 numbers");
    let nan = refused(&[0.0, f32::NAN]);
    assert!(
        nan.starts_with("environment 1: action is [NaN], must be 1 finite number for 'rate', each from -1 to 1"),
        "{nan}"
    );
}

#[test]
fn an_environment_that_cannot_be_is_refused_when_it_is_made() {
    let good = config(Observation::Raw);
    let refused = |config: Config| Environment::new(&config, &mut find).err().unwrap().to_string();
    assert!(refused(Config { links: vec!["nowhere".into()], ..good.clone() }).contains("nowhere: "));
    assert!(refused(Config { interval: Span::ZERO, ..good.clone() }).contains("interval is 0"));
    let psnr = refused(Config { reward: Reward::Psnr, ..good.clone() });
    assert!(psnr.contains("reward is psnr, and the codec is a model"), "{psnr}");
    let mut direct = good.clone();
    direct.scenario.forward.hops.remove(0);
    assert!(refused(direct).contains("the forward path has no bottleneck"));
    let mut never = good.clone();
    never.scenario.duration = Span::ZERO;
    assert!(refused(never).contains("duration is 0"));
    let none = Environments::new(&good, 0, threads(1), Autoreset::NextStep, &mut find).err().unwrap().to_string();
    assert!(none.contains("environments is 0, must be at least 1"), "{none}");
}

#[test]
fn psnr_is_a_reward_with_a_real_codec() {
    let video = Video::scene(Size::new(160, 90), 30);
    let scenario = Scenario { video, codec: "functional".parse().unwrap(), ..config(Observation::Raw).scenario };
    let config = Config { scenario, links: Vec::new(), reward: Reward::Psnr, ..config(Observation::Raw) };
    let mut environment = Environment::new(&config, &mut find).unwrap();
    let mut row = vec![0.0; environment.observation_len()];
    environment.reset(Some(SEED), &mut row).unwrap();
    let rewards: Vec<f64> = (0..50).map(|_| environment.step(&[-0.5], &mut row).unwrap().reward).collect();
    assert!(rewards[25..].iter().all(|psnr| (25.0..60.0).contains(psnr)), "{rewards:?}");
}

fn rows_of(sender: &str, config: &Config) -> Rows {
    let sender: Scheme = sender.parse().unwrap();
    rows(config, &sender, &Registry::new(), &mut find).unwrap()
}

#[test]
fn rows_of_any_controllers_run_are_its_run() {
    let config = Config { links: Vec::new(), ..config(Observation::Mmsys150) };
    let scenario = Scenario { duration: Span::from_secs(10), ..config.scenario.clone() };
    let config = Config { scenario, ..config };
    for name in ["gcc", "vidaptive", "nada", "salsify"] {
        let rows = rows_of(name, &config);
        assert_eq!((rows.policy.as_str(), rows.observation_len, rows.action_len), (name, 150, 1));
        let lengths = [rows.observations.len() / 150, rows.actions.len(), rows.rewards.len(), rows.estimates_bps.len()];
        assert_eq!(lengths, [167; 4], "{name}");
        assert!(rows.observations[..150].iter().all(|number| *number == 0.0));
        let near = |capacity: &f64| (1.8e6..2.3e6).contains(capacity);
        assert!(rows.capacities_bps[..166].iter().all(near), "{name}: {:?}", rows.capacities_bps);
        // Bytes that arrived, by the third feature of place 0, are those of the same run: watching changes nothing. The
        // reports on what was sent at the end are still under way.
        let reported: f64 = rows.observations.iter().skip(20).step_by(150).map(|bytes| f64::from(*bytes)).sum();
        let scheme: Scheme = name.parse().unwrap();
        let run = simulate(&config.scenario, &scheme, &mut find, &mut unattended).unwrap();
        let sent = run.outcome.summary.wire_bitrate_bps * 10.0 / 8.0;
        assert!(reported > 0.95 * sent && reported <= sent, "{name}: {reported} of {sent} bytes");
        let estimates = run.outcome.series.variable("capacity_bps");
        let (at, last) = *estimates.last().unwrap();
        let row = rows.estimates_bps[(at / 0.06) as usize];
        assert!((row / last - 1.0).abs() < 0.2, "{name}: {row} and {last} at {at} s");
        // The action is the one that would have set it.
        let set =
            Action::Rate.apply(&rows.actions[100..101], thalweg_learned::Setting { rate: Rate::ZERO, window: None });
        let wanted = rows.estimates_bps[100].clamp(50e3, 8e6);
        assert!((set.unwrap().rate.as_bps_f64() / wanted - 1.0).abs() < 1e-3, "{name}");
    }
    assert!(rows_of("gcc", &config) == rows_of("gcc", &config));
}

#[test]
fn a_policy_from_a_file_is_a_sender_by_its_name_where_the_build_has_an_evaluator() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../learned/tests/models/follow.onnx");
    let name = format!("onnx:{path}");
    let opened = thalweg_lab::named(&Registry::new(), &name);
    if !cfg!(feature = "onnx") {
        let why = opened.err().unwrap().to_string();
        assert!(why.ends_with("this build evaluates no ONNX models: build it with --features onnx"), "{why}");
        return;
    }
    let sender = opened.unwrap();
    let scenario = Scenario {
        competitors: vec![Competitor::Sender(Sender {
            scheme: name.clone(),
            video: None,
            from: Span::ZERO,
            until: None,
        })],
        duration: Span::from_secs(20),
        forward: thalweg_netsim::PathConfig {
            hops: vec![
                HopConfig::Bottleneck { trace: "2Mbps".into(), queue: QueueConfig::Infinite, once: false },
                HopConfig::delay(Span::from_millis(25)),
            ],
        },
        ..Scenario::over("2Mbps")
    };
    let gcc: Scheme = "gcc".parse().unwrap();
    let run = simulate_with(&scenario, &gcc, &Registry::new(), &mut find, &mut unattended).unwrap();
    assert!(run.competitors[0].summary.machine_dependent && !run.outcome.summary.machine_dependent);

    let alone = Scenario { competitors: Vec::new(), ..scenario };
    let play = || simulate(&alone, &*sender, &mut find, &mut unattended).unwrap();
    let run = play();
    let summary = &run.outcome.summary;
    assert!(summary.machine_dependent && summary.utilization.is_some_and(|share| share > 0.4), "{summary:?}");
    assert!(summary.stall_ratio < 0.05 && summary.latency_p95_ms.is_some_and(|ms| ms < 300.0), "{summary:?}");
    assert_eq!(run.recorder.fingerprint(), play().recorder.fingerprint());
    let folder = std::env::temp_dir().join(format!("thalweg-onnx-{}", std::process::id()));
    run_folder::write(&folder, &alone, &[], &*sender, &run).unwrap();
    let text = std::fs::read_to_string(folder.join("run.toml")).unwrap();
    let summary = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(text.contains("machine_dependent = true") && text.contains("onnx_sha256 = "), "{text}");
    assert!(summary.contains("\"machine_dependent\": true"), "{summary}");
    let (_, again) = run_folder::read_run(&text, &Registry::new()).unwrap();
    assert_eq!(again.name(), name);
}
