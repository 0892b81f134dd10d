//! Sending to viewers: a camera, a sender for each viewer, encoders, and the thread that owns the sockets.
//!
//! ```text
//! camera ----- pictures ---->|                |<---- datagrams ----> sockets (one a channel, perhaps an emulated link)
//! audio ------ packets ----->| network thread |
//! encoders <-- plans --------|  (all viewers) |<---- Hub ----- web server, or a WHIP client
//!          --- frames ------>|                |----- packets and events ---> capture and qlogs
//! ```

mod admission;
mod catalog;
mod channels;
mod config;
mod encoders;
mod error;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod messages;
mod network;
mod overload;
mod records;
mod sources;
mod status;
#[cfg(test)]
mod tests;
mod viewers;
mod whip;

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use thalweg_netsim::FindTrace;
use thalweg_sender::frames::{EncodePlan, Target};
use thalweg_transport::sdp::VideoCodec;
use thalweg_units::{Rate, Size, Span, Time};
use thalweg_video::Picture;
use thalweg_video::footage::Footage;
use thalweg_video::source::Format;

use crate::media::Repeat;
use crate::web::Hub;
use crate::whip::Endpoint;
pub use channels::reached_at;
use config::Codecs;
pub use config::{ChannelConfig, PublishConfig, check_max_rate, check_size, video_codec};
use encoders::coder::wants_candidates;
pub use error::PublishError;
use messages::{Message, Outbox};
use network::Network;
use sources::Running;
use sources::audio::AudioInput;
use sources::camera::Camera;
pub use sources::inlet::Inlet;
use thalweg_emulate::Relay;
use thalweg_emulate::clock::Clock;
use thalweg_emulate::thread::spawn;
use viewers::ceilings;
pub use whip::{WhipSession, WhipState};

/// A running publisher. Dropping it says goodbye to its viewers and stops it.
pub struct Publisher {
    outbox: Outbox,
    clock: Clock,
    network: Option<JoinHandle<Result<(), PublishError>>>,
    camera: Option<Running>,
    audio: Option<Running>,
    relays: Vec<Relay>,
    addresses: Vec<SocketAddr>,
}

impl Publisher {
    /// Opens the video and the sockets and starts. `find` returns traces of emulated links by name.
    ///
    /// # Errors
    /// When anything named in the configuration is not available, with what to do about it.
    pub fn start(config: PublishConfig, clock: Clock, find: &mut FindTrace<'_>) -> Result<Publisher, PublishError> {
        check(&config)?;
        let (camera, codecs) = match &config.codec {
            Some(codec) if codec.is_model() => (Camera::blank(Footage::format_of(&config.video)?), Codecs::of(codec)),
            Some(codec) => {
                (Camera::open(&config.video, config.barcode, config.repeat, config.seed)?, Codecs::of(codec))
            }
            None => {
                let (camera, codec) = Camera::encoded(&config.video, config.repeat)?;
                (camera, Codecs::passthrough(codec))
            }
        };
        let open = |name: &String| match *name == config.video.source {
            // The video's own audio ends, and begins again, with it.
            true => AudioInput::open(name, config.repeat, camera.round()),
            false => AudioInput::open(name, Repeat::Forever, None),
        };
        let audio = config.audio.as_ref().map(open).transpose().map_err(PublishError::Audio)?;
        // Pictures start a moment from now, when everything is ready.
        let begin = clock.now() + Span::from_millis(50);
        // From here on, an early return drops the publisher, which stops what was started.
        let mut publisher = Publisher::begin(&config, clock, (codecs, camera.format(), begin), find)?;
        let (taken, ended) = (publisher.outbox.clone(), publisher.outbox.clone());
        let take = move |picture| taken.send(Message::Picture(picture));
        let end = move |why| ended.send(Message::CameraEnded(why));
        publisher.camera = Some(camera.start(clock, begin, take, end)?);
        if let Some(microphone) = audio {
            let (taken, ended) = (publisher.outbox.clone(), publisher.outbox.clone());
            let take = move |audio| taken.send(Message::Audio(audio));
            let end = move |why| ended.send(Message::AudioEnded(why));
            publisher.audio = Some(microphone.start(clock, begin, take, end)?);
        }
        Ok(publisher)
    }

    /// Starts to publish what its [`Inlet`] is given: pictures to encode, or, if `config.codec` is `None`, frames of the
    /// codec `passed`, which are sent as they are. Of `config.video` only size and rate count, the largest size that is
    /// sent and the rate that is expected, and of `config.audio` whether there is any.
    ///
    /// # Errors
    /// When anything named in the configuration is not available, with what to do about it.
    pub fn fed(
        config: &PublishConfig,
        passed: VideoCodec,
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<(Publisher, Inlet), PublishError> {
        check(config)?;
        let codecs = config.codec.as_ref().map_or(Codecs::relayed(passed), Codecs::of);
        let format = config.video.scene_format();
        let publisher = Publisher::begin(config, clock, (codecs, format, clock.now()), find)?;
        let inlet = Inlet::new(publisher.outbox.clone(), format.size);
        Ok((publisher, inlet))
    }

    /// Opens the sockets and starts the network thread.
    fn begin(
        config: &PublishConfig,
        clock: Clock,
        (codecs, format, begin): (Codecs, Format, Time),
        find: &mut FindTrace<'_>,
    ) -> Result<Publisher, PublishError> {
        // A combination that no viewer could receive is an error now, instead of for each viewer.
        if let Some(codec) = &config.codec {
            check_size(format.size).map_err(|problem| PublishError::Config(format!("video: {problem}")))?;
            let plan = EncodePlan::new(vec![Target::Rate(Rate::from_kbps(500))], format.size, format.interval());
            let grey = Picture::filled(format.size, 128, 128, 128);
            codec.build_seeded(format.size, config.seed)?.encoder.candidates(&grey, &plan)?;
        }
        let (network, relays) = Network::open(config, clock, (codecs, format, begin), find)?;
        let addresses = network.channels.iter().map(|channel| channel.socket.local_address()).collect();
        let outbox = network.outbox.clone();
        let network = Some(spawn("network", move || network.run())?);
        Ok(Publisher { outbox, clock, network, camera: None, audio: None, relays, addresses })
    }

    /// The interface for a web server.
    pub fn hub(&self) -> Arc<dyn Hub> {
        Arc::new(self.outbox.clone())
    }

    /// Sends to a WHIP server too, until the session is dropped; drop it before the publisher.
    ///
    /// # Errors
    /// When the system has no random numbers or cannot start a thread.
    pub fn whip_session(&self, endpoint: Endpoint) -> Result<WhipSession, PublishError> {
        WhipSession::start(endpoint, self.outbox.clone(), self.clock)
    }

    /// The UDP address of each channel's socket.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The emulated links of the channels that have one.
    pub fn relays(&self) -> &[Relay] {
        &self.relays
    }

    /// Returns true while it runs: it stops when the video ends.
    pub fn is_running(&self) -> bool {
        self.network.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Says goodbye to all viewers and stops, unless it has stopped already.
    ///
    /// # Errors
    /// The error that had stopped it before: the video could not be read any more, or a system call failed.
    pub fn finish(mut self) -> Result<(), PublishError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), PublishError> {
        (self.camera, self.audio) = (None, None);
        let Some(thread) = self.network.take() else { return Ok(()) };
        self.outbox.send(Message::Stop);
        thread.join().unwrap_or(Err(PublishError::Panicked))
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        // A caller that needs the result has called `finish`.
        let _ = self.end();
    }
}

fn check(config: &PublishConfig) -> Result<(), PublishError> {
    let wrong = |message: String| Err(PublishError::Config(message));
    if config.channels.is_empty() {
        return wrong("there is no channel; at least one is needed".into());
    }
    if config.max_viewers == 0 {
        return wrong("max_viewers is 0, must be at least 1".into());
    }
    for (field, rate) in [("max_rate", config.max_rate), ("max_total_rate", config.max_total_rate)] {
        if let Some(Err(problem)) = rate.map(check_max_rate) {
            return wrong(format!("{field}: {problem}"));
        }
    }
    if config.codec.is_some()
        && let Some(Err(problem)) = config.video.size.map(check_size)
    {
        return wrong(format!("video: {problem}"));
    }
    for (index, channel) in config.channels.iter().enumerate() {
        let name = &channel.name;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c)) {
            return wrong(format!("a channel's name is {name:?}, must be of letters, digits, - and _"));
        }
        if config.channels[..index].iter().any(|other| other.name == *name) {
            return wrong(format!("two channels are named {name:?}; each needs a name of its own"));
        }
        wants_candidates(config.codec.as_ref(), &*channel.scheme, Size::HD).map_err(PublishError::Config)?;
    }
    Ok(())
}
