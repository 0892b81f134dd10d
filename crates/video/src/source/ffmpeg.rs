//! Any input of the program `ffmpeg`, if it is installed.

use std::sync::Arc;

use thalweg_units::{Size, Span};

use super::{Format, Source, SourceError, Y4mReader};
use crate::ffmpeg::{Probe, Process, has_filters, input, is_address, is_stream, probe};
use crate::picture::Picture;

/// The highest frame rate that pictures at irregular times are converted to, per second.
const HIGHEST_RATE: u32 = 60;
/// A file whose mean rate is nearer to its base rate than this share is of constant rate: the mean is of rounded times.
const ALIKE: f64 = 0.01;
/// From BT.2020 with PQ or HLG to BT.709, by the filters zscale and tonemap (ffmpeg's documentation of tonemap).
const TONE_MAPPING: &str = "zscale=t=linear:npl=100,format=gbrpf32le,zscale=p=bt709,tonemap=tonemap=hable:desat=0,\
                            zscale=t=bt709:m=bt709:r=tv";

/// How a file or address is decoded.
#[derive(Debug, Clone)]
pub struct Decoding {
    what: String,
    arguments: Vec<String>,
    duration: Option<Span>,
    notes: Vec<String>,
}

impl Decoding {
    /// The pictures of a file or address at their own size, or scaled to `size` by ffmpeg. HDR is converted to SDR, and
    /// pictures at irregular times to the nearest times of a constant rate; not of a live stream, which is not looked at before.
    ///
    /// # Errors
    /// When ffmpeg is not installed, or finds no video.
    pub fn of(name: &str, size: Option<Size>) -> Result<Decoding, SourceError> {
        let about = if is_stream(name) { Probe::default() } else { probe(name)? };
        let (mut filters, mut notes) = (Vec::new(), Vec::new());
        filters.extend(size.map(|Size { width, height, .. }| format!("scale={width}:{height}")));
        let hdr = [("smpte2084", "PQ"), ("arib-std-b67", "HLG")].iter().find(|(name, _)| about.transfer == *name);
        if let Some((_, hdr)) = hdr {
            if has_filters(&["zscale", "tonemap"]) {
                filters.push(TONE_MAPPING.into());
                notes.push(format!("its HDR ({hdr}) is converted to SDR (BT.709)"));
            } else {
                notes.push(format!(
                    "its HDR ({hdr}) is shown as if it were SDR: this ffmpeg has no filter zscale or tonemap"
                ));
            }
        }
        if let Some(rate) = irregular(&about) {
            notes.push(format!("its pictures come at irregular times: they are converted to {rate} fps"));
            filters.push(format!("fps={rate}"));
        } else if let ((pictures @ 1.., seconds @ 1..), Some(_)) = (about.base_rate, about.duration) {
            // A file may leave pictures out that its header counts; without the filter ffmpeg shows what follows a gap up to
            // an interval early (fftools/ffmpeg_filter.c, video_sync_process).
            filters.push(format!("fps={pictures}/{seconds}"));
        }
        let mut arguments = input(name)?;
        // A live playlist comes in segments of seconds; its pictures are given out at their own rate.
        if name.starts_with("http") && is_address(name) && about.duration.is_none() {
            arguments.insert(0, "-re".into());
        }
        arguments.extend(["-map", "0:V:0"].map(String::from));
        if !filters.is_empty() {
            arguments.extend(["-vf".into(), filters.join(",")]);
        }
        arguments.extend(["-f", "yuv4mpegpipe", "-pix_fmt", "yuv420p", "-"].map(String::from));
        Ok(Decoding { what: name.into(), arguments, duration: about.duration, notes })
    }

    /// The duration; `None` of live streams, and of files that do not say it.
    pub fn duration(&self) -> Option<Span> {
        self.duration
    }

    /// The changes made to the pictures, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Starts ffmpeg, which decodes the first pictures before they are asked for.
    pub(super) fn start(&self) -> Result<Process, SourceError> {
        Process::start(&self.what, &self.arguments)
    }

    /// The pictures that a started ffmpeg decodes.
    pub(super) fn read(&self, started: Process) -> Result<Ffmpeg, SourceError> {
        Y4mReader::new(started, &*self.what).map(Ffmpeg)
    }

    /// The pictures from the first one on.
    ///
    /// # Errors
    /// When ffmpeg cannot read the input, with its message.
    pub fn open(&self) -> Result<Ffmpeg, SourceError> {
        self.read(self.start()?)
    }
}

/// The constant rate for pictures that come at irregular times: their base rate unless that is above 60 fps, else the next
/// whole number above their mean rate. `None` of a constant rate.
fn irregular(about: &Probe) -> Option<u32> {
    let [base, mean] = [about.base_rate, about.frame_rate].map(|(n, d)| f64::from(n) / f64::from(d));
    let varies = base.is_finite() && mean.is_finite() && mean > 0.0 && (base / mean - 1.0).abs() > ALIKE;
    let rate = if base <= f64::from(HIGHEST_RATE) { base } else { mean };
    varies.then(|| (rate.ceil() as u32).clamp(1, HIGHEST_RATE))
}

/// A video decoded to y4m by ffmpeg.
pub struct Ffmpeg(Y4mReader<Process>);

impl Source for Ffmpeg {
    fn format(&self) -> Format {
        self.0.format()
    }

    fn next_picture(&mut self) -> Result<Option<Arc<Picture>>, SourceError> {
        self.0.next_picture()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_varies_becomes_a_constant_one_and_one_of_rounded_times_stays() {
        let of = |base_rate, frame_rate| irregular(&Probe { base_rate, frame_rate, ..Probe::default() });
        assert_eq!(of((30, 1), (30, 1)), None);
        assert_eq!(of((30_000, 1001), (2_997, 100)), None);
        assert_eq!(of((30, 1), (24_123, 1000)), Some(30));
        assert_eq!(of((90_000, 1), (29_700, 1001)), Some(30));
        assert_eq!(of((1000, 1), (240, 1)), Some(60));
        assert_eq!(of((10, 1), (0, 0)), None);
    }
}
