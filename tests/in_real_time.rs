//! Tests by the clock, on a machine that others use too. Crates that have some include this file by its path.

#![allow(clippy::disallowed_methods, reason = "the machine's own clock is measured")]

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often a test is played before it is inconclusive.
const ATTEMPTS: usize = 3;

/// The time over which lateness is added up.
const WINDOW: Duration = Duration::from_millis(100);

/// Lateness in a window up to which a failure is the code's: a fifth of the time. A thread beside one busy loop on its core waits half.
const BOUND: Duration = Duration::from_millis(20);

/// Plays a test in real time. A failure counts where the machine was in time; where it was late, the test is played again, and after
/// three of those it is inconclusive, which `tests/all` counts apart from failures and from passes.
///
/// # Panics
/// As the test does, or with «inconclusive: this machine was late by N ms».
pub fn in_real_time(test: impl FnMut()) {
    attempts(test, late_while);
}

fn attempts(mut test: impl FnMut(), late_while: impl Fn(&mut dyn FnMut()) -> Duration) {
    let mut most = Duration::ZERO;
    for attempt in 1..=ATTEMPTS {
        let mut outcome = Ok(());
        let late = late_while(&mut || outcome = panic::catch_unwind(AssertUnwindSafe(&mut test)));
        match outcome {
            Ok(()) => return,
            Err(failure) if late <= BOUND => panic::resume_unwind(failure),
            Err(_) => eprintln!(
                "attempt {attempt} of {ATTEMPTS} failed while this machine was late by {} ms",
                late.as_millis()
            ),
        }
        most = most.max(late);
    }
    let (most, bound) = (most.as_millis(), BOUND.as_millis());
    panic!(
        "inconclusive: this machine was late by {most} ms, and a failure counts up to {bound} ms; play it again on a quiet one"
    );
}

/// The most that this process was late in a window, while `play` ran: a sleep that ended late, or a thread that could have run and
/// waited for a processor (`schedstat` of Linux; elsewhere sleeps alone).
fn late_while(play: &mut dyn FnMut()) -> Duration {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let (mut most, mut before) = (Duration::ZERO, waited());
            while !done.load(Ordering::Relaxed) {
                let begun = Instant::now();
                thread::sleep(WINDOW);
                let after = waited();
                let each = after
                    .iter()
                    .map(|(thread, now)| now.saturating_sub(*before.get(thread).unwrap_or(&Duration::ZERO)));
                most = each.fold(most.max(begun.elapsed().saturating_sub(WINDOW)), Duration::max);
                before = after;
            }
            most
        });
        play();
        done.store(true, Ordering::Relaxed);
        watching.join().expect("the watch does not panic")
    })
}

/// The time that each thread of this process has waited for a processor; the second number of Linux's schedstat, in ns.
fn waited() -> BTreeMap<String, Duration> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let of = |thread: fs::DirEntry| {
        let nanos = fs::read_to_string(thread.path().join("schedstat")).ok()?.split(' ').nth(1)?.parse().ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), Duration::from_nanos(nanos)))
    };
    threads.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a test that passes at its n-th attempt ends, and how often it was played, on a machine late by this much.
    fn played(passes_at: usize, late: Duration) -> (Result<(), String>, usize) {
        let mut count = 0;
        let test = || {
            count += 1;
            assert!(count >= passes_at, "too slow");
        };
        let measured = |play: &mut dyn FnMut()| {
            play();
            late
        };
        let words = |failure: Box<dyn std::any::Any + Send>| {
            failure
                .downcast_ref::<String>()
                .cloned()
                .unwrap_or_else(|| failure.downcast_ref::<&str>().unwrap().to_string())
        };
        let ended = panic::catch_unwind(AssertUnwindSafe(|| attempts(test, measured))).map_err(words);
        (ended, count)
    }

    #[test]
    fn a_failure_counts_at_once_in_time_and_never_on_a_late_machine() {
        assert_eq!(played(2, BOUND), (Err("too slow".into()), 1));
        assert_eq!(played(1, WINDOW), (Ok(()), 1));
        assert_eq!(played(3, WINDOW), (Ok(()), 3));
        let (ended, count) = played(4, WINDOW);
        assert!(ended.unwrap_err().starts_with("inconclusive: this machine was late by 100 ms") && count == 3);
    }
}
