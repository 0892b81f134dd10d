//! Receiving anybody's video by WHIP (RFC 9725), over an emulated link if wanted, and measuring each sender by itself.
//!
//! ```text
//! web server:     POST, PATCH, DELETE --- Message ---> network thread: one UDP socket, a receiver for each sender
//! relay threads:  the link of each sender <---------->                 |
//! decoder threads, one a sender: pictures, files  <------ frames ------'   failures ---> keyframes are requested
//! ending threads: what a sender leaves behind becomes a [`Observed`]
//! ```
//!
//! Each sender has an emulated link of its own, whose time begins when it joins: what a sender does when the link drops
//! does not depend on when it came, or on who else is here.

mod admission;
mod config;
mod error;
mod figures;
mod messages;
mod network;
mod observed;
mod sender;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, channel};
use std::thread::JoinHandle;

use thalweg_netsim::FindTrace;
use thalweg_transport::Identity;

pub use crate::measure::Forward;
use crate::publish::reached_at;
use crate::web::Receivers;
pub use config::{Observe, ReceiveConfig};
pub use error::ReceiveError;
use messages::{Message, Outbox};
use network::{Link, Network};
pub use observed::{Observed, SenderReport};
use thalweg_emulate::clock::Clock;
use thalweg_emulate::reactor::{Poller, PollerConfig, UdpConfig, UdpSocket};
use thalweg_emulate::thread::spawn;
/// A codec to accept.
pub use thalweg_transport::sdp::VideoCodec;

/// A running receiver; it ends when finished or dropped.
pub struct Receiver {
    outbox: Outbox,
    address: SocketAddr,
    ended: Inbox<Observed>,
    network: Option<JoinHandle<Result<(), ReceiveError>>>,
}

impl Receiver {
    /// Starts to receive: the web server's half is [`Server::start_receiving`](crate::web::Server::start_receiving) with
    /// [`Receiver::hub`]. `find` returns the link's traces by name.
    ///
    /// # Errors
    /// When the configuration is invalid, a trace cannot be found, or the system has no socket, descriptor or random
    /// numbers left.
    pub fn start(config: ReceiveConfig, clock: Clock, find: &mut FindTrace<'_>) -> Result<Receiver, ReceiveError> {
        Receiver::begin(config, None, clock, find)
    }

    /// The same, where what comes also goes to `forward`: from one sender at a time if `config.max_senders` is 1, as it
    /// should be.
    ///
    /// # Errors
    /// As [`Receiver::start`].
    pub fn forwarding(
        config: ReceiveConfig,
        forward: Arc<dyn Forward>,
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<Receiver, ReceiveError> {
        Receiver::begin(config, Some(forward), clock, find)
    }

    fn begin(
        config: ReceiveConfig,
        forward: Option<Arc<dyn Forward>>,
        clock: Clock,
        find: &mut FindTrace<'_>,
    ) -> Result<Receiver, ReceiveError> {
        config.check()?;
        let poller = Poller::new(clock, PollerConfig::default())?;
        let (outbox, inbox) = Outbox::new(poller.waker());
        let bind = |error| ReceiveError::Bind { address: config.bind, error };
        let socket = UdpSocket::bind(config.bind, &UdpConfig::default()).map_err(bind)?;
        let address = socket.local_address();
        let candidates = reached_at(address)?;
        let Some(first) = candidates.first().copied() else { return Err(ReceiveError::Unreachable(address)) };
        let link = config.link.clone().map(|link| Link::new(link, clock, first, find)).transpose()?;
        let (finished, ended) = channel();
        let network = Network {
            clock,
            poller,
            socket,
            candidates,
            identity: Identity::generate()?,
            config,
            forward,
            link,
            inbox,
            finished,
            senders: Default::default(),
            ending: Vec::new(),
            peers: Default::default(),
            next_key: 1,
            from_unknown_sources: 0,
        };
        let network = Some(spawn("receive", move || network.run())?);
        Ok(Receiver { outbox, address, ended, network })
    }

    /// Interface for the web server.
    pub fn hub(&self) -> Arc<dyn Receivers> {
        Arc::new(self.outbox.clone())
    }

    /// Asks all senders for a keyframe when called, from any thread: for whom their frames are passed on to.
    pub fn keyframe_request(&self) -> impl Fn() + Send + 'static {
        let outbox = self.outbox.clone();
        move || outbox.send(Message::Keyframe)
    }

    /// The UDP address that media comes to, behind the emulated links.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns true while it still runs.
    pub fn is_running(&self) -> bool {
        self.network.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// The senders that are here, in order of joining.
    pub fn senders(&self) -> Vec<SenderReport> {
        self.outbox.senders()
    }

    /// A sender that has left since, the first to leave first.
    pub fn take_ended(&self) -> Option<Observed> {
        self.ended.try_recv().ok()
    }

    /// Ends all sessions. Returns the senders that were not taken before, and the error if it had ended by itself.
    pub fn finish(mut self) -> (Vec<Observed>, Result<(), ReceiveError>) {
        let ended = self.end();
        (self.ended.try_iter().collect(), ended)
    }

    fn end(&mut self) -> Result<(), ReceiveError> {
        self.outbox.send(Message::Stop);
        match self.network.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
