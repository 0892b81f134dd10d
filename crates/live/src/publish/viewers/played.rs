//! The scheme that is played to a peer: the one asked for, unless the peer's reports do not suffice for it.

use std::sync::Arc;

use thalweg_sender::{Scheme, SenderFactory};
use thalweg_transport::sdp::Video;
use thalweg_units::{Size, Span, Time};

use crate::publish::encoders::coder::has_window;

/// The scheme that is played, and what it was chosen for.
pub(crate) struct Played {
    pub(crate) scheme: Arc<dyn SenderFactory>,
    /// The name of the scheme that was asked for, if another is played.
    pub(crate) asked: Option<String>,
}

/// How a peer reports arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reports {
    /// In receiver reports alone, on which few schemes work.
    ReceiverAlone,
    /// On packets, but so seldom that a sender that bounds what is in flight spends most of its time waiting for them.
    Seldom,
    /// On packets, several times a second.
    Often,
}

impl Reports {
    /// The kind of reports agreed on.
    pub(crate) fn agreed(video: &Video) -> Reports {
        if video.congestion().is_some() { Reports::Often } else { Reports::ReceiverAlone }
    }
}

/// Judges in the first seconds of a connection whether reports come often enough for a sender that bounds what is in
/// flight.
///
/// GStreamer (1.22) agrees to transport-wide feedback, and sends it as its session's RTCP is due: at first once a second,
/// while browsers report every 50 to 250 ms.
#[derive(Debug, Default)]
pub(crate) struct ReportRate {
    connected: Option<Time>,
}

impl ReportRate {
    const JUDGED_FOR: Span = Span::from_secs(15);
    /// Once may be the peer's start.
    const HELD: u64 = 2;

    /// The connection is established.
    pub(crate) fn begin(&mut self, now: Time) {
        self.connected = Some(now);
    }

    /// Returns true if reports are seldom, by how often they came late
    /// ([`held_reports`](thalweg_session::outgoing::Figures::held_reports)).
    pub(crate) fn is_low(&self, now: Time, held_reports: u64) -> bool {
        held_reports >= ReportRate::HELD && self.connected.is_some_and(|since| now - since <= ReportRate::JUDGED_FOR)
    }
}

impl Played {
    /// A peer that agreed to no feedback on packets is played WebRTC's control by loss, as WebRTC does with such a peer, in
    /// place of a scheme that does not work on receiver reports: a refusal would leave a viewer who chose nothing without a
    /// picture. One whose feedback is seldom is played `gcc` in place of a scheme with a window.
    pub(crate) fn choose(asked: Arc<dyn SenderFactory>, reports: Reports, size: Size) -> Played {
        let instead = match reports {
            Reports::ReceiverAlone if !asked.works_on_receiver_reports() => Scheme::by_loss(),
            Reports::Seldom if has_window(&*asked, size).is_ok_and(|has| has) => Scheme::webrtc(),
            _ => return Played { scheme: asked, asked: None },
        };
        Played { scheme: Arc::new(instead), asked: Some(asked.name().to_owned()) }
    }

    /// Logs why another scheme is played, if one is.
    pub(crate) fn log(&self, viewer: u64, reports: Reports) {
        let Some(asked) = &self.asked else { return };
        let why = match reports {
            Reports::ReceiverAlone => "sends receiver reports alone",
            Reports::Seldom | Reports::Often => "holds its reports back for half a second and more",
        };
        tracing::warn!(viewer, asked, played = self.scheme.name(), "the viewer {why}, on which {asked} does not work");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_reports_twice_in_the_first_fifteen_seconds_reports_seldom() {
        let mut rate = ReportRate::default();
        assert!(!rate.is_low(Time::from_millis(60_000), 9), "not connected");
        rate.begin(Time::from_millis(1000));
        assert!(!rate.is_low(Time::from_millis(3000), 1) && rate.is_low(Time::from_millis(3000), 2));
        assert!(rate.is_low(Time::from_millis(16_000), 2) && !rate.is_low(Time::from_millis(16_001), 9), "too late");
    }

    #[test]
    fn where_reports_are_seldom_gcc_is_played_in_place_of_what_has_a_window() {
        let played = |name: &str, reports| {
            let Played { scheme, asked } = Played::choose(Arc::new(name.parse::<Scheme>().unwrap()), reports, Size::HD);
            (scheme.name().to_owned(), asked)
        };
        assert_eq!(played("vidaptive", Reports::Often), ("vidaptive".into(), None));
        assert_eq!(played("vidaptive", Reports::Seldom), ("gcc".into(), Some("vidaptive".into())));
        assert_eq!(played("gcc", Reports::Seldom), ("gcc".into(), None));
        assert_eq!(played("nada", Reports::Seldom), ("nada".into(), None), "it has no window");
        assert_eq!(played("vidaptive", Reports::ReceiverAlone), ("gcc:loss".into(), Some("vidaptive".into())));
    }
}
