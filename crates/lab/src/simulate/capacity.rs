//! Capacity of a flow's way to its receiver, over changes of rates and of routes.

use thalweg_netsim::PathCapacity;
use thalweg_units::{Bytes, Time};

/// Capacity of a flow's way at each moment: the least that any path on it can. Everything that is divided by a capacity,
/// a bin of a chart as well as a utilisation, asks this.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FlowCapacity<'a> {
    /// The paths of its ways, each from its time on, in order.
    ways: Vec<(Time, Vec<&'a PathCapacity>)>,
}

impl<'a> FlowCapacity<'a> {
    /// The capacity of a flow that takes these paths, each list from its time on, in order. A medium, whose capacity depends
    /// on who sends, is in none of them.
    pub(super) fn new(ways: Vec<(Time, Vec<&'a PathCapacity>)>) -> FlowCapacity<'a> {
        FlowCapacity { ways }
    }

    /// Returns true if something limits the flow at all times.
    pub fn is_known(&self) -> bool {
        let limited = |paths: &[&PathCapacity]| paths.iter().any(|path| !path.hops().is_empty());
        !self.ways.is_empty() && self.ways.iter().all(|(_, paths)| limited(paths))
    }

    /// The bytes it can carry within [from, to), from the IP header upwards; 0 of a time without a limit.
    pub fn bytes(&self, from: Time, to: Time) -> Bytes {
        self.stretches(from, to)
            .filter_map(|(begin, end, paths)| paths.iter().filter_map(|path| path.bytes(begin, end)).min())
            .sum()
    }

    /// The share of its capacity within [from, to) that `packets` packets of `size` in total take, 0 to 1; `None` if it is
    /// not known, or zero. Queues between two bottlenecks, and those of a way that was left, may deliver in one moment more
    /// than the present way carries; the whole is no more than all of it.
    pub fn share(&self, size: Bytes, packets: u64, from: Time, to: Time) -> Option<f64> {
        let whole = self.bytes(from, to);
        // In the unit of the way on which it began: a trace's opportunities, or bytes.
        let first = self.stretches(from, to).next().and_then(|(begin, end, paths)| {
            paths.iter().min_by_key(|path| path.bytes(begin, end).unwrap_or(Bytes::new(u64::MAX)))
        });
        let taken = first.map_or(size.as_f64(), |path| path.taken(size, packets));
        (self.is_known() && whole > Bytes::ZERO).then(|| (taken / whole.as_f64()).min(1.0))
    }

    fn stretches(&self, from: Time, to: Time) -> impl Iterator<Item = (Time, Time, &[&'a PathCapacity])> {
        let ends = self.ways.iter().skip(1).map(|(since, _)| *since).chain([Time::NEVER]);
        self.ways.iter().zip(ends).filter_map(move |((since, paths), end)| {
            let (begin, end) = (from.max(*since), to.min(end));
            (end > begin).then_some((begin, end, paths.as_slice()))
        })
    }
}

impl<'a> From<&'a PathCapacity> for FlowCapacity<'a> {
    fn from(path: &'a PathCapacity) -> FlowCapacity<'a> {
        FlowCapacity::new(vec![(Time::ZERO, vec![path])])
    }
}
