//! The video, the encoder and the quality metric: options that `compare` and `reproduce` share.

use std::fmt;

use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::Undershoot;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_netsim::PathConfig;
use thalweg_papers::Setup;
use thalweg_units::{FrameRate, Seed, Size, Span};
use thalweg_video::quality::Ssim;

use super::values;

#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Video and encoder")]
pub(super) struct Pictures {
    /// The video: `scene`, `scene:easy`, a .y4m file, `-` for y4m on standard input, or anything ffmpeg reads
    ///
    /// `scene:easy` is a static scene, on which an encoder cannot spend its target. Default: that of a paper's figure,
    /// else `scene`. Given several times, `compare` plays each.
    #[arg(long, value_parser = crate::recorded::video)]
    video: Vec<String>,
    /// True of a paper's figure, whose clips are played without a cut.
    #[arg(skip)]
    there_and_back: bool,
    /// Scale the video to this size, such as 1280x720 or 720p
    ///
    /// Default: that of a paper's figure, a file's own, or 720p for the built-in scene.
    #[arg(long)]
    size: Option<Size>,
    /// Frames per second: 30, 29.97 or 30000/1001
    ///
    /// Pictures of a file are repeated or dropped to reach it. Default: that of a paper's figure, a file's own, or 30
    /// for the built-in scene.
    #[arg(long, value_name = "FPS")]
    frame_rate: Option<FrameRate>,
    /// The encoder: vp8 or vp9 (libvpx), h264 (openh264), functional (our own VP8), or model (statistical, fast)
    ///
    /// The model has no pixels, for sweeps. Default: that of a paper's figure, else vp8, or functional for schemes that
    /// need it.
    #[arg(long = "encoder", visible_alias = "codec", value_name = "ENCODER")]
    codec: Option<Codec>,
    /// Ratio of the encoder's rate to its target: 0.6, 0.6@30s-60s, ios, android, or a file
    ///
    /// ios and android are drawn every 12 s by the seed, the same for every scheme; a file has lines `seconds ratio` or
    /// one ratio per second.
    #[arg(long, default_value = "none")]
    undershoot: Undershoot,
    /// Encoding time of a picture in virtual time, such as 55ms (default: proportional to its pixels)
    ///
    /// A figure's scheme with a time of its own, such as salsify:paper@55ms, keeps it.
    #[arg(long, value_parser = values::duration)]
    encode_time: Option<Span>,
    /// The variant of SSIM: window (8x8, as x264 and ffmpeg) or daala (Gaussian, as Salsify reports; slower)
    #[arg(long, default_value = "window", value_parser = ssim)]
    ssim: Ssim,
}

impl Pictures {
    /// A scenario with these pictures over a path, everything else at the laboratory's defaults.
    pub(super) fn over(
        &self,
        name: &str,
        duration: Span,
        seed: Seed,
        forward: PathConfig,
        reverse: PathConfig,
    ) -> Scenario {
        Scenario {
            duration,
            seed,
            video: self.video(),
            codec: self.codec(),
            undershoot: self.undershoot.clone(),
            codec_time: self.codec_time(),
            forward,
            reverse,
            ssim: self.ssim,
            ..Scenario::over(name)
        }
    }

    /// These options with each of the videos alone.
    pub(super) fn each(&self) -> Vec<Pictures> {
        if self.video.is_empty() {
            return vec![self.clone()];
        }
        self.video.iter().map(|video| Pictures { video: vec![video.clone()], ..self.clone() }).collect()
    }

    /// Options that were given, with the field of the scenario that each sets.
    pub(super) fn given(&self) -> Vec<(String, &'static str)> {
        let mut given: Vec<_> = self.video.iter().map(|video| (format!("--video {video}"), "video.source")).collect();
        given.extend(self.codec.iter().map(|codec| (format!("--encoder {codec}"), "codec")));
        let undershoot =
            (!self.undershoot.is_none()).then(|| (format!("--undershoot {}", self.undershoot), "undershoot"));
        let ssim = (self.ssim == Ssim::Daala).then(|| ("--ssim daala".to_string(), "ssim"));
        given.extend(undershoot.into_iter().chain(ssim));
        given
    }

    pub(super) fn video(&self) -> Video {
        Video {
            frame_rate: self.frame_rate.unwrap_or(FrameRate::whole(30)),
            retimed: self.frame_rate.is_some(),
            there_and_back: self.there_and_back,
            ..Video::of(self.source(), self.size)
        }
    }

    /// These options, with those that are absent as in a paper's figure.
    ///
    /// # Errors
    /// When the figure's clip is not present; the error says how to get it.
    pub(super) fn of_figure(&self, setup: &Setup) -> Result<Pictures, thalweg_data::Error> {
        let clip = setup.video.filter(|_| self.video.is_empty()).map(crate::recorded::video).transpose()?;
        Ok(Pictures {
            there_and_back: clip.is_some(),
            video: clip.map_or_else(|| self.video.clone(), |clip| vec![clip]),
            frame_rate: self.frame_rate.or(setup.frame_rate.map(FrameRate::whole)),
            size: self.size.or(setup.size),
            codec: self.codec.clone().or_else(|| setup.encoder.codec()),
            ..self.clone()
        })
    }

    fn source(&self) -> &str {
        self.video.last().map_or("scene", String::as_str)
    }

    fn codec_time(&self) -> CodecTime {
        let usual = CodecTime::default();
        self.encode_time.map_or(usual, |time| usual.encoding_in(time, self.size.unwrap_or(Size::HD)))
    }

    pub(super) fn codec(&self) -> Codec {
        self.codec.clone().unwrap_or_default()
    }
}

impl fmt::Display for Pictures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.codec {
            Some(codec) => write!(f, "encoder {codec}")?,
            None => f.write_str("a real encoder")?,
        }
        write!(f, ", video {}", self.source())?;
        if let Some(size) = self.size {
            write!(f, " at {size}")?;
        }
        match self.frame_rate {
            Some(rate) => write!(f, ", {rate} fps"),
            None => Ok(()),
        }
    }
}

fn ssim(text: &str) -> Result<Ssim, String> {
    match text {
        "window" => Ok(Ssim::Window),
        "daala" => Ok(Ssim::Daala),
        _ => Err(format!("unknown variant of SSIM '{text}': expected window or daala")),
    }
}
