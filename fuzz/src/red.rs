//! Payloads in RED.

use thalweg_wire::red::{Earlier, Red};

/// Parses the bytes as a RED packet's payload; then combines two payloads into one.
pub fn red(data: &[u8]) {
    if let Ok(red) = Red::parse(data) {
        assert_eq!(written(&red), data);
    }
    let (first, rest) = data.split_at(data.len().min(usize::from(data.first().copied().unwrap_or(0))));
    let earlier = Earlier { payload_type: 117, timestamp_offset: 16_383, payload: first };
    let red = Red { earlier: vec![earlier], payload_type: 96, payload: rest };
    assert_eq!(Red::parse(&written(&red)), Ok(red));
}

fn written(red: &Red<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    red.write(&mut out).expect("in range");
    assert_eq!(out.len(), red.size());
    out
}
