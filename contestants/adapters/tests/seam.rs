//! Other projects' estimators through the seam: their own figures, and the same in a process and out of it.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};

use thalweg_contestants::published::{CASES, Figures, Queue, play};
use thalweg_contestants::{KNOWN, Known, ours};
use thalweg_lab::Scenario;
use thalweg_lab::contestant::Contestant;
use thalweg_lab::contestant::protocol::{Lines, Remote, serve};
use thalweg_lab::metrics::Summary;
use thalweg_sender::Scheme;
use thalweg_units::{ConfigError, Span};

#[test]
fn webrtc_rs_has_its_own_published_figures_under_its_own_conditions() {
    for case in CASES {
        let ours = play(case, Queue::SinceEmpty, KNOWN[0].make);
        assert_eq!(printed(&ours), printed(&case.published), "{}", case.name);
    }
}

/// Figures as its README prints them.
fn printed(figures: &Figures) -> String {
    let Figures { last, settled, used, lost, converged } = figures;
    format!("{last:.2} {settled:.2} {used:.3} {lost:.3} {converged:.1?}")
}

/// Each bar with the schemes that must pass it: the mean target of the end and the share used, the share lost, and the
/// seconds until it converged for good.
#[test]
fn ours_in_webrtc_rs_seam_pass_bars_that_its_own_does_not() {
    let bars = [
        (0, Queue::SinceEmpty, "gcc", [0.90, 1.0], 0.005, 6.0),
        (0, Queue::SinceEmpty, "gcc:2023", [0.90, 1.0], 0.005, 3.0),
        (0, Queue::Waiting, "scream", [0.90, 1.0], 0.0, 3.0),
        (1, Queue::SinceEmpty, "gcc", [0.90, 1.01], 0.0, 10.0),
        (1, Queue::SinceEmpty, "scream", [0.90, 1.01], 0.0, 10.0),
        (3, Queue::SinceEmpty, "gcc", [0.85, 1.0], 0.06, 3.0),
        (3, Queue::Waiting, "gcc", [0.85, 1.0], 0.06, 3.0),
        (4, Queue::SinceEmpty, "scream", [0.85, 1.0], 0.005, 20.0),
        (4, Queue::SinceEmpty, "pudica", [0.85, 1.0], 0.005, 20.0),
    ];
    for (case, queue, scheme, [least, most], lost, converged) in bars {
        let figures = play(CASES[case], queue, |limits| ours(scheme, limits));
        let what = format!("{scheme}, {}: {figures:?}", CASES[case].name);
        assert!(figures.used >= least && figures.used <= most, "{what}");
        assert!(figures.lost <= lost && figures.converged.is_some_and(|at| at <= converged), "{what}");
    }
    // A fifth is lost at random: no rate stays within 35 % of the capacity and arrives in full.
    for queue in [Queue::SinceEmpty, Queue::Waiting] {
        let figures = play(CASES[2], queue, |limits| ours("copa", limits));
        assert!(figures.used >= 0.6 && figures.used <= 1.02 && figures.lost <= 0.36, "{queue:?}: {figures:?}");
    }
}

/// Lines to a thread, as to a process.
struct Piped {
    to: PipeWriter,
    from: BufReader<PipeReader>,
}

impl Piped {
    fn to(known: &'static Known) -> Piped {
        let ((requests, to), (from, replies)) = (pipe().unwrap(), pipe().unwrap());
        std::thread::spawn(move || {
            serve(BufReader::new(requests), replies, known.what, known.around, |limits| Ok((known.make)(limits)))
        });
        Piped { to, from: BufReader::new(from) }
    }
}

impl Lines for Piped {
    fn exchange(&mut self, request: &str) -> Result<String, String> {
        let mut line = String::new();
        writeln!(self.to, "{request}").and_then(|()| self.from.read_line(&mut line)).map_err(|e| e.to_string())?;
        Ok(line.trim_end().into())
    }
}

fn played(contestant: &Contestant) -> Summary {
    let scenario = Scenario { duration: Span::from_secs(10), ..Scenario::over("2Mbps/500kbps@4s") };
    scenario.play(contestant).unwrap().outcome.summary
}

#[test]
fn an_estimator_behind_lines_does_as_it_does_in_the_program_and_the_same_twice() {
    for known in &KNOWN {
        let inside = known.contestant().unwrap();
        let connect = |limits| Remote::connect(Piped::to(known), limits).map_err(ConfigError::because);
        let outside = Contestant::new(known.name, move |limits| Ok(Box::new(connect(limits)?)));
        let outside = outside.around(known.around.parse::<Scheme>().unwrap());
        let [once, twice, behind] = [&inside, &inside, &outside].map(played);
        assert_eq!(once.events_fingerprint, twice.events_fingerprint, "{}", known.name);
        assert_eq!(once.events_fingerprint, behind.events_fingerprint, "{}", known.name);
        let used = once.utilization.unwrap();
        assert!((0.2..1.0).contains(&used), "{}: {used}", known.name);
    }
}
