//! Packets that were forged, replayed, modified or truncated.

use std::collections::BTreeSet;

use proptest::prelude::*;
use thalweg_transport::srtp::{Inbound, Keys, Outbound};
use thalweg_transport::{Profile, Refusal, SendError};

const PROFILES: [(Profile, usize, usize); 3] =
    [(Profile::Aes128CmSha1_80, 16, 14), (Profile::AeadAes128Gcm, 16, 12), (Profile::AeadAes256Gcm, 32, 12)];

const MAX: usize = 8;
const WINDOW: u32 = 64;

/// Both ends of one direction.
fn ends(which: usize, key: u8) -> (Outbound, Inbound) {
    let (profile, length, salt) = PROFILES[which];
    let keys = Keys::new(profile, &vec![key; length], &vec![7; salt]).unwrap();
    (Outbound::new(&keys, MAX).unwrap(), Inbound::new(keys, MAX, WINDOW).unwrap())
}

fn rtp(ssrc: u32, sequence: u16) -> Vec<u8> {
    let mut packet = vec![0x90, 96];
    packet.extend(sequence.to_be_bytes());
    packet.extend([0; 4]);
    packet.extend(ssrc.to_be_bytes());
    packet.extend([0xbe, 0xde, 0, 1, 0x10, 5, 0, 0]);
    packet.extend(b"payload");
    packet
}

fn rtcp(ssrc: u32) -> Vec<u8> {
    let mut packet = vec![0x80, 206, 0, 3];
    packet.extend(ssrc.to_be_bytes());
    packet.extend([9; 8]);
    packet
}

#[test]
fn what_came_does_not_come_again_and_what_is_late_comes_once() {
    for which in 0..3 {
        let (mut outbound, mut inbound) = ends(which, 1);
        let packets: Vec<_> = (100..300).map(|sequence| outbound.rtp(&rtp(1, sequence)).unwrap()).collect();
        assert!(inbound.rtp(&packets[0]).is_ok());
        assert!(inbound.rtp(&packets[150]).is_ok());
        assert_eq!(inbound.rtp(&packets[150]), Err(Refusal::Replayed));
        assert_eq!(inbound.rtp(&packets[0]), Err(Refusal::Old));
        assert_eq!(inbound.rtp(&packets[86]), Err(Refusal::Old), "64 before the newest");
        assert!(inbound.rtp(&packets[87]).is_ok(), "63 before the newest");
        assert_eq!(inbound.rtp(&packets[87]), Err(Refusal::Replayed));
        let reports: Vec<_> = (0..100).map(|_| outbound.rtcp(&rtcp(1)).unwrap()).collect();
        assert!(inbound.rtcp(&reports[70]).is_ok());
        assert_eq!(inbound.rtcp(&reports[70]), Err(Refusal::Replayed));
        assert_eq!(inbound.rtcp(&reports[6]), Err(Refusal::Old));
        assert!(inbound.rtcp(&reports[7]).is_ok());
    }
}

/// With a replay window over 16-bit numbers, as some libraries have it, packets from half a cycle ago look new once a late
/// packet has brought the index back to the first half of the first cycle, and accepting one of them breaks the stream.
#[test]
fn a_packet_of_half_a_turn_ago_is_not_new() {
    for which in 0..3 {
        let (mut outbound, mut inbound) = ends(which, 1);
        let early: Vec<_> = (5..20).map(|sequence| outbound.rtp(&rtp(1, sequence)).unwrap()).collect();
        early.iter().for_each(|packet| assert!(inbound.rtp(packet).is_ok()));
        for sequence in (1020..32_000).step_by(1000) {
            assert!(inbound.rtp(&outbound.rtp(&rtp(1, sequence)).unwrap()).is_ok());
        }
        let late = outbound.rtp(&rtp(1, 32_760)).unwrap();
        assert!(inbound.rtp(&outbound.rtp(&rtp(1, 32_790)).unwrap()).is_ok());
        assert!(inbound.rtp(&late).is_ok());
        early.iter().for_each(|packet| assert!(inbound.rtp(packet).is_err()));
        for sequence in 32_791..33_000 {
            assert!(inbound.rtp(&outbound.rtp(&rtp(1, sequence)).unwrap()).is_ok(), "the stream goes on");
        }
    }
}

#[test]
fn a_packet_changed_in_any_byte_or_cut_anywhere_is_refused_and_does_no_harm() {
    for which in 0..3 {
        for known in [false, true] {
            let (mut outbound, mut inbound) = ends(which, 1);
            if known {
                assert!(inbound.rtp(&outbound.rtp(&rtp(1, 9)).unwrap()).is_ok());
                assert!(inbound.rtcp(&outbound.rtcp(&rtcp(1)).unwrap()).is_ok());
            }
            let (media, report) = (outbound.rtp(&rtp(1, 10)).unwrap(), outbound.rtcp(&rtcp(1)).unwrap());
            let streams = inbound.streams();
            for bit in 0..8 * media.len() {
                let mut changed = media.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(inbound.rtp(&changed).is_err(), "bit {bit}");
            }
            for bit in 0..8 * report.len() {
                let mut changed = report.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(inbound.rtcp(&changed).is_err(), "bit {bit}");
            }
            assert!((0..media.len()).all(|length| inbound.rtp(&media[..length]).is_err()));
            assert!((0..report.len()).all(|length| inbound.rtcp(&report[..length]).is_err()));
            assert!(inbound.rtp(&[&media[..], &[0]].concat()).is_err());
            assert_eq!(inbound.streams(), streams, "no stream was made");
            assert_eq!(inbound.rtp(&media), Ok(rtp(1, 10)));
            assert_eq!(inbound.rtcp(&report), Ok(rtcp(1)));
        }
    }
}

#[test]
fn packets_under_another_key_are_refused_as_not_authentic() {
    for which in 0..3 {
        let ((mut unknown, _), (mut outbound, mut inbound)) = (ends(which, 2), ends(which, 1));
        assert!(inbound.rtp(&outbound.rtp(&rtp(1, 10)).unwrap()).is_ok());
        for sequence in 11..2000 {
            assert_eq!(inbound.rtp(&unknown.rtp(&rtp(1, sequence)).unwrap()), Err(Refusal::Unauthentic));
            assert_eq!(inbound.rtcp(&unknown.rtcp(&rtcp(1)).unwrap()), Err(Refusal::Unauthentic));
        }
        assert!(inbound.rtp(&outbound.rtp(&rtp(1, 11)).unwrap()).is_ok());
    }
}

#[test]
fn forged_streams_leave_nothing_behind_and_hinder_none_that_is_real() {
    for which in 0..3 {
        let (mut outbound, mut inbound) = ends(which, 1);
        let mut forged = outbound.rtp(&rtp(1, 10)).unwrap();
        let mut report = outbound.rtcp(&rtcp(1)).unwrap();
        for ssrc in 2..5000u32 {
            forged[8..12].copy_from_slice(&ssrc.to_be_bytes());
            report[4..8].copy_from_slice(&ssrc.to_be_bytes());
            assert_eq!(inbound.rtp(&forged), Err(Refusal::Unauthentic));
            assert_eq!(inbound.rtcp(&report), Err(Refusal::Unauthentic));
        }
        assert_eq!(inbound.streams(), (0, 0));
        for ssrc in 0..MAX as u32 {
            assert!(inbound.rtp(&outbound.rtp(&rtp(ssrc, 20)).unwrap()).is_ok());
            assert!(inbound.rtcp(&outbound.rtcp(&rtcp(ssrc)).unwrap()).is_ok());
        }
        assert_eq!(inbound.streams(), (MAX, MAX));
        forged[8..12].copy_from_slice(&[1; 4]);
        report[4..8].copy_from_slice(&[1; 4]);
        assert_eq!(inbound.rtp(&forged), Err(Refusal::TooManyStreams));
        assert_eq!(inbound.rtcp(&report), Err(Refusal::TooManyStreams));
    }
}

/// A library may return such a packet without having authenticated it (`rtc-srtp` 0.21 does).
#[test]
fn a_report_that_says_it_is_not_encrypted_is_refused() {
    for which in 0..3 {
        let (mut outbound, mut inbound) = ends(which, 1);
        assert!(inbound.rtcp(&outbound.rtcp(&rtcp(1)).unwrap()).is_ok());
        for ssrc in [1, 2] {
            for length in 0..40 {
                let mut plain = rtcp(ssrc);
                plain.extend(vec![0; length]);
                assert!(matches!(inbound.rtcp(&plain), Err(Refusal::Unencrypted | Refusal::Malformed)), "{length}");
            }
        }
    }
}

#[test]
fn no_two_packets_are_protected_under_one_index() {
    for which in 0..3 {
        let (mut outbound, _) = ends(which, 1);
        outbound.rtp(&rtp(1, 65_530)).unwrap();
        let refused = |sequence, last| Err(SendError::NotNewer { ssrc: 1, sequence, last });
        assert_eq!(outbound.rtp(&rtp(1, 65_530)), refused(65_530, 65_530));
        assert_eq!(outbound.rtp(&rtp(1, 65_529)), refused(65_529, 65_530));
        assert!(outbound.rtp(&rtp(1, 3)).is_ok(), "the next turn");
        assert_eq!(outbound.rtp(&rtp(1, 65_531)), refused(65_531, 3));
        assert_eq!(outbound.rtp(&rtp(1, 32_771)), refused(32_771, 3));
        assert!(outbound.rtp(&rtp(1, 32_770)).is_ok());
        assert!(outbound.rtp(&rtp(2, 3)).is_ok(), "another stream counts for itself");
        let reports: BTreeSet<_> = (0..50).map(|_| outbound.rtcp(&rtcp(1)).unwrap()).collect();
        assert_eq!(reports.len(), 50, "the same report is another packet each time");
    }
}

#[test]
fn what_is_no_packet_or_one_stream_too_many_is_not_sent() {
    let (mut outbound, _) = ends(0, 1);
    for bad in [&[][..], &[0x80; 11], &[0x40; 20], &[0x9f; 20]] {
        assert!(matches!(outbound.rtp(bad), Err(SendError::Malformed(_))), "{bad:?}");
    }
    for bad in [&[][..], &[0x80; 7], &[0x80, 200, 0, 1, 0, 0, 0, 1, 2], &[0x40; 8]] {
        assert!(matches!(outbound.rtcp(bad), Err(SendError::Malformed(_))), "{bad:?}");
    }
    for ssrc in 0..MAX as u32 {
        assert!(outbound.rtp(&rtp(ssrc, 1)).is_ok() && outbound.rtcp(&rtcp(ssrc)).is_ok());
    }
    let error = SendError::TooManyStreams { ssrc: 99, max: MAX };
    assert_eq!((outbound.rtp(&rtp(99, 1)), outbound.rtcp(&rtcp(99))), (Err(error), Err(error)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn whatever_order_packets_come_in_each_comes_at_most_once_and_as_it_was(
        which in 0..3usize, first: u16, steps in prop::collection::vec(1..600u16, 300),
        picks in prop::collection::vec((0..40usize, 0..4u8), 900),
    ) {
        let (mut outbound, mut inbound) = ends(which, 1);
        let mut sequence = first;
        let mut packets = Vec::new();
        for step in steps {
            let packet = rtp(1, sequence);
            packets.push((outbound.rtp(&packet).unwrap(), packet));
            sequence = sequence.wrapping_add(step);
        }
        // Across several cycles only packets without too long gaps can be followed, so the position moves on steadily.
        let mut came = BTreeSet::new();
        prop_assert!(inbound.rtp(&packets[0].0).is_ok());
        came.insert(0);
        for (at, (back, what)) in picks.into_iter().enumerate() {
            let index = (at / 3).saturating_sub(if what == 0 { back } else { 0 });
            if let Ok(plain) = inbound.rtp(&packets[index].0) {
                prop_assert_eq!(&plain, &packets[index].1);
                prop_assert!(came.insert(index), "packet {} came twice", index);
            }
        }
        prop_assert!(came.len() > 200, "{}", came.len());
    }

    #[test]
    fn no_bytes_are_authentic(which in 0..3usize, bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (_, mut inbound) = ends(which, 1);
        prop_assert!(inbound.rtp(&bytes).is_err());
        prop_assert!(inbound.rtcp(&bytes).is_err());
        prop_assert_eq!(inbound.streams(), (0, 0));
    }
}
