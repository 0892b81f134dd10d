use thalweg_emulate::{LinkConfig, Relay, RelayConfig};
use thalweg_netsim::{HopConfig, PathConfig, QueueConfig};
use thalweg_units::{Rate, Span};

use crate::in_real_time::in_real_time;
use crate::links::Paths;
use crate::live::HERE;
use crate::run::{Carriage, Outcome, Workload};
use crate::stack::Controller;
use crate::{Stack, links, live, play};

const STACKS: [Stack; 2] = [Stack::Quinn, Stack::Noq];
const CUBIC: Controller = Controller::Cubic;
const COPA: Controller = Controller::Ours("copa");
const BBR: Controller = Controller::Ours("bbr");
const ROCC: Controller = Controller::Ours("rocc");

/// 25 ms each way at a rate that changes, an endless queue and now and then a loss.
fn changing(loss: f64) -> Paths {
    let delay = HopConfig::delay(links::DELAY);
    let rate = HopConfig::Rate { rate: "4Mbps/1Mbps@5s".parse().unwrap(), queue: QueueConfig::Infinite };
    let loss = HopConfig::Loss(thalweg_netsim::LossModel::Random { probability: loss });
    Paths { forward: PathConfig { hops: vec![rate, loss, delay.clone()] }, reverse: PathConfig { hops: vec![delay] } }
}

fn media(carriage: Carriage) -> Workload {
    Workload::Media { carriage, min: Rate::from_kbps(100), max: Rate::from_kbps(40_000) }
}

fn sent(stack: Stack, controller: Controller, paths: &Paths, workload: Workload, seconds: i64) -> Outcome {
    play(stack, controller, false, paths, workload, Span::from_secs(seconds)).unwrap()
}

#[test]
fn two_runs_of_a_connection_have_the_same_windows_round_trips_and_frames() {
    for stack in STACKS {
        for controller in [CUBIC, COPA, BBR, ROCC] {
            let once = || sent(stack, controller, &changing(0.01), media(Carriage::Streams), 10);
            let outcome = once();
            assert!(outcome.windows.len() > 250 && outcome == once(), "{} {controller:?}", stack.name());
        }
    }
}

#[test]
fn a_bulk_gets_what_cubic_gets_at_a_fraction_of_its_queue() {
    for stack in STACKS {
        let bulk = |controller| sent(stack, controller, &links::bulk(Span::ZERO), Workload::Bulk(40_000_000), 60);
        let cubic = bulk(CUBIC);
        for controller in [COPA, BBR] {
            let ours = bulk(controller);
            assert_eq!(ours.received.get(), 40_000_000, "it completes");
            let (goodput, trip) = (
                ours.goodput().as_kbps_f64() / cubic.goodput().as_kbps_f64(),
                ours.round_trip(0.95) / cubic.round_trip(0.95),
            );
            assert!((0.95..1.03).contains(&goodput), "{} {controller:?}: {goodput}", stack.name());
            assert!((0.3..=0.6).contains(&trip), "{} {controller:?}: {trip}", stack.name());
        }
    }
}

/// Why a busy machine cannot judge a bulk on sockets (docs/quic.md).
#[test]
fn packets_that_are_late_at_random_take_most_of_copas_goodput_and_none_of_roccs() {
    for stack in STACKS {
        let late = links::bulk(Span::from_millis(5));
        let bulk = |controller| sent(stack, controller, &late, Workload::Bulk(u64::MAX >> 20), 20).goodput();
        let share = |controller| bulk(controller).as_kbps_f64() / bulk(CUBIC).as_kbps_f64();
        let (copa, rocc) = (share(COPA), share(ROCC));
        assert!((0.2..0.5).contains(&copa) && (0.97..1.02).contains(&rocc), "{}: {copa}, {rocc}", stack.name());
    }
}

#[test]
fn media_on_a_link_that_falls_are_seldom_late_and_nearly_as_much_as_cubics() {
    for stack in STACKS {
        let media = |controller| sent(stack, controller, &changing(0.0), media(Carriage::Datagrams), 30);
        let (cubic, rocc) = (media(CUBIC), media(ROCC));
        let goodput = rocc.goodput().as_kbps_f64() / cubic.goodput().as_kbps_f64();
        assert!((0.9..1.05).contains(&goodput), "{}: {goodput}", stack.name());
        let [cubic, rocc] = [cubic, rocc].map(|outcome| outcome.delay(0.95).unwrap().as_millis_f64());
        assert!(rocc < 0.25 * cubic && rocc > 50.0, "{}: {rocc} of {cubic} ms", stack.name());
    }
}

#[test]
fn streams_carry_every_frame_over_losses_and_datagrams_lose_some() {
    for stack in STACKS {
        let of = |carriage| sent(stack, ROCC, &changing(0.02), media(carriage), 10).incomplete();
        assert_eq!(of(Carriage::Streams), 0, "{}", stack.name());
        assert!((5..250).contains(&of(Carriage::Datagrams)), "{}: {}", stack.name(), of(Carriage::Datagrams));
    }
}

/// On sockets, so no bounds on how long it takes: `make test-quic` has those. Some seconds by the clock.
#[test]
fn through_the_emulated_link_every_byte_of_a_bulk_arrives_in_its_place_and_no_sooner_than_the_link_allows() {
    in_real_time(|| {
        const SIZE: usize = 1_000_000;
        for stack in STACKS {
            for controller in [CUBIC, COPA, BBR, ROCC] {
                let mut relay = None;
                let outcome = live(stack, controller, SIZE, &mut |server| {
                    let Paths { forward, reverse } = links::bulk(Span::ZERO);
                    let link = LinkConfig { up: forward, down: reverse, ..LinkConfig::default() };
                    let config = RelayConfig { link, ..RelayConfig::new(HERE, server) };
                    let started = Relay::start(&config, &mut |name| links::link(name, Span::ZERO))?;
                    Ok(relay.insert(started).address())
                });
                // Equal to what was sent, or it is an error.
                let outcome = outcome.unwrap_or_else(|error| panic!("{} {controller:?}: {error:#}", stack.name()));
                assert_eq!(outcome.received.get(), SIZE as u64);
                assert!(outcome.goodput() < Rate::from_kbps(10_000), "{} {controller:?}: {outcome:?}", stack.name());
                let up = relay.unwrap().stop().unwrap().up;
                assert!(up.delivered_bytes.get() > SIZE as u64 && up.delivered > SIZE as u64 / 1500, "{up:?}");
            }
        }
    });
}
