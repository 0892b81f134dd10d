//! The configuration of a watcher.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thalweg_transport::sdp::{self, Capabilities, CongestionFeedback, Direction};
use thalweg_units::{ConfigError, Span, above, check};

use super::place::Place;

/// What to watch, and what to do with it.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// The address of the page or the WHEP endpoint.
    pub place: Place,
    /// The feedback to report arrivals with.
    pub feedback: Feedback,
    /// Whether frames are decoded; otherwise a frame counts as shown when it is complete.
    pub decode: bool,
    /// File for frames as received: IVF, or H.264 as a byte stream (Annex B).
    pub record: Option<PathBuf>,
    /// File for decoded pictures as YUV4MPEG2; `-` is standard output.
    pub y4m: Option<PathBuf>,
    /// Whether to join again when a session ends.
    pub reconnect: bool,
    /// A picture with a higher latency from capture to display counts as late. 400 ms by default, the upper limit for
    /// conversation in ITU-T G.114.
    pub late: Span,
}

impl WatchConfig {
    /// Watches, decodes and reconnects; writes no files.
    pub fn new(place: Place) -> WatchConfig {
        WatchConfig {
            place,
            feedback: Feedback::default(),
            decode: true,
            record: None,
            y4m: None,
            reconnect: true,
            late: Span::from_millis(400),
        }
    }

    /// Checks the configuration.
    ///
    /// # Errors
    /// When pictures are to be written but not decoded, or every picture would be late.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("y4m", "set").is(self.y4m.is_none() || self.decode, "decoded pictures only: decode too")?;
        check("late", self.late).within(above(Span::ZERO), "400ms")?;
        Ok(())
    }

    /// The capabilities to offer.
    pub(super) fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(Direction::ReceiveOnly);
        // With plain feedback the receiver sends no path reports either.
        let measures = self.feedback != Feedback::Plain;
        Capabilities {
            congestion: self.feedback.offered(),
            feedback: sdp::Feedback { path: measures, ..all.feedback },
            bytes_before: measures,
            ..all
        }
    }
}

/// How arrivals are reported to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Feedback {
    /// The format that the sender prefers.
    #[default]
    Any,
    /// Transport-wide, at intervals of the receiver (`transport-wide-cc-01`).
    Transport,
    /// Transport-wide, when a packet requests it (`transport-wide-cc-02`).
    TransportOnRequest,
    /// For each stream (RFC 8888).
    PerStream,
    /// For each stream in extended reports (RFC 3611), as FBRA needs them.
    Extended,
    /// No reports of arrivals: only receiver reports, NACK and PLI are sent.
    Plain,
}

impl Feedback {
    const NAMES: [(&str, Feedback); 6] = [
        ("any", Feedback::Any),
        ("twcc", Feedback::Transport),
        ("twcc-on-request", Feedback::TransportOnRequest),
        ("ccfb", Feedback::PerStream),
        ("xr", Feedback::Extended),
        ("plain", Feedback::Plain),
    ];

    fn offered(self) -> Vec<CongestionFeedback> {
        match self {
            Feedback::Any => Capabilities::all(Direction::ReceiveOnly).congestion,
            Feedback::Transport => vec![CongestionFeedback::Transport],
            Feedback::TransportOnRequest => vec![CongestionFeedback::TransportOnRequest],
            Feedback::PerStream => vec![CongestionFeedback::PerStream],
            Feedback::Extended => vec![CongestionFeedback::Extended],
            Feedback::Plain => Vec::new(),
        }
    }

    /// The negotiated kind of feedback.
    pub(super) fn agreed(kind: Option<CongestionFeedback>) -> Feedback {
        match kind {
            Some(CongestionFeedback::Transport) => Feedback::Transport,
            Some(CongestionFeedback::TransportOnRequest) => Feedback::TransportOnRequest,
            Some(CongestionFeedback::PerStream) => Feedback::PerStream,
            Some(CongestionFeedback::Extended) => Feedback::Extended,
            None => Feedback::Plain,
        }
    }
}

impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Feedback::NAMES.iter().find(|(_, feedback)| feedback == self);
        f.write_str(found.map_or("", |(name, _)| name))
    }
}

impl FromStr for Feedback {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Feedback, ConfigError> {
        let found = Feedback::NAMES.iter().find(|(name, _)| *name == text);
        let wrong = || ConfigError::out_of_range("feedback", text, "any, twcc, twcc-on-request, ccfb, xr or plain");
        found.map(|(_, feedback)| *feedback).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_feedback_is_read_by_the_name_it_is_shown_by() {
        for (name, feedback) in Feedback::NAMES {
            assert_eq!((name.parse(), feedback.to_string().as_str()), (Ok(feedback), name));
        }
        assert!("remb".parse::<Feedback>().unwrap_err().to_string().contains("twcc-on-request"));
    }

    #[test]
    fn the_path_is_measured_by_all_but_who_tells_nothing() {
        for (name, feedback) in Feedback::NAMES {
            let place = Place::new("http://127.0.0.1:8080/", None, None, None).unwrap();
            let config = WatchConfig { feedback, ..WatchConfig::new(place) };
            let offered = config.capabilities();
            assert_eq!((offered.feedback.path, offered.bytes_before), (name != "plain", name != "plain"), "{name}");
        }
    }

    #[test]
    fn one_kind_is_offered_alone_and_is_what_is_agreed_on() {
        for (_, feedback) in Feedback::NAMES.into_iter().filter(|(_, feedback)| *feedback != Feedback::Any) {
            let offered = feedback.offered();
            assert!(offered.len() <= 1);
            assert_eq!(Feedback::agreed(offered.first().copied()), feedback);
        }
        assert_eq!(Feedback::Any.offered().len(), 4);
    }
}
