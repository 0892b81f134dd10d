//! Network that flows cross: links, each a path of its own or a shared medium, and for each flow those of its way there
//! and of its way back.
//!
//! Packets cross links by number, because hops copy their contents several times.

use std::collections::VecDeque;

use thalweg_netsim::traffic::tcp::Acknowledgement;
use thalweg_netsim::{Direction, Drop, DropReason, Ecn, FindTrace, MarkReason, PathConfig, Port};
use thalweg_receiver::{About, Message};
use thalweg_units::{Bytes, Span, Time};

use super::SimulateError;
use super::capacity::FlowCapacity;
use super::crossed::Crossed;
use super::under_way::{Part, UnderWay};
use crate::scenario::{FORWARD, NamedLink, NamedMedium, REVERSE, Route, Scenario};

/// Packet of a flow's sender.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cargo {
    /// The packet with this number in its flow's sending order.
    Packet(u64),
    /// The segment with this number in its flow's sending order.
    Segment(u64),
    /// A datagram of cross traffic.
    Datagram,
}

/// Packet of a flow's receiver.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    /// RTCP.
    Feedback(Message),
    /// The acknowledgement of a TCP segment.
    Acknowledgement(Acknowledgement),
}

/// A packet that crossed all links of its way.
pub(super) struct Arrived<C> {
    pub(super) flow: u16,
    pub(super) content: C,
    pub(super) transit: Transit,
}

/// How a packet crossed its links.
#[derive(Debug, Clone, Copy)]
pub(super) struct Transit {
    /// Its size, from the IP header upwards.
    pub(super) size: Bytes,
    /// Its waiting time in the queues of all links.
    pub(super) queued: Span,
    /// Its ECN field at the end.
    pub(super) ecn: Ecn,
    /// Why a queue marked it.
    pub(super) marked: Option<MarkReason>,
    /// The part of its packet that it is.
    pub(super) part: Part,
}

/// A packet that a link dropped.
pub(super) struct Dropped {
    pub(super) flow: u16,
    pub(super) cargo: Cargo,
    pub(super) at: Time,
    pub(super) size: Bytes,
    pub(super) why: DropReason,
    pub(super) part: Part,
}

/// Packet on a link.
#[derive(Debug, Clone, Copy)]
struct Item {
    flow: u16,
    /// Which of the links of its way this is.
    leg: u16,
    /// Its way, by place in [`Network::ways`].
    way: u16,
    /// Its waiting time in the queues of the links before.
    queued: Span,
    ecn: Ecn,
    marked: Option<MarkReason>,
    part: Part,
    content: Content,
}

impl thalweg_netsim::Packet for Item {
    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn flow(&self) -> u64 {
        u64::from(self.flow)
    }

    fn mark(&mut self, why: MarkReason) {
        (self.ecn, self.marked) = (Ecn::Ce, Some(why));
    }

    fn bleach(&mut self) {
        self.ecn = Ecn::NotCapable;
    }

    /// Datagrams of cross traffic have no numbers by which a copy could be known.
    fn duplicate(&mut self) -> Option<Item> {
        let is_numbered = !matches!(self.content, Content::There(Cargo::Datagram));
        let part = is_numbered.then(|| self.part.halve())??;
        Some(Item { part, ..*self })
    }
}

#[derive(Debug, Clone, Copy)]
enum Content {
    /// To the receiver.
    There(Cargo),
    /// To the sender: the answer with this number.
    Back(u64),
}

/// The links that a flow crosses.
#[derive(Debug, Clone)]
struct Way {
    there: Vec<Leg>,
    back: Vec<Leg>,
}

/// One link of a way.
#[derive(Debug, Clone, Copy)]
struct Leg {
    /// Its place in [`Network::links`].
    link: usize,
    /// Where a packet enters it, if it is a medium.
    port: Option<Port>,
}

/// See the module.
pub(super) struct Network {
    /// First those of `forward` and `reverse`, then the named ones, then media.
    links: Vec<Crossed<Item>>,
    /// When each next has something to do.
    due: Vec<Time>,
    /// The first of the links that are due first. There are few: looking at all of them is quicker than a heap.
    first: usize,
    /// The links that may have dropped something since they were asked, some of them more than once.
    touched: Vec<usize>,
    /// Their names.
    names: Vec<String>,
    /// All ways that flows have or had; the first is that of flows that no route names.
    ways: Vec<Way>,
    /// The place of its present way, by flow; flows beyond the end have the first.
    routed: Vec<u16>,
    /// The flows that were given a way, when, and which.
    turns: Vec<(u16, Time, u16)>,
    /// The answers that are under way.
    answers: UnderWay<Answer>,
    arrivals: VecDeque<Arrived<Cargo>>,
    drops: VecDeque<Dropped>,
    answered: VecDeque<Arrived<Answer>>,
    /// When reports were dropped, by flow.
    reports_dropped: Vec<Vec<Time>>,
    now: Time,
}

impl Network {
    /// The scenario's links, with nothing on them.
    ///
    /// # Errors
    /// When a link cannot be built, or a route names one that does not exist.
    pub(super) fn new(scenario: &Scenario, find: &mut FindTrace<'_>) -> Result<Network, SimulateError> {
        // The names of these two streams of random numbers are older than the links'.
        let mut links = vec![
            Crossed::path(FORWARD, &scenario.forward, scenario.seed.child("up"), find)?,
            Crossed::path(REVERSE, &scenario.reverse, scenario.seed.child("down"), find)?,
        ];
        let mut names = vec![FORWARD.to_string(), REVERSE.to_string()];
        let mut take = |name: &String| {
            if names.contains(name) {
                return Err(SimulateError::Scenario(format!("two links are called '{name}': rename one")));
            }
            names.push(name.clone());
            Ok(scenario.seed.child(&format!("link {name}")))
        };
        for NamedLink { name, hops } in &scenario.links {
            links.push(Crossed::path(name, &PathConfig { hops: hops.clone() }, take(name)?, find)?);
        }
        for NamedMedium { name, medium } in &scenario.media {
            links.push(Crossed::medium(name, medium, take(name)?)?);
        }
        let mut network = Network {
            due: vec![Time::NEVER; links.len()],
            first: 0,
            touched: Vec::new(),
            links,
            names,
            ways: vec![Way { there: vec![Leg { link: 0, port: None }], back: vec![Leg { link: 1, port: None }] }],
            routed: Vec::new(),
            turns: Vec::new(),
            answers: UnderWay::default(),
            arrivals: VecDeque::new(),
            drops: VecDeque::new(),
            answered: VecDeque::new(),
            reports_dropped: Vec::new(),
            now: Time::ZERO,
        };
        for route in &scenario.routes {
            if network.routed.get(usize::from(route.flow)).is_some_and(|way| *way != 0) {
                return Err(SimulateError::Scenario(format!("flow {} has two routes: remove one", route.flow)));
            }
            network.route(Time::ZERO, route)?;
        }
        Ok(network)
    }

    /// The place of a link.
    ///
    /// # Errors
    /// When no link has this name; `what` names it.
    fn place(&self, what: &str, name: &str) -> Result<usize, SimulateError> {
        let unknown =
            || SimulateError::Scenario(format!("{what} names the link '{name}'; there are {}", self.names.join(", ")));
        self.names.iter().position(|known| known == name).ok_or_else(unknown)
    }

    /// Checks that the links of a route exist, at least one each way.
    ///
    /// # Errors
    /// When they do not.
    pub(super) fn check_route(&self, route: &Route) -> Result<(), SimulateError> {
        self.way_of(route).map(|_| ())
    }

    fn way_of(&self, route: &Route) -> Result<Way, SimulateError> {
        let legs = |names: &[String]| names.iter().map(|name| self.leg(name)).collect::<Result<Vec<Leg>, _>>();
        let (there, back) = (legs(&route.forward)?, legs(&route.reverse)?);
        if there.is_empty() || back.is_empty() {
            let problem = format!("the route of flow {} has no link one way: name at least one each way", route.flow);
            return Err(SimulateError::Scenario(problem));
        }
        Ok(Way { there, back })
    }

    /// Leg of a route: a path by its name, or a medium's port by `name up STATION` or `name down STATION`.
    fn leg(&self, text: &str) -> Result<Leg, SimulateError> {
        let port = text.rsplit_once(' ').and_then(|(before, station)| {
            let (name, direction) = before.rsplit_once(' ')?;
            let direction = match direction {
                "up" => Direction::Up,
                "down" => Direction::Down,
                _ => return None,
            };
            Some((name, Port { station: station.parse().ok()?, direction }))
        });
        let (name, port) = match port {
            Some((name, port)) if self.names.iter().any(|known| known == name) => (name, Some(port)),
            _ => (text, None),
        };
        let link = self.place("a route", name)?;
        match (self.links[link].stations(), port) {
            (Some(_), None) => Err(SimulateError::Scenario(format!(
                "a route crosses the medium '{name}' without saying where: write '{name} up 0' for station 0 sending, or \
                 '{name} down 0'"
            ))),
            (Some(stations), Some(port)) if usize::from(port.station) >= stations => {
                let last = stations.saturating_sub(1);
                Err(SimulateError::Scenario(format!("a route names '{text}', and '{name}' has stations 0 to {last}")))
            }
            (None, Some(_)) => {
                Err(SimulateError::Scenario(format!("a route names '{text}', and '{name}' is a path: write '{name}'")))
            }
            _ => Ok(Leg { link, port }),
        }
    }

    /// Gives a flow this route from now on; what is under way stays on the links of its old one.
    ///
    /// # Errors
    /// See [`Network::check_route`].
    pub(super) fn route(&mut self, now: Time, route: &Route) -> Result<(), SimulateError> {
        let way = self.way_of(route)?;
        self.turns.push((route.flow, now, self.ways.len() as u16));
        let flow = usize::from(route.flow);
        if self.routed.len() <= flow {
            self.routed.resize(flow + 1, 0);
        }
        self.routed[flow] = self.ways.len() as u16;
        self.ways.push(way);
        Ok(())
    }

    /// Changes a property of a link.
    ///
    /// # Errors
    /// When there is no such link, or it has no such property.
    pub(super) fn change(
        &mut self,
        now: Time,
        name: &str,
        change: &thalweg_netsim::Change,
    ) -> Result<(), SimulateError> {
        let link = self.place("a change", name)?;
        let changed = self.links[link].change(now, change);
        self.settle(link);
        if changed {
            return Ok(());
        }
        Err(SimulateError::Scenario(format!("a change of link '{name}' to {change:?}: no hop of it has that property")))
    }

    /// Checks that there is a link of this name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn check_link(&self, name: &str) -> Result<(), SimulateError> {
        self.place("a change", name).map(|_| ())
    }

    /// Capacity of the ways of a flow to its receiver, with the changes so far.
    pub(super) fn capacity(&self, flow: u16) -> FlowCapacity<'_> {
        let mut ways = vec![(Time::ZERO, 0)];
        for (_, since, way) in self.turns.iter().filter(|(turned, ..)| *turned == flow) {
            ways.retain(|(at, _)| at != since);
            ways.push((*since, usize::from(*way)));
        }
        let paths = |way: usize| self.ways[way].there.iter().filter_map(|leg| self.links[leg.link].capacity());
        FlowCapacity::new(ways.into_iter().map(|(since, way)| (since, paths(way).collect())).collect())
    }

    /// How many flows have routes: the greatest number of one, plus 1.
    pub(super) fn routed(&self) -> usize {
        self.routed.len()
    }

    /// When reports were dropped, by flow; flows beyond the end lost none.
    pub(super) fn into_reports_dropped(self) -> Vec<Vec<Time>> {
        self.reports_dropped
    }

    fn way(&self, flow: u16) -> u16 {
        self.routed.get(usize::from(flow)).copied().unwrap_or(0)
    }

    /// A flow's sender sends.
    pub(super) fn send(&mut self, now: Time, flow: u16, (size, ecn): (Bytes, Ecn), cargo: Cargo) {
        self.enter(now, flow, (size, ecn), Content::There(cargo));
    }

    /// A flow's receiver answers.
    pub(super) fn answer(&mut self, now: Time, flow: u16, size: Bytes, answer: Answer) {
        let content = Content::Back(self.answers.push(answer));
        self.enter(now, flow, (size, Ecn::NotCapable), content);
    }

    /// The link that `item` is about to cross; `None` at the end of its way.
    fn next_leg(&self, item: &Item) -> Option<Leg> {
        let way = &self.ways[usize::from(item.way)];
        let legs = if matches!(item.content, Content::There(_)) { &way.there } else { &way.back };
        legs.get(usize::from(item.leg)).copied()
    }

    fn enter(&mut self, now: Time, flow: u16, (size, ecn): (Bytes, Ecn), content: Content) {
        let way = self.way(flow);
        let item = Item { flow, leg: 0, way, queued: Span::ZERO, ecn, marked: None, part: Part::WHOLE, content };
        if let Some(leg) = self.next_leg(&item) {
            self.offer(now, leg, size, item);
        }
    }

    fn offer(&mut self, now: Time, Leg { link, port }: Leg, size: Bytes, item: Item) {
        self.links[link].offer(now, port, size, item);
        self.settle(link);
    }

    /// Something was done with a link.
    fn settle(&mut self, link: usize) {
        if self.touched.last() != Some(&link) {
            self.touched.push(link);
        }
        let next = self.links[link].next_event();
        let before = std::mem::replace(&mut self.due[link], next);
        if link != self.first {
            if (next, link) < (self.due[self.first], self.first) {
                self.first = link;
            }
        } else if next > before {
            self.first = (0..self.due.len()).min_by_key(|link| self.due[*link]).unwrap_or(0);
        }
    }

    /// When something next happens on a link, or at once while there is something to poll.
    pub(super) fn next_event(&self) -> Time {
        if !(self.arrivals.is_empty() && self.drops.is_empty() && self.answered.is_empty()) {
            return self.now;
        }
        self.due[self.first]
    }

    /// Moves everything that is due at `now`: what has crossed its way can be polled. Of links with something due at
    /// the same instant the first goes first.
    pub(super) fn advance(&mut self, now: Time) {
        self.now = now;
        // `Time::NEVER` is never due.
        while self.due[self.first] <= now {
            let link = self.first;
            let left = self.links[link].poll(now);
            self.settle(link);
            let Some(left) = left else { continue };
            let item = Item { leg: left.packet.leg + 1, queued: left.packet.queued + left.queued, ..left.packet };
            match self.next_leg(&item) {
                Some(leg) => self.offer(left.at, leg, left.size, item),
                None => self.arrive(left.size, item),
            }
        }
        // What links drop at the same instant is reported in their order.
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        for link in touched.drain(..) {
            while let Some(dropped) = self.links[link].poll_drop() {
                self.lose(dropped);
            }
        }
        self.touched = touched;
    }

    /// A link dropped something.
    fn lose(&mut self, Drop { at, size, why, packet: Item { flow, part, content, .. } }: Drop<Item>) {
        match content {
            Content::There(cargo) => self.drops.push_back(Dropped { flow, cargo, at, size, why, part }),
            Content::Back(number) => {
                let about = match self.answers.lose(number, part) {
                    Some(Answer::Feedback(message)) => message.about,
                    Some(Answer::Acknowledgement(_)) | None => return,
                };
                if matches!(about, About::Report { .. }) {
                    let place = usize::from(flow);
                    if self.reports_dropped.len() <= place {
                        self.reports_dropped.resize(place + 1, Vec::new());
                    }
                    self.reports_dropped[place].push(at);
                }
            }
        }
    }

    fn arrive(&mut self, size: Bytes, Item { flow, queued, ecn, marked, part, content, .. }: Item) {
        let transit = Transit { size, queued, ecn, marked, part };
        match content {
            Content::There(content) => self.arrivals.push_back(Arrived { flow, content, transit }),
            Content::Back(number) => {
                let Some((content, _)) = self.answers.arrive(number, part) else { return };
                self.answered.push_back(Arrived { flow, content, transit });
            }
        }
    }

    /// The next packet that reached its receiver.
    pub(super) fn poll_arrival(&mut self) -> Option<Arrived<Cargo>> {
        self.arrivals.pop_front()
    }

    /// The next packet of a sender that a link dropped.
    pub(super) fn poll_drop(&mut self) -> Option<Dropped> {
        self.drops.pop_front()
    }

    /// The next answer that reached its sender.
    pub(super) fn poll_answer(&mut self) -> Option<Arrived<Answer>> {
        self.answered.pop_front()
    }
}
