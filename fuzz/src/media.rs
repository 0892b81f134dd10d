//! Files and pipes of media that is sent without being encoded: IVF, H.264 as a byte stream, Opus in Ogg.

use std::io::Read;

use thalweg_live::media::audio::OggOpus;
use thalweg_live::media::encoded::{AccessUnits, Ivf};
use thalweg_vp8::ivf;
use thalweg_wire::{h264, opus};

/// Maximum number of frames read of an input, which may have any number of empty ones.
const MAX: usize = 256;

/// Gives its bytes in pieces, as a pipe does.
struct Pieces<'a> {
    rest: &'a [u8],
    size: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.size.min(buffer.len()).min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest[..count]);
        self.rest = &self.rest[count..];
        Ok(count)
    }
}

/// The same bytes at once, and a few at a time.
fn both_ways<T: PartialEq + std::fmt::Debug>(data: &[u8], read: impl Fn(Pieces<'_>) -> T) -> T {
    let whole = read(Pieces { rest: data, size: usize::MAX });
    for size in [1, 7] {
        assert_eq!(read(Pieces { rest: data, size }), whole, "{size} bytes at a time");
    }
    whole
}

/// Reads frames with their times, whose bytes are of the file and in its order; written again they are the same.
pub fn media_ivf(data: &[u8]) {
    let frames = both_ways(data, |input| -> Result<_, String> {
        let mut reader = Ivf::new("fuzz", input).map_err(|error| error.to_string())?;
        let mut frames = Vec::new();
        while frames.len() < MAX {
            match reader.next_frame() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok((reader.codec(), reader.size(), frames))
    });
    match frames {
        Err(error) => assert!(error.contains("fuzz"), "{error}"),
        Ok((_, size, frames)) => {
            assert!(frames.iter().map(|(bytes, _)| bytes.len() + 12).sum::<usize>() + 32 <= data.len());
            let codec: [u8; 4] = data[8..12].try_into().expect("a header");
            let header = ivf::Header { codec, width: size.width, height: size.height, rate: 1_000_000_000, scale: 1 };
            let mut writer = ivf::Writer::new(Vec::new(), header).expect("memory takes all");
            for (bytes, time) in &frames {
                writer.write(time.as_nanos().unsigned_abs(), bytes).expect("memory takes all");
            }
            let written = writer.finish();
            let mut again = Ivf::new("again", &written[..]).expect("what was written");
            for frame in frames {
                assert_eq!(again.next_frame().expect("whole"), Some(frame));
            }
        }
    }
}

/// Cuts a byte stream into access units, each of which has a slice, whose units are those of the stream; cut again they
/// are the same.
pub fn access_units(data: &[u8]) {
    let cut = |input: Pieces<'_>, asks: bool| -> Result<Vec<Vec<u8>>, String> {
        let mut units = AccessUnits::new("fuzz", input);
        if asks {
            units.sequence().map_err(|error| error.to_string())?;
        }
        let mut found = Vec::new();
        while let Some(unit) = units.next_unit().map_err(|error| error.to_string())? {
            found.push(unit);
        }
        Ok(found)
    };
    let units = both_ways(data, |input| cut(input, false)).expect("less than is refused as no stream");
    assert_eq!(cut(Pieces { rest: data, size: usize::MAX }, true).as_ref(), Ok(&units), "the size costs no unit");
    for unit in &units {
        assert!(h264::start_code(unit) == Some(1) || h264::start_code(unit) == Some(0));
    }
    let stream = units.concat();
    assert_eq!(cut(Pieces { rest: &stream, size: usize::MAX }, false), Ok(units));
}

/// Reads Opus packets with their durations, which are those that the packets say; of the file as it is, and with the
/// checksums of its pages made right, which no mutation would do.
pub fn ogg_opus(data: &[u8]) {
    opus_packets(data);
    let mut mended = data.to_vec();
    if mend(&mut mended) {
        opus_packets(&mended);
    }
}

fn opus_packets(data: &[u8]) {
    let packets = both_ways(data, |input| -> Result<Vec<(Vec<u8>, u32)>, String> {
        let mut reader = OggOpus::new("fuzz", input);
        if !reader.begin().map_err(|error| error.to_string())? {
            return Ok(Vec::new());
        }
        let mut packets = Vec::new();
        while let Some(packet) = reader.next_packet().map_err(|error| error.to_string())? {
            packets.push(packet);
        }
        Ok(packets)
    });
    match packets {
        Err(error) => assert!(error.contains("fuzz"), "{error}"),
        Ok(packets) => {
            assert!(packets.iter().map(|(bytes, _)| bytes.len()).sum::<usize>() <= data.len());
            for (bytes, ticks) in packets {
                assert_eq!(opus::ticks(&bytes).ok(), Some(ticks));
                // 2.5 to 120 ms (RFC 6716 section 3.1).
                assert!((120..=5760).contains(&ticks), "{ticks}");
            }
        }
    }
}

/// Writes the checksum of each page (RFC 3533 section 6); returns whether there is one.
fn mend(file: &mut [u8]) -> bool {
    const HEADER: usize = 27;
    let (mut at, mut found) = (0, false);
    while let Some(segments) = file.get(at + HEADER - 1).filter(|_| file[at..].starts_with(b"OggS")) {
        let table = at + HEADER..at + HEADER + usize::from(*segments);
        let Some(body) =
            file.get(table.clone()).map(|lengths| lengths.iter().map(|length| usize::from(*length)).sum::<usize>())
        else {
            break;
        };
        let Some(page) = file.get_mut(at..table.end + body) else { break };
        page[22..26].fill(0);
        let sum = page.iter().fold(0_u32, |sum, byte| {
            let step = |sum: u32, _| if sum >> 31 == 0 { sum << 1 } else { sum << 1 ^ 0x04c1_1db7 };
            (0..8).fold(sum ^ u32::from(*byte) << 24, step)
        });
        page[22..26].copy_from_slice(&sum.to_le_bytes());
        (at, found) = (table.end + body, true);
    }
    found
}
