//! FEC packets.

use thalweg_wire::flexfec::{Recovery, parse, protect};
use thalweg_wire::rtp::{Header, Packet};

/// Parses the bytes as an FEC packet's payload; then as three media packets, one of which is lost.
pub fn flexfec(data: &[u8]) {
    if let Ok(fec) = parse(data) {
        assert!(fec.mask.count() > 0);
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
    let fec = parse(&payload).expect("what was written can be read");
    for (lost, expected) in &media {
        let packet =
            |sequence| media.iter().find(|(number, _)| *number == sequence).map(|(_, packet)| packet.as_slice());
        let held = |sequence: u16| packet(sequence).filter(|_| sequence != *lost);
        assert_eq!(fec.recover(held), Ok(Recovery::Packet(expected.clone())));
    }
}

/// Three packets of stream 7 with the bytes, or a part of them, as payload; with their sequence numbers.
pub(crate) fn media(data: &[u8]) -> [(u16, Vec<u8>); 3] {
    let cut = usize::from(data.first().copied().unwrap_or(0)).min(data.len());
    let (first, second) = data.split_at(cut);
    [(65_535, first), (0, second), (3, data)].map(|(sequence, payload)| {
        let mut out = Vec::new();
        let header = Header { marker: false, payload_type: 96, sequence, timestamp: 0, ssrc: 7 };
        Packet::new(header, payload).write(&mut out).expect("in range");
        (sequence, out)
    })
}
