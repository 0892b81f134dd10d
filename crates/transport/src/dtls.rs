//! The handshake: who the peer is, and the keys of media (RFC 5763, RFC 5764).

use std::sync::Arc;
use std::time::{Duration, Instant};

use dimpl::{Error, Output, ProtocolVersion, SrtpProfile, UnexpectedMessageError};

use thalweg_units::Span;

use crate::identity::fingerprint;
use crate::srtp::{Keys, Profile};
use crate::statistics::Refusal;
use crate::{Config, DtlsRole, DtlsVersions, Fingerprint, Identity, TransportError};

/// Room for one record of a handshake flight, which `dimpl` cuts to its MTU.
const BUFFER: usize = 2048;

/// Flights sent again: each waits twice as long as the one before, so that these outlast every [`Config::connect`].
const FLIGHTS: usize = 20;

/// What came out of the handshake.
pub(crate) enum Progress {
    /// A datagram for the peer.
    Transmit(Vec<u8>),
    /// It is done; our keys, then theirs.
    Connected(Keys, Keys),
    /// Data of an application, which there is none here.
    ApplicationData,
    /// The peer says goodbye.
    Closed,
    /// It cannot be done.
    Failed(TransportError),
}

/// One handshake, and the little that follows it.
///
/// Keys are handed out only when the certificate shown is the one announced *and* the handshake, which proves that the other
/// end has its private key, is complete.
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
    /// One that waits, as a server; [`Dtls::start`] makes it go.
    pub(crate) fn new(
        config: &Config,
        identity: &Identity,
        expected: Fingerprint,
        now: Instant,
    ) -> Result<Dtls, TransportError> {
        // What a cookie proves, that the peer receives where it sends from, a check has proved before; an end that
        // is lite makes none.
        // When to give up is the connection's to say, not a count of flights.
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

    /// There is a path: takes the role.
    pub(crate) fn start(&mut self, role: DtlsRole, now: Instant) -> Result<(), TransportError> {
        if self.started {
            return Ok(());
        }
        self.started = true;
        self.engine.set_active(role == DtlsRole::Client);
        self.on_timeout(now)
    }

    /// Takes a datagram; the outer error says that it could not be used, the inner one that nothing more can.
    /// A server may hear of the handshake before it has a path, a client began it.
    pub(crate) fn on_datagram(
        &mut self,
        now: Instant,
        role: DtlsRole,
        datagram: &[u8],
    ) -> Result<Result<(), TransportError>, Refusal> {
        if self.over || (!self.started && role == DtlsRole::Client) {
            return Err(Refusal::Dtls);
        }
        self.started = true;
        let result = self.engine.handle_timeout(now).and_then(|()| self.engine.handle_packet(datagram));
        match result {
            // Before the version is known anything but a first answer is refused in a way that harms nothing.
            Err(Error::UnexpectedMessage(UnexpectedMessageError::UnrecognizedAutoServerResponse)) => Err(Refusal::Dtls),
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

    /// Says goodbye.
    pub(crate) fn close(&mut self) {
        // An engine that cannot say it has nobody to say it to.
        let _ = self.engine.close();
    }

    /// When something is due.
    pub(crate) fn due(&self) -> Option<Instant> {
        (!self.over).then_some(self.due)
    }

    /// What came out since; `None` when there is no more.
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
