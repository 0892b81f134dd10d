//! TCP flows over a path, in virtual time.

use std::sync::Arc;

use thalweg_netsim::traffic::tcp::{Acknowledgement, Segment};
use thalweg_netsim::{Ecn, HopConfig, Link, Packet, Path, PathConfig, TcpFlow, Trace};
use thalweg_units::{Bytes, Rate, Seed, Span, Time};

/// A path of these hops, whose bottlenecks have this rate.
pub fn path<P: Packet + Send + 'static>(hops: Vec<HopConfig>, rate: Rate, seed: u64) -> Path<P> {
    let trace = Arc::new(Trace::constant(rate).unwrap());
    PathConfig { hops }.build(Seed::new(seed), &mut |_| Ok::<_, String>(trace.clone())).unwrap()
}

/// A segment that arrived over the path.
#[derive(Debug, Clone, Copy)]
pub struct Arrival {
    pub at: Time,
    pub flow: usize,
    pub size: Bytes,
    pub queued: Span,
    /// Its ECN field then.
    pub ecn: Ecn,
}

/// Flows, and the results of their transfers.
pub struct Net {
    pub flows: Vec<TcpFlow>,
    pub up: Path<(usize, Segment)>,
    pub down: Path<(usize, Acknowledgement)>,
    pub arrivals: Vec<Arrival>,
    pub drops: u64,
    /// Completed pages, each with the index of its flow.
    pub pages: Vec<(usize, thalweg_netsim::traffic::Page)>,
}

impl Net {
    pub fn new(flows: Vec<TcpFlow>, up: Path<(usize, Segment)>, down: Path<(usize, Acknowledgement)>) -> Net {
        Net { flows, up, down, arrivals: Vec::new(), drops: 0, pages: Vec::new() }
    }

    /// Plays until `end` or until nothing more happens; returns the time of the last event.
    pub fn play(&mut self, end: Time) -> Time {
        let mut last = Time::ZERO;
        loop {
            let flows = self.flows.iter().map(TcpFlow::next_event).min().unwrap_or(Time::NEVER);
            let now = flows.min(self.up.next_event()).min(self.down.next_event());
            if now >= end {
                return last;
            }
            assert!(now >= last, "time goes back from {last} to {now}");
            last = now;
            self.step(now);
        }
    }

    fn step(&mut self, now: Time) {
        for index in 0..self.flows.len() {
            self.pump(now, index);
        }
        while let Some(left) = self.up.poll(now) {
            let (flow, segment) = left.packet;
            self.arrivals.push(Arrival { at: now, flow, size: left.size, queued: left.queued, ecn: segment.ecn });
            let answer = self.flows[flow].on_segment(now, &segment);
            self.answer(now, flow, answer);
        }
        while self.up.poll_drop().is_some() {
            self.drops += 1;
        }
        for flow in 0..self.flows.len() {
            let answer = self.flows[flow].poll_acknowledgement(now);
            self.answer(now, flow, answer);
        }
        while let Some(left) = self.down.poll(now) {
            let (flow, said) = left.packet;
            self.flows[flow].on_acknowledgement(now, &said);
            self.pages.extend(self.flows[flow].poll_page().map(|page| (flow, page)));
            self.pump(now, flow);
        }
        while self.down.poll_drop().is_some() {}
    }

    fn answer(&mut self, now: Time, flow: usize, answer: Option<Acknowledgement>) {
        if let Some(answer) = answer {
            self.down.offer(now, answer.size(), (flow, answer));
        }
    }

    fn pump(&mut self, now: Time, flow: usize) {
        while let Some(segment) = self.flows[flow].poll(now) {
            self.up.offer(now, segment.size(), (flow, segment));
        }
        let sender = self.flows[flow].sender();
        assert!(sender.window().window() >= 1.0, "a window of {}", sender.window().window());
    }

    /// The rate of segments of `flow` that arrived within [from, to) seconds.
    pub fn rate(&self, flow: usize, from: f64, to: f64) -> Rate {
        let within = |arrival: &&Arrival| arrival.flow == flow && (from..to).contains(&arrival.at.as_secs_f64());
        let bytes: Bytes = self.arrivals.iter().filter(within).map(|arrival| arrival.size).sum();
        bytes.per(Span::from_secs_f64(to - from))
    }

    /// The queueing times, sorted, of segments that arrived within [from, to) seconds.
    pub fn waits(&self, from: f64, to: f64) -> Vec<Span> {
        let within = |arrival: &&Arrival| (from..to).contains(&arrival.at.as_secs_f64());
        let mut waits: Vec<Span> = self.arrivals.iter().filter(within).map(|arrival| arrival.queued).collect();
        waits.sort();
        waits
    }
}
