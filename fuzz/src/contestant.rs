//! The replies of another project's estimator.

use thalweg_lab::contestant::protocol::{Lines, Remote, Reply, serve};
use thalweg_lab::contestant::{Estimator, Limits};
use thalweg_units::{Rate, Time};

/// Takes the bytes as the lines of a process, and as the requests to one. What is read survives being written, and no
/// reply makes a rate that a sender could not work with.
pub fn contestant(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for line in text.lines() {
        if let Ok(reply) = Reply::read(line) {
            let written = serde_json::to_string(&reply).expect("numbers have a form in JSON");
            assert_eq!(Reply::read(&written), Ok(reply));
        }
    }
    let lines = text.lines().map(String::from).collect::<Vec<_>>();
    if let Ok(mut remote) = Remote::connect(Scripted(lines.clone().into_iter()), Limits::default()) {
        for number in 1..=lines.len() as u64 {
            remote.on_timeout(Time::from_millis(number));
            assert!(remote.target() > Rate::ZERO && remote.pacing() > Rate::ZERO);
            assert!(remote.probe().is_none_or(|probe| probe.rate > Rate::ZERO));
        }
        assert!(remote.failure().is_some(), "there is a request more than there are lines");
    }
    let _ = serve(data, std::io::sink(), "x", "gcc", |limits| Ok(Box::new(Constant(limits.start))));
}

struct Scripted(std::vec::IntoIter<String>);

impl Lines for Scripted {
    fn exchange(&mut self, _: &str) -> Result<String, String> {
        self.0.next().ok_or_else(|| "no more lines".into())
    }
}

struct Constant(Rate);

impl Estimator for Constant {
    fn on_reports(&mut self, _: Time, _: &[thalweg_control::Report]) {}

    fn target(&self) -> Rate {
        self.0
    }
}
