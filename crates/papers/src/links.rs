//! The links and competitors of a figure.

use thalweg_netsim::queue::Limits;
use thalweg_netsim::{HopConfig, LossModel, QueueConfig, Rates};
use thalweg_units::{Bytes, ConfigError, Rate, Seed, Span};

use super::Seconds;
use thalweg_lab::Undershoot;
use thalweg_lab::scenario::{Competitor, Sender};

/// The recorded cellular links that experiments over several of them take, the slowest first.
pub(super) const RECORDED: [&str; 8] = [
    "ATT-LTE-driving.up",
    "TMobile-UMTS-driving.up",
    "TMobile-UMTS-driving.down",
    "Verizon-LTE-short.down",
    "ATT-LTE-driving.down",
    "Verizon-LTE-short.up",
    "TMobile-LTE-short.up",
    "TMobile-LTE-short.down",
];

/// The links of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Links {
    /// The recorded cellular links with this name prefix, each with the recorded reverse path and an unlimited queue.
    Recorded(&'static str),
    /// These links.
    Listed(Vec<Link>),
}

impl From<Vec<Link>> for Links {
    fn from(links: Vec<Link>) -> Links {
        Links::Listed(links)
    }
}

/// A link with its queue, competitors and settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name in tables.
    pub name: String,
    /// The source of its trace.
    pub origin: Origin,
    /// The queue before it.
    pub queue: QueueConfig,
    /// Hops before that queue: losses, jitter.
    pub before: Vec<HopConfig>,
    /// Hops after the link.
    pub behind: Vec<HopConfig>,
    /// Its other users.
    pub others: Vec<Other>,
    /// Default undershoot: how far the encoder stays below its target.
    pub undershoot: Undershoot,
    /// One-way delay in each direction; `None` for the figure's default.
    pub delay: Option<Span>,
}

/// Other users of a link.
#[derive(Debug, Clone, PartialEq)]
pub enum Other {
    /// More senders of the scheme under test.
    Alike {
        /// Number of additional senders.
        count: u32,
        /// Interval between their start times; all stay until the end.
        every: Span,
    },
    /// More senders of the scheme under test, with start times drawn at random for each run: where a full queue drops
    /// the last arrivals, the phase within a third of a picture interval decides for the whole run whose packets those
    /// are.
    AlikeWithin {
        /// Number of additional senders.
        count: u32,
        /// They begin within this time of the run.
        within: Span,
    },
    /// Any other competitor.
    Competitor(Competitor),
}

/// The source of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A command-line name: a rate, a sequence of rates, a synthetic link. The reverse path is unlimited.
    Named(String),
    /// A constant rate or a sequence of rates, served bit by bit. The reverse path is unlimited.
    Rates(Rates),
    /// A sequence of rates with a starting point drawn for each run ([`drawn`]), served bit by bit. The reverse path is
    /// unlimited.
    Drawn {
        /// The rates.
        rates: Vec<Rate>,
        /// Duration of each rate.
        each: Span,
    },
    /// Two of the recorded cellular links: the forward path, and the reverse path with an unlimited queue.
    Recorded {
        /// From the sender to the receiver.
        forth: String,
        /// From the receiver to the sender.
        back: String,
    },
    /// Recorded cellular links as rates per second, scaled to given means, served bit by bit.
    BySecond {
        /// From the sender to the receiver, in series, each with the link's queue.
        forth: Vec<Seconds>,
        /// From the receiver to the sender, with an unlimited queue; `None` for an unlimited path.
        back: Option<Seconds>,
    },
    /// A third-party file, and this project's own substitute if it is absent. The reverse path is unlimited.
    File {
        /// The folder of the file.
        folder: Folder,
        /// The file.
        file: &'static str,
        /// The substitute link by name.
        instead: &'static str,
    },
}

/// The source of third-party traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// Salsify's authors (excamera/salsify-results).
    Salsify,
    /// Lumos5G: throughput per second, played as rates (Narayanan et al., IMC 2020, in the artifact of SIGCOMM 2021).
    Lumos5g,
}

impl Link {
    /// A link with an unlimited queue and no other users.
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

    /// A link by its command-line name.
    pub fn named(name: impl Into<String>, trace: &str) -> Link {
        Link::new(name, Origin::Named(trace.into()))
    }

    /// A link with a constant rate or a sequence of rates.
    pub fn of_rate(name: impl Into<String>, rates: Rates) -> Link {
        Link::new(name, Origin::Rates(rates))
    }

    /// Sets a drop-tail queue of this many bytes.
    pub fn queue(self, bytes: Bytes) -> Link {
        Link { queue: QueueConfig::DropTail(Limits::bytes(bytes)), ..self }
    }

    /// Sets a drop-tail queue of this many packets.
    pub fn packets(self, packets: u64) -> Link {
        Link { queue: QueueConfig::DropTail(Limits::packets(packets)), ..self }
    }

    /// Adds packet loss before the queue.
    pub fn losing(mut self, model: LossModel) -> Link {
        self.before.push(HopConfig::Loss(model));
        self
    }

    /// Adds another user.
    pub fn shared_with(mut self, other: Other) -> Link {
        self.others.push(other);
        self
    }

    /// Sets the one-way delay in each direction.
    pub fn apart(self, delay: Span) -> Link {
        Link { delay: Some(delay), ..self }
    }

    /// Sets the encoder's undershoot.
    pub fn undershot(self, undershoot: Undershoot) -> Link {
        Link { undershoot, ..self }
    }

    /// The other users when `scheme` is run with this seed.
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

/// `rates` in a repeating sequence, starting at an instant within the first cycle that is drawn with the seed: among
/// the 150 seconds of five rates, thirty seeds would share some.
///
/// # Errors
/// When all rates are 0, or `each` is not longer than 0.
pub fn drawn(rates: &[Rate], each: Span, seed: Seed) -> Result<Rates, ConfigError> {
    let rates = Rates::in_turn(rates.to_vec(), each)?;
    let passed = seed.child("rates in turn").random().below(rates.turn().as_nanos().unsigned_abs());
    Ok(rates.begun_after(Span::from_nanos(passed as i64)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Time;

    #[test]
    fn rates_in_turn_begin_anywhere_in_their_round_by_the_seed() {
        let rates = [100, 160, 256].map(Rate::from_kbps);
        let of = |seed| drawn(&rates, Span::from_secs(30), Seed::new(seed)).unwrap();
        let second = |rates: &Rates, second: i64| rates.at(Time::ZERO + Span::from_secs(second)).0;
        let found = of(1);
        let order: Vec<Rate> = (0..180).map(|at| second(&found, at)).collect();
        let changes: Vec<usize> = (1..180).filter(|at| order[*at] != order[at - 1]).collect();
        assert!(changes.windows(2).all(|pair| pair[1] - pair[0] == 30) && changes.len() >= 5, "{changes:?}");
        let before = |rate: Rate| rates[(rates.iter().position(|known| *known == rate).unwrap() + 2) % 3];
        assert!(changes.iter().all(|at| order[at - 1] == before(order[*at])), "{order:?}");
        assert_eq!(of(1), found);
        let begins: std::collections::BTreeSet<Time> = (1..=1000).map(|seed| of(seed).at(Time::ZERO).1).collect();
        assert_eq!(begins.len(), 1000, "two seeds begin at one instant");
        assert!(drawn(&rates, Span::ZERO, Seed::new(1)).is_err());
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
