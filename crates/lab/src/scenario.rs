//! What is played: video, codec, path, feedback and for how long.

use serde::{Deserialize, Serialize};
use thalweg_codecs::{Codec, CodecTime};
use thalweg_link::{DatagramsConfig, HopConfig, Jitter, PathConfig, QueueConfig, TcpConfig, WebConfig};
use thalweg_sender::FeedbackStyle;
use thalweg_units::{Seed, Size, Span};
pub use thalweg_video::Video;
use thalweg_video::quality::Ssim;

use crate::Undershoot;

/// Everything that decides a run but the scheme. Same scenario, scheme and seed give the same events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What it is called.
    pub name: String,
    /// How long it lasts.
    pub duration: Span,
    /// The root of every random choice.
    #[serde(default = "one")]
    pub seed: Seed,
    /// What is seen.
    pub video: Video,
    /// Which codec, with its settings.
    pub codec: Codec,
    /// How far below the sender's target the encoder stays, and when: `none`, `0.6`, `0.6@30s-60s`, `ios`, `android` or a file. What is
    /// drawn depends on the seed and on which sender it is, never on its scheme.
    #[serde(default, skip_serializing_if = "Undershoot::is_none")]
    pub undershoot: Undershoot,
    /// How long coding takes in virtual time.
    #[serde(default)]
    pub codec_time: CodecTime,
    /// From the sender to the receiver.
    pub forward: PathConfig,
    /// From the receiver to the sender, for reports.
    pub reverse: PathConfig,
    /// What the receiver reports, instead of what the scheme asks for.
    #[serde(default)]
    pub feedback: Option<FeedbackStyle>,
    /// Where reports come on request: a packet asks for one when none has asked for so long, whatever the sender's engine wants. A live
    /// sender does; `None` for the engine's wishes alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_feedback_every: Option<Span>,
    /// Whether shown frames are compared with their source.
    #[serde(default = "yes")]
    pub measure_quality: bool,
    /// Which variant of SSIM they are compared by.
    #[serde(default)]
    pub ssim: Ssim,
    /// Whether media goes both ways, so that the receiver knows the round trip and asks for a packet again after one. If not, it takes
    /// 100 ms for it, as libwebrtc does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub call: bool,
    /// A frame that can be decoded only this long after it was captured is discarded: decoded, because later ones refer to it, and not
    /// shown ([`thalweg_receiver::Receiver::discarding_after`]). FBRA's players do so after 400 ms; `None` shows every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard_after: Option<Span>,
    /// How far the receiver's clock is ahead of the sender's.
    #[serde(default)]
    pub clock_offset: Span,
    /// Who else uses the path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub competitors: Vec<Competitor>,
}

impl Scenario {
    /// A minute of the built-in scene, made by an encoder model, over the link of this name with 25 ms of delay in each direction and a
    /// queue without end. Set what should be otherwise.
    pub fn over(link: &str) -> Scenario {
        let delay = HopConfig::Delay { delay: Span::from_millis(25), jitter: Jitter::None, reorders: false };
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
            call: false,
            discard_after: None,
            // The clocks of two machines never agree; no result may depend on it.
            clock_offset: Span::from_millis(1234),
            competitors: Vec::new(),
        }
    }
}

/// Someone else on the path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Competitor {
    /// Another sender of video, with the same codec, undershoot, delay and feedback.
    Sender(Sender),
    /// Datagrams at a rate, whatever happens to them.
    Datagrams(DatagramsConfig),
    /// TCP flows that always have something to send.
    Tcp(TcpConfig),
    /// TCP flows that transfer pages and are idle between them.
    Web(WebConfig),
}

/// Another sender of video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sender {
    /// Its scheme, by name.
    pub scheme: String,
    /// What it sends; the scenario's own video when absent.
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
