//! Adapters of other projects' estimators, each in its file, and what their projects say about them ([`published`]).
#![forbid(unsafe_code)]

mod epoch;
pub mod published;
mod rtc;
mod windows;

pub use rtc::ours;
use thalweg_lab::contestant::{Contestant, Estimator, Limits};
use thalweg_sender::Scheme;
use thalweg_sender::scheme::UnknownScheme;

/// An estimator by name.
pub struct Known {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description, and version.
    pub what: &'static str,
    /// The scheme around it.
    pub around: &'static str,
    /// Creates one.
    pub make: fn(Limits) -> Box<dyn Estimator>,
}

/// Every estimator.
pub const KNOWN: [Known; 4] = [
    Known { name: "webrtc-rs", what: "webrtc-rs's Gcc (rtc-interceptor 0.21.1)", around: "gcc", make: rtc::gcc },
    Known {
        name: "webrtc-rs:paced-at-target",
        what: "webrtc-rs's Gcc paced as by its own pacer (rtc-interceptor 0.21.1)",
        around: "gcc",
        make: rtc::gcc_paced_at_target,
    },
    Known {
        name: "vidaptive-rs:copa",
        what: "ShaJaPas's Copa (vidaptive 0.2.0)",
        around: "vidaptive",
        make: windows::copa,
    },
    Known {
        name: "vidaptive-rs:rocc",
        what: "ShaJaPas's RoCC (vidaptive 0.2.0)",
        around: "vidaptive:rocc",
        make: windows::rocc,
    },
];

impl Known {
    /// The sender, without another process.
    ///
    /// # Errors
    /// When the scheme around it is none.
    pub fn contestant(&self) -> Result<Contestant, UnknownScheme> {
        let make = self.make;
        let contestant = Contestant::new(self.name, move |limits| Ok(make(limits))).from(self.what);
        Ok(contestant.around(self.around.parse::<Scheme>()?))
    }
}
