//! A reference SRTP written from RFC 3711, 6188 and 7714, on the primitives of a cryptographic library: slow and
//! stateless, for comparison with the crate.
#![allow(dead_code)]

use aws_lc_rs::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{AES_128, AES_256, EncryptingKey, UnboundCipherKey};
use aws_lc_rs::hmac;
use thalweg_transport::Profile;

/// Session keys of one direction, for RTP or for RTCP.
pub struct Session {
    pub profile: Profile,
    pub key: Vec<u8>,
    pub salt: Vec<u8>,
    /// The authentication key, where there is a separate one.
    pub authentication: Vec<u8>,
}

/// `left ^ right`, byte by byte from the first.
fn xor(left: &mut [u8], right: &[u8]) {
    left.iter_mut().zip(right).for_each(|(left, right)| *left ^= right);
}

/// The keystream of AES in counter mode whose first block is `counter` (RFC 3711 section 4.1.1).
pub fn keystream(key: &[u8], mut counter: [u8; 16], length: usize) -> Vec<u8> {
    let algorithm = if key.len() == 32 { &AES_256 } else { &AES_128 };
    let cipher = EncryptingKey::ecb(UnboundCipherKey::new(algorithm, key).unwrap()).unwrap();
    let mut stream = Vec::new();
    while stream.len() < length {
        let mut block = counter;
        cipher.encrypt(&mut block).unwrap();
        stream.extend(block);
        counter = (u128::from_be_bytes(counter) + 1).to_be_bytes();
    }
    stream.truncate(length);
    stream
}

/// A session key of this label and length (RFC 3711 section 4.3.1 with a derivation rate of zero, section 4.3.3; RFC
/// 7714 section 11 pads its shorter salt with zeros).
pub fn derive(master_key: &[u8], master_salt: &[u8], label: u8, length: usize) -> Vec<u8> {
    let mut block = [0; 16];
    block[..master_salt.len()].copy_from_slice(master_salt);
    block[7] ^= label;
    keystream(master_key, block, length)
}

impl Session {
    /// The session keys for RTP, or for RTCP (labels 3 to 5).
    pub fn derive(profile: Profile, key: &[u8], salt: &[u8], rtcp: bool) -> Session {
        let label = if rtcp { 3 } else { 0 };
        let authentication = if profile == Profile::Aes128CmSha1_80 { 20 } else { 0 };
        Session {
            profile,
            key: derive(key, salt, label, key.len()),
            authentication: derive(key, salt, label + 1, authentication),
            salt: derive(key, salt, label + 2, salt.len()),
        }
    }

    /// Protects an RTP packet with this header length and rollover counter.
    pub fn rtp(&self, packet: &[u8], header: usize, turn: u32) -> Vec<u8> {
        let (ssrc, sequence) = (&packet[8..12], &packet[2..4]);
        match self.profile {
            Profile::Aes128CmSha1_80 => {
                // RFC 3711 section 4.1.1: SSRC at 2^64, index at 2^16; section 4.2: the rollover counter follows the
                // packet in the tag.
                let index = [&turn.to_be_bytes(), sequence].concat();
                let mut out = self.counter_mode(packet, header, ssrc, &index);
                out.extend(self.tag(&[&out, &turn.to_be_bytes()]));
                out
            }
            // RFC 7714 section 8.1: 00 00, SSRC, rollover counter, sequence number.
            _ => {
                let iv = [&[0; 2], ssrc, &turn.to_be_bytes(), sequence].concat();
                self.seal(&iv, &packet[..header], &packet[header..])
            }
        }
    }

    /// Protects a compound RTCP packet with this index.
    pub fn rtcp(&self, packet: &[u8], index: u32) -> Vec<u8> {
        let ssrc = &packet[4..8];
        let word = (index | 1 << 31).to_be_bytes();
        match self.profile {
            Profile::Aes128CmSha1_80 => {
                let long = [&[0; 2], &index.to_be_bytes()[..]].concat();
                let mut out = self.counter_mode(packet, 8, ssrc, &long);
                out.extend(word);
                out.extend(self.tag(&[&out]));
                out
            }
            // RFC 7714 section 9.1 and 9.2: the E flag and the index are authenticated and follow the tag.
            _ => {
                let iv = [&[0; 2], ssrc, &[0; 2], &index.to_be_bytes()].concat();
                let mut out = self.seal(&iv, &[&packet[..8], &word].concat(), &packet[8..]);
                out.drain(8..12);
                out.extend(word);
                out
            }
        }
    }

    fn counter_mode(&self, packet: &[u8], clear: usize, ssrc: &[u8], index: &[u8]) -> Vec<u8> {
        let mut counter = [0; 16];
        counter[..14].copy_from_slice(&self.salt);
        xor(&mut counter[4..8], ssrc);
        xor(&mut counter[8..14], index);
        let mut out = packet.to_vec();
        xor(&mut out[clear..], &keystream(&self.key, counter, packet.len() - clear));
        out
    }

    fn tag(&self, parts: &[&[u8]]) -> Vec<u8> {
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, &self.authentication);
        hmac::sign(&key, &parts.concat()).as_ref()[..10].to_vec()
    }

    /// `clear`, the encrypted rest and the tag.
    fn seal(&self, iv: &[u8], clear: &[u8], rest: &[u8]) -> Vec<u8> {
        let mut nonce = self.salt.clone();
        xor(&mut nonce, iv);
        let algorithm = if self.key.len() == 32 { &AES_256_GCM } else { &AES_128_GCM };
        let cipher = LessSafeKey::new(UnboundKey::new(algorithm, &self.key).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
        let mut sealed = rest.to_vec();
        cipher.seal_in_place_append_tag(nonce, Aad::from(clear), &mut sealed).unwrap();
        [clear, &sealed].concat()
    }
}

/// Bytes from hexadecimal digits; spaces are ignored.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}
