//! Extended reports.

use thalweg_wire::rtcp::{Packet, RunLengths, Xr, XrBlock, parse};

use crate::rtcp::{feedback, survive};

/// Number of packets of a block that are checked one by one; a few bytes can report 65,535.
const LOOKED_AT: usize = 500;

/// Parses the bytes as the body of an extended report, then as a block of each kind; then as one bit for each of many
/// packets.
pub fn xr(data: &[u8]) {
    read(data);
    for kind in [1u8, 2, 3, 4, 5, 6, 25, 26] {
        // Some kinds have a fixed length.
        let max = match kind {
            4 | 26 => 2,
            6 => 9,
            _ => 65_535,
        };
        let words = (data.len() / 4).min(max);
        let specific = if kind == 6 { 0xe8 } else { data.len() as u8 & 0xf0 };
        let head = [0, 0, 0, 5, kind, specific, (words >> 8) as u8, words as u8];
        read(&[&head[..], &data[..4 * words]].concat());
    }
    let bits = data.iter().flat_map(|byte| (0..1 + u32::from(byte >> 4)).map(move |bit| byte >> (bit & 3) & 1 == 1));
    let bits: Vec<bool> = bits.take(RunLengths::MAX.into()).collect();
    let begin = data.len() as u16;
    let packets = RunLengths::of(7, begin, bits.iter().copied()).expect("few enough");
    assert!(packets.iter().map(|(_, bit)| bit).eq(bits));
    let early = begin & 1 == 1;
    let blocks = vec![XrBlock::Losses(packets.clone()), XrBlock::Discards { early, packets }];
    survive(&[Packet::Xr(Xr { ssrc: 5, blocks })]);
}

fn read(body: &[u8]) {
    let Ok(packets) = parse(&feedback(207, 0, body)) else { return };
    survive(&packets);
    for packet in &packets {
        let Packet::Xr(report) = packet else { continue };
        for block in &report.blocks {
            match block {
                XrBlock::Losses(packets) | XrBlock::Duplicates(packets) | XrBlock::Discards { packets, .. } => {
                    assert!(packets.iter().count() <= packets.span().into());
                    // Written again, they report the same packets.
                    let reported: Vec<(u16, bool)> = packets.iter().take(LOOKED_AT).collect();
                    let bits = reported.iter().map(|(_, bit)| *bit);
                    let again = RunLengths::of(packets.ssrc, packets.begin(), bits).expect("few enough");
                    assert!(again.iter().eq(reported));
                }
                XrBlock::ReceiptTimes(times) => assert_eq!(times.iter().count(), times.times.len()),
                _ => {}
            }
        }
    }
}
