//! Advance knowledge of a path, and the scenarios for which it makes a bound.

use thalweg_codecs::CodecTime;
use thalweg_netsim::{FindTrace, HopConfig, Jitter, Schedule};
use thalweg_types::{EncodePlan, PacketSizes, Target};
use thalweg_units::{Bytes, Size, Span, Time};

use super::link::Server;
use crate::scenario::Scenario;

/// A path of which everything is known: one bottleneck between fixed delays.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) link: Server,
    /// Delay before the bottleneck.
    pub(super) before: Span,
    /// Delay behind it.
    pub(super) after: Span,
    /// Delay of the reverse path; `None` if it is not fixed.
    pub(super) back: Option<Span>,
    codec_time: CodecTime,
    /// When the run ends.
    pub(super) end: Time,
}

impl Known {
    /// The path of a scenario.
    ///
    /// # Errors
    /// When the scenario has no bound; the error says why and what to leave out.
    pub(super) fn of(scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<Known, String> {
        let sends_always = scenario.pauses.is_empty() && scenario.from == Span::ZERO && scenario.until.is_none();
        let routed = !(scenario.routes.is_empty() && scenario.links.is_empty() && scenario.media.is_empty());
        for (holds, why) in [
            (scenario.competitors.is_empty(), "others are on the path: leave out competitors and cross traffic"),
            (!routed, "the scenario has links besides forward and reverse: leave out links, media and routes"),
            (scenario.changes.is_empty(), "the path changes: write rates in turn (2Mbps/1Mbps@30s) instead of changes"),
            (scenario.audio.is_none(), "audio takes its part: leave it out"),
            (sends_always, "the camera is off for some time: leave out pauses, from and until"),
            (scenario.playout.is_none(), "the receiver holds frames back: leave out playout"),
            (scenario.discard_after.is_none(), "the receiver discards late frames: leave out discard_after"),
        ] {
            if !holds {
                return Err(why.into());
            }
        }
        let end = Time::ZERO + scenario.duration;
        let (mut link, mut before, mut after) = (None, Span::ZERO, Span::ZERO);
        for hop in &scenario.forward.hops {
            let server = match hop {
                HopConfig::Bottleneck { trace, once, .. } => {
                    let play = if *once { Schedule::once } else { Schedule::looped };
                    Server::of_opportunities(play(find(trace)?), end)
                }
                HopConfig::Rate { rate, .. } => Server::of_rates(rate.clone()),
                hop => {
                    let delay = fixed(hop).ok_or(
                        "the path loses packets or its delay varies: leave out loss, jitter, \
                                                  policers and delays in turn",
                    )?;
                    *(if link.is_none() { &mut before } else { &mut after }) += delay;
                    continue;
                }
            };
            if link.replace(server).is_some() {
                return Err("the path has two bottlenecks: leave one".into());
            }
        }
        let link = link.ok_or("the path has no bottleneck: give it a trace or a rate")?;
        let back = scenario.reverse.hops.iter().map(fixed).sum();
        Ok(Known { link, before, after, back, codec_time: scenario.codec_time, end })
    }

    /// Wire bytes of a packet over its payload, as the link counts them: 78 of 1218 on a trace.
    pub(super) fn overhead(&self, sizes: &PacketSizes) -> Bytes {
        let information = if self.link.has_opportunities() { thalweg_netsim::PACKET_INFORMATION } else { Bytes::ZERO };
        sizes.overhead + information
    }

    /// Encoding time of a picture of this size.
    pub(super) fn encode(&self, size: Size) -> Span {
        let plan = EncodePlan::new(vec![Target::Size(Bytes::ZERO)], size, Span::ZERO);
        self.codec_time.encode(&plan).max(Span::from_nanos(1))
    }

    /// Decoding time of one.
    pub(super) fn decode(&self, size: Size) -> Span {
        self.codec_time.decode(size)
    }
}

/// The delay of a hop that has nothing else.
fn fixed(hop: &HopConfig) -> Option<Span> {
    match hop {
        HopConfig::Delay { delay, jitter: Jitter::None, .. } => {
            let (delay, until) = delay.at(Time::ZERO);
            (until == Time::NEVER).then_some(delay)
        }
        _ => None,
    }
}
