//! A genome as a scenario, which any command plays.

use thalweg_codecs::Codec;
use thalweg_netsim::queue::Limits;
use thalweg_netsim::{
    DatagramsConfig, Delays, HopConfig, Jitter, LossModel, PathConfig, QueueConfig, Rates, TcpConfig,
};
use thalweg_units::{Bytes, ConfigError, Rate, Seed, Size, Span};
use thalweg_video::Video;

use super::genome::Genome;
use super::plan::Plan;
use super::steps::{self, Step};
use crate::scenario::{Change, Competitor, FORWARD, Pause, Paused, Sender, What};
use crate::{Scenario, Undershoot};

/// Loss while a window of losses lasts.
const LOSSY: f64 = 0.2;
/// Loss in the bad state of a Gilbert-Elliott model.
const BAD: f64 = 0.5;
/// The longest wait for a thin way back, and of CoDel's queue.
const REVERSE_QUEUE: Span = Span::from_millis(500);
const CODEL_QUEUE: Span = Span::from_secs(2);
/// The rate of a link that halts, while it does not.
const AT_ONCE: Rate = Rate::from_kbps(1_000_000);
/// The interval of CoDel (RFC 8289 section 4.3).
const CODEL_INTERVAL: Span = Span::from_millis(100);

fn kbps(value: f64) -> Rate {
    Rate::from_bps_f64(1e3 * value)
}

fn ms(value: f64) -> Span {
    Span::from_millis_f64(value)
}

/// To whole 10 ms, as people write it.
fn seconds(value: f64) -> Span {
    Span::from_millis((value * 100.0).round() as i64 * 10)
}

impl Plan {
    /// The scenario of a genome.
    ///
    /// # Errors
    /// When a number is out of range, which none is that was drawn or changed.
    pub fn scenario(&self, genome: &Genome, seed: Seed) -> Result<Scenario, ConfigError> {
        let value = |name: &str| genome.value(name);
        let lines = value("size.lines").unwrap_or(360.0);
        let size = Size::new((lines * 16.0 / 9.0) as u16, lines as u16);
        let fps = value("frame-rate.fps").unwrap_or(30.0) as u32;
        let window = |begins: &str, lasts: &str| self.window(genome, begins, lasts);
        let mut scenario = Scenario { duration: self.duration, seed, ..Scenario::over(&self.words(genome)) };
        scenario.video = Video::scene(size, fps);
        scenario.codec = Codec::Model(Default::default());
        if let Some(share) = value("undershoot.share").filter(|share| *share < 1.0) {
            scenario.undershoot = Undershoot::always(share);
        }
        scenario.pauses = window("camera-off.begins", "camera-off.lasts_s")
            .map(|(from, until)| Pause { flow: 0, from, until, what: Paused::Camera })
            .into_iter()
            .collect();
        if let Some((from, until)) = window("lossy.begins", "lossy.lasts_s") {
            let change = |at, loss| {
                let what = What::Link { name: FORWARD.into(), rate: None, delay: None, loss: Some(loss) };
                Change { at, what }
            };
            scenario.changes = vec![change(from, LOSSY), change(until, 0.0)];
        }
        scenario.competitors = self.others(genome);
        scenario.forward = PathConfig { hops: self.forward(genome)? };
        scenario.reverse = PathConfig { hops: self.reverse(genome)? };
        Ok(scenario)
    }

    /// The end of its last change, in seconds.
    pub fn settled_s(&self, genome: &Genome) -> f64 {
        let ends = super::FEATURES.iter().filter_map(|feature| {
            let [begins, lasts] = ["begins", "lasts_s"].map(|what| format!("{}.{what}", feature.name));
            let until = self.window(genome, &begins, &lasts).map(|(_, until)| until);
            Some(until.or_else(|| self.at(genome, &begins))?.as_secs_f64())
        });
        ends.fold(steps::end(&genome.steps), f64::max)
    }

    fn at(&self, genome: &Genome, begins: &str) -> Option<Span> {
        Some(seconds(genome.value(begins)? * self.duration.as_secs_f64()))
    }

    fn window(&self, genome: &Genome, begins: &str, lasts: &str) -> Option<(Span, Span)> {
        let from = self.at(genome, begins)?;
        Some((from, (from + seconds(genome.value(lasts)?)).min(seconds(self.until_s()))))
    }

    fn forward(&self, genome: &Genome) -> Result<Vec<HopConfig>, ConfigError> {
        let value = |name: &str| genome.value(name);
        let mut hops = Vec::new();
        if let (Some(share), Some(bucket)) = (value("policer.share"), value("policer.bucket_kb")) {
            let rate = kbps(share * genome.base_kbps());
            hops.push(HopConfig::Policer { rate, bucket: Bytes::new((1e3 * bucket) as u64) });
        }
        if let Some(percent) = value("loss.percent") {
            hops.push(HopConfig::Loss(LossModel::Random { probability: percent / 100.0 }));
        }
        if let (Some(percent), Some(packets)) = (value("bursts.percent"), value("bursts.packets")) {
            // The share of packets in the bad state is what is lost over what is lost there.
            let (bad, to_good) = (percent / 100.0 / BAD, 1.0 / packets);
            let to_bad = to_good * bad / (1.0 - bad);
            hops.push(HopConfig::Loss(LossModel::GilbertElliott { to_bad, to_good, good_loss: 0.0, bad_loss: BAD }));
        }
        if value("lossy.begins").is_some() {
            hops.push(HopConfig::Loss(LossModel::Random { probability: 0.0 }));
        }
        hops.push(HopConfig::Rate { rate: rates(&genome.steps)?, queue: queue(genome) });
        if let (Some(halt), Some(each)) = (value("halts.lasts_ms"), value("halts.each_s")) {
            // Behind the bottleneck, which goes on: what waited comes at once, as from a radio that scanned.
            let (halt, each) = (ms(halt.round()), seconds(each));
            let rate = Rates::lasting(&[(AT_ONCE, each - halt), (Rate::ZERO, halt)], None)?;
            hops.push(HopConfig::Rate { rate, queue: QueueConfig::Infinite });
        }
        let delay = ms(value("delay.forward_ms").unwrap_or(25.0));
        let delays = match (value("delay-rise.by_ms"), value("delay-fall.by_ms")) {
            (Some(by), _) => self.delays(delay, delay + ms(by), self.at(genome, "delay-rise.begins"))?,
            (_, Some(by)) => self.delays(delay + ms(by), delay, self.at(genome, "delay-fall.begins"))?,
            _ => delay.into(),
        };
        let jitter = value("jitter.max_ms").or(value("reordering.max_ms"));
        let jitter = jitter.map_or(Jitter::None, |max| Jitter::Uniform { max: ms(max) });
        hops.push(HopConfig::Delay { delay: delays, jitter, reorders: value("reordering.max_ms").is_some() });
        Ok(hops)
    }

    fn reverse(&self, genome: &Genome) -> Result<Vec<HopConfig>, ConfigError> {
        let value = |name: &str| genome.value(name);
        let mut hops = Vec::new();
        if let Some(percent) = value("lost-reports.percent") {
            hops.push(HopConfig::Loss(LossModel::Random { probability: percent / 100.0 }));
        }
        if let Some(rate) = value("thin-reverse.kbps") {
            let queue = QueueConfig::DropTail(Limits::time(REVERSE_QUEUE));
            hops.push(HopConfig::Rate { rate: Rates::constant(kbps(rate))?, queue });
        }
        let delay = ms(value("delay.reverse_ms").unwrap_or(25.0));
        let late = self.window(genome, "late-reports.begins", "late-reports.lasts_s");
        let delays = match (value("late-reports.by_ms"), late) {
            (Some(by), Some((from, until))) => {
                Delays::lasting(&[(delay, from), (delay + ms(by), until - from)], Some(delay))?
            }
            _ => delay.into(),
        };
        hops.push(HopConfig::Delay { delay: delays, jitter: Jitter::None, reorders: false });
        Ok(hops)
    }

    fn delays(&self, before: Span, after: Span, at: Option<Span>) -> Result<Delays, ConfigError> {
        Delays::lasting(&[(before, at.unwrap_or_default())], Some(after))
    }

    fn others(&self, genome: &Genome) -> Vec<Competitor> {
        let at = |name: &str| self.at(genome, name);
        let cubic = at("cubic.begins").map(|from| Competitor::Tcp(TcpConfig { from, ..TcpConfig::default() }));
        let datagrams = at("datagrams.begins").zip(genome.value("datagrams.share")).map(|(from, share)| {
            let rate = kbps(share * genome.base_kbps());
            Competitor::Datagrams(DatagramsConfig { rate, from, ..DatagramsConfig::default() })
        });
        let rival = at("rival.begins").zip(self.rival().cloned());
        let rival = rival.map(|(from, scheme)| Competitor::Sender(Sender { scheme, video: None, from, until: None }));
        [cubic, datagrams, rival].into_iter().flatten().collect()
    }

    /// A genome in a line.
    pub fn words(&self, genome: &Genome) -> String {
        let step = |step: &Step| match step.lasts_s {
            0.0 => kbps(step.rate_kbps).to_string(),
            lasts => format!("{}@{}", kbps(step.rate_kbps), seconds(lasts)),
        };
        let value = |name: &str| genome.value(name).unwrap_or_default();
        let mut words = vec![genome.steps.iter().map(step).collect::<Vec<_>>().join("/")];
        words.push(format!("{}p{}", value("size.lines"), value("frame-rate.fps")));
        let (forward, reverse) = (value("delay.forward_ms"), value("delay.reverse_ms"));
        words.push(if forward == reverse { format!("{forward} ms") } else { format!("{forward} and {reverse} ms") });
        for feature in super::FEATURES.iter().filter(|feature| !feature.is_always() && genome.has(feature)) {
            let numbers = feature.genes.iter().map(|gene| {
                let what = gene.name.split('.').nth(1).unwrap_or_default().replace('_', " ");
                format!("{what} {}", value(gene.name))
            });
            words.push(format!("{} ({})", feature.name, numbers.collect::<Vec<_>>().join(", ")));
        }
        words.join(", ")
    }
}

fn rates(steps: &[Step]) -> Result<Rates, ConfigError> {
    let each = steps.iter().map(|step| (kbps(step.rate_kbps), seconds(step.lasts_s)));
    match &each.collect::<Vec<_>>()[..] {
        [before @ .., (last, _)] if !before.is_empty() => Rates::lasting(before, Some(*last)),
        steps => Rates::constant(steps.first().map_or(Rate::ZERO, |(rate, _)| *rate)),
    }
}

fn queue(genome: &Genome) -> QueueConfig {
    if let Some(kilobytes) = genome.value("queue.kb") {
        return QueueConfig::DropTail(Limits::bytes(Bytes::new((1e3 * kilobytes) as u64)));
    }
    genome.value("codel.target_ms").map_or(QueueConfig::Infinite, |target| QueueConfig::Codel {
        limits: Limits::time(CODEL_QUEUE),
        target: ms(target),
        interval: CODEL_INTERVAL,
    })
}
