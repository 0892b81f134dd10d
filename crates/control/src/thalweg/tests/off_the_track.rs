//! The parts for paths off the beaten track.

use super::*;

fn everywhere() -> Config {
    Config { trains: Some(trains::Config::default()), rebases: true, ..steady() }
}

/// Frames of one packet of 1000 bytes each 40 ms, over a path that serves one in `service` milliseconds and is empty before
/// each frame; a train follows where one is asked for. Returns the number of trains.
fn single(flow: &mut Flow<Thalweg>, frames: core::ops::Range<u64>, service: u64) -> u64 {
    let mut trains = 0;
    for frame in frames {
        let at = MS(40 * frame);
        let mut ids = alloc::vec![flow.send(at, 1000, |sent| sent.place = Some(whole(frame, at))).0];
        if let Some(probe) = flow.limits().probe {
            trains += 1;
            for _ in 0..probe.packets {
                let padding = |sent: &mut SentPacket| {
                    (sent.payload, sent.probe) = (crate::packet::Payload::Padding, Some(probe.cluster));
                };
                ids.push(flow.send(at, 1000, padding).0);
            }
        }
        for (place, id) in (1..).zip(ids) {
            let arrival = at + Span::from_millis((25 + service * place) as i64);
            flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
        }
    }
    trains
}

/// Two hundred kilobits a second, and then a path of 2 Mbps, with frames of a single packet: the rate after ten seconds.
fn after_a_dip(config: Config) -> (f64, u64) {
    let mut flow = Flow::new(Thalweg::new(config).unwrap());
    // One packet each 40 ms behind a queue, but for the first.
    for frame in 0..200 {
        let at = MS(40 * frame);
        let id = flow.send(at, 1000, |sent| sent.place = Some(whole(frame, at))).0;
        let arrival = at + Span::from_millis(if frame == 0 { 25 } else { 75 });
        flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
    }
    let low = flow.limits().capacity.as_kbps_f64();
    assert!((150.0..250.0).contains(&low), "{low} kbps");
    let trains = single(&mut flow, 200..450, 4);
    (flow.limits().capacity.as_mbps_f64(), trains)
}

#[test]
fn single_packets_alone_never_show_that_the_path_is_fast_again_and_trains_do() {
    let (alone, none) = after_a_dip(steady());
    assert!(alone < 0.3 && none == 0, "{alone} Mbps");
    let (rate, trains) = after_a_dip(everywhere());
    assert!((1.2..2.1).contains(&rate), "{rate} Mbps");
    assert!((10..100).contains(&trains), "{trains} trains");
}

#[test]
fn trains_that_show_nothing_new_become_rare_and_frames_of_several_packets_need_none() {
    let mut flow = Flow::new(Thalweg::new(everywhere()).unwrap());
    play(&mut flow, 0..100, 3, 4);
    assert_eq!(flow.decisions(), []);
    single(&mut flow, 100..200, 4);
    let trains = single(&mut flow, 200..700, 4);
    assert!((8..=12).contains(&trains), "{trains} in 20 s");
    assert!(flow.decisions().iter().all(|(what, _)| *what == "train"));
}

/// Frames of three packets each 40 ms; the path becomes 80 ms longer after 2 s.
fn after_a_longer_way(config: Config) -> (f64, bool) {
    let mut flow = Flow::new(Thalweg::new(config).unwrap());
    for frame in 0..150 {
        let at = MS(40 * frame);
        let delay = if frame < 50 { 25 } else { 105 };
        for packet in 0..3 {
            let place = crate::packet::FramePlace { first: packet == 0, last: packet == 2, ..whole(frame, at) };
            let id = flow.send(at, 1000, |sent| sent.place = Some(place)).0;
            let arrival = at + Span::from_millis(delay + 4 * packet);
            flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
        }
    }
    let rebased = flow.decisions().iter().any(|(what, _)| *what == "rebase");
    (flow.limits().capacity.as_mbps_f64(), rebased)
}

#[test]
fn a_path_that_has_become_longer_is_not_taken_for_a_slow_one() {
    let (before, rebased) = after_a_longer_way(steady());
    assert!(before < 0.8 && !rebased, "{before} Mbps");
    let (rate, rebased) = after_a_longer_way(everywhere());
    assert!((1.7..2.1).contains(&rate) && rebased, "{rate} Mbps, {rebased}");
}

#[test]
fn a_queue_that_stands_is_no_longer_way() {
    let mut flow = Flow::new(Thalweg::new(everywhere()).unwrap());
    play(&mut flow, 0..50, 3, 4);
    // Three packets each 12 ms make frames of 36 ms, 80 ms behind what they found.
    for frame in 50..150 {
        let at = MS(40 * frame);
        for packet in 0..3 {
            let place = crate::packet::FramePlace { first: packet == 0, last: packet == 2, ..whole(frame, at) };
            let id = flow.send(at, 1000, |sent| sent.place = Some(place)).0;
            let arrival = at + Span::from_millis(105 + 13 * packet);
            flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
        }
    }
    assert!(flow.decisions().iter().all(|(what, _)| *what != "rebase"));
}

#[test]
fn ten_packets_served_alike_are_a_step_down_and_up_and_packets_served_in_turns_are_none() {
    let stepping = Config { steps: Some(steps::Config::default()), ..steady() };
    let rate = |flow: &Flow<Thalweg>| flow.limits().capacity.as_kbps_f64();
    let (mut flow, mut other) =
        (Flow::new(Thalweg::new(stepping).unwrap()), Flow::new(Thalweg::new(steady()).unwrap()));
    for flow in [&mut flow, &mut other] {
        play(flow, 0..100, 3, 4);
        play(flow, 100..106, 3, 10);
    }
    assert!((790.0..810.0).contains(&rate(&flow)), "{} kbps", rate(&flow));
    assert!(rate(&other) > 900.0, "{} kbps", rate(&other));
    for flow in [&mut flow, &mut other] {
        play(flow, 106..112, 3, 4);
    }
    assert!((1900.0..2050.0).contains(&rate(&flow)), "{} kbps", rate(&flow));
    assert!(rate(&other) < 1500.0, "{} kbps", rate(&other));
    // Six and fourteen milliseconds in turn are ten in the mean.
    for flow in [&mut flow, &mut other] {
        play(flow, 112..200, 3, 4);
        (200..230).for_each(|frame| play(flow, frame..frame + 1, 3, 6 + 8 * (frame % 2)));
    }
    assert!((rate(&flow) - rate(&other)).abs() < 30.0, "{} and {} kbps", rate(&flow), rate(&other));
}

#[test]
fn a_turn_of_a_cell_serves_its_packets_alike_and_is_no_step() {
    // Twelve packets within 12 ms, after 2 Mbps.
    let after_a_turn = |lasts| {
        let steps = Some(steps::Config { lasts, ..steps::Config::default() });
        let mut flow = Flow::new(Thalweg::new(Config { steps, ..steady() }).unwrap());
        play(&mut flow, 0..100, 3, 4);
        play(&mut flow, 100..101, 12, 1);
        flow.limits().capacity.as_mbps_f64()
    };
    let (lasting, any) = (after_a_turn(steps::Config::default().lasts), after_a_turn(Span::ZERO));
    assert!((1.9..3.0).contains(&lasting), "{lasting} Mbps");
    assert!((6.0..8.5).contains(&any), "{any} Mbps");
}

/// Numbers in 0..n without a pattern.
fn scattered(n: u64) -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    core::iter::from_fn(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Some((state >> 33) % n)
    })
}

#[test]
fn jitter_is_what_changes_from_frame_to_frame_and_a_queue_that_comes_and_goes_is_none() {
    let after = |delays: &mut dyn Iterator<Item = u64>| {
        let mut jitter = jitter::Config::default().build().unwrap();
        for (frame, delay) in (0..100).zip(delays) {
            jitter.on_first(MS(33 * frame), Span::from_millis(delay as i64), Span::from_millis(2));
        }
        jitter.get().as_millis()
    };
    let uniform = after(&mut scattered(60));
    // Bounded by the quietest frames.
    assert!((15..=30).contains(&uniform), "{uniform} ms of 60");
    assert_eq!(after(&mut scattered(12)), 0, "as much as a path that serves in turns");
    // Up to a quarter of a second, and back, by 4 ms from frame to frame.
    assert_eq!(after(&mut (0..).map(|frame: u64| 25 + 4 * (frame % 128).min(128 - frame % 128))), 0);
}

/// A sender of frames of what is held, or of 6 Mbps in bursts, over a path that passes packets as `passes` says. Returns
/// the rate held after 6 s, the share of packets lost in the last second, and the changes.
fn limited_by(passes: impl FnMut(Time, u64) -> bool) -> (Option<f64>, f64, Vec<&'static str>) {
    let (held, lost, changes) = limited_for(180, passes);
    (held, lost, changes.into_iter().map(|(_, what)| what).collect())
}

/// The same after so many frames of 33 ms, with the times of the changes.
fn limited_for(
    frames: u64,
    mut passes: impl FnMut(Time, u64) -> bool,
) -> (Option<f64>, f64, Vec<(Time, &'static str)>) {
    let mut policer = policer::Config::default().build().unwrap();
    let (mut number, mut changes) = (0, Vec::new());
    let (mut sent, mut lost) = (0, 0);
    for frame in 0..frames {
        let began = MS(33 * frame);
        let rate = policer.rate().unwrap_or(Rate::from_kbps(6000));
        let pacing = policer.rate().unwrap_or(LEAST_PACING);
        for packet in 0..rate.over(Span::from_millis(33)).get() / 1000 {
            let at = began + pacing.time_for(Bytes::new(1000 * packet));
            let packet = SentPacket::new(PacketId(number), at, Bytes::new(1000));
            number += 1;
            let arrives = passes(at, 1000);
            if frame + 30 >= frames {
                (sent, lost) = (sent + 1, lost + u64::from(!arrives));
            }
            let fate = if arrives { Fate::arrived(at + Span::from_millis(25)) } else { Fate::Lost };
            let reports = [Report { packet, fate }];
            let feedback = Feedback::new(at + Span::from_millis(50), Cause::Report, &reports);
            changes.extend(policer.on_feedback(&feedback, Span::from_millis(25)).map(|(what, _)| (at, what)));
        }
    }
    (policer.rate().map(Rate::as_mbps_f64), lost as f64 / sent as f64, changes)
}

/// Tokens of 2 Mbps up to `bucket` bytes.
fn bucket(bucket: f64) -> impl FnMut(Time, u64) -> bool {
    let (mut tokens, mut last) = (bucket, Time::ZERO);
    move |at, size| {
        tokens = (tokens + 250_000.0 * (at - last).as_secs_f64()).min(bucket);
        last = at;
        let passes = tokens >= size as f64;
        tokens -= if passes { size as f64 } else { 0.0 };
        passes
    }
}

#[test]
fn the_rate_of_a_policer_is_found_and_held_whatever_its_bucket() {
    for size in [1500.0, 6000.0, 15_000.0, 30_000.0, 100_000.0] {
        let (held, lost, changes) = limited_by(bucket(size));
        assert!(held.is_some_and(|held| (1.5..2.1).contains(&held)), "{size}: {held:?} Mbps, {changes:?}");
        assert!(lost < 0.05, "{size}: {lost} lost");
        assert!(changes.contains(&"hold"), "{changes:?}");
    }
}

#[test]
fn the_same_policer_is_tried_ever_more_rarely() {
    let (held, _, changes) = limited_for(4500, bucket(15_000.0));
    assert!(held.is_some_and(|held| (1.7..2.1).contains(&held)), "{held:?} Mbps");
    let tried: Vec<Time> = changes.iter().filter(|(_, what)| *what == "lower").map(|(at, _)| *at).collect();
    let waits: Vec<i64> = tried.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert!((3..=8).contains(&tried.len()), "{waits:?} ms");
    assert!(waits.last().is_some_and(|wait| (30_000..40_000).contains(wait)), "{waits:?} ms");
}

#[test]
fn loss_that_goes_on_at_a_lower_rate_is_random_and_holds_nothing() {
    let mut scattered = scattered(100);
    let (held, _, changes) = limited_by(|_, _| scattered.next() >= Some(10));
    assert_eq!((held, changes), (None, alloc::vec!["try", "release"]));
}

#[test]
fn where_most_is_lost_a_rate_is_tried_within_a_tenth_of_a_second() {
    let (_, _, changes) = limited_for(180, bucket(1500.0));
    let (tried, what) = changes[0];
    assert_eq!(what, "try");
    assert!((MS(50)..MS(160)).contains(&tried), "{tried}");
}

#[test]
fn a_rate_that_only_follows_what_is_sent_is_given_up_below_half_of_what_was_held() {
    // A policer for four seconds, then bursts of random loss.
    let (mut policed, mut scattered) = (bucket(15_000.0), scattered(10));
    let (held, _, changes) =
        limited_for(400, |at, size| if at < MS(4000) { policed(at, size) } else { scattered.next() >= Some(4) });
    let changes: Vec<&str> = changes.into_iter().map(|(_, what)| what).collect();
    assert_eq!(held, None, "{changes:?}");
    assert_eq!(changes.last(), Some(&"release"));
}

#[test]
fn what_is_lost_while_nothing_arrives_says_nothing_of_a_policer() {
    let tried = |fades: bool| {
        let mut policer = policer::Config::default().build().unwrap();
        let of = |at: u64| {
            let packet = SentPacket::new(PacketId(at), MS(at), Bytes::new(1000));
            Report { packet, fate: if [0, 200, 1000].contains(&at) { Fate::arrived(MS(at + 25)) } else { Fate::Lost } }
        };
        // The losses become known with the first packet that arrives again.
        for reported in [0..3, 3..11] {
            let now = MS(100 * reported.end);
            if fades && reported.start > 0 {
                policer.forget(now);
            }
            let reports: Vec<Report> = reported.map(|packet| of(100 * packet)).collect();
            policer.on_feedback(&Feedback::new(now, Cause::Report, &reports), Span::from_millis(25));
        }
        policer.rate()
    };
    assert_eq!(tried(true), None);
    assert_eq!(tried(false), Some(Rate::from_kbps(95)), "the least that is tried");
}

#[test]
fn what_a_managed_queue_drops_is_looked_into_although_packets_waited() {
    // Packets wait up to 100 ms; those lost waited 60 ms, or 90 ms, which only a full queue loses.
    let tried = |waited: i64| {
        let mut policer = policer::Config::default().build().unwrap();
        for packet in 0..40 {
            let (at, waits) = (MS(10 * packet), if packet % 10 == 5 { 100 } else { waited });
            let packet = SentPacket::new(PacketId(packet), at, Bytes::new(1000));
            let is_lost = packet.id.0 % 10 >= 8;
            let fate = if is_lost { Fate::Lost } else { Fate::arrived(at + Span::from_millis(25 + waits)) };
            let reports = [Report { packet, fate }];
            policer.on_feedback(&Feedback::new(at, Cause::Report, &reports), Span::from_millis(25));
        }
        policer.rate().is_some()
    };
    assert_eq!([60, 90].map(tried), [true, false]);
}

#[test]
fn a_pause_of_the_path_does_not_shrink_the_budget() {
    // Frames of two packets each 40 ms; once a second the path pauses for 150 ms.
    let budget = |pauses| {
        let margin = margin::Config { pauses, ..eager() };
        let mut flow = Flow::new(Thalweg::new(Config { margin: Some(margin), ..steady() }).unwrap());
        for frame in 0..250 {
            let at = MS(40 * frame);
            let ends = MS((40 * frame) / 1000 * 1000 + 150);
            for packet in 0..2 {
                let place = crate::packet::FramePlace { first: packet == 0, last: packet == 1, ..whole(frame, at) };
                let id = flow.send(at, 1000, |sent| sent.place = Some(place)).0;
                let waits = Span::from_millis(30 + 4 * packet);
                let arrival = (at + waits).max(if frame > 25 { ends + waits } else { at }) + Span::from_millis(25);
                flow.report(arrival + Span::from_millis(25), &[(id, arrival)]);
            }
        }
        flow.budget().as_millis()
    };
    let (counted, left_out) = (budget(None), budget(Some(Span::from_millis(200))));
    assert!(left_out >= counted, "{counted} and {left_out} ms");
}

#[test]
fn parameters_of_these_parts_out_of_range_are_refused() {
    let trains = trains::Config { packets: 0, ..trains::Config::default() };
    let jitter = jitter::Config { least: Span::from_secs(1), ..jitter::Config::default() };
    let policer = policer::Config { loss: 1.0, ..policer::Config::default() };
    for config in [
        Config { trains: Some(trains), ..steady() },
        Config { jitter: Some(jitter), ..steady() },
        Config { policer: Some(policer), ..steady() },
    ] {
        assert!(Thalweg::new(config).is_err(), "{config:?}");
    }
}
