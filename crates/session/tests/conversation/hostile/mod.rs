//! A peer that has keys and lies: whatever it says, the sender's work, memory and rate stay bounded, and the truth sets it right again.

mod lies;

use thalweg_link::{HopConfig, Jitter, PathConfig, QueueConfig, queue};
use thalweg_sender::scheme::{self, Known};
use thalweg_transport::sdp::{Capabilities, Direction};
use thalweg_units::{Bytes, Rate, Seed, Span};

use super::memory;
use super::world::World;
use lies::Lie;

/// How long the peer is honest before, lies, and is honest again.
const BEFORE: Span = Span::from_secs(3);
const LYING: Span = Span::from_secs(4);
const AFTER: Span = Span::from_secs(8);
/// Of which the last so much must be as good as ever.
const GOOD: Span = Span::from_secs(3);

/// What became of a sender whose peer lied.
#[derive(Debug)]
struct Outcome {
    /// Sent while it lied, and before.
    rate: Rate,
    honest: Rate,
    /// Bytes of memory that came during the lies, without the frames that the world keeps.
    grown: i64,
    /// Events of the engine for each lie told.
    events: f64,
    /// Frames shown at the end of the truth that followed.
    shown: usize,
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

fn suffer(known: &Known, lie: Lie, every: Span) -> Outcome {
    let mut world = World::new(known.scheme(), &path(), &Capabilities::all(Direction::ReceiveOnly));
    let mut random = Seed::new(9).child(known.name).random();
    world.run(BEFORE);
    world.outgoing.drain_events().for_each(drop);
    let (sent, held) = (world.sent.1, memory::held() - kept(&world));
    let honest = sent.per(BEFORE);
    world.muted = lie.mutes();
    let (end, mut told, mut events) = (world.now() + LYING, 0, 0);
    while world.now() < end {
        world.run(every);
        let (now, newest) = (world.now(), world.sent.0);
        world.say(|connection| lie.tell(now, newest, &mut random, connection));
        told += 1;
        events += world.outgoing.drain_events().count();
    }
    let grown = memory::held() - kept(&world) - held;
    let rate = (world.sent.1 - sent).per(LYING);
    world.muted = false;
    world.run(AFTER - GOOD);
    let before = world.shown.len();
    world.run(GOOD);
    let shown = world.shown.len() - before;
    Outcome { rate, honest, grown, events: events as f64 / f64::from(told), shown }
}

/// What the world itself keeps.
fn kept(world: &World) -> i64 {
    let encoded: usize = world.encoded.iter().map(|frame| frame.len()).sum();
    let shown: usize = world.shown.iter().map(|frame| frame.data.len()).sum();
    (encoded + shown) as i64
}

#[test]
fn survey() {
    for known in scheme::known() {
        for lie in lies::ALL {
            let outcome = std::panic::catch_unwind(|| suffer(known, lie, Span::from_millis(10)));
            println!("{:<40} {:<14} {outcome:?}", known.name, format!("{lie:?}"));
        }
    }
}
