//! Compares with libsrtp, the SRTP of browsers: Debian's libsrtp2 2.5, whose ciphers are those of NSS, so that it
//! shares neither its own code nor its cryptography with the crate. (`webrtc-srtp`, the other implementation in Rust,
//! has the same origin as `rtc-srtp`; the `srtp` crate, which wraps libsrtp, requires clang and OpenSSL.)
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr;
use std::sync::Once;

use super::world::rtp;
use proptest::prelude::*;
use thalweg_transport::srtp::{Inbound, Keys, Outbound};
use thalweg_transport::{Profile, Refusal};

/// `srtp_crypto_policy_t`.
#[repr(C)]
#[derive(Default)]
struct Crypto {
    cipher: u32,
    key_length: c_int,
    authentication: u32,
    authentication_key_length: c_int,
    tag_length: c_int,
    services: c_uint,
}

/// `srtp_policy_t`.
#[repr(C)]
struct Policy {
    ssrc_type: c_uint,
    ssrc: c_uint,
    rtp: Crypto,
    rtcp: Crypto,
    key: *const u8,
    keys: *mut c_void,
    key_count: c_ulong,
    deprecated: *mut c_void,
    window: c_ulong,
    allow_repeat: c_int,
    encrypted_extensions: *mut c_int,
    encrypted_extension_count: c_int,
    next: *mut Policy,
}

type Protect = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int) -> c_int;

#[link(name = "srtp2")]
unsafe extern "C" {
    fn srtp_init() -> c_int;
    fn srtp_create(session: *mut *mut c_void, policy: *const Policy) -> c_int;
    fn srtp_dealloc(session: *mut c_void) -> c_int;
    fn srtp_crypto_policy_set_from_profile_for_rtp(policy: *mut Crypto, profile: c_uint) -> c_int;
    fn srtp_crypto_policy_set_from_profile_for_rtcp(policy: *mut Crypto, profile: c_uint) -> c_int;
    fn srtp_protect(session: *mut c_void, packet: *mut c_void, length: *mut c_int) -> c_int;
    fn srtp_unprotect(session: *mut c_void, packet: *mut c_void, length: *mut c_int) -> c_int;
    fn srtp_protect_rtcp(session: *mut c_void, packet: *mut c_void, length: *mut c_int) -> c_int;
    fn srtp_unprotect_rtcp(session: *mut c_void, packet: *mut c_void, length: *mut c_int) -> c_int;
}

/// A libsrtp session for one direction.
struct Theirs(*mut c_void);

impl Drop for Theirs {
    fn drop(&mut self) {
        // SAFETY: the session was made by `srtp_create` and is used no more.
        unsafe { srtp_dealloc(self.0) };
    }
}

impl Theirs {
    fn new(which: usize, key: &[u8], salt: &[u8], outbound: bool) -> Theirs {
        static INIT: Once = Once::new();
        // SAFETY: once, before all else.
        INIT.call_once(|| assert_eq!(unsafe { srtp_init() }, 0));
        let number = [1, 7, 8][which];
        let (mut rtp, mut rtcp) = (Crypto::default(), Crypto::default());
        // SAFETY: both structures are whole, and written to only here.
        unsafe {
            assert_eq!(srtp_crypto_policy_set_from_profile_for_rtp(&mut rtp, number), 0);
            assert_eq!(srtp_crypto_policy_set_from_profile_for_rtcp(&mut rtcp, number), 0);
        }
        let material = [key, salt].concat();
        assert_eq!(rtp.key_length as usize, material.len());
        let policy = Policy {
            ssrc_type: if outbound { 3 } else { 2 },
            ssrc: 0,
            rtp,
            rtcp,
            key: material.as_ptr(),
            keys: ptr::null_mut(),
            key_count: 0,
            deprecated: ptr::null_mut(),
            window: 1024,
            allow_repeat: 0,
            encrypted_extensions: ptr::null_mut(),
            encrypted_extension_count: 0,
            next: ptr::null_mut(),
        };
        let mut session = ptr::null_mut();
        // SAFETY: the policy and the key it points to live until `srtp_create`, which copies them, returns.
        assert_eq!(unsafe { srtp_create(&mut session, &policy) }, 0);
        Theirs(session)
    }

    fn call(&mut self, function: Protect, packet: &[u8]) -> Result<Vec<u8>, c_int> {
        // `SRTP_MAX_TRAILER_LEN` is less than 200.
        let mut buffer = vec![0u32; packet.len().div_ceil(4) + 50];
        let mut length = packet.len() as c_int;
        // SAFETY: the buffer is aligned as libsrtp asks, and has room for the packet and what protection adds.
        let status = unsafe {
            ptr::copy_nonoverlapping(packet.as_ptr(), buffer.as_mut_ptr().cast(), packet.len());
            function(self.0, buffer.as_mut_ptr().cast(), &mut length)
        };
        let bytes = buffer.iter().flat_map(|word| word.to_ne_bytes()).take(length.max(0) as usize).collect();
        if status == 0 { Ok(bytes) } else { Err(status) }
    }
}

const PROFILES: [(Profile, usize, usize); 3] =
    [(Profile::Aes128CmSha1_80, 16, 14), (Profile::AeadAes128Gcm, 16, 12), (Profile::AeadAes256Gcm, 32, 12)];
const REPLAYED: c_int = 9;
const OLD: c_int = 10;
const UNAUTHENTIC: c_int = 7;

fn report(ssrc: u32, words: &[u32]) -> Vec<u8> {
    let mut packet = vec![0x81, 206, 0, words.len() as u8 + 1];
    packet.extend(ssrc.to_be_bytes());
    packet.extend(words.iter().flat_map(|word| word.to_be_bytes()));
    packet
}

proptest! {
    #[test]
    fn both_make_the_same_packets_and_read_each_other(
        which in 0..3usize, material: [u8; 46], first in 0..32_768u16, ssrc: u32,
        steps in prop::collection::vec((1..31_000u16, prop::collection::vec(any::<u8>(), 0..80)), 1..10),
        words in prop::collection::vec(any::<u32>(), 1..10),
    ) {
        let (profile, key, salt) = PROFILES[which];
        let (key, salt) = (&material[..key], &material[32..][..salt]);
        let keys = Keys::new(profile, key, salt).unwrap();
        let (mut outbound, mut inbound) = (Outbound::new(&keys, 4).unwrap(), Inbound::new(keys, 4, 1024).unwrap());
        let mut theirs = [true, false].map(|outbound| Theirs::new(which, key, salt, outbound));
        let mut sequence = first;
        for (step, payload) in steps {
            let packet = rtp(ssrc, sequence, &payload);
            let ours = outbound.rtp(&packet).unwrap();
            prop_assert_eq!(theirs[0].call(srtp_protect, &packet), Ok(ours.clone()));
            prop_assert_eq!(theirs[1].call(srtp_unprotect, &ours), Ok(packet.clone()));
            prop_assert_eq!(inbound.rtp(&ours), Ok(packet));
            sequence = sequence.wrapping_add(step);
        }
        for count in 0..3 {
            let packet = report(ssrc, &words[..words.len().min(count + 1)]);
            let ours = outbound.rtcp(&packet).unwrap();
            prop_assert_eq!(theirs[0].call(srtp_protect_rtcp, &packet), Ok(ours.clone()));
            prop_assert_eq!(theirs[1].call(srtp_unprotect_rtcp, &ours), Ok(packet.clone()));
            prop_assert_eq!(inbound.rtcp(&ours), Ok(packet));
        }
    }

    #[test]
    fn both_take_and_refuse_the_same_packets_for_the_same_reason(
        which in 0..3usize, first in 0..32_768u16, steps in prop::collection::vec(1..300u16, 200),
        picks in prop::collection::vec((0..20usize, 0..10u8, any::<prop::sample::Index>()), 400),
    ) {
        let (profile, key, salt) = PROFILES[which];
        let (key, salt) = (&vec![1; key][..], &vec![2; salt][..]);
        let keys = Keys::new(profile, key, salt).unwrap();
        let (mut outbound, mut inbound) = (Outbound::new(&keys, 4).unwrap(), Inbound::new(keys, 4, 1024).unwrap());
        let mut theirs = Theirs::new(which, key, salt, false);
        let mut sequence = first;
        let mut packets = Vec::new();
        for step in steps {
            packets.push(outbound.rtp(&rtp(7, sequence, b"payload")).unwrap());
            sequence = sequence.wrapping_add(step);
        }
        for (at, (back, what, place)) in picks.into_iter().enumerate() {
            let mut packet = packets[(at / 2).saturating_sub(if what < 5 { back } else { 0 })].clone();
            if what == 9 {
                let place = 12 + place.index(packet.len() - 12);
                packet[place] ^= 1;
            }
            let expected = match theirs.call(srtp_unprotect, &packet) {
                Err(REPLAYED) => Err(Refusal::Replayed),
                Err(OLD) => Err(Refusal::Old),
                Err(UNAUTHENTIC) => Err(Refusal::Unauthentic),
                // A changed extension length may leave an invalid packet.
                Err(_) => Err(Refusal::Malformed),
                Ok(plain) => Ok(plain),
            };
            prop_assert_eq!(inbound.rtp(&packet), expected, "{} {}", at, what);
        }
    }
}
