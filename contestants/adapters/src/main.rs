//! `thalweg-contestant NAME`: an estimator that answers lines on standard input (docs/tutorials/estimator.md).

use std::io::{stdin, stdout};
use std::process::ExitCode;

use thalweg_contestants::published::{CASES, Figures, Queue, play};
use thalweg_contestants::{KNOWN, ours};
use thalweg_lab::contestant::protocol::serve;
use thalweg_lab::contestant::{Estimator, Limits};

fn main() -> ExitCode {
    let names = || KNOWN.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if wanted == "published" {
        return published();
    }
    if wanted == "paths" {
        return paths();
    }
    let Some(known) = KNOWN.iter().find(|known| known.name == wanted) else {
        eprintln!("unknown estimator '{wanted}': expected one of {}, or published", names());
        return ExitCode::from(2);
    };
    match serve(stdin().lock(), stdout(), known.what, known.around, |limits| Ok((known.make)(limits))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", known.name);
            ExitCode::FAILURE
        }
    }
}

/// webrtc-rs's five published rows, ours beside them; and the same where the queue counts what waits.
fn published() -> ExitCode {
    println!("webrtc-rs's own bench through our seam (the README of rtc-interceptor's benches); rates in Mbit/s");
    println!("{:23} {:18} {:>6} {:>8} {:>7} {:>7} {:>10}", "", "", "last", "settled", "used", "lost", "converged");
    let mut all_agree = true;
    for case in CASES {
        let ours = play(case, Queue::SinceEmpty, KNOWN[0].make);
        let agrees = ours.agrees(&case.published);
        all_agree &= agrees;
        print(case.name, "published", &case.published, "");
        print("", "here", &ours, if agrees { "  within 10 %" } else { "  differs" });
        print("", "queue that drains", &play(case, Queue::Waiting, KNOWN[0].make), "");
    }
    if all_agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// webrtc-rs's five paths with its own estimator and with each of ours in its seam.
fn paths() -> ExitCode {
    println!("| path | estimator | settled | used | lost | converged | with a queue that drains |");
    println!("|---|---|---|---|---|---|---|");
    for case in CASES {
        let both = |make: &dyn Fn(Limits) -> Box<dyn Estimator>| {
            let [theirs, waiting] = [Queue::SinceEmpty, Queue::Waiting].map(|queue| columns(&play(case, queue, make)));
            format!("{} | {}", theirs.join(" | "), waiting.join(", "))
        };
        println!("| {} | webrtc-rs `Gcc` | {} |", case.name, both(&KNOWN[0].make));
        for scheme in thalweg_webrtc_rs::playable() {
            println!("| | `{scheme}` | {} |", both(&|limits| ours(scheme, limits)));
        }
    }
    ExitCode::SUCCESS
}

/// The mean target, share used, share lost, and when it converged.
fn columns(figures: &Figures) -> [String; 4] {
    let Figures { settled, used, lost, converged, .. } = figures;
    let converged = converged.map_or("never".into(), |at| format!("{at:.1} s"));
    [format!("{settled:.2}"), format!("{:.1} %", 100.0 * used), format!("{:.1} %", 100.0 * lost), converged]
}

fn print(case: &str, whose: &str, figures: &Figures, verdict: &str) {
    let Figures { last, settled, used, lost, converged } = figures;
    let converged = converged.map_or("never".into(), |at| format!("{at:.1} s"));
    let (used, lost) = (100.0 * used, 100.0 * lost);
    println!("{case:23} {whose:18} {last:6.2} {settled:8.2} {used:5.1} % {lost:5.1} % {converged:>10}{verdict}");
}
