//! Offer and answer of both peers, exchanged in memory.

use std::net::SocketAddr;
use std::sync::Arc;

use thalweg_lab::Scenario;
use thalweg_lab::simulate::SimulateError;
use thalweg_sender::scheme::ReceiverKind;
use thalweg_sender::{Camera, FeedbackStyle, SenderFactory};
use thalweg_session::{Incoming, Outgoing, incoming, outgoing};
use thalweg_transport::sdp::{self, Capabilities, CongestionFeedback, Direction, Local, StreamIds};
use thalweg_transport::{Config, Connection, DtlsRole, Identity};
use thalweg_wire::rtcp::NtpTime;

use crate::RealTimeError;
use thalweg_emulate::clock::Clock;
use thalweg_live::publish::video_codec;

/// The feedback style that SDP can negotiate in place of `style`: per-packet feedback becomes feedback on request,
/// intervals are not drawn, and RFC 8888 has Chromium's.
pub(crate) fn negotiable(style: FeedbackStyle) -> FeedbackStyle {
    match style {
        FeedbackStyle::PerPacket => FeedbackStyle::TwccOnRequest,
        FeedbackStyle::ExtendedRandomised => FeedbackStyle::Extended,
        // As often as each receiver of this program sends it.
        FeedbackStyle::Ccfb | FeedbackStyle::CcfbEvery100Ms => FeedbackStyle::CcfbByFrame,
        FeedbackStyle::Twcc
        | FeedbackStyle::TwccOnRequest
        | FeedbackStyle::CcfbOnRequest
        | FeedbackStyle::CcfbByFrame
        | FeedbackStyle::Extended => style,
    }
}

fn capabilities(scenario: &Scenario, style: FeedbackStyle, direction: Direction) -> Capabilities {
    let kind = match negotiable(style) {
        FeedbackStyle::PerPacket | FeedbackStyle::TwccOnRequest => CongestionFeedback::TransportOnRequest,
        FeedbackStyle::Twcc => CongestionFeedback::Transport,
        FeedbackStyle::Ccfb
        | FeedbackStyle::CcfbOnRequest
        | FeedbackStyle::CcfbByFrame
        | FeedbackStyle::CcfbEvery100Ms => CongestionFeedback::PerStream,
        FeedbackStyle::Extended | FeedbackStyle::ExtendedRandomised => CongestionFeedback::Extended,
    };
    Capabilities {
        video: vec![video_codec(&scenario.codec)],
        audio: false,
        congestion: vec![kind],
        // Useless when both peers know all SSRCs, and it adds bytes to every packet.
        absolute_send_time: false,
        mid: false,
        functional: false,
        dependencies: !scenario.in_order,
        // The receiver gets the round-trip time as the simulator's receiver does.
        feedback: sdp::Feedback {
            round_trip: false,
            frames: style == FeedbackStyle::CcfbOnRequest,
            ..Capabilities::all(direction).feedback
        },
        ..Capabilities::all(direction)
    }
}

/// A sender and a receiver at these addresses, with a finished negotiation.
pub(crate) fn negotiate(
    scenario: &Scenario,
    scheme: &Arc<dyn SenderFactory>,
    camera: Camera,
    style: FeedbackStyle,
    clock: Clock,
    [here, there]: [SocketAddr; 2],
) -> Result<(Outgoing, Incoming), RealTimeError> {
    if scheme.receiver().is_stateful() {
        let name = scheme.name();
        let needs = "needs a stateful receiver, which a real-time run does not have: play it in virtual time, or play";
        return Err(SimulateError::Scenario(format!("{name} {needs} salsify:standard-decoder")).into());
    }
    let peer = |address: SocketAddr, controlling, first: u32| -> Result<_, RealTimeError> {
        let identity = Identity::generate()?;
        let config = Config { controlling, dtls: DtlsRole::Client, ..Config::default() };
        let mut connection = Connection::new(config, &identity, clock.origin())?;
        connection.add_local(address)?;
        let local = Local {
            credentials: connection.credentials().clone(),
            fingerprint: identity.fingerprint(),
            candidates: vec![address],
            lite: false,
            setup: DtlsRole::Client,
            streams: StreamIds { video: first, retransmission: first + 1, fec: first + 2, audio: first + 3 },
            cname: format!("realtime-{first}"),
        };
        Ok((connection, local))
    };
    let now = clock.now();
    let (mut watching, watcher) = peer(there, true, 200)?;
    let (mut publishing, publisher) = peer(here, false, 100)?;
    let offer = sdp::offer(&watcher, &capabilities(scenario, style, Direction::ReceiveOnly));
    let answer = sdp::answer(&offer.text, &publisher, &capabilities(scenario, style, Direction::SendOnly))?;
    let accepted = offer.accept(&answer.text)?;
    publishing.set_dtls_role(answer.dtls);
    publishing.set_remote(now, &answer.remote)?;
    watching.set_dtls_role(accepted.dtls);
    watching.set_remote(now, &accepted.remote)?;
    let setup = outgoing::Setup {
        scheme: scheme.clone(),
        camera,
        media: answer.media,
        cname: publisher.cname,
        seed: scenario.seed,
        // Sender reports count from the clock's own zero, so that the receiver's capture times are times of this clock.
        wall: NtpTime::from_bits(0),
        ipv6: here.is_ipv6(),
    };
    let outgoing = Outgoing::new(setup, publishing, now)?;
    let mut setup = incoming::Setup::new(accepted.media, watcher.cname);
    if let ReceiverKind::Measures(config) = scheme.receiver() {
        setup.measures = Some(config);
    }
    let incoming = Incoming::new(setup, watching, now)?;
    Ok((outgoing, incoming))
}
