//! Every feature of every observation, actions and rewards, by worked numbers.

use thalweg_control::{Acknowledgement, History, PacketId, Payload, SentPacket};
use thalweg_learned::{Action, Interval, Observation, Observer, QoeWeights, Reward, Setting, Viewed};
use thalweg_units::{Bytes, Rate, Span, Time};

/// The receiver's clock is this much ahead.
const AHEAD: u64 = 5_000;

fn at(ms: u64) -> Time {
    Time::from_millis(ms)
}

fn setting(kbps: u64) -> Setting {
    Setting { rate: Rate::from_kbps(kbps), window: None }
}

/// A sender, its history and its observer.
struct Call {
    history: History,
    observer: Observer,
    next: u64,
}

impl Call {
    fn new(observation: Observation) -> Call {
        let mut observer = Observer::new(observation, setting(300));
        observer.begin(Time::ZERO);
        Call { history: History::default(), observer, next: 0 }
    }

    fn send(&mut self, ms: u64, bytes: u64, payload: Payload) {
        let mut packet = SentPacket::new(PacketId(self.next), at(ms), Bytes::new(bytes));
        packet.payload = payload;
        self.next += 1;
        self.observer.on_sent(&self.history.on_sent(packet));
    }

    /// A report that arrives at `ms` on packets by number, with their arrivals by the sender's clock.
    fn report(&mut self, ms: u64, arrivals: &[(u64, u64)]) {
        let reported = |(id, ms): &(u64, u64)| Acknowledgement::new(PacketId(*id), Some(at(ms + AHEAD)));
        let reported: Vec<_> = arrivals.iter().map(reported).collect();
        self.observer.on_feedback(&self.history.on_report(at(ms), &reported, None));
    }

    /// The observation at the end of an interval, and the interval.
    fn close(&mut self, ms: u64) -> (Vec<f32>, Interval) {
        let interval = self.observer.close(at(ms));
        let mut observation = vec![f32::NAN; self.observer.observation().len()];
        self.observer.write(at(ms), &mut observation);
        (observation, interval)
    }

    /// Six packets in 60 ms, of which the third is lost; the fourth is overtaken by nothing, the fifth by the sixth. One-way
    /// delays are 20, 22, -, 21, 26 and 20 ms, and the report takes 9 ms after the last
    /// arrival: the least round trip is 29 ms.
    fn first(observation: Observation) -> Call {
        let mut call = Call::new(observation);
        let payloads =
            [Payload::Media, Payload::Media, Payload::Media, Payload::Media, Payload::Audio, Payload::Padding];
        for (place, (payload, bytes)) in payloads.into_iter().zip([1200, 1200, 1200, 1200, 200, 1000]).enumerate() {
            call.send(5 * place as u64, bytes, payload);
        }
        call.report(55, &[(0, 20), (1, 27), (3, 36), (4, 46), (5, 45)]);
        call
    }
}

/// Equal but for rounding to bytes, and for the little that the history lets the least return delay grow with time.
#[track_caller]
fn assert_close(found: impl IntoIterator<Item = f32>, wanted: &[f64]) {
    let found: Vec<f32> = found.into_iter().collect();
    assert_eq!(found.len(), wanted.len());
    for (place, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let scale = wanted.abs().max(1e-3);
        assert!((f64::from(*found) - wanted).abs() / scale < 2e-4, "number {place} is {found}, not {wanted}");
    }
}

/// The features at a place.
fn place(observation: &[f32], kind: Observation, place: usize) -> impl Iterator<Item = f32> + '_ {
    observation.iter().copied().skip(place).step_by(kind.places())
}

#[test]
fn the_150_numbers_of_the_challenge_are_as_its_page_defines_them() {
    let kind = Observation::Mmsys150;
    let mut call = Call::first(kind);
    let (observation, _) = call.close(60);
    assert_eq!((observation.len(), kind.features().len(), kind.places()), (150, 15, 10));
    // 4800 bytes in 60 ms. Delays above the least: 0, 2, 1, 6, 0 ms; the least is half of 29 ms. Gaps: 7, 9, 10, 1 ms.
    let first = [
        640e3,
        5.0,
        4800.0,
        1.8,
        -183.7,
        14.5,
        16.3 / 14.5,
        1.8,
        6.75,
        12.1875f64.sqrt(),
        1.0 / 6.0,
        1.0,
        0.6,
        0.2,
        0.2,
    ];
    assert_close(place(&observation, kind, 0), &first);
    assert_close(place(&observation, kind, 5), &first);
    for unused in [1, 2, 3, 4, 6, 7, 8, 9] {
        assert!(place(&observation, kind, unused).all(|number| number == 0.0), "place {unused}");
    }

    // Nothing happens for 60 ms: of that interval only the least delay is known.
    let (observation, _) = call.close(120);
    let mut nothing = [0.0; 15];
    nothing[5] = 14.5;
    assert_close(place(&observation, kind, 0), &nothing);
    assert_close(place(&observation, kind, 1), &first);
    let mut both = first;
    both[0] = 320e3;
    assert_close(place(&observation, kind, 5), &both);

    // Ten intervals on, it is in the second long interval, and in no short one.
    let last = (3..=11).map(|interval| call.close(60 * interval).0).last().unwrap();
    assert_close(place(&last, kind, 4), &nothing);
    assert_close(place(&last, kind, 5), &nothing);
    assert_eq!(last[6], 640e3);
    // And after 50 more in none.
    let last = (12..=61).map(|interval| call.close(60 * interval).0).last().unwrap();
    assert!(last.iter().all(|number| [0.0, 14.5].contains(number)), "{last:?}");
}

#[test]
fn a_run_of_losses_is_counted_once_where_it_begins() {
    let mut call = Call::new(Observation::Mmsys150);
    (0..12).for_each(|place| call.send(place, 1200, Payload::Media));
    // Lost: 1, 2 and 3; 6.
    call.report(50, &[(0, 20), (4, 24), (5, 25), (7, 27), (8, 28), (9, 29)]);
    let (observation, interval) = call.close(60);
    assert_eq!((interval.lost, interval.loss_runs), (4, 2));
    assert_close([observation[100], observation[110]], &[0.4, 2.0]);
}

#[test]
fn the_features_of_mowglis_kind_are_those_of_the_intervals() {
    let kind = Observation::Mowgli;
    let mut call = Call::first(kind);
    let (observation, _) = call.close(60);
    assert_eq!((observation.len(), kind.features().len(), kind.places()), (180, 9, 20));
    // 6000 bytes sent, 4800 acknowledged.
    let first = [0.8, 0.64, 0.3, 0.0163, 0.0, 0.029, 0.029, 1.0 / 6.0, 0.005];
    assert_close(place(&observation, kind, 0), &first);

    call.observer.set(setting(500));
    call.send(65, 600, Payload::Media);
    call.report(100, &[(6, 89)]);
    let (observation, _) = call.close(120);
    // A delay of 4 ms above the least; the round trip is 24 ms there and the 9 ms that a report takes at least.
    assert_close(place(&observation, kind, 0), &[0.08, 0.08, 0.5, 0.0185, 0.0022, 0.033, 0.029, 0.0, 0.020]);
    assert_close(place(&observation, kind, 1), &first);

    // Silence: what was measured stays, and the time since the report grows.
    let (observation, _) = call.close(180);
    assert_close(place(&observation, kind, 0), &[0.0, 0.0, 0.5, 0.0, 0.0, 0.033, 0.029, 0.0, 0.080]);
    // The change of delay is that to the interval before that had packets.
    assert_close([observation[4 * 20 + 1]], &[0.0022]);
}

#[test]
fn raw_reports_are_the_last_as_they_came() {
    let kind = Observation::Raw;
    let mut call = Call::first(kind);
    let (observation, _) = call.close(60);
    assert_eq!((observation.len(), kind.features().len(), kind.places()), (288, 9, 32));
    let srtt = call.history.srtt().unwrap().as_secs_f64();
    // Since the beginning, 55 ms ago. The third packet is lost, the others are known: nothing is in flight.
    let first = [0.005, 4.8 * 8.0 / 55.0, 6.0 * 8.0 / 55.0, 0.0018, 0.006, 1.0 / 6.0, 0.0, srtt, 0.3];
    assert_close(place(&observation, kind, 0), &first);
    assert!(place(&observation, kind, 1).all(|number| number == 0.0));

    call.send(65, 600, Payload::Media);
    call.send(70, 900, Payload::Media);
    call.report(100, &[(6, 89)]);
    let (observation, _) = call.close(120);
    let srtt = call.history.srtt().unwrap().as_secs_f64();
    let wanted = [0.020, 0.6 * 8.0 / 45.0, 1.5 * 8.0 / 45.0, 0.004, 0.004, 0.0, 0.0072, srtt, 0.3];
    assert_close(place(&observation, kind, 0), &wanted);
    assert_close(place(&observation, kind, 1).take(1), &[0.065]);

    for number in 0..40 {
        call.send(200 + 10 * number, 1000, Payload::Media);
        call.report(240 + 10 * number, &[(8 + number, 220 + 10 * number)]);
    }
    let (observation, _) = call.close(640);
    let ages: Vec<f32> = (0..32).map(|report| 0.01 + 0.01 * report as f32).collect();
    assert_close(observation[..32].iter().copied(), &ages.iter().map(|age| f64::from(*age)).collect::<Vec<_>>());
}

#[test]
fn actions_are_rates_and_windows_within_their_ranges() {
    let now = setting(1000);
    let rate = |action: Action, answer: &[f32]| action.apply(answer, now).map(|set| set.rate.as_bps());
    // The middle of a logarithmic scale from 50 kbit/s to 8 Mbit/s.
    let cases = [(-1.0, 50_000), (0.0, 632_456), (1.0, 8_000_000), (-7.0, 50_000), (2.0, 8_000_000)];
    for (answer, bps) in cases {
        assert_eq!(rate(Action::Rate, &[answer]), Some(bps));
    }
    assert_eq!(rate(Action::Bps, &[1_250_000.0]), Some(1_250_000));
    assert_eq!(rate(Action::Bps, &[1e12]), Some(8_000_000));
    assert_eq!(rate(Action::Delta, &[1.0]), Some(2_000_000));
    assert_eq!(rate(Action::Delta, &[-0.5]), Some(707_107));
    // 632,456 bit/s for 50 ms and for 2 s.
    for (answer, bytes) in [(-1.0, 3952), (1.0, 158_114)] {
        let set = Action::RateAndWindow.apply(&[0.0, answer], now).unwrap();
        assert_eq!(set.window.map(Bytes::get), Some(bytes));
    }
    for action in Action::ALL {
        assert_eq!(action.apply(&vec![f32::NAN; action.len()], now), None, "{action}");
        assert_eq!(action.apply(&vec![f32::INFINITY; action.len()], now), None, "{action}");
        assert_eq!(action.apply(&[0.0; 3], now), None, "{action}");
        assert_eq!(action.name().parse(), Ok(action));
        // What sets a sender is what an answer says.
        let answer = vec![if action == Action::Bps { 777_000.0 } else { 0.25 }; action.len()];
        let again = action.of(action.apply(&answer, now).unwrap(), now);
        assert_close(again, &answer.iter().map(|number| f64::from(*number)).collect::<Vec<_>>());
    }
}

#[test]
fn rewards_are_those_of_their_papers() {
    let (_, interval) = Call::first(Observation::Raw).close(60);
    let viewed = Viewed {
        frames: 2,
        rate: Rate::from_bps(632_456),
        latency: Span::from_millis(200),
        frozen: 0.25,
        psnr_db: Some(38.5),
    };
    let close = |reward: Reward, wanted: f64| {
        let found = reward.of(&interval, &viewed);
        assert!((found - wanted).abs() < 1e-5, "{reward}: {found}, not {wanted}");
    };
    close(Reward::default(), 0.5 - 0.25 - 0.2);
    close(Reward::Qoe(QoeWeights { rate: 2.0, freeze: 4.0, latency: 0.5 }), 1.0 - 1.0 - 0.1);
    // 0.64 Mbit/s, 29 ms, one of six lost: ln 3.56 is 1.26976.
    close(Reward::R3Net, 0.761_857 - 0.029 - 10.0 / 6.0);
    close(Reward::Mowgli, 0.213_333 - 0.029 - 1.0 / 6.0);
    close(Reward::Psnr, 38.5);
    for reward in Reward::ALL {
        assert_eq!(reward.name().parse(), Ok(reward));
        assert!(reward.of(&interval, &Viewed::default()).is_finite());
    }
}

#[test]
fn unknown_names_are_refused_with_those_that_exist() {
    let refused = |error: thalweg_units::ConfigError| error.to_string();
    let observation = "mmsys".parse::<Observation>().map_err(refused).unwrap_err();
    assert_eq!(observation, "unknown observation 'mmsys': expected one of mmsys150, mowgli, raw");
    let action = "window".parse::<Action>().map_err(refused).unwrap_err();
    assert_eq!(action, "unknown action 'window': expected one of rate, bps, delta, rate+window");
    let reward = "mos".parse::<Reward>().map_err(refused).unwrap_err();
    assert_eq!(reward, "unknown reward 'mos': expected one of qoe, r3net, mowgli, psnr");
}
