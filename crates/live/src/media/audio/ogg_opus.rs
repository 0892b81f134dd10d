//! Reads Opus packets from an Ogg stream (RFC 7845).

use std::io::{self, Read};

use ogg::OggReadError;
use ogg::reading::{BasePacketReader, PageParser};
use thalweg_video::source::SourceError;
use thalweg_wire::opus;

/// Size of a page's header before its segment table (RFC 3533 section 6).
const PAGE_HEADER: usize = 27;
/// The first bytes of a stream's first packet (RFC 7845 section 5.1).
const HEAD: &[u8] = b"OpusHead";
/// The first bytes of the second packet (section 5.2).
const TAGS: &[u8] = b"OpusTags";
/// The granule position of a page on which no packet ends (RFC 3533 section 6).
const NO_POSITION: u64 = u64::MAX;

/// Reads the Opus packets of an Ogg stream, which need not be a file.
pub struct OggOpus<R> {
    what: String,
    input: R,
    packets: BasePacketReader,
    /// The serial number of the stream that is read.
    serial: u32,
    /// Samples that a decoder discards at the beginning, in ticks of 48 kHz.
    pre_skip: u32,
    /// Ticks since the start of the stream, at the end of the last packet returned.
    position: u64,
}

impl<R: Read> OggOpus<R> {
    /// A stream, before anything is read.
    pub fn new(what: &str, input: R) -> OggOpus<R> {
        let packets = BasePacketReader::new();
        OggOpus { what: what.into(), input, packets, serial: 0, pre_skip: 0, position: 0 }
    }

    /// Reads up to the first audio packet; `false` if the input ends before an Opus stream begins.
    pub fn begin(&mut self) -> Result<bool, SourceError> {
        while let Some(packet) = self.packet()? {
            if packet.data.starts_with(HEAD) {
                self.serial = packet.stream_serial();
                self.pre_skip = pre_skip(&packet.data).map_err(|problem| SourceError::format(&self.what, problem))?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ticks at the beginning that the decoder needs to converge, not to be played.
    pub fn pre_skip(&self) -> u32 {
        self.pre_skip
    }

    /// The next audio packet and its duration in ticks; `None` at the end.
    pub fn next_packet(&mut self) -> Result<Option<(Vec<u8>, u32)>, SourceError> {
        while let Some(packet) = self.packet()? {
            if packet.stream_serial() != self.serial || packet.data.starts_with(HEAD) || packet.data.starts_with(TAGS) {
                continue;
            }
            let ticks =
                opus::ticks(&packet.data).map_err(|error| SourceError::format(&self.what, error.to_string()))?;
            // When the end of the stream is trimmed, the last page's position is before the end of its packets (RFC
            // 7845 section 4.5). A packet that begins after that position is not played at all.
            let end = packet.absgp_page();
            if end != NO_POSITION && self.position >= end {
                continue;
            }
            self.position += u64::from(ticks);
            return Ok(Some((packet.data, ticks)));
        }
        Ok(None)
    }

    fn packet(&mut self) -> Result<Option<ogg::Packet>, SourceError> {
        loop {
            if let Some(packet) = self.packets.read_packet() {
                return Ok(Some(packet));
            }
            if !self.page().map_err(|error| self.broken(error))? {
                return Ok(None);
            }
        }
    }

    /// Reads a page; `false` at the end of the input.
    fn page(&mut self) -> Result<bool, OggReadError> {
        let mut header = [0; PAGE_HEADER];
        // The input may end only between two pages.
        if self.input.read(&mut header[..1])? == 0 {
            return Ok(false);
        }
        self.input.read_exact(&mut header[1..])?;
        // The parser does not check the capture pattern.
        if !header.starts_with(b"OggS") {
            return Err(OggReadError::NoCapturePatternFound);
        }
        let (mut page, segments) = PageParser::new(header)?;
        let size = page.parse_segments(take(&mut self.input, segments)?);
        let page = page.parse_packet_data(take(&mut self.input, size)?)?;
        self.packets.push_page(page)?;
        Ok(true)
    }

    fn broken(&self, error: OggReadError) -> SourceError {
        match error {
            OggReadError::ReadError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                SourceError::format(&self.what, "the Ogg stream ends within a page: the file is cut off")
            }
            OggReadError::ReadError(error) => SourceError::io(&self.what, error),
            error => {
                SourceError::format(&self.what, format!("broken Ogg stream ({error}): try to remux it with ffmpeg"))
            }
        }
    }
}

fn take(input: &mut impl Read, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    input.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The pre-skip of an identification header, if RTP can carry its stream: RFC 7587 allows one or two channels.
fn pre_skip(head: &[u8]) -> Result<u32, String> {
    let &[_, _, _, _, _, _, _, _, version, channels, low, high, _, _, _, _, _, _, mapping, ..] = head else {
        return Err(format!("its Opus header has {} bytes, allowed is 19 or more: the file is broken", head.len()));
    };
    if version >> 4 != 0 {
        return Err(format!("version {version} of the Opus header, allowed is 0 to 15: encode it anew"));
    }
    if !(1..=2).contains(&channels) || mapping != 0 {
        return Err(format!(
            "{channels} channels in mapping family {mapping}, allowed in RTP are 1 or 2 in family 0: mix it down (ffmpeg -ac 2)"
        ));
    }
    Ok(u16::from_le_bytes([low, high]).into())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ogg::{PacketWriteEndInfo, PacketWriter};

    /// An Ogg stream of these packets, the last page's position as given.
    pub(in crate::media::audio) fn stream(packets: &[Vec<u8>], pre_skip: u16, end: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = PacketWriter::new(&mut out);
        let mut head = b"OpusHead\x01\x02".to_vec();
        head.extend_from_slice(&pre_skip.to_le_bytes());
        head.extend_from_slice(&[0x80, 0xbb, 0, 0, 0, 0, 0]);
        writer.write_packet(head, 7, PacketWriteEndInfo::EndPage, 0).unwrap();
        writer.write_packet(b"OpusTags\0\0\0\0\0\0\0\0".to_vec(), 7, PacketWriteEndInfo::EndPage, 0).unwrap();
        for (index, packet) in packets.iter().enumerate() {
            let last = index + 1 == packets.len();
            let info = if last { PacketWriteEndInfo::EndStream } else { PacketWriteEndInfo::NormalPacket };
            writer.write_packet(packet.clone(), 7, info, end).unwrap();
        }
        drop(writer);
        out
    }

    fn read(bytes: &[u8]) -> Result<Vec<(Vec<u8>, u32)>, SourceError> {
        let mut stream = OggOpus::new("a file", bytes);
        assert!(stream.begin()?);
        std::iter::from_fn(|| stream.next_packet().transpose()).collect()
    }

    fn packets() -> Vec<Vec<u8>> {
        vec![vec![0xf8, 1], vec![0xf8, 2, 2], vec![0xf9, 3]]
    }

    #[test]
    fn packets_come_without_headers_and_with_their_ticks() {
        let bytes = stream(&packets(), 312, 4 * 960);
        let mut read_to_audio = OggOpus::new("a file", &bytes[..]);
        assert_eq!((read_to_audio.begin().unwrap(), read_to_audio.pre_skip()), (true, 312));
        let expected: Vec<_> = packets().into_iter().zip([960, 960, 1920]).collect();
        assert_eq!(read(&bytes).unwrap(), expected);
    }

    #[test]
    fn a_packet_behind_the_end_is_not_given_and_one_across_it_is() {
        assert_eq!(read(&stream(&packets(), 0, 2 * 960 + 1)).unwrap().len(), 3);
        assert_eq!(read(&stream(&packets(), 0, 2 * 960)).unwrap().len(), 2);
    }

    #[test]
    fn broken_and_foreign_streams_say_what_is_wrong() {
        let bytes = stream(&packets(), 0, 3840);
        let problem = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert!(problem(&bytes[..bytes.len() - 1]).contains("cut off"));
        assert!(problem(b"RIFF, which is something else entirely").contains("capture pattern"));
        assert!(!OggOpus::new("a file", &b""[..]).begin().unwrap());
        let mut changed = bytes.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(problem(&changed).contains("hash"));
        assert!(problem(&stream(&[vec![0xfb, 0]], 0, 960)).contains("frames of an Opus packet"));
    }

    #[test]
    fn headers_rtp_has_no_room_for_are_refused() {
        let mut head = b"OpusHead\x01\x02\x38\x01\x80\xbb\0\0\0\0\0".to_vec();
        assert_eq!(pre_skip(&head), Ok(312));
        assert!(pre_skip(&head[..18]).is_err());
        for (at, value) in [(8, 16), (9, 0), (9, 3), (18, 1)] {
            let before = head[at];
            head[at] = value;
            assert!(pre_skip(&head).is_err(), "byte {at}");
            head[at] = before;
        }
    }
}
