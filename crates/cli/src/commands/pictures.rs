//! What is seen and how it is coded and judged: options that `compare` and `reproduce` share.

use thalweg_codecs::{Codec, CodecTime};
use thalweg_lab::Undershoot;
use thalweg_lab::reproduce::Setup;
use thalweg_lab::scenario::{Scenario, Video};
use thalweg_link::PathConfig;
use thalweg_units::{Seed, Size, Span};
use thalweg_video::quality::Ssim;

#[derive(Clone, clap::Args)]
pub(super) struct Pictures {
    /// The video: `scene`, `scene:easy` (a still camera: what an encoder cannot spend its target on), a .y4m file, `-` for y4m on standard input, or anything ffmpeg reads
    #[arg(long, default_value = "scene", value_parser = crate::recorded::video)]
    video: String,
    /// The size to make the video, such as 1280x720 or 720p; when absent a paper's figure's, a file's own, or 720p of the built-in scene
    #[arg(long)]
    size: Option<Size>,
    /// Frames per second, of a file by repeating some or leaving some out; when absent as many as a paper's figure has, or else 30 of
    /// the built-in scene and a file's own
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=240))]
    frame_rate: Option<u32>,
    /// The encoder: vp8 (libvpx), h264 (openh264), functional (our own VP8), or model (a statistical one without pixels, for fast sweeps); when absent a paper's figure's, or vp8, and functional for what needs it
    #[arg(long = "encoder", visible_alias = "codec", value_name = "ENCODER")]
    codec: Option<Codec>,
    /// How far below its target the encoder stays: 0.6, 0.6@30s-60s, ios or android (drawn every 12 s by the seed, the same for every
    /// scheme), or a file of lines `seconds ratio` or of one ratio a second
    #[arg(long, default_value = "none")]
    undershoot: Undershoot,
    /// How long encoding a picture takes in virtual time, such as 55ms: when absent what it takes here, or as long as a paper's figure
    /// has
    #[arg(long)]
    encode_time: Option<Span>,
    /// The variant of SSIM: window (8x8, as x264 and ffmpeg) or daala (Gaussian, as Salsify reports; slower)
    #[arg(long, default_value = "window", value_parser = ssim)]
    ssim: Ssim,
}

impl Pictures {
    /// These pictures over a path, with everything else as a laboratory has it.
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

    pub(super) fn video(&self) -> Video {
        let (source, retimed) = (self.video.clone(), self.frame_rate.is_some());
        Video { source, size: self.size, frame_rate: self.frame_rate.unwrap_or(30), retimed }
    }

    /// The same as a paper's figure has them, unless others were asked for.
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

fn ssim(text: &str) -> Result<Ssim, String> {
    match text {
        "window" => Ok(Ssim::Window),
        "daala" => Ok(Ssim::Daala),
        _ => Err(format!("'{text}' is no variant of SSIM: choose window or daala")),
    }
}
