//! The DTLS handshake: authenticates the peer and derives the media keys (RFC 5763, RFC 5764).

use std::sync::Arc;
use std::time::{Duration, Instant};

use dimpl::{Error, Output, ProtocolVersion, SrtpProfile, UnexpectedMessageError};

use thalweg_units::Span;

use crate::identity::fingerprint;
use crate::srtp::{Keys, Profile};
use crate::statistics::Refusal;
use crate::{Config, DtlsRole, DtlsVersions, Fingerprint, Identity, TransportError};

/// Buffer for one record of a handshake flight, which `dimpl` splits to its MTU.
const BUFFER: usize = 2048;

/// Max number of retransmitted flights: the timeout doubles each time, so that these outlast every [`Config::connect`].
const FLIGHTS: usize = 20;

/// The longest handshake message accepted. The longest one of WebRTC is a certificate, mostly self-signed, of 300 bytes to
/// 2 kB.
const MESSAGE: u32 = 1 << 16;

/// The highest number of a handshake message accepted: a handshake of either version has at most a dozen of each side
/// (RFC 6347 section 4.2.4, RFC 9147 section 5.8).
const MESSAGES: u16 = 32;

/// Results of the handshake.
pub(crate) enum Progress {
    /// A datagram for the peer.
    Transmit(Vec<u8>),
    /// The handshake is done; our keys, then the peer's.
    Connected(Keys, Keys),
    /// Application data, which is not used here.
    ApplicationData,
    /// The peer closed the connection.
    Closed,
    /// The handshake failed.
    Failed(TransportError),
}

/// A DTLS handshake and the records after it.
///
/// Keys are handed out only when the peer's certificate is the announced one *and* the handshake, which proves that the
/// peer has its private key, is complete.
pub(crate) struct Dtls {
    engine: dimpl::Dtls,
    expected: Fingerprint,
    started: bool,
    verified: bool,
    finished: bool,
    handed_out: bool,
    keys: Option<(Keys, Keys)>,
    due: Instant,
    buffer: Vec<u8>,
    over: bool,
}

impl Dtls {
    /// Creates a waiting server; [`Dtls::start`] starts it.
    pub(crate) fn new(
        config: &Config,
        identity: &Identity,
        expected: Fingerprint,
        now: Instant,
    ) -> Result<Dtls, TransportError> {
        // A cookie proves that the peer receives where it sends from, which an ICE check has already proved; a lite
        // agent makes no checks.
        // The connection's timeout decides when to give up, not a count of flights.
        let settings = dimpl::Config::builder()
            .require_client_certificate(true)
            .use_server_cookie(config.lite)
            .flight_start_rto(duration(config.flight))
            .flight_retries(FLIGHTS)
            .handshake_timeout(2 * duration(config.connect));
        let settings = Arc::new(settings.build().map_err(|error| TransportError::Dtls(error.to_string()))?);
        let make = match config.versions {
            DtlsVersions::Best => dimpl::Dtls::new_auto,
            DtlsVersions::Only12 => dimpl::Dtls::new_12,
            DtlsVersions::Only13 => dimpl::Dtls::new_13,
        };
        Ok(Dtls {
            engine: make(settings, identity.certificate(), now),
            expected,
            started: false,
            verified: false,
            finished: false,
            handed_out: false,
            keys: None,
            due: now,
            buffer: vec![0; BUFFER],
            over: false,
        })
    }

    pub(crate) fn expected(&self) -> Fingerprint {
        self.expected
    }

    pub(crate) fn version(&self) -> Option<ProtocolVersion> {
        self.engine.protocol_version().filter(|_| self.finished)
    }

    /// Takes the role and starts, once there is a path.
    pub(crate) fn start(&mut self, role: DtlsRole, now: Instant) -> Result<(), TransportError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        self.engine.set_active(role == DtlsRole::Client);
        self.on_timeout(now)
    }

    /// Processes a datagram; the outer error means that it could not be used, the inner one that the handshake failed.
    /// A server may receive handshake datagrams before it has a path; a client cannot, because it starts the handshake.
    pub(crate) fn on_datagram(
        &mut self,
        now: Instant,
        role: DtlsRole,
        datagram: &[u8],
    ) -> Result<Result<(), TransportError>, Refusal> {
        if self.over || (!self.started && role == DtlsRole::Client) || !is_plausible(datagram) {
            return Err(Refusal::Dtls);
        }
        self.started = true;
        let result = self.engine.handle_timeout(now).and_then(|()| self.engine.handle_packet(datagram));
        match result {
            // Rejected without harm: before the version is known, any datagram other than a first answer; and what there is
            // no room for, which a peer sends again.
            Err(
                Error::UnexpectedMessage(UnexpectedMessageError::UnrecognizedAutoServerResponse)
                | Error::ReceiveQueueFull
                | Error::TooManyClientHelloFragments,
            ) => Err(Refusal::Dtls),
            result => Ok(self.fatal(result)),
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) -> Result<(), TransportError> {
        if self.over {
            return Ok(());
        }
        let result = self.engine.handle_timeout(now);
        self.fatal(result)
    }

    /// Sends `close_notify`.
    pub(crate) fn close(&mut self) {
        // If the engine cannot send it, there is no peer to send it to.
        let _ = self.engine.close();
    }

    /// When the next timeout is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        (!self.over).then_some(self.due)
    }

    /// The next result; `None` when there are no more.
    pub(crate) fn poll(&mut self) -> Option<Progress> {
        while !self.over {
            let failure = match self.engine.poll_output(&mut self.buffer) {
                Output::Packet(packet) => return Some(Progress::Transmit(packet.to_vec())),
                Output::BufferTooSmall { needed } if needed <= 1 << 16 => {
                    self.buffer.resize(needed, 0);
                    continue;
                }
                Output::BufferTooSmall { .. } => Some(TransportError::Dtls("a record of over 64 kB".to_owned())),
                Output::PeerCert(certificate) => match fingerprint(certificate) {
                    found if found == self.expected => {
                        self.verified = true;
                        None
                    }
                    found => Some(TransportError::Fingerprint { expected: self.expected, found }),
                },
                Output::KeyingMaterial(material, profile) => {
                    let client = self.engine.is_active();
                    match profile_of(profile).and_then(|profile| Keys::split(profile, &material, client)) {
                        Ok(keys) => {
                            self.keys = Some(keys);
                            None
                        }
                        Err(error) => Some(error),
                    }
                }
                Output::Connected => {
                    self.finished = true;
                    None
                }
                Output::ApplicationData(_) => return Some(Progress::ApplicationData),
                Output::CloseNotify => {
                    self.over = true;
                    return Some(Progress::Closed);
                }
                Output::Timeout(due) => {
                    self.due = due;
                    if !self.finished || self.handed_out {
                        return None;
                    }
                    self.handed_out = true;
                    match self.keys.take() {
                        Some((ours, theirs)) if self.verified => return Some(Progress::Connected(ours, theirs)),
                        Some(_) => Some(TransportError::NoCertificate),
                        None => Some(TransportError::NoKeys),
                    }
                }
                _ => None,
            };
            if let Some(error) = failure {
                self.over = true;
                self.keys = None;
                return Some(Progress::Failed(error));
            }
        }
        None
    }

    fn fatal(&mut self, result: Result<(), Error>) -> Result<(), TransportError> {
        result.map_err(|error| {
            self.over = true;
            TransportError::Dtls(error.to_string())
        })
    }
}

/// Returns true if every unencrypted handshake fragment in the datagram can belong to a message of a handshake. `dimpl`
/// keeps fragments of any message until it is whole, so a few of messages that never will be would take the place of
/// all others.
fn is_plausible(mut datagram: &[u8]) -> bool {
    const HANDSHAKE: u8 = 22;
    // Type, version, epoch, sequence number and length (RFC 6347 section 4.1).
    while let Some((head, rest)) = datagram.split_first_chunk::<13>() {
        // Anything but the records that are not encrypted (RFC 9147 section 4.1) has another header.
        if !(20..=26).contains(&head[0]) {
            return true;
        }
        let length = usize::from(u16::from_be_bytes([head[11], head[12]]));
        let Some((body, next)) = rest.split_at_checked(length) else { return true };
        if head[0] == HANDSHAKE
            && head[3..5] == [0, 0]
            // Type, length, number, fragment offset and fragment length (RFC 6347 section 4.2.2).
            && let Some(message) = body.first_chunk::<12>()
        {
            let three = |at: usize| u32::from_be_bytes([0, message[at], message[at + 1], message[at + 2]]);
            let number = u16::from_be_bytes([message[4], message[5]]);
            let (length, offset, fragment) = (three(1), three(6), three(9));
            if length > MESSAGE || number > MESSAGES || offset + fragment > length {
                return false;
            }
        }
        datagram = next;
    }
    true
}

fn duration(span: Span) -> Duration {
    Duration::from_nanos(span.as_nanos().unsigned_abs())
}

fn profile_of(profile: SrtpProfile) -> Result<Profile, TransportError> {
    match profile {
        SrtpProfile::AES128_CM_SHA1_80 => Ok(Profile::Aes128CmSha1_80),
        SrtpProfile::AEAD_AES_128_GCM => Ok(Profile::AeadAes128Gcm),
        SrtpProfile::AEAD_AES_256_GCM => Ok(Profile::AeadAes256Gcm),
        other => Err(TransportError::Srtp(format!("{other} is not spoken here"))),
    }
}
