//! Payloads of VP9, H.264, AV1 and Opus.

use thalweg_units::Bytes;
use thalweg_wire::{av1, h264, opus, vp9};

/// Parses a VP9 descriptor, writes it and parses that; then packetises the rest as a frame and reassembles it.
pub fn vp9_payload(data: &[u8]) {
    let _ = (vp9::assemble([data]), vp9::assemble([data, data]), vp9::is_keyframe(data));
    let Ok((descriptor, frame)) = vp9::Descriptor::parse(data) else { return };
    let mut out = Vec::new();
    descriptor.write(&mut out).expect("what was read can be written");
    assert_eq!(out.len(), descriptor.size());
    out.extend_from_slice(frame);
    assert_eq!(vp9::Descriptor::parse(&out), Ok((descriptor.clone(), frame)));
    if frame.is_empty() {
        return;
    }
    let limit = descriptor.size() as u64 + 1 + u64::from(frame[0]);
    let pieces: Vec<Vec<u8>> = vp9::fragments(frame, descriptor, Bytes::new(limit))
        .expect("room for a byte")
        .into_iter()
        .map(|piece| {
            let mut payload = Vec::new();
            piece.descriptor.write(&mut payload).expect("as above");
            payload.extend_from_slice(piece.data);
            assert!(payload.len() as u64 <= limit);
            payload
        })
        .collect();
    assert_eq!(vp9::assemble(pieces.iter().map(Vec::as_slice)).as_deref(), Ok(frame));
}

/// Parses an H.264 payload, and the bytes as a sequence parameter set, writes it and parses that; then packetises the
/// bytes as an access unit and reassembles it.
pub fn h264_payload(data: &[u8]) {
    let _ = (h264::assemble([data]), h264::assemble([data, data]), h264::is_keyframe(data), h264::picture_size(data));
    let set = [&[0, 0, 1, 0x67], data].concat();
    assert!(h264::picture_size(&set).is_none_or(|size| size.pixels() > 0));
    if let Ok(payload) = h264::Payload::parse(data) {
        let mut out = Vec::new();
        payload.write(&mut out).expect("what was read can be written");
        assert_eq!(out.len(), payload.size());
        assert_eq!(h264::Payload::parse(&out), Ok(payload));
    }
    let mut sets = h264::ParameterSets::new();
    let complete = sets.complete(data);
    assert_eq!(h264::is_keyframe(&complete), h264::is_keyframe(data));
    let limit = 3 + u64::from(data.first().copied().unwrap_or(0));
    let Ok(fragments) = h264::fragments(&complete, Bytes::new(limit)) else { return };
    let pieces: Vec<Vec<u8>> = fragments
        .iter()
        .map(|fragment| {
            let mut payload = Vec::new();
            fragment.payload.write(&mut payload).expect("what was cut can be written");
            assert!(payload.len() as u64 <= limit);
            payload
        })
        .collect();
    if !pieces.is_empty() {
        let again = h264::assemble(pieces.iter().map(Vec::as_slice)).expect("what was cut can be put together");
        let kept =
            |unit: &&[u8]| !matches!(h264::UnitKind::of(unit[0]), h264::UnitKind::Delimiter | h264::UnitKind::Filler);
        assert!(h264::units(&again).eq(h264::units(&complete).filter(kept)));
    }
}

/// Parses an AV1 payload, writes it and parses that; then cuts into two payloads, as a first byte says, and what makes a
/// temporal unit is packetised and reassembled, as is any that the bytes are themselves.
pub fn av1_payload(data: &[u8]) {
    let _ = av1::is_keyframe(data);
    if let Ok(payload) = av1::Payload::parse(data) {
        let mut out = Vec::new();
        payload.write(&mut out).expect("what was read can be written");
        assert_eq!(out.len(), payload.size());
        assert_eq!(av1::Payload::parse(&out), Ok(payload));
    }
    let Some((first, rest)) = data.split_first() else { return };
    let (one, other) = rest.split_at(usize::from(*first).min(rest.len()));
    let limit = 3 + u64::from(*first);
    let assembled = [av1::assemble([data]), av1::assemble([one, other])];
    for unit in assembled.iter().flatten() {
        let payloads = av1::fragments(unit, Bytes::new(limit)).expect("what was put together can be cut");
        assert!(payloads.iter().all(|payload| payload.len() as u64 <= limit));
        let again = av1::assemble(payloads.iter().map(Vec::as_slice)).expect("what was cut can be put together");
        assert_eq!((&again, av1::is_keyframe(&again)), (unit, av1::is_keyframe(unit)));
    }
    if let Ok(payloads) = av1::fragments(data, Bytes::new(limit))
        && !payloads.is_empty()
    {
        let unit = av1::assemble(payloads.iter().map(Vec::as_slice)).expect("as above");
        assert_eq!(av1::is_keyframe(&unit), av1::is_keyframe(data));
    }
}

/// Calculates the duration of an Opus packet.
pub fn opus_packet(data: &[u8]) {
    if let Ok(ticks) = opus::ticks(data) {
        assert!((120..=5760).contains(&ticks));
    }
}
