//! The test vectors of the RFCs. They provide session keys, which the crate derives internally: so the reference is
//! checked against the vectors, and the crate against the reference, byte by byte.

use super::reference::{Session, derive, hex, keystream};
use proptest::prelude::*;
use thalweg_transport::Profile;
use thalweg_transport::srtp::{Inbound, Keys, Outbound};

const PROFILES: [(Profile, usize, usize); 3] =
    [(Profile::Aes128CmSha1_80, 16, 14), (Profile::AeadAes128Gcm, 16, 12), (Profile::AeadAes256Gcm, 32, 12)];

#[test]
fn the_keystream_is_that_of_rfc_3711_appendix_b_2() {
    let key = hex("2B7E151628AED2A6ABF7158809CF4F3C");
    let counter = hex("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000").try_into().unwrap();
    let stream = keystream(&key, counter, 0xff02 * 16);
    assert_eq!(stream[..16], hex("E03EAD0935C95E80E166B16DD92B4EB4"));
    assert_eq!(stream[16..32], hex("D23513162B02D0F72A43A2FE4A5F97AB"));
    assert_eq!(stream[32..48], hex("41E95B3BB0A2E8DD477901E4FCA894C0"));
    assert_eq!(stream[0xfeff * 16..][..16], hex("EC8CDF7398607CB0F2D21675EA9EA1E4"));
    assert_eq!(stream[0xff00 * 16..][..16], hex("362B7C3C6773516318A077D7FC5073AE"));
    assert_eq!(stream[0xff01 * 16..][..16], hex("6A2CC3787889374FBEB4C81B17BA6C44"));
}

#[test]
fn the_session_keys_are_those_of_rfc_3711_appendix_b_3() {
    let (key, salt) = (hex("E1F97A0D3E018BE0D64FA32C06DE4139"), hex("0EC675AD498AFEEBB6960B3AABE6"));
    assert_eq!(derive(&key, &salt, 0, 16), hex("C61E7A93744F39EE10734AFE3FF7A087"));
    assert_eq!(derive(&key, &salt, 2, 14), hex("30CBBC08863D8C85D49DB34A9AE1"));
    let authentication = "CEBE321F6FF7716B6FD4AB49AF256A156D38BAA48F0A0ACF3C34E2359E6CDBCEE049646C43D9327AD175578EF72270986371C10C9A369AC2F94A8C5FBCDDDC256D6E919A48B610EF17C2041E474035766B68642C59BBFC2F34DB60DBDFB2";
    let authentication = hex(authentication);
    assert_eq!(derive(&key, &salt, 1, 94)[..], authentication[..94]);
}

#[test]
fn the_session_keys_are_those_of_rfc_6188_section_7_2() {
    let key = hex("f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b6");
    let salt = hex("3b04803de51ee7c96423ab5b78d2");
    let expected = "5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4";
    assert_eq!(derive(&key, &salt, 0, 32), hex(expected));
    assert_eq!(derive(&key, &salt, 2, 14), hex("fa31791685ca444a9e07c6c64e93"));
    assert_eq!(derive(&key, &salt, 1, 20), hex("fd9c32d39ed5fbb5a9dc96b30818454d1313dc05"));
}

/// A session of RFC 7714 section 16: a key that counts up and the salt "Quid pro quo".
fn quid_pro_quo(profile: Profile, length: u8) -> Session {
    Session { profile, key: (0..length).collect(), salt: b"Quid pro quo".to_vec(), authentication: Vec::new() }
}

#[test]
fn srtp_packets_are_those_of_rfc_7714_section_16() {
    let packet = [&hex("8040f17b8041f8d35501a0b2")[..], b"Gallia est omnis divisa in partes tres"].concat();
    let short = "8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b 36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce";
    assert_eq!(quid_pro_quo(Profile::AeadAes128Gcm, 16).rtp(&packet, 12, 0), hex(short));
    let long = "8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f 1ba63799 b87b7aa3 db36dfff d6b0f9bb 7878d7a7 6c13";
    assert_eq!(quid_pro_quo(Profile::AeadAes256Gcm, 32).rtp(&packet, 12, 0), hex(long));
}

#[test]
fn srtcp_packets_are_those_of_rfc_7714_section_17() {
    let packet = hex(
        "81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef deadbeef deadbeef",
    );
    let short = "81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46 86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4";
    assert_eq!(quid_pro_quo(Profile::AeadAes128Gcm, 16).rtcp(&packet, 0x5d4), hex(short));
    let long = "81c8000d 4d617273 d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658 c61de047 6f1b6fad 1d1eb30c 4446839f 57ff6f6c b26ac3be 800005d4";
    assert_eq!(quid_pro_quo(Profile::AeadAes256Gcm, 32).rtcp(&packet, 0x5d4), hex(long));
}

prop_compose! {
    /// A header with this sequence number and any sources and extension.
    fn header()(sources in 0..4u8, extension in prop::option::of(prop::collection::vec(any::<u32>(), 0..6)),
                marker: bool, kind in 0..64u8, ssrc: u32) -> (Vec<u8>, u32) {
        let mut packet = vec![0x80 | sources, u8::from(marker) << 7 | kind, 0, 0, 1, 2, 3, 4];
        packet.extend(ssrc.to_be_bytes());
        packet.resize(12 + 4 * usize::from(sources), 0xf5);
        if let Some(words) = extension {
            packet[0] |= 0x10;
            packet.extend([0xbe, 0xde, 0, words.len() as u8]);
            packet.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        }
        (packet, ssrc)
    }
}

proptest! {
    #[test]
    fn packets_of_rtp_are_protected_as_the_reference_does_and_read_back_over_turns(
        which in 0..3usize, material: [u8; 46], (header, _) in header(),
        steps in prop::collection::vec((1..32_767u16, prop::collection::vec(any::<u8>(), 0..60)), 1..12),
    ) {
        let (profile, key, salt) = PROFILES[which];
        let (key, salt) = (&material[..key], &material[32..][..salt]);
        let keys = Keys::new(profile, key, salt).unwrap();
        let session = Session::derive(profile, key, salt, false);
        let mut outbound = Outbound::new(&keys, 16).unwrap();
        // A window of the min size lets the receiver follow the longest steps except the last 64.
        let mut inbound = Inbound::new(keys, 16, 64).unwrap();
        let mut index = 0u64;
        for (step, payload) in steps {
            index += u64::from(step).min(32_700);
            let mut packet = header.clone();
            packet[2..4].copy_from_slice(&(index as u16).to_be_bytes());
            packet.extend(payload);
            let protected = outbound.rtp(&packet).unwrap();
            prop_assert_eq!(&protected, &session.rtp(&packet, header.len(), (index >> 16) as u32));
            prop_assert_eq!(protected.len() as u64, packet.len() as u64 + profile.overhead().get());
            prop_assert_eq!(inbound.rtp(&protected), Ok(packet));
        }
    }

    #[test]
    fn packets_of_rtcp_are_protected_as_the_reference_does_and_read_back(
        which in 0..3usize, material: [u8; 46], words in prop::collection::vec(any::<u32>(), 0..20), ssrc: u32,
    ) {
        let (profile, key, salt) = PROFILES[which];
        let (key, salt) = (&material[..key], &material[32..][..salt]);
        let keys = Keys::new(profile, key, salt).unwrap();
        let session = Session::derive(profile, key, salt, true);
        let (mut outbound, mut inbound) = (Outbound::new(&keys, 16).unwrap(), Inbound::new(keys, 16, 64).unwrap());
        let mut packet = vec![0x80, 206, 0, words.len() as u8 + 1];
        packet.extend(ssrc.to_be_bytes());
        packet.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        for index in 1..4 {
            let protected = outbound.rtcp(&packet).unwrap();
            prop_assert_eq!(&protected, &session.rtcp(&packet, index));
            prop_assert_eq!(inbound.rtcp(&protected), Ok(packet.clone()));
        }
    }
}

#[test]
fn keys_of_the_wrong_length_are_refused_with_the_lengths() {
    let error = Keys::new(Profile::AeadAes256Gcm, &[0; 16], &[0; 14]).err().unwrap().to_string();
    assert!(error.contains("16 and 14") && error.contains("32 and 12"), "{error}");
}
