//! Half an hour with four viewers, three of which come and go. `make soak` runs it; `SOAK_MINUTES` sets the length.

use thalweg_emulate::clock::{Clock, pause};
use thalweg_units::{Span, Time};

use super::viewer::Viewer;
use super::{process, publisher};
use crate::alone;

/// How long a temporary viewer stays; a little longer the later it came.
const STAY: Span = Span::from_secs(15);
const SCHEMES: [&str; 4] = ["gcc", "vidaptive", "camel", "copa"];
const MINUTE: Span = Span::from_secs(60);

/// Frames sent to past and present viewers, and how many of them arrived.
#[derive(Default)]
struct Frames {
    sent: u64,
    shown: u64,
}

#[test]
#[ignore = "takes SOAK_MINUTES, 30 unless said: make soak"]
fn memory_stays_flat_audio_stays_with_the_picture_and_frames_come_for_half_an_hour() {
    alone(|| {
        let minutes =
            std::env::var("SOAK_MINUTES").ok().map_or(30, |text| text.parse::<i64>().expect("minutes, a whole number"));
        let clock = Clock::new();
        let publisher = publisher(8);
        let hub = publisher.hub();
        let end = clock.now() + MINUTE * minutes;
        let join = |number: usize| Viewer::join(&*hub, SCHEMES[number % SCHEMES.len()]).expect("there is room");
        let steady = join(0);
        let mut guests: Vec<(Viewer, Time)> =
            (1..4).map(|number| (join(number), clock.now() + STAY * number as i64)).collect();
        let (mut frames, mut joined) = (Frames::default(), 4);
        let mut count = |viewer: &Viewer| {
            // In this order: frames in flight count as sent.
            let shown = viewer.seen().frames;
            let sent = hub.snapshot(&viewer.id).expect("it is here").frames_sent;
            frames.sent += sent;
            frames.shown += shown;
            (shown, sent)
        };
        // Memory of the allocator, of packet histories and of buffer pools grows in the first minutes.
        let settled = clock.now() + (MINUTE * minutes / 5).min(MINUTE * 3);
        let (mut memory, mut next) = (Vec::new(), clock.now());
        while clock.now() < end {
            pause(Span::from_millis(200));
            let now = clock.now();
            for (viewer, until) in &mut guests {
                if *until <= now {
                    count(viewer);
                    *viewer = join(joined);
                    *until = now + STAY + Span::from_secs(joined as i64 % 7);
                    joined += 1;
                }
            }
            if next <= now {
                let resident = process::memory();
                println!(
                    "{now}: {:.1} MB resident, {} threads, {joined} joined",
                    resident as f64 / 1e6,
                    process::threads()
                );
                if now >= settled {
                    memory.push(resident);
                }
                next = now + Span::from_secs(10);
            }
        }
        let snapshot = hub.snapshot(&steady.id).expect("it is here");
        let (shown, sent) = count(&steady);
        for (viewer, _) in &guests {
            count(viewer);
        }
        println!(
            "the steady viewer: {shown} of {sent} frames; all: {} of {}, {joined} joined",
            frames.shown, frames.sent
        );
        println!(
            "lateness of packets: p50 {:?} us, p99 {:?} us",
            snapshot.pacing_lateness_us_p50, snapshot.pacing_lateness_us_p99
        );
        for line in hub.metrics().lines().filter(|line| line.starts_with("thalweg_pacing_lateness_seconds{")) {
            println!("{line}");
        }
        let skews = steady.seen().skews;
        let mean = |from: Time, to: Time| {
            let of: Vec<i64> =
                skews.iter().filter(|(at, _)| *at >= from && *at < to).map(|(_, skew)| skew.as_nanos()).collect();
            assert!(!of.is_empty(), "no audio and video between {from} and {to}");
            Span::from_nanos(of.iter().sum::<i64>() / of.len() as i64)
        };
        let last = skews.last().expect("audio and video").0;
        // The first ten seconds are start-up.
        let start = Time::ZERO + Span::from_secs(10);
        let window = MINUTE.min((last - start) / 2);
        let (first, at_end) = (mean(start, start + window), mean(last - window, last));
        println!("picture after audio: {first} at the start, {at_end} at the end");
        let (min, max) = (memory.iter().min().unwrap(), memory.iter().max().unwrap());
        println!("memory once settled: {:.1} to {:.1} MB", *min as f64 / 1e6, *max as f64 / 1e6);
        assert!(frames.shown as f64 >= 0.97 * frames.sent as f64, "{} of {} frames", frames.shown, frames.sent);
        assert!(sent as f64 > 0.8 * 30.0 * 60.0 * minutes as f64, "{sent} frames in {minutes} minutes");
        assert!((at_end - first).abs() < Span::from_millis(40), "audio and video drift: {first} to {at_end}");
        let (half, rest) = memory.split_at(memory.len() / 2);
        let mean = |of: &[u64]| of.iter().sum::<u64>() as f64 / of.len() as f64;
        let growth = mean(rest) / mean(half) - 1.0;
        println!("the second half's memory is {:+.1} % of the first's", 100.0 * growth);
        assert!(growth < 0.05, "memory grows: {:.1} % from the first half to the second", 100.0 * growth);
    });
}
