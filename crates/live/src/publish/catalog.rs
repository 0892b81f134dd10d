//! Catalog for viewers: channels, and the schemes that this video can be sent with.

use std::sync::Arc;

use thalweg_emulate::clock::Clock;
use thalweg_sender::scheme::{ReceiverKind, known};
use thalweg_sender::{Registry, SenderFactory};
use thalweg_transport::sdp::{Capabilities, CongestionFeedback, Direction, H264Profile, Video, VideoCodec};
use thalweg_types::FeedbackStyle;
use thalweg_units::{Size, Time};
use thalweg_video::source::Format;

use super::config::{ChannelConfig, PublishConfig};
use super::encoders::coder::wants_candidates;
use crate::web::{self, About, Refused, RefusedKind};

/// Published media, and the senders that can send them.
pub(super) struct Catalog {
    pub(super) about: About,
    pub(super) registry: Registry,
    /// The SDP name of the video's codec.
    video: VideoCodec,
    /// True if there is audio.
    audio: bool,
    /// True if frames come encoded and are sent unchanged.
    is_encoded: bool,
    size: Size,
}

impl Catalog {
    /// Creates the catalog of `config`, whose media begins at `begin`.
    pub(super) fn new(
        config: &PublishConfig,
        clock: &Clock,
        begin: Time,
        (video, format): (VideoCodec, Format),
    ) -> Catalog {
        let (registry, audio) = (config.registry.clone(), config.audio.is_some());
        let (about, is_encoded) = (about(config, clock, begin, format), config.codec.is_none());
        Catalog { about, registry, video, audio, is_encoded, size: format.size }
    }

    /// The sender of this name, if this video can be sent with it.
    pub(super) fn scheme(&self, name: &str) -> Result<Arc<dyn SenderFactory>, Refused> {
        let unknown = |message: String| Refused::new(RefusedKind::UnknownScheme, message);
        let scheme = self.registry.find(name).map_err(|error| unknown(error.to_string()))?;
        if scheme.receiver().is_stateful() || self.about.schemes.iter().any(|known| known.name == scheme.name()) {
            Ok(scheme)
        } else {
            let names: Vec<&str> = self.about.schemes.iter().map(|known| known.name.as_str()).collect();
            Err(unknown(format!("{name} cannot be sent here: expected one of {}", names.join(", "))))
        }
    }

    /// The form of a scheme that the peer follows and the video allows. One for stateful receivers is sent as it is to peers
    /// that negotiated state changes, as this project's own receiver does; browsers do not, and get its form for a standard
    /// decoder.
    pub(super) fn followed(
        &self,
        scheme: Arc<dyn SenderFactory>,
        video: &Video,
    ) -> Result<Arc<dyn SenderFactory>, Refused> {
        let scheme = match scheme.as_scheme() {
            Some(known) if self.is_encoded => Arc::new(known.clone().for_encoded_frames()),
            _ => scheme,
        };
        if video.extensions.states.is_some() && video.extensions.grace.is_some() {
            return Ok(scheme);
        }
        self.registry.for_standard_decoder(&scheme).ok_or_else(|| {
            let message = format!(
                "{} needs a stateful receiver, which a browser is not: choose salsify or thalweg, or watch with `thalweg \
                 watch`",
                scheme.name()
            );
            Refused::new(RefusedKind::UnknownScheme, message)
        })
    }

    /// Our capabilities; the feedback that `scheme` needs comes first.
    pub(super) fn capabilities(&self, scheme: &dyn SenderFactory) -> Capabilities {
        let mut all = Capabilities::all(Direction::SendOnly);
        if scheme.feedback().is_extended() {
            all.congestion.sort_by_key(|kind| *kind != CongestionFeedback::Extended);
        }
        // Only RFC 8888 says how packets were marked, and a receiver of ours says it as each frame has come, unless the
        // scheme is libwebrtc's and is to hear as often as there.
        let marked = self.sends_ect1(scheme);
        all.feedback.frames = marked && scheme.feedback() != FeedbackStyle::CcfbByFrame;
        if marked {
            all.congestion.sort_by_key(|kind| *kind != CongestionFeedback::PerStream);
        }
        // Whoever decodes Baseline, which is what an offer without a profile means, decodes the Constrained one.
        all.h264.push(H264Profile::Baseline);
        Capabilities {
            video: vec![self.video],
            audio: self.audio,
            // Useless to this sender, and it adds bytes to every packet.
            absolute_send_time: false,
            mid: false,
            ..all
        }
    }

    /// The same for an offer of ours, of which the server chooses.
    pub(super) fn offered(&self, scheme: &dyn SenderFactory) -> Capabilities {
        let mut offered = Capabilities { mid: true, ..self.capabilities(scheme) };
        offered.h264.retain(|profile| *profile != H264Profile::Baseline);
        // No server is known to send extended reports: unless the scheme needs them they are not offered.
        if !scheme.feedback().is_extended() {
            offered.congestion.retain(|kind| *kind != CongestionFeedback::Extended);
        }
        // The server's order counts: one that takes both must not choose the one without ECN.
        if self.sends_ect1(scheme) {
            offered.congestion.retain(|kind| *kind != CongestionFeedback::TransportOnRequest);
        }
        if !matches!(scheme.receiver(), ReceiverKind::Measures(_)) {
            (offered.feedback.path, offered.bytes_before) = (false, false);
        }
        offered
    }

    /// Returns true if it sends ECT(1) where the peer's reports allow that.
    fn sends_ect1(&self, scheme: &dyn SenderFactory) -> bool {
        scheme.parts(self.size).is_ok_and(|parts| parts.ecn.is_some())
    }
}

fn about(config: &PublishConfig, clock: &Clock, begin: Time, format: Format) -> About {
    let (size, interval) = (format.size, format.interval());
    let codec = config.codec.as_ref();
    let playable = config.registry.names().filter(|name| {
        let suits = |scheme: &dyn SenderFactory| {
            !scheme.receiver().is_stateful() && wants_candidates(codec, scheme, size).is_ok()
        };
        config.registry.find(name).is_ok_and(|scheme| suits(&*scheme))
    });
    let epoch = clock.wall(begin).duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let channel = |channel: &ChannelConfig| web::Channel {
        name: channel.name.clone(),
        scheme: channel.scheme.name().to_string(),
        switchable: true,
    };
    let line = |name: &str| {
        let about = known().iter().find(|known| known.name == name).map_or("", |known| known.about);
        web::SchemeLine { name: name.into(), about: about.into() }
    };
    About {
        title: config.title.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        channels: config.channels.iter().map(channel).collect(),
        schemes: playable.map(line).collect(),
        width: size.width,
        height: size.height,
        frame_interval_ms: interval.as_millis_f64(),
        barcodes: config.barcode && config.codec.as_ref().is_some_and(|codec| !codec.is_model()),
        epoch_ms: epoch.as_nanos() as f64 / 1e6,
        link: config.link.clone(),
        feedback_on_request: true,
    }
}
