//! Network of a case: narrow links, media flows, other traffic, and what each flow could have of the links when.

use thalweg_lab::scenario::Medium;
use thalweg_netsim::{DatagramsConfig, Direction, Port, Rates, TcpConfig, WebConfig};
use thalweg_units::{ConfigError, Rate, Span};

use crate::attainable::{Taker, shares};

/// A link that can be full.
#[derive(Debug, Clone, PartialEq)]
pub struct Narrow {
    /// Its rates, each with how long it lasts.
    pub rates: Vec<(Rate, Span)>,
    /// How long its queue may be, at the rate of the moment.
    pub queue: Span,
}

impl Narrow {
    /// A link of one rate.
    pub fn of(kbps: u64, queue: Span) -> Narrow {
        Narrow::steps(&[kbps], Span::from_secs(1), queue)
    }

    /// A link of several rates, each for `each`.
    pub fn steps(kbps: &[u64], each: Span, queue: Span) -> Narrow {
        Narrow { rates: kbps.iter().map(|kbps| (Rate::from_kbps(*kbps), each)).collect(), queue }
    }

    /// Its rates as the link takes them; the last stays.
    ///
    /// # Errors
    /// When all are 0.
    pub fn schedule(&self) -> Result<Rates, ConfigError> {
        let (last, before) = self.rates.split_last().map_or((Rate::ZERO, &[][..]), |(last, before)| (last.0, before));
        Rates::lasting(before, Some(last))
    }

    /// Its rate at `at`, in seconds.
    pub fn rate(&self, at_s: f64) -> Rate {
        let mut end = 0.0;
        for (rate, lasts) in &self.rates {
            end += lasts.as_secs_f64();
            if at_s < end - 1e-9 {
                return *rate;
            }
        }
        self.rates.last().map_or(Rate::ZERO, |last| last.0)
    }

    /// When its rate changes, in seconds.
    fn changes(&self) -> impl Iterator<Item = f64> + '_ {
        let mut end = 0.0;
        self.rates[..self.rates.len().saturating_sub(1)].iter().map(move |(_, lasts)| {
            end += lasts.as_secs_f64();
            end
        })
    }

    /// The greatest of its rates.
    pub fn greatest(&self) -> Rate {
        self.rates.iter().map(|(rate, _)| *rate).max().unwrap_or(Rate::ZERO)
    }
}

/// A sender of video, and of audio if the case has some.
#[derive(Debug, Clone, PartialEq)]
pub struct Media {
    /// When it begins and ends, in seconds.
    pub times: (f64, f64),
    /// When its camera and microphone are off, in seconds.
    pub pause: Option<(f64, f64)>,
    /// Its weight among its like.
    pub weight: f64,
    /// The links to its receiver, by index.
    pub forward: Vec<usize>,
    /// The links back.
    pub reverse: Vec<usize>,
    /// Its station, if it crosses the medium: a flow to it comes over its link first, a flow from it last.
    pub air: Option<Port>,
    /// One-way propagation, the same both ways.
    pub one_way: Span,
}

impl Media {
    /// Over the first link there and the second back.
    pub fn during(from_s: f64, until_s: f64, one_way: Span) -> Media {
        let times = (from_s, until_s);
        Media { times, pause: None, weight: 1.0, forward: vec![0], reverse: vec![1], air: None, one_way }
    }

    /// The same over a medium, down from its base or up to it; up is the other way over the links.
    pub fn over_air(mut self, port: Port) -> Media {
        self.air = Some(port);
        (self.forward, self.reverse) = over_links(Some(port));
        self
    }

    /// Returns true if it sends at `at`.
    pub fn sends(&self, at_s: f64) -> bool {
        let within = |(from, until): (f64, f64)| (from - 1e-9..until - 1e-9).contains(&at_s);
        within(self.times) && !self.pause.is_some_and(within)
    }

    fn changes(&self) -> impl Iterator<Item = f64> {
        let pause = self.pause.into_iter().flat_map(|(from, until)| [from, until]);
        [self.times.0, self.times.1].into_iter().chain(pause)
    }
}

/// The links that a flow crosses there and back: the first there and the second back, or from a station the other way.
fn over_links(air: Option<Port>) -> (Vec<usize>, Vec<usize>) {
    let up = air.is_some_and(|port| port.direction == Direction::Up);
    if up { (vec![1], vec![0]) } else { (vec![0], vec![1]) }
}

/// Traffic besides media, with the first flow's propagation.
#[derive(Debug, Clone, PartialEq)]
pub struct Cross {
    /// The kind of traffic.
    pub traffic: Traffic,
    /// Its station, if it crosses the medium.
    pub air: Option<Port>,
}

/// Kind of cross traffic.
#[derive(Debug, Clone, PartialEq)]
pub enum Traffic {
    /// Endless TCP flows.
    Tcp(TcpConfig),
    /// TCP flows that transfer and then idle, and the mean rate of all of them together, which comes off the links.
    Web(WebConfig, Rate),
    /// Datagrams, whose rate comes off the links while they are there.
    Datagrams(DatagramsConfig),
}

impl Cross {
    /// Traffic that crosses no medium.
    pub fn wired(traffic: Traffic) -> Cross {
        Cross { traffic, air: None }
    }

    /// How many flows it is.
    pub fn flows(&self) -> u16 {
        match &self.traffic {
            Traffic::Tcp(config) => config.count,
            Traffic::Web(config, _) => config.count,
            Traffic::Datagrams(_) => 1,
        }
    }

    /// The links that it crosses there and back, by index.
    pub fn links(&self) -> (Vec<usize>, Vec<usize>) {
        over_links(self.air)
    }

    /// When it begins and ends, in seconds.
    fn times(&self) -> (f64, f64) {
        let (from, until) = match &self.traffic {
            Traffic::Tcp(config) => (config.from, config.until),
            Traffic::Web(config, _) => (config.from, config.until),
            Traffic::Datagrams(config) => (config.from, config.until),
        };
        (from.as_secs_f64(), until.map_or(f64::INFINITY, Span::as_secs_f64))
    }
}

/// A medium that stations share, and what it carries.
#[derive(Debug, Clone, PartialEq)]
pub struct Air {
    /// The medium.
    pub medium: Medium,
    /// Capacity for media when as many contend as in this case, in bit/s; infinite if the links are narrower.
    pub capacity_bps: f64,
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    /// The narrow links. The first two are the laboratory's `forward` and `reverse`.
    pub links: Vec<Narrow>,
    /// The media flows; the first is the laboratory's sender under test.
    pub flows: Vec<Media>,
    /// Other traffic.
    pub cross: Vec<Cross>,
    /// The medium that some flows cross.
    pub air: Option<Air>,
}

/// A time in which nothing changes for a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phase {
    /// Begin, in seconds.
    pub from_s: f64,
    /// End, in seconds.
    pub until_s: f64,
    /// Share of the links that the flow could have, in bit/s on the wire.
    pub attainable_bps: f64,
    /// The capacity of the narrowest of its links, in bit/s.
    pub capacity_bps: f64,
    /// How many media flows are on its links, it included.
    pub flows: usize,
    /// The event with which it begins.
    pub begins: Event,
}

/// Event at the begin of a flow's phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It begins.
    Start,
    /// Its camera is on again.
    Resume,
    /// It could have more than before.
    Rise,
    /// It could have less than before.
    Fall,
    /// Something changes, but not what it could have.
    Other,
}

impl Phase {
    /// Its second half, in which a flow should have settled (specs/rmcat.md 2).
    pub fn settled(&self) -> (f64, f64) {
        (f64::midpoint(self.from_s, self.until_s), self.until_s)
    }
}

impl Network {
    /// Share of the links that each media flow could have at `at`, in bit/s, if each uses at most `wire_bps`; 0 while
    /// it is silent.
    pub fn attainable(&self, at_s: f64, wire_bps: f64) -> Vec<f64> {
        let mut capacities: Vec<f64> = self.links.iter().map(|link| link.rate(at_s).as_bps_f64()).collect();
        // The medium is one more link, which those that cross it share in both directions.
        let medium = capacities.len();
        capacities.push(self.air.as_ref().map_or(f64::INFINITY, |air| air.capacity_bps));
        let crosses = |links: &[usize], air: Option<Port>| -> Vec<usize> {
            links.iter().copied().chain(air.map(|_| medium)).collect()
        };
        let mut takers: Vec<Taker> = self
            .flows
            .iter()
            .map(|flow| Taker {
                limit: wire_bps,
                weight: if flow.sends(at_s) { flow.weight } else { 0.0 },
                crosses: crosses(&flow.forward, flow.air),
            })
            .collect();
        for cross in &self.cross {
            let (from, until) = cross.times();
            if !(from..until).contains(&at_s) {
                continue;
            }
            let crossed = crosses(&cross.links().0, cross.air);
            let taken = match &cross.traffic {
                Traffic::Tcp(config) => {
                    let taker = Taker { limit: f64::INFINITY, weight: 1.0, crosses: crossed };
                    takers.extend(std::iter::repeat_n(taker, config.count.into()));
                    continue;
                }
                Traffic::Web(_, mean) => *mean,
                Traffic::Datagrams(config) => config.rate,
            };
            for link in crossed {
                capacities[link] = (capacities[link] - taken.as_bps_f64()).max(0.0);
            }
        }
        let mut shares = shares(&capacities, &takers);
        shares.truncate(self.flows.len());
        shares
    }

    /// The mean of what each media flow could have within [from, until), in bit/s.
    pub fn mean_attainable(&self, (from, until): (f64, f64), wire_bps: f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.flows.len()];
        let mut at = from;
        for next in self.events(until).into_iter().filter(|at| *at > from) {
            let attainable = self.attainable(f64::midpoint(at, next), wire_bps);
            sums.iter_mut().zip(attainable).for_each(|(sum, rate)| *sum += rate * (next - at));
            at = next;
        }
        sums.into_iter().map(|sum| sum / (until - from)).collect()
    }

    /// When anything changes, up to `end` and with it, in order.
    fn events(&self, end: f64) -> Vec<f64> {
        let links = self.links.iter().flat_map(Narrow::changes);
        let flows = self.flows.iter().flat_map(Media::changes);
        let cross = self.cross.iter().flat_map(|cross| <[f64; 2]>::from(cross.times()));
        let mut times: Vec<f64> = links.chain(flows).chain(cross).filter(|at| (0.0..end).contains(at)).collect();
        times.push(end);
        times.sort_by(f64::total_cmp);
        times.dedup_by(|a, b| (*a - *b).abs() < 1e-6);
        times
    }

    /// The phases of media flow `flow`, up to `end`: times in which neither its links' rates change nor who else is
    /// there. A phase shorter than 3 s, such as what remains of a run when a flow ends a second before it, is none.
    pub fn phases(&self, flow: usize, end: f64, wire_bps: f64) -> Vec<Phase> {
        const SHORTEST: f64 = 3.0;
        let media = &self.flows[flow];
        let times = self.events(end);
        let seen = |at: f64| {
            let rates: Vec<Rate> = media.forward.iter().map(|link| self.links[*link].rate(at)).collect();
            let others = self.flows.iter().enumerate();
            let meets = |other: &Media| other.forward.iter().any(|link| media.forward.contains(link));
            let there: Vec<usize> =
                others.filter(|(_, other)| meets(other) && other.sends(at)).map(|(index, _)| index).collect();
            (rates, there, self.attainable(at, wire_bps)[flow])
        };
        let mut phases: Vec<Phase> = Vec::new();
        let mut before = None;
        let mut at = 0.0;
        for next in times {
            if next <= at {
                continue;
            }
            let middle = f64::midpoint(at, next);
            let now = media.sends(middle).then(|| seen(middle));
            if now.is_some() && now == before {
                if let Some(phase) = phases.last_mut() {
                    phase.until_s = next;
                }
            } else if let Some((rates, there, attainable)) = &now {
                let earlier = phases.last().map(|phase: &Phase| phase.attainable_bps);
                let begins = match (before.is_some(), earlier) {
                    (_, None) => Event::Start,
                    (false, Some(_)) => Event::Resume,
                    (true, Some(earlier)) if *attainable > earlier * 1.01 => Event::Rise,
                    (true, Some(earlier)) if *attainable < earlier * 0.99 => Event::Fall,
                    (true, Some(_)) => Event::Other,
                };
                let capacity_bps = rates.iter().map(|rate| rate.as_bps_f64()).fold(f64::INFINITY, f64::min);
                let attainable_bps = *attainable;
                phases.push(Phase {
                    from_s: at,
                    until_s: next,
                    attainable_bps,
                    capacity_bps,
                    flows: there.len(),
                    begins,
                });
            }
            before = now;
            at = next;
        }
        phases.retain(|phase| phase.until_s - phase.from_s >= SHORTEST);
        phases
    }
}
