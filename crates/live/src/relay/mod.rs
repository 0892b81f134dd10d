//! A relay of media: what somebody sends by WHIP goes to viewers, each with a sender of its own.
//!
//! ```text
//! sender --- WHIP ---> Receiver --- pictures, or frames; audio ---> Inlet --- Publisher ---> viewers, a WHIP server
//!               <--- keyframe requests --------------------------------------'
//! ```
//!
//! In either of two forms: transcoded, where frames are decoded and each viewer's encoder makes new ones at the rate of its
//! path; or passed through, where frames go on as they come, and frames beyond a viewer's rate are left out up to the next
//! keyframe. Audio is never decoded.
//!
//! A relay has one seat for a sender. Two relays are a call of two: each sends to one and watches the other.

mod audio;
mod fit;
mod forwarder;
mod pace;

use std::sync::Arc;

use thalweg_netsim::FindTrace;
use thalweg_transport::sdp::VideoCodec;

use crate::publish::{PublishConfig, PublishError, Publisher};
use crate::receive::{Observed, ReceiveConfig, ReceiveError, Receiver};
use crate::web::Relayed;
use forwarder::Forwarder;
use thalweg_emulate::clock::Clock;

/// The configuration of a relay.
#[derive(Debug, Clone)]
pub struct MediaRelayConfig {
    /// How viewers are sent to. With a `codec` pictures are encoded anew, without one frames are passed through. Of `video`
    /// only size and rate count ([`Publisher::fed`]), and of `audio` whether there is any.
    pub publish: PublishConfig,
    /// How the sender is received. Of `codecs` there is one where frames are passed through. `max_senders`, `decode` and
    /// `audio` follow from the rest.
    pub receive: ReceiveConfig,
}

/// Why a relay cannot start, or has ended.
#[derive(Debug, thiserror::Error)]
pub enum MediaRelayError {
    /// Its viewers' side.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// Its sender's side.
    #[error(transparent)]
    Receive(#[from] ReceiveError),
    /// Several codecs are to be passed through.
    #[error("{} codecs are to be passed through, must be one: viewers agree on it before the sender comes", .0.len())]
    Codecs(Vec<VideoCodec>),
}

/// A running relay; it ends when finished or dropped.
pub struct MediaRelay {
    // The sender's side ends first: what it forwards has somewhere to go until then.
    receiver: Receiver,
    publisher: Publisher,
}

impl MediaRelay {
    /// Starts it. `find` returns traces of emulated links by name.
    ///
    /// # Errors
    /// When a configuration is invalid, or something named in it is not available, with what to do about it.
    pub fn start(
        config: MediaRelayConfig,
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<MediaRelay, MediaRelayError> {
        let MediaRelayConfig { publish, receive } = config;
        let transcodes = publish.codec.is_some();
        let passed = match receive.codecs[..] {
            [codec] => codec,
            [first, ..] if transcodes => first,
            _ => return Err(MediaRelayError::Codecs(receive.codecs)),
        };
        let audio = publish.audio.is_some();
        let (publisher, inlet) = Publisher::fed(&publish, passed, clock, find)?;
        let forwarder = Arc::new(if transcodes {
            Forwarder::of_pictures(inlet.clone(), publish.video.scene_format())
        } else {
            Forwarder::of_frames(inlet.clone(), passed)
        });
        let receive = ReceiveConfig { max_senders: 1, decode: transcodes, audio, ..receive };
        let receiver = Receiver::forwarding(receive, forwarder, clock, find)?;
        inlet.ask_for_keyframes(receiver.keyframe_request());
        Ok(MediaRelay { receiver, publisher })
    }

    /// The side of the viewers.
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// The side of the sender.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Both sides for a web server: [`Server::start_relaying`](crate::web::Server::start_relaying).
    pub fn relayed(&self) -> Relayed {
        Relayed { hub: self.publisher.hub(), receivers: self.receiver.hub() }
    }

    /// Returns true while both sides run.
    pub fn is_running(&self) -> bool {
        self.publisher.is_running() && self.receiver.is_running()
    }

    /// Says goodbye to the sender and to all viewers. Returns the senders that were not taken before
    /// ([`Receiver::take_ended`]), and the error if a side had ended by itself.
    pub fn finish(self) -> (Vec<Observed>, Result<(), MediaRelayError>) {
        let (left, received) = self.receiver.finish();
        let published = self.publisher.finish();
        (left, received.map_err(Into::into).and(published.map_err(Into::into)))
    }
}
