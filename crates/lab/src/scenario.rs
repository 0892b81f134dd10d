//! A scenario: video, codec, path, feedback and duration.

use serde::{Deserialize, Serialize};
use thalweg_codecs::{Codec, CodecTime};
use thalweg_link::{DatagramsConfig, HopConfig, PathConfig, QueueConfig, TcpConfig, WebConfig};
use thalweg_sender::FeedbackStyle;
use thalweg_units::{Seed, Size, Span};
pub use thalweg_video::Video;
use thalweg_video::quality::Ssim;

use crate::{Undershoot, playout};

/// Everything that determines a run except the scheme. The same scenario, scheme and seed give the same events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// Duration of the run.
    pub duration: Span,
    /// The root seed of all random numbers.
    #[serde(default = "one")]
    pub seed: Seed,
    /// The video.
    pub video: Video,
    /// The codec with its settings.
    pub codec: Codec,
    /// How far below the sender's target the encoder stays, and when: `none`, `0.6`, `0.6@30s-60s`, `ios`, `android` or
    /// a file. Random ratios depend on the seed and on the sender's flow, never on its scheme.
    #[serde(default, skip_serializing_if = "Undershoot::is_none")]
    pub undershoot: Undershoot,
    /// Coding time in virtual time.
    #[serde(default)]
    pub codec_time: CodecTime,
    /// The path from the sender to the receiver.
    pub forward: PathConfig,
    /// The path from the receiver to the sender, for reports.
    pub reverse: PathConfig,
    /// The receiver's feedback style, overriding the one that the scheme asks for.
    #[serde(default)]
    pub feedback: Option<FeedbackStyle>,
    /// For feedback on request: max time without a request, after which a packet requests a report regardless of the
    /// sender's engine. Live senders do this; `None` leaves requests to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_feedback_every: Option<Span>,
    /// Whether shown frames are compared with their source.
    #[serde(default = "yes")]
    pub measure_quality: bool,
    /// The variant of SSIM used for the comparison.
    #[serde(default)]
    pub ssim: Ssim,
    /// Whether MS-SSIM is measured too: 10 ms for a frame of 720p, as much as all else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ms_ssim: bool,
    /// Whether VMAF is measured too, by the ffmpeg that `THALWEG_FFMPEG` names; it must have libvmaf. It has no part in the
    /// events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vmaf: bool,
    /// Whether media is sent both ways, so that the receiver knows the round-trip time and repeats requests for a
    /// packet at that interval. If not, it assumes 100 ms, as libwebrtc does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub call: bool,
    /// A frame that becomes decodable later than this after its capture is discarded: decoded, because later ones refer
    /// to it, but not shown ([`thalweg_receiver::Receiver::discarding_after`]). FBRA's players do so after 400 ms;
    /// `None` shows every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard_after: Option<Span>,
    /// How long the receiver holds frames back to show them evenly; `None` shows each when it is decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playout: Option<playout::Config>,
    /// How far the receiver's clock is ahead of the sender's.
    #[serde(default)]
    pub clock_offset: Span,
    /// The competitors on the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<Competitor>,
}

impl Scenario {
    /// A minute of the built-in scene, encoded by an encoder model, over the link of this name with 25 ms of delay in
    /// each direction and an unlimited queue. Change the fields that should differ.
    pub fn over(link: &str) -> Scenario {
        let delay = HopConfig::delay(Span::from_millis(25));
        let bottleneck = HopConfig::Bottleneck { trace: link.into(), queue: QueueConfig::Infinite, once: false };
        Scenario {
            name: link.into(),
            duration: Span::from_secs(60),
            seed: one(),
            video: Video::scene(Size::HD, 30),
            codec: Codec::Model(Default::default()),
            undershoot: Undershoot::None,
            codec_time: CodecTime::default(),
            forward: PathConfig { hops: vec![bottleneck, delay.clone()] },
            reverse: PathConfig { hops: vec![delay] },
            feedback: None,
            request_feedback_every: None,
            measure_quality: true,
            ssim: Ssim::Window,
            ms_ssim: false,
            vmaf: false,
            call: false,
            discard_after: None,
            playout: None,
            // The clocks of two machines never agree; results must not depend on the offset.
            clock_offset: Span::from_millis(1234),
            competitors: Vec::new(),
        }
    }
}

/// A competitor on the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Competitor {
    /// Another video sender, with the same codec, undershoot, delay and feedback.
    Sender(Sender),
    /// Datagrams at a fixed rate, regardless of losses.
    Datagrams(DatagramsConfig),
    /// TCP flows that always have something to send, or transfer one file.
    Tcp(TcpConfig),
    /// TCP flows that transfer pages and are idle between them.
    Web(WebConfig),
}

/// Another video sender.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    /// Its scheme, by name.
    pub scheme: String,
    /// Its video; the scenario's own when absent.
    #[serde(default)]
    pub video: Option<Video>,
    /// When it begins.
    #[serde(default)]
    pub from: Span,
    /// When it stops; `None` at the end of the run.
    #[serde(default)]
    pub until: Option<Span>,
}

fn yes() -> bool {
    true
}

fn one() -> Seed {
    Seed::new(1)
}
