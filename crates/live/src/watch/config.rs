//! What is watched, and what is done with it.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thalweg_transport::sdp::{self, Capabilities, CongestionFeedback, Direction};
use thalweg_units::{ConfigError, Span, above, check};

use super::place::Place;

/// What is watched, and what is done with it.
#[derive(Debug, Clone)]
pub struct WatchConfig {
    /// Where.
    pub place: Place,
    /// How arrivals are reported.
    pub feedback: Feedback,
    /// Whether frames are decoded; otherwise a frame counts as shown when it is whole.
    pub decode: bool,
    /// Where frames are written as they came: IVF, or H.264 as a byte stream (Annex B).
    pub record: Option<PathBuf>,
    /// Where decoded pictures are written as YUV4MPEG2; `-` is standard output.
    pub y4m: Option<PathBuf>,
    /// Whether a session that ends is begun again.
    pub reconnect: bool,
    /// A picture that is shown later than this after it was taken counts as late. 400 ms, the most that ITU-T G.114 plans a
    /// conversation with.
    pub late: Span,
}

impl WatchConfig {
    /// Watches, decodes and comes back; writes nothing.
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

    /// Whether it can be.
    ///
    /// # Errors
    /// When pictures are to be written that nobody decodes, or everything is late.
    pub fn check(&self) -> Result<(), ConfigError> {
        check("y4m", "set").is(self.y4m.is_none() || self.decode, "decoded pictures only: decode too")?;
        check("late", self.late).within(above(Span::ZERO), "400ms")?;
        Ok(())
    }

    /// What is offered.
    pub(super) fn capabilities(&self) -> Capabilities {
        let all = Capabilities::all(Direction::ReceiveOnly);
        // Who is to tell nothing of arrivals does not measure the path by them either.
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
    /// Whatever the sender likes best of the others.
    #[default]
    Any,
    /// Transport-wide, at the receiver's pace (`transport-wide-cc-01`).
    Transport,
    /// Transport-wide, when a packet asks for it (`transport-wide-cc-02`).
    TransportOnRequest,
    /// For each stream (RFC 8888).
    PerStream,
    /// For each stream in extended reports (RFC 3611), as FBRA wants them.
    Extended,
    /// Not at all: receiver reports, requests for retransmissions and for keyframes are all that is sent.
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

    /// What was agreed on, by the same names.
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
