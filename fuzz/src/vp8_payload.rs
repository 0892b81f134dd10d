//! VP8 payloads.

use thalweg_units::Bytes;
use thalweg_wire::vp8::{Descriptor, assemble, fragments, is_keyframe};

/// Parses a descriptor, writes it and parses that; then packetises the rest as a frame and reassembles it.
pub fn vp8_payload(data: &[u8]) {
    let Ok((descriptor, frame)) = Descriptor::parse(data) else { return };
    let mut out = Vec::new();
    descriptor.write(&mut out).expect("what was read can be written");
    assert_eq!(out.len(), descriptor.size());
    out.extend_from_slice(frame);
    assert_eq!(Descriptor::parse(&out), Ok((descriptor, frame)));
    let _ = (assemble([data]), assemble([data, data]), is_keyframe(frame));
    if frame.is_empty() {
        return;
    }

    let limit = descriptor.size() as u64 + 1 + u64::from(frame[0]);
    let pieces: Vec<Vec<u8>> = fragments(frame, descriptor, Bytes::new(limit))
        .expect("room for a byte")
        .map(|piece| {
            let mut payload = Vec::new();
            piece.descriptor.write(&mut payload).expect("as above");
            payload.extend_from_slice(piece.data);
            assert!(payload.len() as u64 <= limit);
            payload
        })
        .collect();
    assert_eq!(assemble(pieces.iter().map(Vec::as_slice)).as_deref(), Ok(frame));
}
