//! A case: what is played, and what is asked of it.

use serde::{Deserialize, Serialize};
use thalweg_codecs::Codec;
use thalweg_codecs::traffic::{self, TrafficModel};
use thalweg_control::gcc;
use thalweg_lab::Scenario;
use thalweg_lab::scenario::{
    Audio, Competitor, FORWARD, NamedLink, NamedMedium, Pause, Paused, REVERSE, Route, Sender, Video,
};
use thalweg_netsim::queue::{DualPi2Config, Limits};
use thalweg_netsim::traffic::tcp::Congestion;
use thalweg_netsim::{Direction, HopConfig, Jitter, LossModel, PathConfig, Port, QueueConfig};
use thalweg_sender::scheme::{FeedbackStyle, RateLimits};
use thalweg_types::PacketSizes;
use thalweg_units::{Bytes, ConfigError, Rate, Seed, Size, Span};

use crate::bar::Bar;
use crate::network::{Air, Network, Traffic};

/// One case, such as RFC 8867's 5.1.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// Its id, such as `5.1` or `gcc.IsFairToTCP`.
    pub id: String,
    /// Subject of the test, in a few words.
    pub title: String,
    /// Its length.
    pub duration: Span,
    /// Limits of the application.
    pub limits: RateLimits,
    /// Network, or laboratory scenario.
    pub setting: Setting,
    /// Queue management of narrow links.
    pub aqm: Aqm,
    /// Bars to meet.
    pub bars: Vec<Bar>,
    /// Run that its figures are compared with, if bars ask for it.
    pub reference: Option<Reference>,
    /// The parameters that `gcc` has in it, except start and min: the field trials of a test of libwebrtc's. `None` for
    /// the usual ones; other schemes are always as they are known.
    pub gcc: Option<Box<gcc::Config>>,
    /// True if a sender without weights cannot be judged by it.
    pub needs_weights: bool,
}

/// Queue management of a case's narrow links.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Aqm {
    /// They drop what arrives when they are full, as RFC 8867 has it.
    #[default]
    DropTail,
    /// They are two, for low latency and classic, which mark (RFC 9332, with Linux's parameters and a step of at least two
    /// packets); the limit is the same.
    DualPi2,
}

impl Aqm {
    fn queue(self, limit: Span) -> QueueConfig {
        let limits = Limits { time: Some(limit), ..Limits::default() };
        match self {
            Aqm::DropTail => QueueConfig::DropTail(limits),
            Aqm::DualPi2 => {
                let (limits, least_packets) = (Some(limits), 2);
                QueueConfig::DualPi2(DualPi2Config { limits, least_packets, ..DualPi2Config::default() })
            }
        }
    }
}

/// Run that a case is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum Reference {
    /// The contestant itself, without what impairs it.
    Itself(Box<Network>),
    /// Other traffic alone, the same for all contestants.
    Others(Box<Network>),
}

impl Reference {
    /// Network that is played.
    pub fn network(&self) -> &Network {
        let (Reference::Itself(network) | Reference::Others(network)) = self;
        network
    }
}

/// Network, or laboratory scenario, of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Media flows over narrow links.
    Network(Network),
    /// A scenario of its own; media flows beside the one under test are of the same scheme.
    Scenario(Box<Scenario>),
}

/// Variations of all cases that are networks; a case's own values are used where nothing is set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// One-way propagation of every flow.
    pub one_way: Option<Span>,
    /// How long the queues of narrow links may be.
    pub queue: Option<Span>,
    /// Deviation of the jitter, which is cut at three times it.
    pub jitter: Span,
    /// Probability of random loss on the way there.
    pub loss: f64,
    /// Where sizes of frames come from.
    pub media: TrafficModel,
    /// The feedback of every flow; `None` leaves each scheme its own.
    pub feedback: Option<FeedbackStyle>,
    /// The congestion control of TCP; `None` leaves each case its own, which is Reno in RFC 8867's.
    pub tcp: Option<Congestion>,
}

impl Default for Options {
    /// As specs/rmcat.md 1 chooses.
    fn default() -> Options {
        Options {
            one_way: None,
            queue: None,
            jitter: Span::from_millis(5),
            loss: 0.0,
            media: TrafficModel::default(),
            feedback: None,
            tcp: None,
        }
    }
}

/// RFC 8867's media: 150 kbps to 1.5 Mbps, which with our headers and audio is 1.655 Mbps on the wire; specs/rmcat.md 1
/// has 1.594 with shorter headers.
pub fn rfc_limits() -> RateLimits {
    let [min, start, max] = [150, 150, 1500].map(Rate::from_kbps);
    RateLimits { min, start, max, wire: on_the_wire(max) }
}

/// Rate on the wire of media at this rate, with its audio, in packets of the usual sizes.
pub fn on_the_wire(media: Rate) -> Rate {
    let sizes = PacketSizes::default();
    let frame = Bytes::new(media.as_bps() / 8 / u64::from(FRAME_RATE));
    let video = (frame + sizes.overhead * u64::from(sizes.cut(frame, None).packets)) * u64::from(FRAME_RATE);
    let Audio { payload, interval } = Audio::default();
    video.per(Span::from_secs(1)) + (payload + sizes.audio).per(interval)
}

/// The name of the medium.
const AIR: &str = "air";
/// At what multiple of its deviation jitter is cut (specs/rmcat.md 1).
const JITTER_CUT: i64 = 3;
/// RFC 8867's video: 144p to 720p at 10 to 30 fps; what is sent does not depend on the size.
const FRAME_RATE: u32 = 30;

impl Case {
    /// The media flows.
    pub fn flows(&self) -> usize {
        match &self.setting {
            Setting::Network(network) => network.flows.len(),
            Setting::Scenario(scenario) => 1 + scenario.competitors.iter().filter(|one| is_sender(one)).count(),
        }
    }

    /// Its network, as the options change it.
    pub fn network(&self, options: &Options) -> Option<Network> {
        match &self.setting {
            Setting::Network(network) => Some(options.applied(network)),
            Setting::Scenario(_) => None,
        }
    }

    /// The scenario of this seed; all flows are of the scheme called `scheme`, except that the first has a weight.
    ///
    /// # Errors
    /// When the case or an option is out of range.
    pub fn scenario(&self, scheme: &str, seed: Seed, options: &Options) -> Result<Scenario, ConfigError> {
        match &self.setting {
            Setting::Network(network) => self.played(&options.applied(network), scheme, seed, options),
            Setting::Scenario(scenario) => {
                let mut scenario = Scenario { seed, ..(**scenario).clone() };
                for competitor in &mut scenario.competitors {
                    if let Competitor::Sender(sender) = competitor {
                        sender.scheme = scheme.to_string();
                    }
                }
                Ok(scenario)
            }
        }
    }

    /// The scenario of its reference run.
    ///
    /// # Errors
    /// As [`Case::scenario`].
    pub fn reference_scenario(
        &self,
        scheme: &str,
        seed: Seed,
        options: &Options,
    ) -> Result<Option<Scenario>, ConfigError> {
        let network = self.reference.as_ref().map(|reference| options.applied(reference.network()));
        network.map(|network| self.played(&network, scheme, seed, options)).transpose()
    }

    fn played(&self, network: &Network, scheme: &str, seed: Seed, options: &Options) -> Result<Scenario, ConfigError> {
        let narrow = |link: usize| -> Result<HopConfig, ConfigError> {
            let link = &network.links[link];
            Ok(HopConfig::Rate { rate: link.schedule()?, queue: self.aqm.queue(link.queue) })
        };
        let name = |link: usize| match link {
            0 => FORWARD.to_string(),
            1 => REVERSE.to_string(),
            link => format!("link {link}"),
        };
        let mut links: Vec<NamedLink> = Vec::new();
        for link in 2..network.links.len() {
            links.push(NamedLink { name: name(link), hops: vec![narrow(link)?] });
        }
        // Every flow has its own propagation and draws its own jitter.
        let jitter = match options.jitter {
            Span::ZERO => Jitter::None,
            deviation => Jitter::TruncatedNormal { deviation, max: deviation * JITTER_CUT },
        };
        let mut routes = Vec::new();
        let mut route = |flow: usize, (there, back): (&[usize], &[usize]), air: Option<Port>, one_way: Span| {
            let hop = || HopConfig::Delay { delay: one_way.into(), jitter, reorders: false };
            let [out, home] = ["to", "from"].map(|way| format!("{way} receiver {flow}"));
            let loss = HopConfig::Loss(LossModel::Random { probability: options.loss });
            let hops = if options.loss > 0.0 { vec![hop(), loss] } else { vec![hop()] };
            links.push(NamedLink { name: out.clone(), hops });
            links.push(NamedLink { name: home.clone(), hops: vec![hop()] });
            let way = |crossed: &[usize], own: String, port: Option<Port>| {
                let mut names: Vec<String> = crossed.iter().map(|link| name(*link)).chain([own]).collect();
                match port {
                    Some(Port { station, direction: Direction::Down }) => names.push(format!("{AIR} down {station}")),
                    Some(Port { station, direction: Direction::Up }) => names.insert(0, format!("{AIR} up {station}")),
                    None => {}
                }
                names
            };
            let answers = air.map(|Port { station, direction }| match direction {
                Direction::Down => Port::up(station),
                Direction::Up => Port::down(station),
            });
            let (forward, reverse) = (way(there, out, air), way(back, home, answers));
            routes.push(Route { flow: flow as u16, forward, reverse });
        };
        for (number, flow) in network.flows.iter().enumerate() {
            route(number, (&flow.forward, &flow.reverse), flow.air, flow.one_way);
        }
        let one_way = network.flows.first().map_or(Span::ZERO, |flow| flow.one_way);
        let mut competitors = Vec::new();
        let mut number = network.flows.len();
        for cross in &network.cross {
            let (there, back) = cross.links();
            let next = number + usize::from(cross.flows());
            (number..next).for_each(|flow| route(flow, (&there, &back), cross.air, one_way));
            number = next;
            competitors.push(match &cross.traffic {
                Traffic::Tcp(config) => Competitor::Tcp(*config),
                Traffic::Web(config, _) => Competitor::Web(*config),
                Traffic::Datagrams(config) => Competitor::Datagrams(*config),
            });
        }
        let medium = |air: &Air| NamedMedium { name: AIR.into(), medium: air.medium.clone() };
        // Sources that begin at one instant would march in step: each has a phase of its own within a frame.
        let frame = Span::from_secs_f64(1.0 / f64::from(FRAME_RATE));
        let phase = |flow: usize| frame.scale(seed.child(&format!("phase of flow {flow}")).random().unit());
        let begin = |flow: usize| Span::from_secs_f64(network.flows[flow].times.0) + phase(flow);
        let end = |flow: usize| {
            let until = Span::from_secs_f64(network.flows[flow].times.1);
            (until < self.duration).then_some(until)
        };
        let senders = (1..network.flows.len()).map(|flow| {
            let scheme = scheme.to_string();
            Competitor::Sender(Sender { scheme, video: None, from: begin(flow), until: end(flow) })
        });
        let paused = network.flows.iter().enumerate().filter_map(|(flow, media)| {
            let (from, until) = media.pause?;
            let (from, until) = (Span::from_secs_f64(from), Span::from_secs_f64(until));
            Some(Pause { flow: flow as u16, from, until, what: Paused::Both })
        });
        let RateLimits { min: min_rate, max: max_rate, .. } = self.limits;
        let traffic = traffic::Config { min_rate, max_rate, model: options.media.clone() };
        let video = Video { frame_rate: traffic.frame_rate(), ..Video::scene(Size::new(640, 360), FRAME_RATE) };
        Ok(Scenario {
            name: self.id.clone(),
            duration: self.duration,
            seed,
            video,
            codec: Codec::Traffic(traffic),
            forward: PathConfig { hops: vec![narrow(0)?] },
            reverse: PathConfig { hops: vec![narrow(1)?] },
            from: begin(0),
            until: end(0),
            pauses: paused.collect(),
            audio: Some(Audio::default()),
            feedback: options.feedback,
            measure_quality: false,
            competitors: senders.chain(competitors).collect(),
            routes,
            links,
            media: network.air.iter().map(medium).collect(),
            ..Scenario::over("unused")
        })
    }
}

fn is_sender(competitor: &Competitor) -> bool {
    matches!(competitor, Competitor::Sender(_))
}

impl Options {
    /// The network as these options change it.
    fn applied(&self, network: &Network) -> Network {
        let mut network = network.clone();
        if let Some(one_way) = self.one_way {
            network.flows.iter_mut().for_each(|flow| flow.one_way = one_way);
        }
        if let Some(queue) = self.queue {
            network.links.iter_mut().for_each(|link| link.queue = queue);
        }
        if let Some(congestion) = self.tcp {
            for cross in &mut network.cross {
                match &mut cross.traffic {
                    Traffic::Tcp(config) => config.connection.congestion = congestion,
                    Traffic::Web(config, _) => config.connection.congestion = congestion,
                    Traffic::Datagrams(_) => {}
                }
            }
        }
        network
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_audio_are_a_tenth_of_the_greatest_rate_and_half_of_the_least() {
        // 30 frames of 6250 B in six packets each, 74 B of headers a packet, and 50 audio packets of 120 B a second.
        assert_eq!(on_the_wire(Rate::from_kbps(1500)), Rate::from_bps(1_500_000 + 30 * 6 * 74 * 8 + 48_000));
        assert_eq!(on_the_wire(Rate::from_kbps(150)), Rate::from_bps(150_000 + 30 * 74 * 8 + 48_000));
    }
}
