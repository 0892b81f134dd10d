//! The identity of this endpoint: a certificate and its key.

use std::sync::Arc;

use dimpl::DtlsCertificate;
use dimpl::certificate::{calculate_fingerprint, generate_self_signed_certificate};

use crate::{Credentials, Fingerprint, TransportError};

/// A self-signed certificate (ECDSA on P-256, which RFC 8827 section 6.5 makes mandatory) and its key, created once per
/// process; cheap to clone.
#[derive(Clone)]
pub struct Identity {
    certificate: Arc<DtlsCertificate>,
    fingerprint: Fingerprint,
}

impl Identity {
    /// Creates a certificate, valid for a year from now.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn generate() -> Result<Identity, TransportError> {
        let certificate =
            generate_self_signed_certificate().map_err(|error| TransportError::Identity(error.to_string()))?;
        let fingerprint = fingerprint(&certificate.certificate);
        Ok(Identity { certificate: Arc::new(certificate), fingerprint })
    }

    /// The SHA-256 fingerprint of the certificate; to be signalled.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The certificate and its key.
    pub(crate) fn certificate(&self) -> DtlsCertificate {
        (*self.certificate).clone()
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.fingerprint)
    }
}

/// The fingerprint of a certificate in DER.
pub(crate) fn fingerprint(certificate: &[u8]) -> Fingerprint {
    let mut digest = [0; 32];
    digest.copy_from_slice(&calculate_fingerprint(certificate));
    Fingerprint::new(digest)
}

/// Fresh credentials: 8 and 24 characters, 48 and 144 random bits (RFC 8445 section 5.3 requires 24 and 128).
///
/// The ones that `is` creates by itself come from a non-cryptographic generator.
pub(crate) fn credentials() -> Result<Credentials, TransportError> {
    /// `ice-char` of RFC 8839 section 5.4: 64 characters, so that six random bits select one.
    const CHARACTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text: String = random::<32>()?.iter().map(|byte| char::from(CHARACTERS[usize::from(byte & 63)])).collect();
    let (ufrag, password) = text.split_at(8);
    Ok(Credentials { ufrag: ufrag.to_owned(), password: password.to_owned() })
}

/// Random bytes of the system.
pub(crate) fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], TransportError> {
    let mut bytes = [0; LENGTH];
    aws_lc_rs::rand::fill(&mut bytes)
        .map_err(|_| TransportError::Identity("the system has no random numbers".into()))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_identities_differ_and_one_is_known_by_the_digest_of_its_certificate() {
        let (one, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_eq!(one.fingerprint(), fingerprint(&one.certificate().certificate));
    }

    #[test]
    fn credentials_have_the_lengths_and_letters_of_ice_and_never_repeat() {
        let (one, other) = (credentials().unwrap(), credentials().unwrap());
        for text in [&one.ufrag, &one.password] {
            assert!(text.bytes().all(|letter| letter.is_ascii_alphanumeric() || letter == b'+' || letter == b'/'));
        }
        assert_eq!((one.ufrag.len(), one.password.len()), (8, 24));
        assert!(one.ufrag != other.ufrag && one.password != other.password);
    }
}
