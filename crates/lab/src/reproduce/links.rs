//! Over which links a figure is played, and with whom.

use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, LossModel, QueueConfig, Rates};
use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span, check};

use super::Seconds;
use crate::Undershoot;
use crate::scenario::{Competitor, Sender};

/// Over which links.
#[derive(Debug, Clone, PartialEq)]
pub enum Links {
    /// The recorded cellular links whose names begin so, each with the recorded reverse path and an endless queue.
    Recorded(&'static str),
    /// These.
    Listed(Vec<Link>),
}

/// A link with everything that stands on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// What it is called in tables.
    pub name: String,
    /// Where its trace is from.
    pub origin: Origin,
    /// What waits before it.
    pub queue: QueueConfig,
    /// What packets pass before that queue: losses, jitter.
    pub before: Vec<HopConfig>,
    /// What packets pass behind the link.
    pub behind: Vec<HopConfig>,
    /// Who else uses it.
    pub others: Vec<Other>,
    /// How far the encoder stays below its target, by default.
    pub undershoot: Undershoot,
    /// One-way delay in each direction; `None` for the figure's.
    pub delay: Option<Span>,
}

/// Who else uses a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Other {
    /// More senders of the scheme under test.
    Alike {
        /// How many more.
        count: u32,
        /// One begins each time so much has passed, and all stay.
        every: Span,
    },
    /// More senders of the scheme under test, each of which begins at a time that is drawn for each run: where a full queue drops what comes
    /// last, a third of a picture's time decides for the whole run whose packets those are.
    AlikeWithin {
        /// How many more.
        count: u32,
        /// They begin within this time of the run.
        within: Span,
    },
    /// Anybody else.
    Competitor(Competitor),
}

/// Where a trace is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// By a name that the command line knows: a rate, rates in turn, a synthetic link. The reverse path is unlimited.
    Named(String),
    /// A rate, or rates in turn, served bit after bit. The reverse path is unlimited.
    Rates(Rates),
    /// Rates in turn, from one that is drawn for each run ([`drawn`]), served bit after bit. The reverse path is unlimited.
    Drawn {
        /// The rates.
        rates: Vec<Rate>,
        /// How long each lasts.
        each: Span,
    },
    /// Two of the recorded cellular links: the forward path, and the reverse path with an endless queue.
    Recorded {
        /// From the sender to the receiver.
        forth: String,
        /// From the receiver to the sender.
        back: String,
    },
    /// Recorded cellular links by the second, at means that are given, served bit after bit.
    BySecond {
        /// From the sender to the receiver, one behind the other, each with the link's queue.
        forth: Vec<Seconds>,
        /// From the receiver to the sender, with an endless queue; `None` of one that is unlimited.
        back: Option<Seconds>,
    },
    /// A file that somebody else made, and the link of this project's own to play where it is absent. The reverse path is
    /// unlimited.
    File {
        /// Among whose.
        folder: Folder,
        /// The file.
        file: &'static str,
        /// The link by name.
        instead: &'static str,
    },
}

/// Whose traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// Of Salsify's authors (excamera/salsify-results).
    Salsify,
    /// Lumos5G: throughput by the second, played as rates (Narayanan et al., IMC 2020, in the artifact of SIGCOMM
    /// 2021).
    Lumos5g,
}

impl Link {
    /// A link with an endless queue and nobody else on it.
    pub fn new(name: impl Into<String>, origin: Origin) -> Link {
        Link {
            name: name.into(),
            origin,
            queue: QueueConfig::Infinite,
            before: Vec::new(),
            behind: Vec::new(),
            others: Vec::new(),
            undershoot: Undershoot::None,
            delay: None,
        }
    }

    /// A link by the name that the command line knows.
    pub fn named(name: impl Into<String>, trace: &str) -> Link {
        Link::new(name, Origin::Named(trace.into()))
    }

    /// A rate, or rates in turn.
    pub fn of_rate(name: impl Into<String>, rates: Rates) -> Link {
        Link::new(name, Origin::Rates(rates))
    }

    /// With this much room before it, drop-tail.
    pub fn queue(self, bytes: Bytes) -> Link {
        Link { queue: QueueConfig::DropTail(Limits::bytes(bytes)), ..self }
    }

    /// With a queue of so many packets, drop-tail.
    pub fn packets(self, packets: u64) -> Link {
        Link { queue: QueueConfig::DropTail(Limits::packets(packets)), ..self }
    }

    /// Losing packets before the queue.
    pub fn losing(mut self, model: LossModel) -> Link {
        self.before.push(HopConfig::Loss(model));
        self
    }

    /// With somebody else on it.
    pub fn shared_with(mut self, other: Other) -> Link {
        self.others.push(other);
        self
    }

    /// With this one-way delay in each direction.
    pub fn apart(self, delay: Span) -> Link {
        Link { delay: Some(delay), ..self }
    }

    /// With an encoder that stays below its target.
    pub fn undershot(self, undershoot: Undershoot) -> Link {
        Link { undershoot, ..self }
    }

    /// Who else uses it while `scheme` is played with a seed.
    pub fn competitors(&self, scheme: &str, seed: Seed) -> Vec<Competitor> {
        let alike = |from| Competitor::Sender(Sender { scheme: scheme.into(), video: None, from, until: None });
        let mut random = seed.child("others begin").random();
        let mut each = |other: &Other| match other {
            Other::Competitor(competitor) => vec![competitor.clone()],
            Other::AlikeWithin { count, within } => (0..*count).map(|_| alike(within.scale(random.unit()))).collect(),
            Other::Alike { count, every } => {
                let begins = (1..=*count).map(|number| *every * i64::from(number));
                begins.map(alike).collect()
            }
        };
        self.others.iter().flat_map(&mut each).collect()
    }
}

/// `rates` in turn, round and round, from a second within the first round that is drawn by the seed.
///
/// # Errors
/// When all rates are 0, or `each` is shorter than a second.
pub fn drawn(rates: &[Rate], each: Span, seed: Seed) -> Result<Rates, ConfigError> {
    const SECOND: Span = Span::from_secs(1);
    let seconds = (each.as_nanos() / SECOND.as_nanos()).max(0) as usize;
    check("rates' duration", each).is(seconds != 0, "1s or longer, such as 30s")?;
    let mut round: Vec<Rate> = rates.iter().flat_map(|rate| std::iter::repeat_n(*rate, seconds)).collect();
    if !round.is_empty() {
        let first = seed.child("rates in turn").random().below(round.len() as u64);
        round.rotate_left(first as usize);
    }
    Rates::in_turn(round, SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_in_turn_begin_anywhere_in_their_round_by_the_seed() {
        let rates = [100, 160, 256].map(Rate::from_kbps);
        let of = |seed| drawn(&rates, Span::from_secs(30), Seed::new(seed)).unwrap();
        let second = |rates: &Rates, second: i64| rates.at(thalweg_units::Time::ZERO + Span::from_secs(second)).0;
        let found = of(1);
        let order: Vec<Rate> = (0..180).map(|at| second(&found, at)).collect();
        let changes: Vec<usize> = (1..180).filter(|at| order[*at] != order[at - 1]).collect();
        assert!(changes.windows(2).all(|pair| pair[1] - pair[0] == 30) && changes.len() >= 5, "{changes:?}");
        let before = |rate: Rate| rates[(rates.iter().position(|known| *known == rate).unwrap() + 2) % 3];
        assert!(changes.iter().all(|at| order[at - 1] == before(order[*at])), "{order:?}");
        assert!(of(1) == found && (2..9).any(|seed| of(seed) != found));
        assert!(drawn(&rates, Span::from_millis(999), Seed::new(1)).is_err());
        assert!(drawn(&[], Span::from_secs(1), Seed::new(1)).is_err());
    }

    #[test]
    fn more_of_the_same_begin_one_after_another() {
        let link = Link::named("three", "1Mbps").shared_with(Other::Alike { count: 2, every: Span::from_secs(10) });
        let others = link.competitors("copa", Seed::new(1));
        let begins: Vec<Span> = others
            .iter()
            .map(|other| match other {
                Competitor::Sender(sender) if sender.scheme == "copa" => sender.from,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(begins, [10, 20].map(Span::from_secs));
    }

    #[test]
    fn when_another_begins_is_drawn_by_the_seed() {
        let within = Span::from_secs(1);
        let link = Link::named("two", "1Mbps").shared_with(Other::AlikeWithin { count: 1, within });
        let begins = |seed| match link.competitors("copa", Seed::new(seed)).as_slice() {
            [Competitor::Sender(sender)] => sender.from,
            other => panic!("{other:?}"),
        };
        assert!(begins(1) == begins(1) && begins(1) != begins(2));
        assert!((1..20).all(|seed| (Span::ZERO..within).contains(&begins(seed))));
    }
}
