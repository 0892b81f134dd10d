//! A scenario: video, codec, path, feedback and duration.

use serde::{Deserialize, Serialize};
use thalweg_codecs::{Codec, CodecTime};
use thalweg_netsim::{
    CellConfig, DatagramsConfig, HopConfig, PathConfig, QueueConfig, TcpConfig, WebConfig, WifiConfig,
};
use thalweg_sender::FeedbackStyle;
use thalweg_units::{Bytes, Rate, Seed, Size, Span};
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
    /// More links; the two above are called `forward` and `reverse`. Only flows with a route cross them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<NamedLink>,
    /// Media that stations share, by name: Wi-Fi and cells. Only flows with a route cross them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub media: Vec<NamedMedium>,
    /// The links that flows cross; a flow without a route crosses `forward` there and `reverse` back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<Route>,
    /// When the sender under test begins.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub from: Span,
    /// When it stops; `None` at the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Span>,
    /// When senders' cameras, microphones or both are off. Everything else of a sender goes on. A camera that is off from 0
    /// to the end leaves audio alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// Changes during the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// The audio that every video sender sends beside its video.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audio: Option<Audio>,
    /// The feedback of every receiver, instead of what each scheme asks for: what `--feedback` sets. What else a receiver
    /// says (its decoder's states, its measurements of the path, requests) comes as it does with the scheme's own.
    #[serde(default)]
    pub feedback: Option<FeedbackStyle>,
    /// For feedback on request: max time without a request, after which a packet requests a report regardless of the
    /// sender's engine. Live senders do this; `None` leaves requests to the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_feedback_every: Option<Span>,
    /// Compares shown frames with their source.
    #[serde(default = "yes")]
    pub measure_quality: bool,
    /// The variant of SSIM used for the comparison.
    #[serde(default)]
    pub ssim: Ssim,
    /// Measures MS-SSIM too: 10 ms for a frame of 720p, as much as all else.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ms_ssim: bool,
    /// Measures VMAF too, by the ffmpeg that `THALWEG_FFMPEG` names; it must have libvmaf. It has no part in the
    /// events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vmaf: bool,
    /// Sends media both ways, so that the receiver knows the round-trip time and repeats requests for a packet at that
    /// interval. If not, it assumes 100 ms, as libwebrtc does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub call: bool,
    /// The receiver is not told what a frame refers to, and takes each to need the one before it, as libwebrtc does without
    /// dependency descriptors. A scheme whose frames would refer to others then has them refer to the one before and
    /// retransmits losses, as it does with such a peer. Layers, which payload descriptors say, and receivers that keep
    /// states are not concerned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_order: bool,
    /// A frame that becomes decodable later than this after its capture is discarded: decoded, because later ones refer
    /// to it, but not shown ([`thalweg_receiver::Receiver::discarding_after`]). FBRA's players do so after 400 ms;
    /// `None` shows every frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard_after: Option<Span>,
    /// How long the receiver holds frames back to show them evenly; `None` shows each when it is decoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub playout: Option<playout::Config>,
    /// How far the receiver's clock is ahead of the sender's, 0 to 365 days. No figure depends on it.
    #[serde(default)]
    pub clock_offset: Span,
    /// How much faster than the sender's the receiver's clock runs, in parts per million: -50000 to 50000, 100 or less of
    /// a real one. It stamps arrivals and reports, and times playout; all figures are in true time, the sender's.
    #[serde(default)]
    pub clock_drift_ppm: i32,
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
            links: Vec::new(),
            media: Vec::new(),
            routes: Vec::new(),
            from: Span::ZERO,
            until: None,
            pauses: Vec::new(),
            changes: Vec::new(),
            audio: None,
            feedback: None,
            request_feedback_every: None,
            measure_quality: true,
            ssim: Ssim::Window,
            ms_ssim: false,
            vmaf: false,
            call: false,
            in_order: false,
            discard_after: None,
            playout: None,
            // The clocks of two machines never agree; results must not depend on the offset.
            clock_offset: Span::from_millis(1234),
            clock_drift_ppm: 0,
            competitors: Vec::new(),
        }
    }
}

/// The name of the path [`Scenario::forward`] among the links.
pub const FORWARD: &str = "forward";
/// The name of the path [`Scenario::reverse`] among the links.
pub const REVERSE: &str = "reverse";

/// A link that flows cross by their routes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedLink {
    /// Its name, which no other link has.
    pub name: String,
    /// Its hops, in the direction in which flows cross it.
    pub hops: Vec<HopConfig>,
}

/// A medium that stations share; routes name its ports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedMedium {
    /// Its name, which no other link has.
    pub name: String,
    /// The kind of medium.
    pub medium: Medium,
}

/// A medium, modelled by the time that it takes to send and by who may send when: shares, waiting and order are those of
/// the real thing, not its radio (specs/rmcat.md 6C).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Medium {
    /// An access point and its stations, which contend for airtime.
    Wifi(WifiConfig),
    /// A base station that serves the users of a mobile cell, in one direction.
    Cell(CellConfig),
}

/// The links that a flow crosses, in order. A medium is crossed at a port: `air up 0` from station 0, `air down 0` to it. Several flows may cross a link, in either direction: media that goes the
/// other way has `forward = ["reverse"]`, `reverse = ["forward"]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The flow: 0 is the sender under test; then come the competing senders, then the flows of cross traffic, each in
    /// the scenario's order.
    pub flow: u16,
    /// From its sender to its receiver.
    pub forward: Vec<String>,
    /// From its receiver to its sender.
    pub reverse: Vec<String>,
}

/// A time in which a sender's camera, its microphone or both are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// The video sender: 0 is the sender under test, then come the competing senders in order.
    #[serde(default)]
    pub flow: u16,
    /// When the first picture is missing.
    pub from: Span,
    /// When the first picture is there again.
    pub until: Span,
    /// Which of them are off.
    #[serde(default)]
    pub what: Paused,
}

/// The devices that a pause turns off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Paused {
    /// Camera and microphone.
    #[default]
    Both,
    /// The camera: audio goes on.
    Camera,
    /// The microphone: video goes on.
    Microphone,
}

/// Something that changes at a time. Rates and delays that follow a schedule belong to the hops themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When.
    pub at: Span,
    /// The change.
    pub what: What,
}

/// Kind of change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum What {
    /// A property of a link.
    Link {
        /// Its name: `forward`, `reverse` or that of one of [`Scenario::links`].
        name: String,
        /// The rate of all its bottlenecks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate: Option<Rate>,
        /// Its fixed delay, for packets that arrive from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay: Option<Span>,
        /// The probability of independent loss; the link needs a hop with random loss, which may begin with none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<f64>,
    },
    /// The links that a video sender crosses from now on, of which the sender is notified; they may be the same as
    /// before. What is under way stays on the old ones.
    Route {
        /// The new links of a flow.
        route: Route,
        /// True if the sender changes to another network adapter.
        #[serde(default)]
        adapter: bool,
    },
    /// The most that the receiver of a video sender lets it send, as a REMB message says it. `gcc` obeys it as libwebrtc
    /// does, by its target; any other scheme sends no more, all kinds of packets together, from the IP header on.
    ReceiverLimit {
        /// The video sender.
        #[serde(default)]
        flow: u16,
        /// `None` for no limit.
        #[serde(default)]
        rate: Option<Rate>,
    },
    /// The bounds that the application sets to the estimate of a video sender. `gcc` obeys both as libwebrtc does; any
    /// other scheme keeps to `max` as to a receiver's limit, and a note says that `min` has no effect.
    Bounds {
        /// The video sender.
        #[serde(default)]
        flow: u16,
        /// The min rate.
        min: Rate,
        /// The max rate.
        max: Rate,
    },
}

/// Audio of constant rate: packets of one size at one interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Audio {
    /// The payload of a packet.
    pub payload: Bytes,
    /// The time between two packets.
    pub interval: Span,
}

impl Default for Audio {
    /// 20 kbit/s of payload in 50 packets a second (RFC 8867's audio, specs/rmcat.md 1).
    fn default() -> Audio {
        Audio { payload: Bytes::new(50), interval: Span::from_millis(20) }
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

fn is_zero(span: &Span) -> bool {
    *span == Span::ZERO
}

fn yes() -> bool {
    true
}

fn one() -> Seed {
    Seed::new(1)
}
