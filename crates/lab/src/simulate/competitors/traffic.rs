//! Cross traffic: competitors other than video senders.

use thalweg_netsim::traffic::tcp::{Acknowledgement, Segment};
use thalweg_netsim::{Datagrams, DropReason, TcpFlow};
use thalweg_units::{Bytes, Ecn, Span, Time};

use crate::record::{Record, Recorder, What};
use crate::scenario::{Competitor, Scenario};
use crate::simulate::SimulateError;
use crate::simulate::network::{Answer, Cargo, Network, Transit};
use crate::simulate::under_way::{Part, UnderWay};

/// One source, with its receiver, if any.
pub(super) struct Source {
    /// The flow number of its records.
    pub(super) flow: u16,
    /// Its kind, in a word.
    pub(super) name: &'static str,
    /// When it begins.
    pub(super) from: Span,
    /// When it ends.
    pub(super) until: Option<Span>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Datagrams(Datagrams),
    Tcp(Box<Tcp>),
}

pub(super) struct Tcp {
    pub(super) flow: TcpFlow,
    under_way: UnderWay<Segment>,
}

/// The sources of cross traffic, in the scenario's order.
pub(in crate::simulate) struct CrossTraffic {
    /// The flow number of the first source.
    first: usize,
    pub(super) sources: Vec<Source>,
}

impl CrossTraffic {
    /// The cross traffic of the scenario; flows are numbered from `first` on.
    pub(in crate::simulate) fn new(scenario: &Scenario, first: usize) -> Result<CrossTraffic, SimulateError> {
        let mut sources: Vec<Source> = Vec::new();
        for competitor in &scenario.competitors {
            let number = first + sources.len();
            let seed = scenario.seed.child(&format!("cross traffic {number}"));
            let (name, from, until, kinds) = match competitor {
                Competitor::Sender(_) => continue,
                Competitor::Datagrams(config) => {
                    ("datagrams", config.from, config.until, vec![Kind::Datagrams(Datagrams::new(*config, seed)?)])
                }
                Competitor::Tcp(config) => ("tcp", config.from, config.until, tcp(TcpFlow::bulk(config)?)),
                Competitor::Web(config) => ("web", config.from, config.until, tcp(TcpFlow::reading(config, seed)?)),
            };
            let source = |(flow, kind)| Source { flow: flow as u16, name, from, until, kind };
            sources.extend((number..).zip(kinds).map(source));
        }
        if first + sources.len() > usize::from(u16::MAX) {
            let problem = format!("{} competitors, must be at most {}", first + sources.len(), u16::MAX);
            return Err(SimulateError::Scenario(problem));
        }
        Ok(CrossTraffic { first, sources })
    }

    /// The number of its flows.
    pub(in crate::simulate) fn count(&self) -> usize {
        self.sources.len()
    }

    pub(in crate::simulate) fn next_event(&self) -> Time {
        let next = |source: &Source| match &source.kind {
            Kind::Datagrams(source) => source.next_event(),
            Kind::Tcp(tcp) => tcp.flow.next_event(),
        };
        self.sources.iter().map(next).min().unwrap_or(Time::NEVER)
    }

    /// Sends the packets that are due into the path.
    pub(in crate::simulate) fn offer(&mut self, now: Time, network: &mut Network, recorder: &mut Recorder) {
        for source in &mut self.sources {
            let flow = source.flow;
            match &mut source.kind {
                Kind::Datagrams(source) => {
                    while let Some(size) = source.poll(now) {
                        network.send(now, flow, (size, Ecn::NotCapable), Cargo::Datagram);
                    }
                }
                Kind::Tcp(tcp) if tcp.flow.next_event() <= now => {
                    tcp.pump(now, flow, network, recorder);
                    let answer = tcp.flow.poll_acknowledgement(now);
                    offer_answer(now, flow, answer, network);
                }
                Kind::Tcp(_) => {}
            }
        }
    }

    /// Segment `number`, or a copy of it, arrived over the path after a queueing delay of `queued`.
    pub(in crate::simulate) fn on_arrival(
        &mut self,
        now: Time,
        (flow, number): (u16, u64),
        Transit { size, queued, ecn, marked, part }: Transit,
        network: &mut Network,
        recorder: &mut Recorder,
    ) {
        let Some(tcp) = self.tcp(flow) else { return };
        if let Some((mut segment, is_first)) = tcp.under_way.arrive(number, part) {
            if is_first {
                recorder.push(Record { at: now, flow, what: What::SegmentArrived { size, queued, marked } });
            }
            segment.ecn = ecn;
            let answer = tcp.flow.on_segment(now, &segment);
            offer_answer(now, flow, answer, network);
        }
    }

    /// Segment `number`, or a copy of it, was dropped on the path.
    pub(in crate::simulate) fn on_drop(
        &mut self,
        at: Time,
        (flow, number): (u16, u64),
        (size, why, part): (Bytes, DropReason, Part),
        recorder: &mut Recorder,
    ) {
        if self.tcp(flow).is_some_and(|tcp| tcp.under_way.lose(number, part).is_some()) {
            recorder.push(Record { at, flow, what: What::SegmentDropped { size, why } });
        }
    }

    /// An acknowledgement arrived at its sender, which may continue sending.
    pub(in crate::simulate) fn on_acknowledgement(
        &mut self,
        now: Time,
        flow: u16,
        said: &Acknowledgement,
        network: &mut Network,
        recorder: &mut Recorder,
    ) {
        let Some(tcp) = self.tcp(flow) else { return };
        tcp.flow.on_acknowledgement(now, said);
        if let Some(page) = tcp.flow.poll_page() {
            recorder.push(Record { at: now, flow, what: What::PageRead { size: page.size, took: page.took } });
        }
        tcp.pump(now, flow, network, recorder);
    }

    fn tcp(&mut self, flow: u16) -> Option<&mut Tcp> {
        match &mut self.sources.get_mut(usize::from(flow).checked_sub(self.first)?)?.kind {
            Kind::Tcp(tcp) => Some(tcp),
            Kind::Datagrams(_) => None,
        }
    }
}

impl Tcp {
    fn pump(&mut self, now: Time, flow: u16, network: &mut Network, recorder: &mut Recorder) {
        while let Some(segment) = self.flow.poll(now) {
            let (size, ecn, window) = (segment.size(), segment.ecn, self.flow.sender().window().window());
            recorder.push(Record { at: now, flow, what: What::SegmentSent { size, window } });
            let cargo = Cargo::Segment(self.under_way.push(segment));
            network.send(now, flow, (size, ecn), cargo);
        }
    }
}

fn tcp(flows: Vec<TcpFlow>) -> Vec<Kind> {
    flows.into_iter().map(|flow| Kind::Tcp(Box::new(Tcp { flow, under_way: UnderWay::default() }))).collect()
}

fn offer_answer(now: Time, flow: u16, answer: Option<Acknowledgement>, network: &mut Network) {
    if let Some(answer) = answer {
        network.answer(now, flow, answer.size(), Answer::Acknowledgement(answer));
    }
}
