//! Extracts datagrams from captures: pcap (little-endian microseconds, Ethernet, IPv4, UDP, as str0m writes it) and
//! rtpdump.

/// The UDP payloads of a pcap file, in order.
pub fn pcap(file: &[u8]) -> Vec<&[u8]> {
    assert_eq!(file[..4], [0xd4, 0xc3, 0xb2, 0xa1], "a little-endian pcap");
    assert_eq!(file[20..24], [1, 0, 0, 0], "of Ethernet");
    let mut rest = &file[24..];
    let mut datagrams = Vec::new();
    while !rest.is_empty() {
        let captured = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let frame = &rest[16..16 + captured];
        rest = &rest[16 + captured..];
        let ip = &frame[14..];
        assert_eq!((&frame[12..14], ip[0], ip[9]), (&[8, 0][..], 0x45, 17), "UDP over IPv4 without options");
        let length = usize::from(u16::from_be_bytes([ip[24], ip[25]]));
        datagrams.push(&ip[28..20 + length]);
    }
    datagrams
}

/// The RTP and RTCP packets of an rtpdump file (rtptools' format), in order; truncated ones are skipped.
pub fn rtpdump(file: &[u8]) -> Vec<&[u8]> {
    assert!(file.starts_with(b"#!rtpplay1.0 "));
    let line = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut rest = &file[line + 16..];
    let mut packets = Vec::new();
    while rest.len() >= 8 {
        let length = usize::from(u16::from_be_bytes([rest[0], rest[1]]));
        let whole = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        let Some(packet) = rest.get(8..length) else { break };
        if whole == packet.len() {
            packets.push(packet);
        }
        rest = &rest[length..];
    }
    packets
}
