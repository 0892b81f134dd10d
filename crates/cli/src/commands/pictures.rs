//! The video, the encoder and the quality metric: options that `compare` and `reproduce` share.

use std::fmt;

use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::Undershoot;
use thalweg_lab::reproduce::Setup;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_link::PathConfig;
use thalweg_units::{Seed, Size, Span};
use thalweg_video::quality::Ssim;

#[derive(Debug, Clone, clap::Args)]
pub(super) struct Pictures {
    /// The video: `scene`, `scene:easy` (a static scene, on which an encoder cannot spend its target), a .y4m file, `-`
    /// for y4m on standard input, or anything ffmpeg reads. Given several times, `compare` plays each
    #[arg(long, default_value = "scene", value_parser = crate::recorded::video)]
    video: Vec<String>,
    /// Scale the video to this size, such as 1280x720 or 720p; when absent that of a paper's figure, a file's own, or
    /// 720p for the built-in scene
    #[arg(long)]
    size: Option<Size>,
    /// Frames per second; pictures of a file are repeated or dropped to reach it. When absent that of a paper's figure,
    /// else a file's own, or 30 for the built-in scene
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=240))]
    frame_rate: Option<u32>,
    /// The encoder: vp8 (libvpx), h264 (openh264), functional (our own VP8), or model (a statistical one without
    /// pixels, for fast sweeps); when absent that of a paper's figure, else vp8, or functional for schemes that need it
    #[arg(long = "encoder", visible_alias = "codec", value_name = "ENCODER")]
    codec: Option<Codec>,
    /// How far the encoder stays below its target: 0.6, 0.6@30s-60s, ios or android (drawn every 12 s by the seed, the
    /// same for every scheme), or a file of lines `seconds ratio` or of one ratio per second
    #[arg(long, default_value = "none")]
    undershoot: Undershoot,
    /// The time to encode a picture in virtual time, such as 55ms; when absent that of a paper's figure, else the time
    /// it takes on this machine
    #[arg(long)]
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
        self.video.iter().map(|video| Pictures { video: vec![video.clone()], ..self.clone() }).collect()
    }

    pub(super) fn video(&self) -> Video {
        let (source, retimed) = (self.video.last().cloned().unwrap_or_default(), self.frame_rate.is_some());
        Video { source, size: self.size, frame_rate: self.frame_rate.unwrap_or(30), retimed }
    }

    /// These options, with those that are absent as in a paper's figure.
    pub(super) fn of_figure(&self, setup: &Setup) -> Pictures {
        Pictures {
            frame_rate: self.frame_rate.or(setup.frame_rate),
            encode_time: self.encode_time.or(setup.encode_time),
            size: self.size.or(setup.size),
            codec: self.codec.clone().or_else(|| setup.encoder.codec()),
            ..self.clone()
        }
    }

    fn codec_time(&self) -> CodecTime {
        let usual = CodecTime::default();
        let Some(time) = self.encode_time else { return usual };
        let pixels = self.size.unwrap_or(Size::HD).pixels() as f64;
        CodecTime { encode_ns_per_pixel: time.as_nanos() as f64 / pixels, ..usual }
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
        write!(f, ", video {}", self.video.join(", "))?;
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
        _ => Err(format!("'{text}' is no variant of SSIM: choose window or daala")),
    }
}
