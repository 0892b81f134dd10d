//! A peer that has keys and lies: whatever it says, the sender's work, memory and rate stay bounded, and the truth sets it right again.

mod lies;

use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig, queue};
use thalweg_sender::scheme::{self, Known};
use thalweg_transport::sdp::{Capabilities, Direction};
use thalweg_units::{Bytes, Rate, Seed, Span};

use super::memory;
use super::world::World;
use lies::Lie;

/// How long the peer is honest at first.
const BEFORE: Span = Span::from_secs(6);
/// Over how long frames are counted.
const COUNTED: Span = Span::from_secs(3);
/// How long the truth may take to work. Most are right again within 12 s, the longest window of a controller and its next sample. The two that take
/// up to 27 s believe what was said of times, not of losses: Copa remembers the least round trip for 10 s, and then sends for 13 s what was encoded at
/// the rate it took the path for, as nothing in the scheme lets frames go; SCReAM remembers the base delay for ten minutes, and shows half as
/// many frames as before once its least rate has brought what it owes. Requests alone, however many, are over within 3 s for all.
const RECOVERY: Span = Span::from_secs(40);
/// What a peer that says everything came can make a sender send here: the encoder of this world makes 60 kB of a picture at most, which is
/// 14.5 Mbps; padding and headers come on top. It is the peer's own link that it fills: optimistic acknowledgements are worth no more.
const MAX: Rate = Rate::from_kbps(20_000);
/// Events of the engine for one datagram: a refused retransmission is one, and a datagram asks for 8,000.
const MAX_EVENTS: f64 = 400.0;

/// The outcome of a sender whose peer lied.
#[derive(Debug)]
struct Outcome {
    /// Sent while it lied.
    rate: Rate,
    /// Bytes that were sent meanwhile, and bytes of memory that came, without the frames that the world keeps.
    sent: Bytes,
    grown: i64,
    /// Events of the engine for each lie.
    events: f64,
    /// How long it took until half as many frames were shown as before, within [`COUNTED`].
    recovery: Option<Span>,
}

/// 3 Mbps and 50 ms there and back, with a router's buffer.
fn path() -> PathConfig {
    let queue = QueueConfig::DropTail(queue::Limits::bytes(Bytes::new(60_000)));
    let hops = vec![
        HopConfig::Rate { rate: "3Mbps".parse().expect("a rate"), queue },
        HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false },
    ];
    PathConfig { hops }
}

/// The peer tells one of these lies `every` so often for so `long`.
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

/// What a scheme sends in the same time to a peer that says nothing but the truth.
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

/// What the world itself keeps.
fn kept(world: &World) -> i64 {
    let encoded: usize = world.encoded.iter().map(|frame| frame.len()).sum();
    let shown: usize = world.shown.iter().map(|frame| frame.data.len()).sum();
    (encoded + shown) as i64
}

/// Bounds that hold for every scheme whatever is said: what is remembered of packets grows with what was sent (here at both ends), up to
/// the 9,600 packets that are kept for retransmissions.
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

/// Up to three times what an honest peer gets: retransmissions that it asks for are on top of what is new.
fn little_more(known: &Known, long: Span) -> Rate {
    honest(known, long).scale(3.0) + Rate::from_kbps(200)
}

#[test]
fn a_peer_that_says_nothing_or_only_what_cannot_be_true_gets_little_more_than_an_honest_one() {
    every_scheme_suffers(&[Lie::Silence, Lie::NeverSent, Lie::PlainReports, Lie::DecoderStates], little_more);
}

#[test]
fn a_peer_that_asks_for_everything_all_the_time_gets_little_more_than_an_honest_one() {
    every_scheme_suffers(&[Lie::Nacks, Lie::Keyframes, Lie::Noise], little_more);
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
    let lies: Vec<Lie> = lies::ALL.into_iter().filter(|lie| !lie.mutes()).collect();
    for known in scheme::known() {
        let outcome = suffer(known, &lies, Span::from_micros(100), Span::from_millis(500));
        println!("{}: {outcome:?}", known.name);
        assert_bounded(known.name, &outcome);
        assert!(outcome.recovery.is_some(), "{}: {outcome:?}", known.name);
    }
}
