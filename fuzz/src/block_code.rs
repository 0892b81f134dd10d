//! Parity packets of block codes.

use thalweg_wire::block_code::{Block, Parity, Recovery, protect};
use thalweg_wire::rtp::Packet;

use crate::flexfec::media;

/// Takes the bytes for a parity packet's payload, then for what is behind a good header; then for three media packets,
/// of which some are lost.
pub fn block_code(data: &[u8]) {
    let headed = [&[0xc0, 1, 4, 1, 0, 0, 0, 7, 0, 5, 0xc8, 0][..], data].concat();
    for payload in [data, &headed] {
        let Ok(parity) = Parity::parse(payload) else { continue };
        assert!(parity.index < parity.count && parity.mask.count() > 0);
        let mut block = Block::new(parity.clone());
        assert!(!block.add(parity), "the same again");
        // Whatever is held, what comes out is packets or nothing.
        if let Ok(Recovery::Packets(packets)) = block.recover(|sequence| (sequence % 3 > 0).then_some(data)) {
            assert!(packets.iter().all(|packet| Packet::parse(packet).is_ok()));
        }
    }
    // What is recovered takes half a millisecond: one in four is enough.
    if !data.len().is_multiple_of(4) {
        return;
    }
    let count = 1 + data.last().copied().unwrap_or(0) % 6;
    let media = media(data);
    let Ok(payloads) = protect(media.iter().map(|(_, packet)| packet.as_slice()), count) else {
        assert!(data.len() > 65_535, "only too long a packet is refused");
        return;
    };
    let mut parities =
        payloads.iter().rev().map(|payload| Parity::parse(payload).expect("what was written can be read"));
    let mut block = Block::new(parities.next().expect("one or more"));
    let parities: Vec<Parity> = parities.take(2).collect();
    assert!(parities.into_iter().all(|parity| block.add(parity)));
    // The first of them are lost, as many as parity is here.
    let lost = usize::from(count).min(3);
    let held =
        |sequence| media[lost..].iter().find(|(number, _)| *number == sequence).map(|(_, packet)| packet.as_slice());
    let expected: Vec<Vec<u8>> = media[..lost].iter().map(|(_, packet)| packet.clone()).collect();
    assert_eq!(block.recover(held), Ok(Recovery::Packets(expected)));
}
