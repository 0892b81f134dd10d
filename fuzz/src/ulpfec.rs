//! FEC in the media stream (ULPFEC).

use thalweg_wire::rtp::Packet;
use thalweg_wire::ulpfec::{Recovery, parse, protect};

use crate::flexfec::media;

/// Parses the bytes as an FEC packet's payload; then as three media packets, one of which is lost.
pub fn ulpfec(data: &[u8]) {
    if let Ok(fec) = parse(7, data) {
        assert!((1..=48).contains(&fec.mask.count()));
        // Whatever packets are held, the result is a packet or nothing.
        if let Ok(Recovery::Packet(packet)) = fec.recover(|sequence| (sequence % 3 > 0).then_some(data)) {
            assert!(Packet::parse(&packet).is_ok());
        }
        let _ = fec.recover(|_| None);
    }
    let media = media(data);
    let Ok(payload) = protect(media.iter().map(|(_, packet)| packet.as_slice())) else {
        assert!(data.len() > 65_535, "only too long a packet is refused");
        return;
    };
    let fec = parse(7, &payload).expect("what was written can be read");
    for (lost, expected) in &media {
        let packet =
            |sequence| media.iter().find(|(number, _)| *number == sequence).map(|(_, packet)| packet.as_slice());
        let held = |sequence: u16| packet(sequence).filter(|_| sequence != *lost);
        assert_eq!(fec.recover(held), Ok(Recovery::Packet(expected.clone())));
    }
}
