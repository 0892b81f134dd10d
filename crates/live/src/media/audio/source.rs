//! A source of Opus packets, selected by name.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use thalweg_video::ffmpeg;
use thalweg_video::source::{SceneConfig, SourceError};

use super::ogg_opus::OggOpus;
use crate::media::Repeat;

/// 20 ms of silence: CELT at full bandwidth, mono, one frame (first byte 0xf8, RFC 6716 table 2), whose range coder
/// starts with the largest possible value. The first symbol, "silence", has a probability of 1 in 32768 at that end of
/// the range (section 4.3): it is set, and nothing else is read.
const SILENCE: [u8; 3] = [0xf8, 0xff, 0xfe];
/// Duration of a silent packet in ticks of 48 kHz.
const SILENCE_TICKS: u32 = 960;
/// ffmpeg's arguments after the input: Opus for conversation, in packets of 20 ms, at most two channels, each packet
/// written at once on its own page (the default of one page per second would delay a device by that much).
const ENCODING: &[&str] = &[
    "-vn",
    "-ac",
    "2",
    "-ar",
    "48000",
    "-c:a",
    "libopus",
    "-application",
    "lowdelay",
    "-frame_duration",
    "20",
    "-b:a",
    "64k",
    "-page_duration",
    "20000",
    "-flush_packets",
    "1",
    "-f",
    "ogg",
    "-",
];

/// Silence where a film's sound begins later than its pictures, or has a gap: packets have no times.
const FILLED: &[&str] = &["-map", "0:a:0", "-af", "aresample=async=1:first_pts=0"];

/// One packet to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpusPacket {
    /// The payload of its RTP packet.
    pub data: Vec<u8>,
    /// Its start, in ticks of 48 kHz since the source's first packet; there are no gaps between packets.
    pub timestamp: u64,
    /// Its duration in ticks.
    pub duration: u32,
}

/// The audio to send with a video: its own, if it is a file that has some, else `silence`.
pub fn of_video(name: &str) -> &str {
    if name == "-" || SceneConfig::is_named_by(name) {
        return "silence";
    }
    let unsent = |sound: &str| {
        tracing::info!(video = name, "{sound} is not sent; --audio {name} sends it, over a connection of its own");
        "silence"
    };
    if ffmpeg::is_stream(name) {
        return unsent("its sound, if it has any,");
    }
    match ffmpeg::probe(name) {
        Ok(about) if about.has_audio && ffmpeg::is_address(name) && about.duration.is_none() => unsent("its sound"),
        Ok(about) if about.has_audio => name,
        _ => "silence",
    }
}

/// A sequence of Opus packets.
pub struct AudioSource {
    what: String,
    kind: Kind,
    /// The start of the next packet.
    timestamp: u64,
}

enum Kind {
    Silence,
    File { stream: OggOpus<BufReader<File>>, repeat: Repeat },
    Ffmpeg(OggOpus<ffmpeg::Process>),
}

impl AudioSource {
    /// Opens the source of this name; see [`audio`](crate::media::audio) for the names. `repeat` has no effect on
    /// sources without an end.
    ///
    /// # Errors
    /// When the name or file is not a source, the file is not readable, or ffmpeg is not installed or reports an error.
    pub fn open(name: &str, repeat: Repeat) -> Result<AudioSource, SourceError> {
        let forever: &[&str] = if repeat == Repeat::Forever { &["-stream_loop", "-1"] } else { &[] };
        let kind = match name.split_once(':') {
            None if name == "silence" => Kind::Silence,
            None if name == "clicks" => {
                let clicks = "aevalsrc=0.8*lt(mod(n\\,48000)\\,96)*sin(2*PI*1000*n/48000):s=48000";
                by_ffmpeg(name, &["-f", "lavfi", "-i", clicks])?
            }
            Some(("tone", frequency)) => {
                let hertz: u32 =
                    frequency.parse().ok().filter(|hertz| (1..=20_000).contains(hertz)).ok_or_else(|| {
                        SourceError::format(name, "a tone is tone:HZ with 1 to 20000 Hz, such as tone:440")
                    })?;
                by_ffmpeg(name, &["-f", "lavfi", "-i", &format!("sine=frequency={hertz}:sample_rate=48000")])?
            }
            Some((system @ ("alsa" | "pulse"), device)) => by_ffmpeg(name, &["-f", system, "-i", device])?,
            _ if !ffmpeg::is_address(name) && !Path::new(name).exists() => {
                let problem = "no such file, and no silence, tone:HZ, clicks, alsa:DEVICE or pulse:DEVICE either";
                return Err(SourceError::format(name, problem));
            }
            _ if !ffmpeg::is_address(name) && is_ogg_opus(name)? => Kind::File { stream: file(name)?, repeat },
            _ => {
                let input = ffmpeg::input(name)?;
                let input: Vec<&str> = input.iter().map(String::as_str).collect();
                by_ffmpeg(name, &[forever, &input, FILLED].concat())?
            }
        };
        Ok(AudioSource { what: name.into(), kind, timestamp: 0 })
    }

    /// The next packet; `None` at the end. Blocks until there is one.
    ///
    /// # Errors
    /// A read error.
    pub fn next_packet(&mut self) -> Result<Option<OpusPacket>, SourceError> {
        let next = match &mut self.kind {
            Kind::Silence => Some((SILENCE.to_vec(), SILENCE_TICKS)),
            Kind::Ffmpeg(stream) => stream.next_packet()?,
            Kind::File { stream, repeat } => {
                let mut packet = stream.next_packet()?;
                // A file without packets has none in the second round either.
                if packet.is_none() && *repeat == Repeat::Forever && self.timestamp > 0 {
                    *stream = file(&self.what)?;
                    packet = stream.next_packet()?;
                }
                packet
            }
        };
        let Some((data, duration)) = next else { return Ok(None) };
        let timestamp = self.timestamp;
        self.timestamp += u64::from(duration);
        Ok(Some(OpusPacket { data, timestamp, duration }))
    }

    /// The start of the audible audio in ticks after the start of the first packet: the part before it is the encoder's
    /// delay, or the decoder's convergence. To be in sync with a picture shown at the source's start, send that much
    /// earlier.
    pub fn lead(&self) -> u32 {
        match &self.kind {
            Kind::Silence => 0,
            Kind::File { stream, .. } => stream.pre_skip(),
            Kind::Ffmpeg(stream) => stream.pre_skip(),
        }
    }
}

fn by_ffmpeg(name: &str, input: &[&str]) -> Result<Kind, SourceError> {
    let mut stream = OggOpus::new(name, ffmpeg::Process::start(name, &[input, ENCODING].concat())?);
    if stream.begin()? { Ok(Kind::Ffmpeg(stream)) } else { Err(no_audio(name)) }
}

fn file(name: &str) -> Result<OggOpus<BufReader<File>>, SourceError> {
    let file = File::open(name).map_err(|error| SourceError::io(name, error))?;
    let mut stream = OggOpus::new(name, BufReader::new(file));
    if stream.begin()? { Ok(stream) } else { Err(no_audio(name)) }
}

fn no_audio(name: &str) -> SourceError {
    SourceError::format(name, "no audio in it: name a file that has some, or silence")
}

/// Returns true if a file begins with an Ogg page of one packet, the Opus header: with a segment table of one entry
/// that packet begins at byte 28.
fn is_ogg_opus(name: &str) -> Result<bool, SourceError> {
    let mut start = Vec::new();
    let file = File::open(name).map_err(|error| SourceError::io(name, error))?;
    file.take(36).read_to_end(&mut start).map_err(|error| SourceError::io(name, error))?;
    Ok(start.starts_with(b"OggS") && start.ends_with(b"OpusHead"))
}

#[cfg(test)]
mod tests {
    use super::super::ogg_opus::tests::stream;
    use super::*;
    use crate::media::testing::{Scratch, ffmpeg as run};

    fn packets(source: &mut AudioSource, count: usize) -> Vec<OpusPacket> {
        (0..count).map_while(|_| source.next_packet().unwrap()).collect()
    }

    /// Decodes packets to samples of 48 kHz, mono.
    fn decoded(packets: &[OpusPacket]) -> Vec<i16> {
        let folder = Scratch::new("decoded");
        let end = packets.iter().map(|packet| u64::from(packet.duration)).sum();
        let data: Vec<Vec<u8>> = packets.iter().map(|packet| packet.data.clone()).collect();
        let (ogg, pcm) = (folder.path("packets.opus"), folder.path("samples.pcm"));
        std::fs::write(&ogg, stream(&data, 0, end)).unwrap();
        run(&["-i", &ogg, "-ac", "1", "-ar", "48000", "-f", "s16le", &pcm]);
        let bytes = std::fs::read(&pcm).unwrap();
        bytes.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect()
    }

    /// Asserts that packets follow each other without gaps, 20 ms each.
    fn follow(packets: &[OpusPacket]) {
        for (index, packet) in packets.iter().enumerate() {
            assert_eq!((packet.timestamp, packet.duration), (960 * index as u64, 960));
        }
    }

    #[test]
    fn silence_never_ends_and_is_silent() {
        let mut source = AudioSource::open("silence", Repeat::Once).unwrap();
        let packets = packets(&mut source, 50);
        assert_eq!((packets.len(), source.lead()), (50, 0));
        follow(&packets);
        let samples = decoded(&packets);
        assert_eq!(samples.len(), 48_000);
        assert!(samples.iter().all(|sample| *sample == 0));
    }

    #[test]
    fn a_tone_has_its_frequency() {
        let mut source = AudioSource::open("tone:440", Repeat::Once).unwrap();
        let packets = packets(&mut source, 100);
        assert_eq!(packets.len(), 100);
        follow(&packets);
        // The second second: the encoder has converged by then.
        let samples = &decoded(&packets)[48_000..];
        let rising = samples.windows(2).filter(|pair| pair[0] < 0 && pair[1] >= 0).count();
        assert!((439..=441).contains(&rising), "{rising} Hz");
    }

    #[test]
    fn clicks_come_at_every_whole_second() {
        let mut source = AudioSource::open("clicks", Repeat::Once).unwrap();
        let lead = source.lead() as usize;
        assert_eq!(lead, 120, "libopus of low delay looks 2.5 ms ahead");
        let samples = decoded(&packets(&mut source, 160));
        let loud = |sample: &i16| sample.unsigned_abs() > 8_000;
        for second in 0..3 {
            let expected = lead + 48_000 * second;
            let begin = samples[48_000 * second..].iter().position(loud).unwrap() + 48_000 * second;
            // The tolerance: a quarter of a period of 1 kHz until it is loud, and the codec's pre-echo.
            assert!(begin.abs_diff(expected) < 48, "second {second}: {begin} instead of {expected}");
            let quiet = &samples[expected + 960..(expected + 47_000).min(samples.len())];
            assert!(!quiet.iter().any(loud), "second {second}");
        }
    }

    #[test]
    fn an_opus_file_comes_as_it_is_and_again_without_a_gap() {
        let folder = Scratch::new("loop");
        let path = folder.path("three.ogg");
        let data: Vec<Vec<u8>> = (1..4).map(|byte| vec![0xf8, byte]).collect();
        std::fs::write(&path, stream(&data, 312, 3 * 960)).unwrap();
        let mut once = AudioSource::open(&path, Repeat::Once).unwrap();
        assert_eq!((packets(&mut once, 10).len(), once.lead()), (3, 312));
        let mut forever = AudioSource::open(&path, Repeat::Forever).unwrap();
        let packets = packets(&mut forever, 10);
        follow(&packets);
        let found: Vec<u8> = packets.iter().map(|packet| packet.data[1]).collect();
        assert_eq!(found, [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    }

    #[test]
    fn another_file_is_encoded_in_packets_of_20_ms_and_looped_without_a_gap() {
        let folder = Scratch::new("wave");
        let path = folder.path("tone with: a name.wav");
        // Half a second of whole periods, so that a gap would be audible as such.
        run(&["-f", "lavfi", "-i", "sine=frequency=400:sample_rate=48000:duration=0.5", &path]);
        let mut once = AudioSource::open(&path, Repeat::Once).unwrap();
        let all = packets(&mut once, 1000);
        follow(&all);
        // 24,000 samples and the encoder's lookahead.
        assert_eq!(all.len(), 26);
        let mut forever = AudioSource::open(&path, Repeat::Forever).unwrap();
        let all = packets(&mut forever, 100);
        assert_eq!(all.len(), 100);
        follow(&all);
        let samples = &decoded(&all)[48_000..];
        let rising = samples.windows(2).filter(|pair| pair[0] < 0 && pair[1] >= 0).count();
        assert!((399..=401).contains(&rising), "{rising} Hz");
        // A sine of this amplitude never stays quiet for 30 consecutive samples, a quarter of a period.
        let quiet =
            samples.windows(30).filter(|window| window.iter().all(|sample| sample.unsigned_abs() < 300)).count();
        assert_eq!(quiet, 0);
    }

    #[test]
    fn what_is_no_source_is_refused_with_what_is() {
        let problem = |name: &str| AudioSource::open(name, Repeat::Once).err().unwrap().to_string();
        assert!(problem("/nowhere/at/all.opus").contains("no such file"));
        assert!(problem("tone:").contains("1 to 20000 Hz") && problem("tone:20001").contains("tone:440"));
        let folder = Scratch::new("text");
        let path = folder.path("text.txt");
        std::fs::write(&path, "Not an audio.").unwrap();
        assert!(problem(&path).contains("ffmpeg cannot read it"), "{}", problem(&path));
        let silent = folder.path("silent.y4m");
        run(&["-f", "lavfi", "-i", "color=size=16x16:duration=0.1", &silent]);
        assert!(problem(&silent).contains("silent.y4m"), "{}", problem(&silent));
    }
}
