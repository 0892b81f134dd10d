//! How arrivals are reported.

use std::fmt;
use std::str::FromStr;

use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction};
use thalweg_units::ConfigError;

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

    /// The kinds to offer, or to accept.
    pub(crate) fn offered(self) -> Vec<CongestionFeedback> {
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
    pub(crate) fn agreed(kind: Option<CongestionFeedback>) -> Feedback {
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
    fn one_kind_is_offered_alone_and_is_what_is_agreed_on() {
        for (_, feedback) in Feedback::NAMES.into_iter().filter(|(_, feedback)| *feedback != Feedback::Any) {
            let offered = feedback.offered();
            assert!(offered.len() <= 1);
            assert_eq!(Feedback::agreed(offered.first().copied()), feedback);
        }
        assert_eq!(Feedback::Any.offered().len(), 4);
    }
}
