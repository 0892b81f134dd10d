//! SRTP keys and protection profiles.

use thalweg_units::Bytes;

use crate::TransportError;

/// The SRTP protection profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// `SRTP_AES128_CM_SHA1_80` (RFC 5764 section 4.1.2).
    Aes128CmSha1_80,
    /// `SRTP_AEAD_AES_128_GCM` (RFC 7714 section 14.2).
    AeadAes128Gcm,
    /// `SRTP_AEAD_AES_256_GCM` (RFC 7714 section 14.2).
    AeadAes256Gcm,
}

impl Profile {
    /// Bytes added to an RTP packet: the authentication tag.
    pub fn overhead(self) -> Bytes {
        Bytes::new(self.tag() as u64)
    }

    /// Length of the authentication tag in bytes.
    pub(super) fn tag(self) -> usize {
        match self {
            Profile::Aes128CmSha1_80 => 10,
            Profile::AeadAes128Gcm | Profile::AeadAes256Gcm => 16,
        }
    }

    /// Lengths in bytes of a master key and its salt (RFC 5764 section 4.1.2, RFC 7714 section 12).
    fn lengths(self) -> (usize, usize) {
        match self {
            Profile::Aes128CmSha1_80 => (16, 14),
            Profile::AeadAes128Gcm => (16, 12),
            Profile::AeadAes256Gcm => (32, 12),
        }
    }
}

/// A master key and its salt, for one direction of a connection.
#[derive(Clone)]
pub struct Keys {
    pub(super) profile: Profile,
    pub(super) key: Vec<u8>,
    pub(super) salt: Vec<u8>,
}

impl Keys {
    /// Creates keys from a master key and a master salt.
    ///
    /// # Errors
    /// When their lengths are not those of `profile`: 16 and 14 bytes, 16 and 12, 32 and 12.
    pub fn new(profile: Profile, key: &[u8], salt: &[u8]) -> Result<Keys, TransportError> {
        let lengths = profile.lengths();
        if (key.len(), salt.len()) != lengths {
            let (is, must) = ((key.len(), salt.len()), lengths);
            let text = format!("key and salt have {} and {} bytes, must have {} and {}", is.0, is.1, must.0, must.1);
            return Err(TransportError::Srtp(text));
        }
        Ok(Keys { profile, key: key.to_vec(), salt: salt.to_vec() })
    }

    /// The keys of both directions, ours first, from the DTLS exporter output (RFC 5764 section 4.2: client's key,
    /// server's key, client's salt, server's salt).
    ///
    /// # Errors
    /// When the length of `material` does not match `profile`.
    pub fn split(profile: Profile, material: &[u8], client: bool) -> Result<(Keys, Keys), TransportError> {
        let (key, salt) = profile.lengths();
        if material.len() != 2 * (key + salt) {
            let text = format!("{} bytes of keys, must be {} for {profile:?}", material.len(), 2 * (key + salt));
            return Err(TransportError::Srtp(text));
        }
        let (keys, salts) = material.split_at(2 * key);
        let of = |index: usize| Keys::new(profile, &keys[index * key..][..key], &salts[index * salt..][..salt]);
        let (of_client, of_server) = (of(0)?, of(1)?);
        Ok(if client { (of_client, of_server) } else { (of_server, of_client) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_keys_are_cut_as_rfc_5764_says_and_the_ends_mirror_each_other() {
        let material: Vec<u8> = (0..60).collect();
        let (ours, theirs) = Keys::split(Profile::Aes128CmSha1_80, &material, true).unwrap();
        assert_eq!((&ours.key[..], &ours.salt[..]), (&material[..16], &material[32..46]));
        assert_eq!((&theirs.key[..], &theirs.salt[..]), (&material[16..32], &material[46..]));
        let (mirrored, _) = Keys::split(Profile::Aes128CmSha1_80, &material, false).unwrap();
        assert_eq!((mirrored.key, mirrored.salt), (theirs.key, theirs.salt));
        assert!(Keys::split(Profile::AeadAes256Gcm, &material, true).is_err());
    }
}
