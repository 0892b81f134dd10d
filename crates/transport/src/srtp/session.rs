//! The ciphers and packet formats: AES in counter mode with HMAC-SHA1 (RFC 3711), AES-GCM (RFC 7714).

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hmac;
use aws_lc_rs::iv::FixedLength;

use super::keys::{Keys, Profile};
use crate::TransportError;

/// Length of the authentication key of HMAC-SHA1 (RFC 3711 section 5.2).
const AUTHENTICATION_KEY: usize = 20;
/// Length of the salt as the counter takes it; the shorter one of GCM is padded with zeros (RFC 7714 section 11).
const SALT: usize = 14;
/// The part of an RTCP packet that stays readable: its first header and the sender's SSRC (RFC 3711 section 3.4).
const RTCP_CLEAR: usize = 8;
/// The bit that says that an SRTCP packet is encrypted (RFC 3711 section 3.4).
const ENCRYPTED: u32 = 1 << 31;

/// Which kind of packets a session key protects. Both are derived from one master key (RFC 3711 section 4.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rtp,
    Rtcp,
}

/// The session keys of one kind of packets in one direction. It has no state of streams: which packet index is protected,
/// and which is new, is the caller's to know.
pub(super) struct Session {
    cipher: Cipher,
    salt: [u8; SALT],
    pub(super) profile: Profile,
}

enum Cipher {
    Counter { encryption: EncryptingKey, authentication: hmac::Key },
    Gcm(Box<LessSafeKey>),
}

impl Session {
    /// Derives the session keys (RFC 3711 section 4.3.1, with a key derivation rate of zero).
    ///
    /// # Errors
    /// When the cryptographic library refuses the keys.
    pub(super) fn derive(keys: &Keys, kind: Kind) -> Result<Session, TransportError> {
        Session::try_derive(keys, kind).map_err(|_| TransportError::Srtp("the cipher refused its keys".into()))
    }

    fn try_derive(keys: &Keys, kind: Kind) -> Result<Session, Unspecified> {
        // Encryption, authentication and salt; RFC 3711 section 4.3.2.
        let [encryption, authentication, salt] = match kind {
            Kind::Rtp => [0, 1, 2],
            Kind::Rtcp => [3, 4, 5],
        };
        let master = block_cipher(&keys.key)?;
        let derive = |label: u8, out: &mut [u8]| {
            let mut counter = [0; 16];
            counter[..keys.salt.len()].copy_from_slice(&keys.salt);
            counter[7] ^= label;
            encrypt(&master, counter, out)
        };
        let mut key = vec![0; keys.key.len()];
        derive(encryption, &mut key)?;
        let mut session_salt = [0; SALT];
        derive(salt, &mut session_salt[..keys.salt.len()])?;
        let cipher = match keys.profile {
            Profile::Aes128CmSha1_80 => {
                let mut secret = [0; AUTHENTICATION_KEY];
                derive(authentication, &mut secret)?;
                let authentication = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &secret);
                Cipher::Counter { encryption: block_cipher(&key)?, authentication }
            }
            Profile::AeadAes128Gcm => Cipher::Gcm(Box::new(LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key)?))),
            Profile::AeadAes256Gcm => Cipher::Gcm(Box::new(LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key)?))),
        };
        Ok(Session { cipher, salt: session_salt, profile: keys.profile })
    }

    /// Protects an RTP packet whose header has `clear` bytes.
    ///
    /// # Errors
    /// When the cryptographic library fails.
    pub(super) fn seal_rtp(&self, packet: &[u8], clear: usize, ssrc: u32, index: u64) -> Result<Vec<u8>, Unspecified> {
        let mut out = Vec::with_capacity(packet.len() + self.profile.tag());
        out.extend_from_slice(packet);
        let (header, payload) = out.split_at_mut(clear);
        match &self.cipher {
            Cipher::Counter { encryption, authentication } => {
                encrypt(encryption, self.counter(ssrc, index), payload)?;
                let tag = tag(authentication, &out, &rollover(index));
                out.extend_from_slice(&tag.as_ref()[..self.profile.tag()]);
            }
            Cipher::Gcm(key) => {
                let tag = key.seal_in_place_separate_tag(self.nonce(ssrc, index), Aad::from(&*header), payload)?;
                out.extend_from_slice(tag.as_ref());
            }
        }
        Ok(out)
    }

    /// Authenticates and decrypts an SRTP packet whose header has `clear` bytes.
    ///
    /// # Errors
    /// When it is not authentic, or too short to be.
    pub(super) fn open_rtp(&self, packet: &[u8], clear: usize, ssrc: u32, index: u64) -> Result<Vec<u8>, Unspecified> {
        let end = packet.len().checked_sub(self.profile.tag()).filter(|end| *end >= clear).ok_or(Unspecified)?;
        let (sealed, their_tag) = packet.split_at(end);
        match &self.cipher {
            Cipher::Counter { encryption, authentication } => {
                let ours = tag(authentication, sealed, &rollover(index));
                verify_slices_are_equal(&ours.as_ref()[..self.profile.tag()], their_tag)?;
                let mut out = sealed.to_vec();
                encrypt(encryption, self.counter(ssrc, index), &mut out[clear..])?;
                Ok(out)
            }
            Cipher::Gcm(key) => {
                let mut out = packet.to_vec();
                let (header, payload) = out.split_at_mut(clear);
                key.open_in_place(self.nonce(ssrc, index), Aad::from(&*header), payload)?;
                out.truncate(end);
                Ok(out)
            }
        }
    }

    /// Protects a compound RTCP packet of at least eight bytes.
    ///
    /// # Errors
    /// When it is shorter, or the cryptographic library fails.
    pub(super) fn seal_rtcp(&self, compound: &[u8], ssrc: u32, index: u32) -> Result<Vec<u8>, Unspecified> {
        let word = (ENCRYPTED | index).to_be_bytes();
        let mut out = Vec::with_capacity(compound.len() + word.len() + self.profile.tag());
        out.extend_from_slice(compound);
        let (header, rest) = out.split_at_mut_checked(RTCP_CLEAR).ok_or(Unspecified)?;
        match &self.cipher {
            Cipher::Counter { encryption, authentication } => {
                encrypt(encryption, self.counter(ssrc, u64::from(index)), rest)?;
                out.extend_from_slice(&word);
                let tag = tag(authentication, &out, &[]);
                out.extend_from_slice(&tag.as_ref()[..self.profile.tag()]);
            }
            Cipher::Gcm(key) => {
                let clear = Aad::from([&*header, &word].concat());
                let tag = key.seal_in_place_separate_tag(self.nonce(ssrc, u64::from(index)), clear, rest)?;
                out.extend_from_slice(tag.as_ref());
                out.extend_from_slice(&word);
            }
        }
        Ok(out)
    }

    /// The index of an SRTCP packet, and whether it says that it is encrypted; `None` when it is too short. Counter mode
    /// has the word before the tag (RFC 3711 section 3.4), GCM at the very end (RFC 7714 section 9).
    pub(super) fn rtcp_index(&self, packet: &[u8]) -> Option<(u32, bool)> {
        let after = if matches!(self.cipher, Cipher::Gcm(_)) { 0 } else { self.profile.tag() };
        let word =
            packet.get(..packet.len().checked_sub(after)?)?.last_chunk().map(|word| u32::from_be_bytes(*word))?;
        Some((word & !ENCRYPTED, word & ENCRYPTED != 0))
    }

    /// Authenticates and decrypts an SRTCP packet with this index, which is marked as encrypted.
    ///
    /// # Errors
    /// When it is not authentic, or too short to be.
    pub(super) fn open_rtcp(&self, packet: &[u8], ssrc: u32, index: u32) -> Result<Vec<u8>, Unspecified> {
        let word = (ENCRYPTED | index).to_be_bytes();
        let end = packet.len().checked_sub(self.profile.tag() + word.len()).filter(|end| *end >= RTCP_CLEAR);
        let end = end.ok_or(Unspecified)?;
        match &self.cipher {
            Cipher::Counter { encryption, authentication } => {
                let (sealed, their_tag) = packet.split_at(end + word.len());
                let ours = tag(authentication, sealed, &[]);
                verify_slices_are_equal(&ours.as_ref()[..self.profile.tag()], their_tag)?;
                let mut out = packet[..end].to_vec();
                encrypt(encryption, self.counter(ssrc, u64::from(index)), &mut out[RTCP_CLEAR..])?;
                Ok(out)
            }
            Cipher::Gcm(key) => {
                let mut out = packet[..packet.len() - word.len()].to_vec();
                let (header, rest) = out.split_at_mut(RTCP_CLEAR);
                let clear = Aad::from([&*header, &word].concat());
                key.open_in_place(self.nonce(ssrc, u64::from(index)), clear, rest)?;
                out.truncate(end);
                Ok(out)
            }
        }
    }

    /// The first counter of a packet: salt, SSRC and index, each shifted, in one number (RFC 3711 section 4.1.1).
    fn counter(&self, ssrc: u32, index: u64) -> [u8; 16] {
        let mut counter = [0; 16];
        counter[..SALT].copy_from_slice(&self.salt);
        (u128::from_be_bytes(counter) ^ u128::from(ssrc) << 64 ^ u128::from(index) << 16).to_be_bytes()
    }

    /// The nonce of a packet: two zeros, SSRC, 48 bits of index, under the salt (RFC 7714 sections 8.1 and 9.1).
    fn nonce(&self, ssrc: u32, index: u64) -> Nonce {
        let mut nonce = [0; 16];
        nonce[4..].copy_from_slice(&self.salt[..12]);
        let nonce = u128::from_be_bytes(nonce) ^ u128::from(ssrc) << 48 ^ u128::from(index);
        let mut low = [0; 12];
        low.copy_from_slice(&nonce.to_be_bytes()[4..]);
        Nonce::assume_unique_for_key(low)
    }
}

/// AES of this key in counter mode; 16 or 32 bytes.
fn block_cipher(key: &[u8]) -> Result<EncryptingKey, Unspecified> {
    let algorithm = if key.len() == 32 { &AES_256 } else { &AES_128 };
    EncryptingKey::ctr(UnboundCipherKey::new(algorithm, key)?)
}

/// Encrypts, or decrypts, in place: what the keystream that begins with this counter makes of it.
fn encrypt(key: &EncryptingKey, counter: [u8; 16], bytes: &mut [u8]) -> Result<(), Unspecified> {
    key.less_safe_encrypt(bytes, EncryptionContext::Iv128(FixedLength::from(counter))).map(drop)
}

/// The tag over a packet and what follows it unsent, before it is cut (RFC 3711 section 4.2).
fn tag(key: &hmac::Key, packet: &[u8], after: &[u8]) -> hmac::Tag {
    let mut context = hmac::Context::with_key(key);
    context.update(packet);
    context.update(after);
    context.sign()
}

/// The rollover counter, which the tag of counter mode covers beside the packet.
fn rollover(index: u64) -> [u8; 4] {
    ((index >> 16) as u32).to_be_bytes()
}
