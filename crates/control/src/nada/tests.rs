use super::*;
use crate::controller::FrameQueued;
use crate::packet::PacketId;
use crate::testing::Flow;

const MS: fn(u64) -> Time = Time::from_millis;

/// 800 kbps of 1000-byte packets over a path of 100 ms, with per-packet feedback; `delay` and `lost` define the path's
/// effect on each packet.
fn run(config: Config, packets: u64, delay: impl Fn(u64) -> i64, lost: impl Fn(u64) -> bool) -> Flow<Nada> {
    let mut nada = Flow::new(Nada::new(config).unwrap());
    for id in 0..packets + 10 {
        if id < packets {
            nada.send(MS(10 * id), 1000, |_| {});
        }
        if let Some(id) = id.checked_sub(10).filter(|id| !lost(*id)) {
            nada.report(MS(10 * id + 100), &[(id, MS(10 * id + 50) + Span::from_millis(delay(id)))]);
        }
    }
    nada
}

#[test]
fn an_empty_path_is_ramped_up_to_a_sixth_more_than_arrives() {
    let nada = run(Config::default(), 200, |_| 0, |_| false);
    assert!(nada.ramping_up);
    // gamma is 50 / (100 + 100 + 120).
    assert_eq!(nada.rate, Rate::from_kbps(925));
    assert_eq!(nada.limits().pacing, Rate::from_kbps(925));
}

#[test]
fn a_queue_or_a_loss_ends_the_ramp_up_with_its_reason() {
    for (queue, lost, why) in [(30, u64::MAX, "packets stood in a queue"), (0, 150, "packets were lost")] {
        let mut nada = run(Config::default(), 170, |id| if id > 150 { queue } else { 0 }, |id| id == lost);
        assert!(!nada.ramping_up);
        let decision = nada.poll_decision().unwrap();
        assert_eq!((decision.what, decision.why), ("update gradually", why));
    }
    let mut back = run(Config::default(), 300, |_| 0, |id| id == 150);
    back.poll_decision();
    assert_eq!(back.poll_decision().unwrap().what, "ramp up");
}

#[test]
fn rates_keep_to_what_the_application_could_use_unless_told_otherwise() {
    for (follows_demand, max) in [(true, 700), (false, 1500)] {
        let mut nada = Nada::new(Config { follows_demand, ..Config::default() }).unwrap();
        nada.on_demand(Time::ZERO, Demand { min: Rate::from_kbps(30), max: Rate::from_kbps(700) });
        assert_eq!(nada.max, Rate::from_kbps(max));
    }
}

#[test]
fn missing_feedback_halves_the_rate_each_half_second_down_to_the_min() {
    let mut nada = run(Config::default(), 200, |_| 0, |_| false);
    nada.on_sent(&SentPacket::new(PacketId(200), MS(2500), Bytes::new(1000)));
    let rates: alloc::vec::Vec<(u64, u64)> = (0..4)
        .map(|_| {
            let due = nada.expire();
            (due.as_millis(), nada.rate.as_bps() / 1000)
        })
        .collect();
    // 500 ms beyond the round trip of 100 ms.
    assert_eq!(rates, [(3100, 462), (3600, 231), (4100, 150), (4600, 150)]);
}

#[test]
fn what_waits_lowers_the_encoders_target_and_raises_the_pacing() {
    let mut nada = run(Config { start: Rate::from_kbps(1000), ..Config::default() }, 200, |_| 0, |_| false);
    assert_eq!(nada.rate, Rate::from_kbps(1000));
    let frame = FrameQueued {
        size: Bytes::new(4000),
        interval: Span::of_frame(30.0),
        ahead: Bytes::new(3000),
        age: Span::from_millis(20),
    };
    nada.on_signal(MS(3000), controller::Signal::FrameQueued(frame));
    let limits = nada.limits();
    assert_eq!((limits.capacity, limits.pacing), (Rate::from_kbps(950), Rate::from_kbps(1050)));
    nada.on_signal(MS(3033), controller::Signal::FrameQueued(FrameQueued { ahead: Bytes::ZERO, ..frame }));
    assert_eq!(nada.limits().capacity, Rate::from_kbps(1000));
}

#[test]
fn packets_whose_reports_were_lost_in_a_feedback_timeout_do_not_count_as_lost() {
    // Reports on ten packets, then none for a second, then one on the hundredth: the packets between are declared lost.
    let mut nada = Flow::new(Nada::new(Config::default()).unwrap());
    for id in 0..120 {
        nada.send(MS(10 * id), 1000, |_| {});
        nada.on_timeout(MS(10 * id));
        if let Some(reported) = id.checked_sub(10).filter(|reported| *reported < 10 || *reported > 100) {
            nada.report(MS(10 * reported + 100), &[(reported, MS(10 * reported + 50))]);
        }
    }
    assert_eq!(nada.signal.loss_ratio, 0.0);
    assert!(nada.ramping_up);
}
