//! A peer that has keys and lies: whatever it reports, the sender's work, memory and rate stay bounded, and it recovers
//! once reports are honest again.

pub mod lies;

use thalweg_netsim::{HopConfig, PathConfig, QueueConfig, queue};
use thalweg_sender::scheme::{self, Known};
use thalweg_transport::sdp::{Capabilities, Direction};
use thalweg_units::{Bytes, Rate, Seed, Span};

use super::memory;
use super::world::World;
use lies::Lie;

/// How long the peer is honest at the start.
const BEFORE: Span = Span::from_secs(6);
/// The period over which frames are counted.
const COUNTED: Span = Span::from_secs(3);
/// Max recovery time once reports are honest. Most schemes recover within 12 s, the longest window of a controller and
/// its next sample. The two that take up to 27 s trust reported times, not losses: Copa remembers the min round trip
/// for 10 s, and then sends for 13 s what was encoded at the rate it assumed for the path, as nothing in the scheme
/// drops frames; SCReAM remembers the base delay for ten minutes, and shows half as many frames as before once its min
/// rate has delivered the backlog. After requests alone, however many, all schemes recover within 3 s.
const RECOVERY: Span = Span::from_secs(40);
/// Max rate of a sender whose peer reports that everything arrived: the encoder of this world makes at most 60 kB of a
/// picture, which is 14.5 Mbps; padding and headers come on top. The peer fills only its own link: optimistic
/// acknowledgements gain nothing more.
const MAX: Rate = Rate::from_kbps(20_000);
/// Max engine events per datagram: a refused retransmission is one, and a datagram requests 8,000.
const MAX_EVENTS: f64 = 400.0;

/// The measurements of a sender whose peer lied.
#[derive(Debug)]
struct Outcome {
    /// The sending rate while it lied.
    rate: Rate,
    /// Bytes sent meanwhile, and memory growth in bytes, without the frames that the world keeps.
    sent: Bytes,
    grown: i64,
    /// Engine events per lie.
    events: f64,
    /// The time until half as many frames were shown as before, within [`COUNTED`].
    recovery: Option<Span>,
}

/// 3 Mbps and a round trip of 50 ms, with a router's buffer.
fn path() -> PathConfig {
    let queue = QueueConfig::DropTail(queue::Limits::bytes(Bytes::new(60_000)));
    let hops = vec![
        HopConfig::Rate { rate: "3Mbps".parse().expect("a rate"), queue },
        HopConfig::delay(Span::from_millis(25)),
    ];
    PathConfig { hops }
}

/// The peer tells these lies every `every` for `long`.
fn suffer(known: &Known, lies: &[Lie], every: Span, long: Span) -> Outcome {
    let mut world = World::new(known.scheme(), &path(), &Capabilities::all(Direction::ReceiveOnly));
    let mut random = Seed::new(9).child(known.name).random();
    world.run(BEFORE - COUNTED);
    let good = shown_within(&mut world, COUNTED).div_ceil(2);
    world.outgoing.drain_events().for_each(drop);
    let (sent, held) = (world.sent.1, memory::held() - kept(&world));
    let end = world.now() + long;
    let (mut reported, mut events) = (0, 0);
    while world.now() < end {
        let lie = lies[random.below(lies.len() as u64) as usize];
        world.muted = lie.mutes();
        world.run(every);
        let (now, newest) = (world.now(), world.sent.0);
        world.say(|connection| lie.say(now, newest, &mut random, connection));
        reported += 1;
        events += world.outgoing.drain_events().count();
    }
    let grown = memory::held() - kept(&world) - held;
    let sent = world.sent.1 - sent;
    world.muted = false;
    let end = world.now();
    let recovered = |world: &mut World| shown_within(world, COUNTED) >= good;
    let recovery =
        (0..RECOVERY.as_nanos() / COUNTED.as_nanos()).find(|_| recovered(&mut world)).map(|_| world.now() - end);
    let events = events as f64 / f64::from(reported);
    Outcome { rate: sent.per(long), sent, grown, events, recovery }
}

/// The rate of a scheme in the same time with an honest peer.
fn honest(known: &Known, long: Span) -> Rate {
    let mut world = World::new(known.scheme(), &path(), &Capabilities::all(Direction::ReceiveOnly));
    world.run(BEFORE);
    let before = world.sent.1;
    world.run(long);
    (world.sent.1 - before).per(long)
}

fn shown_within(world: &mut World, span: Span) -> usize {
    let before = world.shown.len();
    world.run(span);
    world.outgoing.drain_events().for_each(drop);
    world.shown.len() - before
}

/// Memory that the world itself holds.
fn kept(world: &World) -> i64 {
    let encoded: usize = world.encoded.iter().map(|frame| frame.len()).sum();
    let shown: usize = world.shown.iter().map(|frame| frame.data.len()).sum();
    (encoded + shown) as i64
}

/// Bounds that hold for every scheme and every lie: the memory for packets grows with what was sent (here at both
/// ends), up to the 9,600 packets that are kept for retransmissions.
fn assert_bounded(name: &str, outcome: &Outcome) {
    assert!(outcome.rate <= MAX, "{name}: {outcome:?}");
    assert!(outcome.grown <= 2 * outcome.sent.get() as i64 + (4 << 20), "{name}: {outcome:?}");
    assert!(outcome.events <= MAX_EVENTS, "{name}: {outcome:?}");
}

fn every_scheme_suffers(lies: &[Lie], max: impl Fn(&Known, Span) -> Rate) {
    let long = Span::from_secs(4);
    for known in scheme::known() {
        let max = max(known, long);
        for lie in lies {
            let outcome = suffer(known, &[*lie], Span::from_millis(10), long);
            let name = format!("{}, {lie:?}", known.name);
            println!("{name}: {outcome:?}");
            assert_bounded(&name, &outcome);
            assert!(outcome.rate <= max, "{name}: {outcome:?}, at most {max}");
            assert!(outcome.recovery.is_some(), "{name} does not recover: {outcome:?}");
        }
    }
}

/// Up to three times the rate for an honest peer: the retransmissions that the peer requests come on top of new data.
fn little_more(known: &Known, long: Span) -> Rate {
    honest(known, long).scale(3.0) + Rate::from_kbps(200)
}

#[test]
fn a_peer_that_says_nothing_or_only_what_cannot_be_true_gets_little_more_than_an_honest_one() {
    every_scheme_suffers(&[Lie::NoFeedback, Lie::NeverSent, Lie::PlainReports, Lie::DecoderStates], little_more);
}

#[test]
fn a_peer_that_asks_for_everything_all_the_time_gets_little_more_than_an_honest_one() {
    every_scheme_suffers(&lies::BESIDE, little_more);
}

#[test]
fn a_peer_that_lies_about_arrivals_gets_no_more_than_the_encoder_makes() {
    every_scheme_suffers(&[Lie::EverySecond, Lie::Endless], |_, _| MAX);
}

#[test]
fn a_peer_whose_clock_makes_no_sense_gets_no_more_than_the_encoder_makes() {
    every_scheme_suffers(&[Lie::OtherTimes, Lie::Backwards, Lie::Congestion, Lie::Extended], |_, _| MAX);
}

#[test]
fn a_peer_that_makes_up_what_the_path_bears_gets_no_more_than_the_encoder_makes() {
    every_scheme_suffers(&[Lie::PathReports], |_, _| MAX);
}

#[test]
fn ten_thousand_messages_a_second_are_borne() {
    for known in scheme::known() {
        let outcome = suffer(known, &lies::BESIDE, Span::from_micros(100), Span::from_millis(500));
        println!("{}: {outcome:?}", known.name);
        assert_bounded(known.name, &outcome);
        assert!(outcome.recovery.is_some(), "{}: {outcome:?}", known.name);
    }
}
