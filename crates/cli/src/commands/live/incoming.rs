//! Media that comes in to be sent on: shared by `relay` and `call`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use thalweg_emulate::clock::Clock;
use thalweg_live::receive::{Observed, ReceiveConfig, VideoCodec};
use thalweg_live::relay::{MediaRelay, MediaRelayConfig};

use super::addresses::{above, address};
use super::emulated::finder;
use super::receive::{codec, summary};
use super::sending::Sending;

/// Heading of the help.
const SENDER: &str = "Sender";

#[derive(clap::Args)]
pub(crate) struct Incoming {
    /// Forward received frames unchanged, instead of decoding and encoding them
    ///
    /// Costs next to nothing. Frames that exceed a viewer's rate are dropped until the next keyframe, which is
    /// requested from the sender; so a viewer gets the sender's rate, or fewer frames.
    #[arg(long, conflicts_with_all = ["encoder", "encoders"], help_heading = SENDER)]
    pass_through: bool,
    /// Codecs to accept, of vp8, vp9, h264 and av1 (default: all that can be decoded here; vp8 with --pass-through)
    ///
    /// The one that the sender prefers is used. With --pass-through give one, which viewers must be able to decode.
    #[arg(long, value_name = "CODEC", value_delimiter = ',', value_parser = codec, help_heading = SENDER)]
    accept: Vec<VideoCodec>,
    /// Address that the sender's media is received at (default: the page's address and any free port)
    ///
    /// The second seat of a call takes the next port.
    #[arg(long, value_name = "ADDRESS", value_parser = address, help_heading = SENDER)]
    sender_udp: Option<SocketAddr>,
    /// Addresses announced to the sender in place of this machine's own, such as the public address of its NAT
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',', value_parser = address, help_heading = SENDER)]
    sender_advertise: Vec<SocketAddr>,
    /// Refuse audio
    #[arg(long, help_heading = SENDER)]
    no_audio: bool,
}

impl Incoming {
    /// Starts a relay that sends by `scheme`. A seat has a number and, where there are several, a name, which is its channel's,
    /// in logs and metrics, and stands at the end of its files' names.
    pub(super) fn start(
        &self,
        sending: &Sending,
        (title, scheme): (&str, &str),
        (index, name): (usize, Option<&str>),
        clock: Clock,
    ) -> anyhow::Result<MediaRelay> {
        let (mut publish, link) = sending.config(title.into(), &[(name.unwrap_or("main"), scheme)], clock)?;
        let own = |path: &PathBuf| beside(path, name);
        publish.audio = (!self.no_audio).then(|| "what comes in".into());
        publish.codec = publish.codec.filter(|_| !self.pass_through);
        (publish.pcap, publish.qlog) = (publish.pcap.as_ref().map(own), publish.qlog.as_ref().map(own));
        for channel in &mut publish.channels {
            channel.bind = sending.bind(index)?;
            if let Some(link) = &mut channel.link {
                link.log = link.log.as_ref().map(own);
            }
        }
        let bind = match self.sender_udp {
            None => SocketAddr::new(sending.listen.ip(), 0),
            Some(address) => above(address, index).context("--sender-udp")?,
        };
        let defaults = ReceiveConfig::new(bind);
        let codecs = match (&self.accept[..], self.pass_through) {
            ([], true) => vec![VideoCodec::Vp8],
            ([], false) => defaults.codecs.clone(),
            (some, _) => some.to_vec(),
        };
        let receive = ReceiveConfig { advertise: self.sender_advertise.clone(), codecs, ..defaults };
        Ok(MediaRelay::start(MediaRelayConfig { publish, receive }, clock, &mut finder(link.as_ref()))?)
    }
}

/// A file beside another: with a name at its end.
fn beside(path: &Path, name: Option<&str>) -> PathBuf {
    name.map_or(path.to_owned(), |name| format!("{}.{name}", path.display()).into())
}

/// Prints the figures of senders that have left since.
pub(super) fn say_left(relay: &MediaRelay) {
    while let Some(observed) = relay.receiver().take_ended() {
        say(&observed);
    }
}

/// Ends a relay, and prints the figures of its last sender.
pub(super) fn finish(relay: MediaRelay) -> anyhow::Result<()> {
    let (left, ended) = relay.finish();
    left.iter().for_each(say);
    Ok(ended?)
}

fn say(observed: &Observed) {
    outln!("{}", summary(&observed.report));
}
