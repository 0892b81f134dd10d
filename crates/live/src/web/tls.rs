//! TLS of the page and of signalling. Without it who is on the path reads the token, and can exchange the fingerprints
//! of the certificates that media is protected by.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use rustls::ServerConfig;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use x509_cert::Certificate;
use x509_cert::der::Decode;
use x509_cert::time::Validity;

/// A certificate that a server shows, with its key.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    validity: Option<Validity>,
}

/// Why a certificate and a key cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate's file has none.
    #[error(
        "no certificate in it: {0}; it must have the server's certificate and then its signers', each as -----BEGIN CERTIFICATE-----"
    )]
    Certificate(String),
    /// The key's file has none.
    #[error("no private key in it: {0}; it must have one as -----BEGIN PRIVATE KEY-----, without a passphrase")]
    Key(String),
    /// The two do not belong together, or are of a kind that TLS does not use.
    #[error("the certificate and the key cannot be used together: {0}")]
    Pair(#[from] rustls::Error),
}

impl Tls {
    /// From two PEM texts: the server's certificate, followed by those that lead from it to its authority, and the
    /// server's private key (PKCS #8, PKCS #1 or SEC 1).
    ///
    /// # Errors
    /// When one of them is missing or malformed, or the key is another certificate's.
    pub fn read(certificates: &[u8], key: &[u8]) -> Result<Tls, TlsError> {
        let chain = CertificateDer::pem_slice_iter(certificates).collect::<Result<Vec<_>, PemError>>();
        let chain = chain.map_err(|error| TlsError::Certificate(error.to_string()))?;
        if chain.is_empty() {
            return Err(TlsError::Certificate("it has none".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| TlsError::Key(error.to_string()))?;
        let parsed = chain.first().and_then(|first| Certificate::from_der(first).ok());
        let validity = parsed.map(|certificate| *certificate.tbs_certificate().validity());
        // The cryptography of DTLS.
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?
            .with_no_client_auth()
            .with_single_cert(chain, key)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), validity })
    }

    /// Why a client refuses the certificate at this time, if its dates are the reason.
    pub fn outdated(&self, now: SystemTime) -> Option<String> {
        let Validity { not_before, not_after, .. } = self.validity?;
        if now < not_before.to_system_time() {
            return Some(format!("the certificate is not valid before {not_before}"));
        }
        (now > not_after.to_system_time())
            .then(|| format!("the certificate has expired: it was valid until {not_after}"))
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.config.clone())
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Tls(..)")
    }
}
