use super::*;
use thalweg_control::{Cause, Fate, FramePlace, MediaLimit, PacketId, Report, SendLimits, SentPacket};
use thalweg_types::Target;
use thalweg_units::{Rate, Size, Span};

fn view(room: u64) -> View {
    let mut limits = SendLimits::of_rate(Rate::from_kbps(4000));
    limits.media = MediaLimit::Frame(Bytes::new(room));
    let view = View::new(Time::from_millis(100), limits, Size::HD, Span::from_millis(25));
    View { srtt: Span::from_millis(50), payload_share: 0.8, ..view }
}

fn made(size: u64, quantizer: u8) -> EncodedFrame {
    crate::testing::encoded(size).with(|frame| frame.quantizer = Some(quantizer))
}

fn targets(policy: &mut LateChoice, room: u64) -> Vec<Target> {
    match policy.plan(&view(room)) {
        FramePlan::Encode(plan) => plan.targets,
        other => panic!("{other:?}"),
    }
}

/// Feedback on a packet of a frame.
fn arrived(frame: u64, at: Time) -> Report {
    let mut packet = SentPacket::new(PacketId(frame), Time::ZERO, Bytes::new(1000));
    let (offset, captured) = (Bytes::ZERO, Time::ZERO);
    packet.place = Some(FramePlace { frame, first: true, last: false, offset, captured, keyframe: false });
    Report::new(packet, Fate::arrived(at))
}

#[test]
fn the_candidates_are_a_step_better_and_a_step_worse_than_the_last_one_sent() {
    let mut policy = Config::default().build().unwrap();
    for (last, better, worse) in [(64, 47, 87), (10, 3, 33), (110, 93, 127)] {
        policy.on_queued(Time::ZERO, 0, &made(1000, last), 1);
        assert_eq!(targets(&mut policy, 0), [Target::Quantizer(better), Target::Quantizer(worse)]);
    }
}

#[test]
fn the_largest_that_fits_what_there_is_room_for_now_is_sent() {
    let mut policy = Config::default().build().unwrap();
    let candidates = [made(9000, 40), made(4000, 80)];
    assert_eq!(policy.choose(&view(9000), &candidates), Some(0));
    assert_eq!(policy.choose(&view(8999), &candidates), Some(1));
    assert_eq!(policy.choose(&view(3999), &candidates), None);
    let mut waits = view(9000);
    waits.queue = QueueView { bytes: Bytes::new(1), packets: 1, oldest: Some(Time::ZERO) };
    assert_eq!(policy.choose(&waits, &candidates), Some(1), "what waits to leave has its part of the room");
}

#[test]
fn the_encoder_has_the_cap_of_one_with_a_target_however_much_room_the_path_has() {
    let largest_sent = |max_rate| {
        let mut policy = Config { max_rate, ..Config::default() }.build().unwrap();
        // A second of pictures, each of which may be up to 200 kB; the path would take any.
        let sent = (0..40).filter_map(|picture| {
            let view = View { now: Time::from_millis(1000 + 25 * picture), ..view(1 << 30) };
            policy.plan(&view);
            let candidates = [200_000, 60_000, 30_000].map(|size| made(size, 40));
            let chosen = policy.choose(&view, &candidates)?;
            policy.on_queued(view.now, picture, &candidates[chosen], 160);
            Some(candidates[chosen].size.get())
        });
        sent.sum::<u64>()
    };
    assert_eq!(Config::default().max_rate, Some(crate::frames::rate_targeted::EncoderBounds::default().max));
    // 12 Mbps for the second, and what may be saved up for 200 ms before it.
    let capped = largest_sent(Config::default().max_rate);
    assert!((1_400_000..=1_800_000).contains(&capped), "{capped}");
    assert_eq!(largest_sent(None), 40 * 200_000);
}

#[test]
fn after_four_pictures_that_did_not_fit_the_smallest_is_sent_all_the_same() {
    let mut policy = Config { unheard: None, ..Config::default() }.build().unwrap();
    let candidates = [made(9000, 40), made(4000, 80)];
    let choices: Vec<_> = (0..6)
        .map(|frame| {
            let choice = policy.choose(&view(0), &candidates);
            if let Some(index) = choice {
                policy.on_queued(Time::ZERO, frame, &candidates[index], 4);
            }
            choice
        })
        .collect();
    assert_eq!(choices, [None, None, None, None, Some(1), None]);
}

#[test]
fn into_a_link_that_answers_nothing_a_frame_is_forced_each_150_ms() {
    let mut policy = Config::default().build().unwrap();
    let candidates = [made(9000, 40), made(4000, 80)];
    let at = |pictures: u64| View { now: Time::from_millis(100 + 25 * pictures), ..view(0) };
    let forced: Vec<u64> = (0..100)
        .filter(|picture| {
            let choice = policy.choose(&at(*picture), &candidates);
            if choice.is_some() {
                policy.on_queued(at(*picture).now, *picture, &candidates[1], 4);
            }
            choice.is_some()
        })
        .collect();
    // One picture every 25 ms.
    assert_eq!(forced, (4..100).step_by(6).collect::<Vec<u64>>());
}

#[test]
fn where_something_arrives_one_forced_frame_at_a_time_is_on_its_way_and_none_behind_a_long_queue() {
    let candidates = [made(9000, 40), made(4000, 80)];
    // A picture each 25 ms; something arrives before each: packets of frame 2, and from picture `known` on of the forced
    // frame 7.
    let forced = |known: u64, in_flight: u64| -> Vec<u64> {
        let mut policy = Config::default().build().unwrap();
        let pictures = (0..40).filter(|picture| {
            let now = Time::from_millis(100 + 25 * picture);
            let reports = [arrived(if *picture >= known { 7 } else { 2 }, now)];
            policy.on_feedback(&Feedback::new(now, Cause::Report, &reports));
            let choice = policy.choose(&View { now, in_flight: Bytes::new(in_flight), ..view(0) }, &candidates);
            choice.inspect(|index| policy.on_queued(now, 7, &candidates[*index], 4)).is_some()
        });
        pictures.collect()
    };
    assert_eq!(forced(u64::MAX, 10_000), [4], "its outcome never becomes known");
    assert_eq!(forced(20, 10_000), [4, 20, 25, 30, 35], "it is known from the 20th picture on");
    // 4 Mbps: 250 kB are half a second.
    assert_eq!(forced(20, 250_000).len(), 5);
    assert_eq!(forced(20, 250_001), []);
}

#[test]
fn a_forced_frame_that_was_never_queued_does_not_make_the_next_one_count_as_forced() {
    let mut policy = Config::default().build().unwrap();
    let candidates = [made(9000, 40), made(4000, 80)];
    // A picture each 25 ms, and something arrives before each.
    let mut choose = |picture: u64, room: u64| {
        let now = Time::from_millis(100 + 25 * picture);
        policy.on_feedback(&Feedback::new(now, Cause::Report, &[arrived(2, now)]));
        let view = View { now, ..view(room) };
        policy.plan(&view);
        let choice = policy.choose(&view, &candidates);
        // The engine does not queue the first forced frame: its reference was flushed while it was encoded.
        choice.filter(|_| picture > 4).inspect(|index| policy.on_queued(now, picture, &candidates[*index], 4));
        choice
    };
    let forced: Vec<u64> = (0..5).filter(|picture| choose(*picture, 0).is_some()).collect();
    assert_eq!(forced, [4]);
    assert_eq!(choose(5, 9000), Some(0), "one that fits");
    let forced: Vec<u64> = (6..12).filter(|picture| choose(*picture, 0).is_some()).collect();
    assert_eq!(forced, [10]);
}

#[test]
fn a_forced_frame_that_was_thrown_away_is_not_waited_for() {
    let mut policy = Config::default().build().unwrap();
    let candidates = [made(9000, 40), made(4000, 80)];
    let forced = (0..20).filter(|picture| {
        let now = Time::from_millis(100 + 25 * picture);
        policy.on_feedback(&Feedback::new(now, Cause::Report, &[arrived(2, now)]));
        if *picture == 10 {
            policy.on_flushed(now);
        }
        let choice = policy.choose(&View { now, ..view(0) }, &candidates);
        choice.inspect(|index| policy.on_queued(now, 7, &candidates[*index], 4)).is_some()
    });
    assert_eq!(forced.collect::<Vec<u64>>(), [4, 10]);
}

#[test]
fn a_codec_that_codes_once_sends_what_it_made_and_codes_nothing_without_room() {
    let config = Config { choice: Choice::WhateverWasMade, candidates: Candidates::Guess, ..Config::default() };
    let mut policy = Config { unheard: None, ..config }.build().unwrap();
    assert_eq!(targets(&mut policy, 5000), [Target::Guess(Bytes::new(5000))]);
    assert_eq!(policy.choose(&view(100), &[made(5500, 60)]), Some(0));
    let plans: Vec<bool> = (0..5).map(|_| matches!(policy.plan(&view(0)), FramePlan::Skip(_))).collect();
    assert_eq!(plans, [true, true, true, true, false]);
}

#[test]
fn frames_may_be_asked_to_fit_what_the_pacer_sends_in_a_while() {
    let shares = Fitting { shares: alloc::vec![1.0, 0.4], min: Bytes::new(1000) };
    let config = Config {
        room: Room::Within(Span::from_millis(50)),
        candidates: Candidates::Fitting(shares),
        ..Config::default()
    };
    let mut policy = config.build().unwrap();
    // 4 Mbps for 50 ms are 25,000 bytes, of which 0.8 are payload.
    assert_eq!(targets(&mut policy, 0), [Target::Size(Bytes::new(20_000)), Target::Size(Bytes::new(8000))]);
    let mut full = view(0);
    full.queue = QueueView { bytes: Bytes::new(24_900), packets: 20, oldest: Some(Time::ZERO) };
    assert_eq!(policy.choose(&full, &[made(20_000, 40), made(90, 80)]), None);
    assert_eq!(policy.choose(&full, &[made(20_000, 40), made(80, 80)]), Some(1));
}

#[test]
fn a_parameter_out_of_range_is_refused_with_its_value_and_range() {
    let message = |config: Config| alloc::string::ToString::to_string(&config.build().unwrap_err());
    assert!(message(Config { cores: 0, ..Config::default() }).contains("such as 2"));
    assert!(message(Config { max_rate: Some(Rate::ZERO), ..Config::default() }).contains("12Mbps, or absent"));
    assert!(message(Config { room: Room::Within(Span::ZERO), ..Config::default() }).contains("such as 33ms"));
    let none = Candidates::Fitting(Fitting { shares: Vec::new(), ..Fitting::default() });
    assert!(message(Config { candidates: none, ..Config::default() }).contains("[1.0, 0.5]"));
}
