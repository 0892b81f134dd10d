//! Certificate authorities.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::error::WhipError;

/// The certificates that authenticate servers, instead of the authorities that the web trusts: a server's certificate
/// must be signed by one of them, or be one of them. This is for servers with self-made certificates. A server must not
/// present a CA certificate (`basicConstraints=CA:TRUE`), even one that is listed here.
#[derive(Clone, PartialEq, Eq)]
pub struct Authorities(Arc<[CertificateDer<'static>]>);

impl Authorities {
    /// The certificates in a PEM text (`-----BEGIN CERTIFICATE-----`); everything else in it is ignored.
    ///
    /// # Errors
    /// [`WhipError::Authorities`] if there is none, or one is malformed.
    pub fn read(pem: &[u8]) -> Result<Authorities, WhipError> {
        let wrong = |why: String| WhipError::Authorities { why };
        let found = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>();
        let found = found.map_err(|error| wrong(error.to_string()))?;
        if found.is_empty() {
            return Err(wrong("there is no certificate in it".to_owned()));
        }
        let mut store = RootCertStore::empty();
        for (index, certificate) in found.iter().enumerate() {
            store.add(certificate.clone()).map_err(|error| wrong(format!("certificate {}: {error}", index + 1)))?;
        }
        Ok(Authorities(found.into()))
    }

    /// A TLS configuration that trusts these certificates and no others.
    pub(super) fn tls(&self) -> TlsConfig {
        let roots = self.0.iter().map(|certificate| Certificate::from_der(certificate).to_owned());
        tls(RootCerts::from(roots))
    }
}

/// A TLS configuration that trusts these roots, with the cryptography of aws-lc, as for DTLS.
pub(super) fn tls(roots: RootCerts) -> TlsConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    TlsConfig::builder().unversioned_rustls_crypto_provider(provider).root_certs(roots).build()
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorities({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_certificate_is_refused_with_what_is_needed() {
        let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        let cut = "-----BEGIN CERTIFICATE-----\nAAAA\n";
        for (text, named) in
            [("", "no certificate"), ("hello", "no certificate"), (garbage, "certificate 1"), (cut, "")]
        {
            let error = Authorities::read(text.as_bytes()).unwrap_err();
            assert!(!error.may_pass());
            let error = error.to_string();
            assert!(error.contains("BEGIN CERTIFICATE") && error.contains(named), "{text:?}: {error}");
        }
    }
}
