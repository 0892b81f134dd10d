//! The operator's limit on what a peer is sent, and the sequence numbers that catch a peer that lies to get more.

use thalweg_control::Payload;
use thalweg_netsim::{HopConfig, LossModel, PathConfig};
use thalweg_sender::Event;
use thalweg_sender::scheme::known;
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction};
use thalweg_units::{Rate, Seed, Span};

use super::hostile::lies::Lie;
use super::world::World;

const CEILING: Rate = Rate::from_kbps(1000);

/// 10 Mbps and a round trip of 50 ms, which loses this share.
fn path(loss: f64) -> PathConfig {
    let hops = vec![
        HopConfig::Rate { rate: "10Mbps".parse().expect("a rate"), queue: Default::default() },
        HopConfig::Loss(LossModel::Random { probability: loss }),
        HopConfig::delay(Span::from_millis(25)),
    ];
    PathConfig { hops }
}

/// Rate sent in each of these seconds; `each` is called every 10 ms.
fn seconds(world: &mut World, count: u64, mut each: impl FnMut(&mut World)) -> Vec<Rate> {
    let second = |_| {
        let before = world.sent.1;
        for _ in 0..100 {
            world.run(Span::from_millis(10));
            each(world);
            world.outgoing.drain_events().for_each(drop);
        }
        (world.sent.1 - before).per(Span::from_secs(1))
    };
    (0..count).map(second).collect()
}

#[test]
fn no_scheme_sends_more_than_the_ceiling_whatever_its_peer_reports() {
    for known in known() {
        let mut world = World::new(known.scheme(), &path(0.0), &Capabilities::all(Direction::ReceiveOnly));
        world.outgoing.set_ceiling(world.now(), Some(CEILING));
        let mut random = Seed::new(9).child(known.name).random();
        let honest = seconds(&mut world, 4, |_| ());
        world.muted = true;
        let lied_to = seconds(&mut world, 8, |world| {
            let (now, newest) = (world.now(), world.sent.0);
            world.say(|connection| Lie::Endless.say(now, newest, &mut random, connection));
        });
        println!("{}: {honest:?}, then {lied_to:?}", known.name);
        // A fifth more in a second after a pause, sender reports and checks.
        let max = CEILING.scale(1.2) + Rate::from_kbps(20);
        assert!(honest.iter().chain(&lied_to).all(|rate| *rate <= max), "{}: {honest:?} {lied_to:?}", known.name);
        let mean = lied_to.iter().map(|rate| rate.as_bps_f64()).sum::<f64>() / lied_to.len() as f64;
        assert!(mean <= CEILING.as_bps_f64() * 1.05, "{}: {mean} bps", known.name);
    }
}

#[test]
fn under_a_ceiling_every_picture_is_sent_and_the_ceiling_is_used() {
    for name in ["gcc", "gcc:loss", "camel", "vidaptive", "copa", "thalweg:conventional", "nada", "scream"] {
        let scheme = name.parse::<thalweg_sender::Scheme>().expect("a scheme");
        let mut world = World::new(scheme, &path(0.0), &Capabilities::all(Direction::ReceiveOnly));
        world.outgoing.set_ceiling(world.now(), Some(CEILING));
        seconds(&mut world, 15, |_| ());
        let before = world.shown.len();
        let sent = seconds(&mut world, 5, |_| ());
        let shown = (world.shown.len() - before) as f64 / 5.0;
        println!("{name}: {shown} pictures a second, {sent:?}");
        assert!(shown >= 27.0, "{name}: {shown} of 30.3 a second");
        assert!(sent.iter().all(|rate| *rate >= CEILING.scale(0.5)), "{name}: {sent:?}");
    }
}

/// Bytes of media and of padding in so many seconds.
fn media_and_padding(world: &mut World, count: u64) -> [f64; 2] {
    let mut bytes = [0.0; 2];
    for _ in 0..count * 100 {
        world.run(Span::from_millis(10));
        for timed in world.outgoing.drain_events() {
            match timed.event {
                Event::PacketSent { payload: Payload::Media, size, .. } => bytes[0] += size.as_f64(),
                Event::PacketSent { payload: Payload::Padding, size, .. } => bytes[1] += size.as_f64(),
                _ => {}
            }
        }
    }
    bytes
}

/// The default of `thalweg publish` at 360p and 30 a second, on a path that bears five times that, with an encoder that
/// makes 60 % of what it is asked for.
#[test]
fn on_a_path_that_bears_the_ceiling_no_more_than_a_fifth_is_sent_besides_media() {
    for name in ["vidaptive", "vidaptive+best", "copa+dummy", "gcc", "camel", "thalweg:standard-decoder"] {
        let scheme = name.parse::<thalweg_sender::Scheme>().expect("a scheme");
        let mut world = World::new(scheme, &path(0.0), &Capabilities::all(Direction::ReceiveOnly));
        world.outgoing.set_ceiling(world.now(), Some(Rate::from_kbps(1940)));
        world.makes = 0.6;
        let [media, padding] = media_and_padding(&mut world, 20);
        let sent = world.sent.1.as_f64();
        println!("{name}: {sent} bytes, {media} of media, {padding} of padding");
        assert!(sent <= 1.2 * media, "{name}: {sent} bytes, {media} of media");
        assert!(media >= 0.5 * Rate::from_kbps(1940).over(Span::from_secs(20)).as_f64(), "{name}: {media}");
    }
}

#[test]
fn a_source_that_is_silent_is_padded_no_more() {
    let scheme = "vidaptive".parse::<thalweg_sender::Scheme>().expect("a scheme");
    let mut world = World::new(scheme, &path(0.0), &Capabilities::all(Direction::ReceiveOnly));
    let [media, padding] = media_and_padding(&mut world, 5);
    assert!(media > 1e6 && padding > 100e3, "{media} {padding}");
    world.silent = true;
    assert!(media_and_padding(&mut world, 2)[1] > 500e3, "as its scheme has it");
    world.outgoing.on_source_silent(world.now());
    assert_eq!(media_and_padding(&mut world, 5)[1], 0.0);
    world.silent = false;
    assert!(media_and_padding(&mut world, 2).iter().all(|bytes| *bytes > 100e3));
}

#[test]
fn an_honest_peer_acknowledges_nothing_that_was_never_sent_and_a_blind_one_does_within_seconds() {
    for kind in [CongestionFeedback::Transport, CongestionFeedback::TransportOnRequest, CongestionFeedback::PerStream] {
        // Losses are retransmitted, on the stream whose numbers are skipped where each stream is acknowledged.
        let receiver = Capabilities { congestion: vec![kind], ..Capabilities::all(Direction::ReceiveOnly) };
        let scheme = "vidaptive".parse::<thalweg_sender::Scheme>().expect("a scheme");
        let mut world = World::new(scheme, &path(0.02), &receiver);
        seconds(&mut world, 60, |_| ());
        assert!(world.sent.0 > 10_000 && world.shown.len() > 1_000, "{kind:?}: {:?}", world.sent);
        assert_eq!(world.outgoing.figures().never_sent, 0, "{kind:?}");
        assert_eq!(world.errors, [Vec::<String>::new(), Vec::new()], "{kind:?}");
        if kind == CongestionFeedback::PerStream {
            continue;
        }
        world.muted = true;
        let mut random = Seed::new(9).random();
        seconds(&mut world, 5, |world| {
            let (now, newest) = (world.now(), world.sent.0);
            world.say(|connection| Lie::Endless.say(now, newest, &mut random, connection));
        });
        let never_sent = world.outgoing.figures().never_sent;
        assert!(never_sent >= 3, "{kind:?}: {never_sent}");
    }
}
