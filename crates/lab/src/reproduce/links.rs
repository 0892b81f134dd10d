//! Over which links a figure is played, and with whom.

use thalweg_codecs::Undershoot;
use thalweg_link::queue::Limits;
use thalweg_link::{HopConfig, LossModel, QueueConfig, Rates};
use thalweg_units::{Bytes, Span};

use crate::scenario::{Competitor, Sender};

/// Over which links.
#[derive(Debug, Clone, PartialEq)]
pub enum Links {
    /// The recorded cellular links whose names begin so, each with the recorded way back and an endless queue.
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
    /// How far the encoder stays below its target, unless told otherwise.
    pub undershoot: Undershoot,
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
    /// Anybody else.
    Competitor(Competitor),
}

/// Where a trace is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// By a name that the command line knows: a rate, rates in turn, a synthetic link. The way back is unlimited.
    Named(String),
    /// A rate, or rates in turn, served bit after bit. The way back is unlimited.
    Rates(Rates),
    /// Two of the recorded cellular links: the way forth, and the way back with an endless queue.
    Recorded {
        /// From the sender to the receiver.
        forth: String,
        /// From the receiver to the sender.
        back: String,
    },
    /// A file that somebody else made, and the link of this project's own to play where it is absent. The way back is
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

    /// With an encoder that stays below its target.
    pub fn undershot(self, undershoot: Undershoot) -> Link {
        Link { undershoot, ..self }
    }

    /// Who else uses it while `scheme` is played.
    pub fn competitors(&self, scheme: &str) -> Vec<Competitor> {
        let each = |other: &Other| match other {
            Other::Competitor(competitor) => vec![competitor.clone()],
            Other::Alike { count, every } => {
                let begins = (1..=*count).map(|number| *every * i64::from(number));
                begins
                    .map(|from| Competitor::Sender(Sender { scheme: scheme.into(), video: None, from, until: None }))
                    .collect()
            }
        };
        self.others.iter().flat_map(each).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_of_the_same_begin_one_after_another() {
        let link = Link::named("three", "1Mbps").shared_with(Other::Alike { count: 2, every: Span::from_secs(10) });
        let others = link.competitors("copa");
        let begins: Vec<Span> = others
            .iter()
            .map(|other| match other {
                Competitor::Sender(sender) if sender.scheme == "copa" => sender.from,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(begins, [10, 20].map(Span::from_secs));
    }
}
