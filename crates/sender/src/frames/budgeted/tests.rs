use alloc::vec::Vec;

use super::*;
use thalweg_control::{Cause, Fate, FramePlace, MediaLimit, PacketId, Payload, Report, SendLimits, SentPacket};

const MS: fn(u64) -> Time = Time::from_millis;

/// 4 Mbps, a round trip of 50 ms, 25 ms from picture to picture: 12.5 kB each.
fn view(now: Time, free: u64) -> View {
    let mut limits = SendLimits::of_rate(Rate::from_kbps(4000));
    limits.media = MediaLimit::Frame(Bytes::new(free));
    let view = View::new(now, limits, Size::HD, Span::from_millis(25));
    View { srtt: Span::from_millis(50), in_flight: Bytes::new(1000), payload_share: 0.8, ..view }
}

/// Configuration of two candidates, so that there is something to choose.
fn pair() -> Config {
    Config { shares: vec![0.4, 0.2], opening: None, ..Config::default() }
}

fn policy() -> Budgeted {
    Config { ladder: None, ..pair() }.build(Size::HD).unwrap()
}

fn made(size: u64, quantizer: u8) -> EncodedFrame {
    crate::testing::encoded(size).with(|frame| {
        frame.quantizer = Some(quantizer);
        frame.picture = Size::HD;
    })
}

fn sizes(plan: FramePlan) -> Vec<u64> {
    let FramePlan::Encode(plan) = plan else { panic!("{plan:?}") };
    let size = |target: &Target| if let Target::Size(size) = target { size.get() } else { panic!("{target:?}") };
    plan.targets.iter().map(size).collect()
}

/// Feedback on a packet of a frame.
fn arrived(policy: &mut Budgeted, frame: u64, at: Time) {
    let (offset, captured) = (Bytes::ZERO, Time::ZERO);
    reported(policy, at, |packet| {
        packet.id = PacketId(frame);
        packet.place = Some(FramePlace { frame, first: true, last: true, offset, captured, keyframe: false });
    });
}

/// Feedback on a packet, changed by `change`.
fn reported(policy: &mut Budgeted, at: Time, change: impl FnOnce(&mut SentPacket)) {
    let mut packet = SentPacket::new(PacketId(0), Time::ZERO, Bytes::new(1000));
    change(&mut packet);
    policy.on_feedback(&Feedback::new(at, Cause::Report, &[Report::new(packet, Fate::arrived(at))]));
}

#[test]
fn candidates_are_shares_of_what_is_free_within_what_an_interval_carries() {
    let mut policy = policy();
    assert_eq!(sizes(policy.plan(&view(MS(0), 20_000))), [8000, 4000]);
    assert_eq!(sizes(policy.plan(&view(MS(0), 2000))), [800, 600], "none smaller than a packet is worth");
    assert_eq!(sizes(policy.plan(&view(MS(0), 0))), [600]);
    // 12.5 kB at 0.8 of payload, times the share of an interval that a frame may take.
    let most = (10_000.0 * Config::default().intervals) as u64;
    assert_eq!(sizes(policy.plan(&view(MS(0), 1_000_000))), [most, most / 2]);
}

#[test]
fn what_repair_takes_is_not_free_for_frames() {
    let mut policy = policy();
    let view = View { repair_share: 0.25, ..view(MS(0), 20_000) };
    assert_eq!(sizes(policy.plan(&view)), [6000, 3000]);
    assert_eq!(policy.choose(&view, &[made(15_001, 40), made(15_000, 40)]), Some(1));
}

#[test]
fn while_a_picture_is_encoded_for_long_the_path_goes_on() {
    let mut policy = policy();
    let view = |at: u64, in_flight: u64| View { in_flight: Bytes::new(in_flight), ..view(MS(at), 20_000) };
    for picture in 0..60 {
        policy.plan(&view(picture * 50, 20_000));
        policy.choose(&view(picture * 50 + 26, 20_000), &[made(4000, 40)]);
    }
    // In the 20 ms beyond those that the shares are for the path carries 10 kB, of which 8 kB are payload ...
    let asked = sizes(policy.plan(&view(3000, 20_000)));
    assert!((11_190..=11_200).contains(&asked[0]), "{asked:?} of 28 kB");
    // ... unless less is under way.
    assert_eq!(sizes(policy.plan(&view(3050, 5000))), [9600, 4800]);
    assert_eq!(sizes(Config { ladder: None, ..pair() }.build(Size::HD).unwrap().plan(&view(0, 20_000))), [8000, 4000]);
}

#[test]
fn a_size_that_is_encoded_for_longer_than_an_interval_is_left_once_quantisers_are_coarse_and_not_returned_to() {
    let mut policy = Config { opening: None, ..Config::default() }.build(Size::HD).unwrap();
    let view = |at: u64| view(MS(at), 20_000);
    let height = |policy: &Budgeted| policy.ladder.as_ref().unwrap().size().height;
    // Of 720 lines a picture is encoded for 40 ms, 1.6 intervals; of others for as much less as it has fewer pixels.
    for picture in 0..200 {
        let asked = sizes(policy.plan(&view(picture * 50)))[0];
        let size = policy.ladder.as_ref().unwrap().size();
        let takes = 40 * size.pixels() / Size::HD.pixels();
        let quantizer = if asked < 1500 { 110 } else { 20 };
        assert!(size.height == 720 || picture >= 14, "smaller frames come first");
        let frame = made(asked, quantizer).with(|frame| frame.picture = size);
        policy.choose(&view(picture * 50 + takes), core::slice::from_ref(&frame));
        policy.on_queued(MS(picture * 50 + takes), picture, &frame, 2);
    }
    // Of 540 lines it is 22.5 ms, 0.9 of an interval.
    assert_eq!(height(&policy), 540);
}

#[test]
fn no_frame_takes_more_than_the_encoders_max_rate_has_left() {
    let max_rate = Some(Rate::from_kbps(800));
    let mut policy = Config { ladder: None, max_rate, ..pair() }.build(Size::HD).unwrap();
    // 200 ms of 800 kbps are 20 kB, and 25 ms 2.5 kB.
    let large = [made(20_000, 40), made(20_001, 40)];
    assert_eq!(policy.choose(&view(MS(1000), 1_000_000), &large), Some(0));
    policy.on_queued(MS(1000), 0, &large[0], 20);
    assert_eq!(policy.choose(&view(MS(1025), 1_000_000), &[made(2501, 40), made(2500, 40)]), Some(1));
}

#[test]
fn the_largest_that_fits_what_is_free_now_is_sent() {
    let mut policy = policy();
    let candidates = [made(9000, 40), made(4000, 80)];
    assert_eq!(policy.choose(&view(MS(0), 9000), &candidates), Some(0));
    assert_eq!(policy.choose(&view(MS(0), 8999), &candidates), Some(1));
    let mut waits = view(MS(0), 9000);
    waits.queue = QueueView { bytes: Bytes::new(1), packets: 1, oldest: Some(Time::ZERO) };
    assert_eq!(policy.choose(&waits, &candidates), Some(1), "what waits to leave has its part of what is free");
}

#[test]
fn one_frame_that_does_not_fit_goes_at_a_time_and_only_where_it_drains_soon() {
    let mut policy = policy();
    let candidates = [made(9000, 40), made(4000, 80)];
    arrived(&mut policy, 0, MS(90));
    assert_eq!(policy.choose(&view(MS(100), 0), &candidates), Some(1));
    policy.on_queued(MS(100), 1, &candidates[1], 4);
    arrived(&mut policy, 0, MS(110));
    assert_eq!(policy.choose(&view(MS(125), 0), &candidates), None, "its outcome is not known");
    arrived(&mut policy, 1, MS(140));
    assert_eq!(policy.choose(&view(MS(150), 0), &candidates), Some(1));
    // 220 ms beyond a round trip of 50 ms at 4 Mbps are 135 kB.
    let under_way = |bytes| View { in_flight: Bytes::new(bytes), ..view(MS(150), 0) };
    assert_eq!(policy.choose(&under_way(131_001), &candidates), None);
    assert_eq!(policy.choose(&under_way(131_000), &candidates), Some(1));
}

#[test]
fn a_keyframe_of_a_new_size_may_take_all_that_is_free_and_is_sent_once_that_suffices() {
    let mut policy = pair().build(Size::HD).unwrap();
    assert_eq!(sizes(policy.plan(&view(MS(0), 20_000))), [20_000, 10_000]);
    let keyframe = [made(20_500, 127).with(|frame| frame.keyframe = true)];
    // 800 bytes of payload are under way.
    assert_eq!(policy.choose(&view(MS(0), 20_000), &keyframe), None, "it waits, and is not forced");
    assert_eq!(policy.choose(&view(MS(33), 20_500), &keyframe), Some(0));
    policy.on_queued(MS(33), 0, &keyframe[0], 20);
    let height = |policy: &Budgeted| policy.ladder.as_ref().unwrap().size().height;
    for at in 0..20 {
        policy.choose(&view(MS(66 + at), 0), &[made(2000, 127)]);
    }
    assert_eq!(height(&policy), 720, "while the keyframe is under way little is free");
    arrived(&mut policy, 0, MS(200));
    for at in 0..20 {
        policy.choose(&view(MS(233 + at), 0), &[made(2000, 127)]);
    }
    assert!(height(&policy) < 720);
}

#[test]
fn while_nothing_arrives_one_small_frame_goes_each_150_ms() {
    let mut policy = policy();
    arrived(&mut policy, 0, MS(0));
    policy.on_queued(MS(10), 1, &made(5000, 60), 5);
    let mut sent = Vec::new();
    for now in (120..700).step_by(10) {
        let view = view(MS(now), 0);
        match policy.plan(&view) {
            FramePlan::Skip(why) => assert_eq!(why, Why::NoFeedback),
            plan => {
                assert_eq!(sizes(plan), [600]);
                let small = [made(700, 127)];
                assert_eq!(policy.choose(&view, &small), Some(0));
                policy.on_queued(MS(now), now, &small[0], 1);
                sent.push(now);
            }
        }
    }
    assert_eq!(sent, [120, 270, 420, 570]);
    arrived(&mut policy, 570, MS(700));
    assert_eq!(sizes(policy.plan(&view(MS(710), 20_000))), [8000, 4000], "the path is back");
}

#[test]
fn the_first_round_trip_after_a_pause_is_no_fade() {
    let mut policy = policy();
    arrived(&mut policy, 0, MS(0));
    // Nothing is under way.
    policy.plan(&View { in_flight: Bytes::ZERO, ..view(MS(5000), 20_000) });
    policy.on_queued(MS(5000), 1, &made(5000, 60), 5);
    assert_eq!(sizes(policy.plan(&view(MS(5025), 20_000))), [8000, 4000]);
}

#[test]
fn for_a_second_after_the_first_arrival_of_a_frame_others_take_more_of_what_is_free_but_no_more_than_65_ms() {
    let opening = Some(OpeningConfig { share: 0.6, ..OpeningConfig::default() });
    let mut policy = Config { shares: vec![0.2], ladder: None, opening, ..Config::default() }.build(Size::HD).unwrap();
    assert_eq!(sizes(policy.plan(&view(MS(0), 20_000))), [4000], "nothing was measured");
    reported(&mut policy, MS(50), |packet| packet.payload = Payload::Audio);
    assert_eq!(
        sizes(policy.plan(&view(MS(60), 20_000))),
        [4000],
        "nor does audio measure the path, which begins before video"
    );
    arrived(&mut policy, 0, MS(100));
    arrived(&mut policy, 1, MS(1050));
    assert_eq!(sizes(policy.plan(&view(MS(1099), 20_000))), [12_000]);
    // 65 ms of 4 Mbps are 32.5 kB.
    let many = sizes(policy.plan(&view(MS(1099), 200_000)));
    assert!((10_000..=19_500).contains(&many[0]), "{many:?}");
    assert_eq!(sizes(policy.plan(&view(MS(1100), 20_000))), [4000]);
}

#[test]
fn what_has_waited_for_300_ms_is_thrown_away() {
    let mut policy = policy();
    let queue = QueueView { bytes: Bytes::new(1000), packets: 1, oldest: Some(MS(0)) };
    assert_eq!(policy.on_queue(MS(300), &queue), QueueVerdict::Keep);
    assert_eq!(policy.on_queue(MS(301), &queue), QueueVerdict::Flush);
    assert!(policy.on_flushed(MS(301)), "the next frame needs no keyframe");
}

#[test]
fn parameters_out_of_range_are_refused() {
    for config in [
        Config { shares: Vec::new(), ..Config::default() },
        Config { shares: vec![0.4, -0.2], ..Config::default() },
        Config { shares: vec![0.2, 0.4], ..Config::default() },
        Config { intervals: 0.0, ..Config::default() },
        Config { least: Bytes::ZERO, ..Config::default() },
        Config { max_rate: Some(Rate::ZERO), ..Config::default() },
        Config { cores: 0, ..Config::default() },
        Config { opening: Some(OpeningConfig { share: 0.0, ..OpeningConfig::default() }), ..Config::default() },
        Config { probe_every: Span::ZERO, ..Config::default() },
        Config { ladder: Some(LadderConfig { excess: 0.5, ..LadderConfig::default() }), ..Config::default() },
        Config {
            ladder: Some(LadderConfig { heights: vec![360, 180], ..LadderConfig::default() }),
            ..Config::default()
        },
    ] {
        assert!(config.build(Size::HD).is_err(), "{config:?}");
    }
}

mod ladder {
    use super::super::ladder::FINEST;
    use super::*;

    fn ladder() -> Ladder {
        LadderConfig::default().build(Size::HD).unwrap()
    }

    fn of(ladder: &Ladder, size: u64, quantizer: u8) -> EncodedFrame {
        made(size, quantizer).with(|frame| frame.picture = ladder.size())
    }

    /// A picture's only candidate, with 1000 bytes free of 2000.
    fn offer(ladder: &mut Ladder, now: Time, size: u64, quantizer: u8, keyframe: bool) {
        let frame = of(ladder, size, quantizer).with(|frame| frame.keyframe = keyframe);
        ladder.on_candidates(now, &[frame], Bytes::new(1000), Bytes::new(2000));
    }

    /// The lowest rung, where fine frames have been sent for as long as it takes to step up.
    fn stepped_up() -> Ladder {
        let mut ladder = ladder();
        (0..LadderConfig::default().down_after).for_each(|_| offer(&mut ladder, MS(0), 90_000, 127, false));
        assert_eq!(ladder.size().height, 180);
        (0..100).for_each(|at| {
            if ladder.size().height == 180 {
                ladder.on_queued(MS(at * 33), &of(&ladder.clone(), 900, 40));
            }
        });
        assert_eq!((ladder.size().height, ladder.shown().height), (270, 180));
        ladder
    }

    #[test]
    fn quantisers_that_are_fine_for_a_larger_size_are_not_yet_fine_where_there_is_none() {
        assert_eq!((stepped_up().fine(), ladder().fine()), (98, FINEST));
    }

    #[test]
    fn the_smallest_frame_that_stays_too_large_takes_as_many_rungs_as_it_needs() {
        let mut ladder = ladder();
        let LadderConfig { down_after, .. } = LadderConfig::default();
        for _ in 1..down_after {
            offer(&mut ladder, MS(0), 2000, 127, false);
            assert_eq!(ladder.size(), Size::HD);
        }
        offer(&mut ladder, MS(0), 2000, 127, false);
        // Half the size needs 0.42 of the pixels (0.42^0.8 = 0.5): 360p has a quarter, 540p 0.56.
        assert_eq!(ladder.size().height, 360);
    }

    #[test]
    fn a_smallest_frame_within_its_budget_starts_the_count_anew() {
        let mut ladder = ladder();
        for _ in 0..50 {
            offer(&mut ladder, MS(0), 2000, 127, false);
            offer(&mut ladder, MS(0), 1000, 126, false);
        }
        assert_eq!(ladder.size(), Size::HD);
    }

    #[test]
    fn a_best_candidate_at_the_coarsest_quantiser_takes_one_rung_down_although_it_fits() {
        let mut ladder = ladder();
        for _ in 0..LadderConfig::default().down_after {
            let both = [of(&ladder, 900, 127), of(&ladder, 500, 127)];
            ladder.on_candidates(MS(0), &both, Bytes::new(1000), Bytes::new(2000));
        }
        assert_eq!(ladder.size().height, 540);
    }

    #[test]
    fn fine_quantisers_take_one_rung_up_at_a_time_and_none_right_after_a_change() {
        let LadderConfig { up_quantizer, down_after, stay, .. } = LadderConfig::default();
        let mut ladder = ladder();
        (0..down_after).for_each(|_| offer(&mut ladder, MS(0), 9000, 127, false));
        let lowest = ladder.size().height;
        let (mut heights, mut changes) = (vec![lowest], Vec::new());
        for at in (0..20_000).step_by(33) {
            ladder.on_queued(MS(at), &of(&ladder.clone(), 1000, up_quantizer));
            if Some(&ladder.size().height) != heights.last() {
                heights.push(ladder.size().height);
                changes.push(MS(at));
            }
        }
        assert_eq!(heights, [180, 270, 360, 540, 720]);
        assert!(changes[0] - MS(0) >= stay && changes.windows(2).all(|pair| pair[1] - pair[0] >= stay), "{changes:?}");
        let mut coarse = ladder.clone();
        coarse.on_queued(MS(30_000), &of(&ladder, 1000, up_quantizer + 1));
        assert_eq!(coarse.size(), Size::HD);
    }

    #[test]
    fn a_keyframe_that_never_fits_takes_the_size_down_at_once_and_one_that_will_waits() {
        let mut ladder = ladder();
        offer(&mut ladder, MS(0), 2000, 127, true);
        assert_eq!(ladder.size(), Size::HD);
        offer(&mut ladder, MS(33), 4000, 127, true);
        assert_eq!(ladder.size().height, 360, "half of the bytes, as above");
    }

    #[test]
    fn a_step_up_whose_keyframe_does_not_fit_is_taken_back_until_there_is_what_it_lacked() {
        let mut ladder = stepped_up();
        offer(&mut ladder, MS(4000), 1001, 110, true);
        assert_eq!((ladder.size().height, ladder.changes()), (180, false), "the codec still has the smaller size");
        for at in (4000..9000).step_by(33) {
            offer(&mut ladder, MS(at), 900, 40, false);
            ladder.on_queued(MS(at), &of(&ladder.clone(), 900, 40));
        }
        assert_eq!(ladder.size().height, 180, "1000 bytes are less than 1001 and some more");
        let candidates = [of(&ladder, 900, 40)];
        ladder.on_candidates(MS(9000), &candidates, Bytes::new(1300), Bytes::new(2000));
        ladder.on_queued(MS(9000), &candidates[0]);
        assert_eq!(ladder.size().height, 270);
    }

    #[test]
    fn once_the_path_is_measured_the_largest_size_is_tried_and_then_the_largest_that_fits() {
        let mut ladder = stepped_up();
        ladder.on_queued(MS(4000), &of(&ladder.clone(), 900, 90));
        assert_eq!(ladder.shown().height, 270);
        ladder.open();
        assert_eq!(ladder.size(), Size::HD);
        // Twice the bytes that there are: 0.42 of the pixels would do, and 360p has a quarter.
        offer(&mut ladder, MS(4033), 2000, 110, true);
        assert_eq!((ladder.size().height, ladder.changes()), (360, true));
        ladder.on_queued(MS(4066), &of(&ladder.clone(), 900, 110));
        assert!(!ladder.changes());
    }

    #[test]
    fn a_step_up_that_only_the_coarsest_quantiser_would_fit_is_taken_back_too() {
        let mut ladder = stepped_up();
        offer(&mut ladder, MS(4000), 900, 127, true);
        assert_eq!(ladder.size().height, 180);
        let mut ladder = stepped_up();
        offer(&mut ladder, MS(4000), 900, 126, true);
        assert_eq!((ladder.size().height, ladder.changes()), (270, true));
        ladder.on_queued(MS(4000), &of(&ladder.clone(), 900, 126));
        assert!(!ladder.changes());
    }
}

/// A policy whose last silence ended at 1 s, with what was sent in it lost or late, in the next silence.
fn after_a_silence(is_lost: bool) -> Vec<u64> {
    let mut policy = policy();
    arrived(&mut policy, 0, MS(0));
    let idle = |now| View { in_flight: Bytes::ZERO, ..view(now, 20_000) };
    let mut in_silence = Vec::new();
    policy.plan(&idle(MS(10)));
    policy.on_queued(MS(10), 1, &made(5000, 60), 5);
    for (now, sent) in (100..1000).step_by(100).zip(2..) {
        policy.plan(&view(MS(now), 0));
        let packet = SentPacket::new(PacketId(sent), MS(now), Bytes::new(1000));
        in_silence.push(Report::new(packet, if is_lost { Fate::Lost } else { Fate::arrived(MS(1000)) }));
    }
    in_silence.push(Report::new(SentPacket::new(PacketId(99), MS(975), Bytes::new(1000)), Fate::arrived(MS(1000))));
    policy.on_feedback(&Feedback::new(MS(1000), Cause::Report, &in_silence));
    let frames = (1200..1500).step_by(33).filter(|now| {
        let goes = !matches!(policy.plan(&view(MS(*now), 0)), FramePlan::Skip(_));
        if goes && policy.choose(&view(MS(*now), 0), &[made(700, 127)]).is_some() {
            policy.on_queued(MS(*now), *now, &made(700, 127), 1);
        }
        goes
    });
    frames.collect()
}

#[test]
fn where_the_last_silence_was_a_burst_of_losses_a_frame_goes_with_each_picture_of_the_next() {
    assert_eq!(after_a_silence(true).len(), 10);
    assert_eq!(after_a_silence(false), [1200, 1365]);
}

#[test]
fn frames_of_a_slow_camera_leave_out_what_would_be_shown_after_the_next_picture_was_taken() {
    let slow = |before_next| {
        let shares_for = Some(Span::from_millis(33));
        let config = Config { shares: vec![1.0], ladder: None, opening: None, shares_for, before_next, ..pair() };
        config.build(Size::HD).unwrap()
    };
    // Of the interval, the way of three quarters of a round trip of 20 ms, 5 ms to spare, and what an empty path delays by
    // itself; the path carries 500 bytes in a ms, and four fifths of them are payload.
    let whole = |interval| interval * 400 * 13 / 10;
    for (before_next, interval, jitter, size) in [
        (Some(0.65), 66, 0, (66 - 15 - 5) * 400),
        (Some(0.69), 66, 0, (66 - 15 - 5) * 400),
        (Some(0.5), 66, 10, (66 - 15 - 5 - 10) * 400),
        // 46 ms are 0.7 of it, and 36 ms 0.54.
        (Some(0.75), 66, 0, whole(66)),
        (Some(0.65), 66, 10, whole(66)),
        (None, 66, 0, whole(66)),
        // No slow camera.
        (Some(0.65), 48, 0, whole(48)),
    ] {
        let mut policy = slow(before_next);
        let mut packet = SentPacket::new(PacketId(0), MS(100), Bytes::new(1000));
        for round_trip in [20, 90] {
            packet.at = MS(200 - round_trip);
            let reports = [Report::new(packet, Fate::arrived(MS(200)))];
            let mut feedback = Feedback::new(MS(200), Cause::Report, &reports);
            let round_trip = Some(MS(200) - packet.at);
            (feedback.path_rtt, feedback.newest_delay) = (round_trip, round_trip);
            policy.on_feedback(&feedback);
        }
        let mut view = View { interval: Span::from_millis(interval), ..view(MS(200), 100_000) };
        view.limits.jitter = Span::from_millis(jitter);
        assert_eq!(sizes(policy.plan(&view)), [size as u64], "{before_next:?} of {interval} ms, jitter of {jitter} ms");
    }
}
