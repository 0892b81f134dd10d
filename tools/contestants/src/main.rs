//! `thalweg-contestant NAME`: an estimator that answers lines on standard input (docs/tutorials/estimator.md).

use std::io::{stdin, stdout};
use std::process::ExitCode;

use thalweg_contestants::KNOWN;
use thalweg_contestants::published::{CASES, Figures, Queue, play};
use thalweg_lab::contestant::protocol::serve;

fn main() -> ExitCode {
    let names = || KNOWN.iter().map(|known| known.name).collect::<Vec<_>>().join(", ");
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if wanted == "published" {
        return published();
    }
    let Some(known) = KNOWN.iter().find(|known| known.name == wanted) else {
        eprintln!("there is no estimator '{wanted}': choose from {}, or published", names());
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

fn print(case: &str, whose: &str, figures: &Figures, verdict: &str) {
    let Figures { last, settled, used, lost, converged } = figures;
    let converged = converged.map_or("never".into(), |at| format!("{at:.1} s"));
    let (used, lost) = (100.0 * used, 100.0 * lost);
    println!("{case:23} {whose:18} {last:6.2} {settled:8.2} {used:5.1} % {lost:5.1} % {converged:>10}{verdict}");
}
