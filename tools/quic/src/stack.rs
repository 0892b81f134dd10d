//! The stacks: one end of a connection, without sockets and clock.

use std::time::Instant;

use thalweg_netsim::MarkReason;
use thalweg_quic_cc::Handle;
use thalweg_units::{Bytes, Ecn, Rate, Span};

/// A UDP payload on its way, with the two ECN bits of its IP header.
#[derive(Debug, Clone)]
pub struct Packet {
    pub payload: Vec<u8>,
    pub ecn: u8,
}

impl thalweg_netsim::Packet for Packet {
    fn ecn(&self) -> Ecn {
        Ecn::of_traffic_class(self.ecn)
    }

    fn mark(&mut self, _why: MarkReason) {
        self.ecn = Ecn::Ce.bits();
    }

    fn bleach(&mut self) {
        self.ecn = Ecn::NotCapable.bits();
    }
}

/// Something whole that the receiver has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// Bytes of a stream, by its number in order of opening; `end` after its last.
    Stream { number: u64, first: Option<u32>, size: u64, end: bool },
    /// A datagram, with the number at its beginning.
    Datagram { frame: u32, size: u64 },
}

/// A controller to send with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Controller {
    /// The stack's own.
    Cubic,
    NewReno,
    /// Its random numbers cannot be seeded: two runs differ a little.
    Bbr,
    /// Ours, by the scheme's name.
    Ours(&'static str),
}

impl Controller {
    pub fn name(self) -> &'static str {
        match self {
            Controller::Cubic => "their Cubic",
            Controller::NewReno => "their NewReno",
            Controller::Bbr => "their BBR",
            Controller::Ours(name) => name,
        }
    }
}

/// How both ends are set up. What is not here is as the stacks have it.
#[derive(Debug, Clone, Copy)]
pub struct Setup {
    pub controller: Controller,
    /// The rate before the first acknowledgement, and the least and most that the application can use; ours only.
    pub rates: [Rate; 3],
    /// Asks for an acknowledgement of each packet (the ACK frequency extension), instead of each second one or after 25
    /// ms.
    pub each_acknowledged: bool,
}

/// One end of a connection.
pub trait End {
    fn next_timeout(&mut self) -> Option<Instant>;
    fn on_timeout(&mut self, now: Instant);
    fn on_packet(&mut self, now: Instant, packet: Packet);
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet>;
    fn is_connected(&self) -> bool;
    /// Opens a stream and ends it after `size` bytes, of which the first four are `frame`.
    fn send_stream(&mut self, frame: u32, size: u64);
    /// Sends `size` bytes as datagrams, each beginning with `frame`.
    fn send_datagrams(&mut self, frame: u32, size: u64);
    /// Bytes of frames that wait in the sender: of datagrams those not sent, of streams those not acknowledged beyond the
    /// window.
    fn waiting(&mut self) -> u64;
    fn receive(&mut self) -> Vec<Received>;
    /// Bytes that may be in flight, and the smoothed round trip.
    fn window(&mut self) -> (Bytes, Span);
}

/// Sender and receiver.
pub struct Ends {
    pub sender: Box<dyn End>,
    pub receiver: Box<dyn End>,
    /// The application's end of our controller.
    pub handle: Option<Handle>,
}

/// The identity of the receiver, and what the sender trusts.
pub struct Tls {
    pub server: rustls::ServerConfig,
    pub client: rustls::ClientConfig,
}

impl Tls {
    /// All its parts have the same size in each run: Ed25519's signatures, and a serial number that is set.
    pub fn new() -> anyhow::Result<Tls> {
        use std::sync::Arc;
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519)?;
        let mut parameters = rcgen::CertificateParams::new(vec![NAME.to_string()])?;
        parameters.serial_number = Some(1u64.into());
        let certificate = parameters.self_signed(&key)?.der().clone();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.clone())?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let versions = [&rustls::version::TLS13];
        let server = rustls::ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate], rustls::pki_types::PrivateKeyDer::Pkcs8(key.serialize_der().into()))?;
        let client = rustls::ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Tls { server, client })
    }
}

pub const NAME: &str = "localhost";
/// Streams that may be open at once: a receiver of media reads them all.
pub const STREAMS: u32 = 10_000;
/// Bytes of datagrams that wait in the sender, as both stacks have it.
pub const DATAGRAMS: usize = 1024 * 1024;
/// The seed of both stacks' random numbers.
pub const SEED: [u8; 32] = [7; 32];
/// Payload of media.
pub static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
