//! Attacks on a publisher and its viewers, and leftovers of viewers that have left.

use std::net::UdpSocket;

use thalweg_emulate::clock::{Clock, pause};
use thalweg_live::web::RefusedKind;
use thalweg_units::{Rate, Seed, Span};

use super::viewer::{Viewer, join_and_vanish};
use super::{metric, process, publisher, publisher_of};
use crate::alone;

/// Waits until the condition holds, 20 s at most, for busy machines.
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let clock = Clock::new();
    while !so() {
        assert!(clock.now() < thalweg_units::Time::from_millis(20_000), "not within 20 s: {what}");
        pause(Span::from_millis(10));
    }
}

/// A binding request for a viewer, as anyone on the path could copy it, but without the key that signs it.
fn forged_check(username: &str, random: u64) -> Vec<u8> {
    let name = format!("{username}:nobody");
    let mut attribute = vec![0x00, 0x06, 0, name.len() as u8];
    attribute.extend(name.as_bytes());
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    let mut check = vec![0x00, 0x01, 0, attribute.len() as u8, 0x21, 0x12, 0xa4, 0x42];
    check.extend(random.to_be_bytes());
    check.extend([7; 4]);
    check.extend(attribute);
    check
}

#[test]
fn strangers_datagrams_are_counted_and_keep_nobody_from_watching() {
    alone(|| {
        let publisher = publisher(2);
        let (hub, target) = (publisher.hub(), publisher.addresses()[0]);
        let viewer = Viewer::join(&*hub, "gcc").unwrap();
        until("frames", || viewer.seen().frames > 30);
        let memory = process::memory();
        let mut random = Seed::new(3).random();
        let sockets: Vec<UdpSocket> = (0..40).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
        let reports = || metric(&hub.metrics(), "thalweg_reports_total");
        let before = (viewer.seen().frames, reports());
        for number in 0..20_000u64 {
            let mut bytes: Vec<u8> = (0..40 + random.below(1000)).map(|_| random.bits() as u8).collect();
            match number % 4 {
                0 => {}
                // SRTP and SRTCP by their first bytes, DTLS by its first byte.
                1 => bytes[..2].copy_from_slice(&[0x80, 200]),
                2 => bytes[..3].copy_from_slice(&[22, 254, 253]),
                _ => bytes = forged_check(&viewer.username, number),
            }
            // A datagram that does not fit into a full buffer counts as lost on the path.
            let _ = sockets[(number / 4 % 40) as usize].send_to(&bytes, target);
            if number % 100 == 0 {
                pause(Span::from_millis(10));
            }
        }
        let seen = viewer.seen();
        // The flood takes at least two seconds.
        assert!(seen.frames > before.0 + 30 && !seen.closed, "{} frames before, {} after", before.0, seen.frames);
        // The viewer's own reports are not taken for those of an unknown source either: a stream of this kind causes fifty
        // per second.
        assert!(reports() > before.1 + 30.0, "{} reports before, {} after", before.1, reports());
        println!("{} reports while it lasted", reports() - before.1);
        let from_unknown_sources = metric(&hub.metrics(), "thalweg_unknown_source_datagrams_total");
        assert!(from_unknown_sources > 5_000.0, "{from_unknown_sources}");
        let grown = process::memory().saturating_sub(memory);
        assert!(grown < 24 << 20, "{grown} bytes of memory came");
        let now = viewer.seen().frames;
        until("frames after the flood", || viewer.seen().frames > now + 60);
    });
}

#[test]
fn nobody_beyond_the_limit_is_let_in_and_a_place_is_free_again_at_once_when_its_viewer_leaves() {
    alone(|| {
        let publisher = publisher(2);
        let hub = publisher.hub();
        let viewer = Viewer::join(&*hub, "gcc").unwrap();
        let vanished = join_and_vanish(&*hub).unwrap();
        let refused = Viewer::join(&*hub, "gcc").err().unwrap();
        assert_eq!(refused.kind, RefusedKind::Full, "{refused}");
        assert!(hub.leave(&vanished) && !hub.leave(&vanished));
        let second = Viewer::join(&*hub, "vidaptive").unwrap();
        until("frames for both", || viewer.seen().frames > 10 && second.seen().frames > 10);
    });
}

#[test]
fn two_hundred_viewers_who_came_and_went_leave_nothing_behind() {
    alone(|| {
        let publisher = publisher(4);
        let hub = publisher.hub();
        let come_and_go = |number: u64| {
            if number.is_multiple_of(10) {
                // Some viewers watch, and say goodbye only on the connection itself.
                let viewer = Viewer::join(&*hub, "gcc").unwrap();
                until("a frame", || viewer.seen().frames > 0);
            } else {
                assert!(hub.leave(&join_and_vanish(&*hub).unwrap()));
            }
            until("no one here", || metric(&hub.metrics(), "thalweg_viewers ") == 0.0);
        };
        (0..20).for_each(come_and_go);
        let (threads, descriptors, memory) = (process::threads(), process::descriptors(), process::memory());
        (20..200).for_each(come_and_go);
        until("their threads' end", || process::threads() <= threads);
        assert!(process::descriptors() <= descriptors, "{descriptors} open before, {} after", process::descriptors());
        let grown = process::memory().saturating_sub(memory);
        assert!(grown < 16 << 20, "{grown} bytes of memory came");
    });
}

#[test]
fn fifteen_who_join_and_never_connect_cost_no_encoder() {
    alone(|| {
        let publisher = publisher(16);
        let hub = publisher.hub();
        let viewer = Viewer::join(&*hub, "gcc").unwrap();
        until("frames", || viewer.seen().frames > 30);
        let (threads, memory) = (process::threads(), process::memory());
        let silent: Vec<String> = (0..15).map(|_| join_and_vanish(&*hub).unwrap()).collect();
        assert_eq!(metric(&hub.metrics(), "thalweg_viewers "), 16.0);
        let grown = process::memory().saturating_sub(memory);
        println!("{} threads came, {grown} bytes", process::threads() - threads);
        assert_eq!(process::threads(), threads);
        assert!(grown < 8 << 20, "{grown} bytes of memory came");
        // And one that connects later still gets its pictures.
        assert!(silent.iter().all(|id| hub.leave(id)));
        let late = Viewer::join(&*hub, "vidaptive").unwrap();
        until("frames for who came later", || late.seen().frames > 30);
    });
}

#[test]
fn who_acknowledges_what_was_never_sent_is_ended_and_the_others_go_on_watching() {
    alone(|| {
        let publisher = publisher(2);
        let hub = publisher.hub();
        let honest = Viewer::join(&*hub, "gcc").unwrap();
        let liar = Viewer::join_lying(&*hub, "gcc").unwrap();
        until("the liar's frames", || liar.seen().frames > 0);
        until("the liar's end", || liar.seen().closed);
        let ended = r#"thalweg_viewers_ended_total{why="false_acknowledgements"}"#;
        assert_eq!(metric(&hub.metrics(), ended), 1.0);
        until("frames", || honest.seen().frames > 300);
        assert_eq!(metric(&hub.metrics(), ended), 1.0);
        assert!(!honest.seen().closed);
    });
}

#[test]
fn all_viewers_together_are_sent_no_more_than_was_allowed_and_one_too_many_is_refused() {
    alone(|| {
        let publisher = publisher_of(16, Some(Rate::from_kbps(1200)));
        let hub = publisher.hub();
        let viewers = ["gcc", "vidaptive", "camel"].map(|scheme| Viewer::join(&*hub, scheme).unwrap());
        until("frames for all", || viewers.iter().all(|viewer| viewer.seen().frames > 30));
        let (clock, sent) = (Clock::new(), || metric(&hub.metrics(), "thalweg_sent_bytes_total"));
        let (begun, before) = (clock.now(), sent());
        let frames = viewers.each_ref().map(|viewer| viewer.seen().frames);
        pause(Span::from_secs(8));
        let seconds = (clock.now() - begun).as_secs_f64();
        let kbps = (sent() - before) * 8.0 / 1000.0 / seconds;
        println!("{kbps} kbps");
        // What the buckets held at the beginning may come on top.
        assert!((700.0..=1200.0 * (seconds + 0.2) / seconds).contains(&kbps), "{kbps} kbps in {seconds} s");
        for (viewer, before) in viewers.iter().zip(frames) {
            let fps = (viewer.seen().frames - before) as f64 / seconds;
            assert!(fps > 20.0, "{fps} frames a second");
        }
        let silent = (3..12).map(|_| join_and_vanish(&*hub));
        assert!(silent.collect::<Vec<_>>().iter().all(Result::is_ok), "there are 100 kbps for twelve");
        let refused = join_and_vanish(&*hub).unwrap_err();
        assert!(refused.kind == RefusedKind::Full && refused.message.contains("1.2Mbps is all"), "{refused}");
    });
}
