//! FQ-CoDel (RFC 8290): a queue for each flow, served in turns of a quantum, flows that have just begun before the others,
//! and the CoDel that marks at the exit of each (specs/l4s.md 2.5).

use alloc::collections::{BTreeMap, VecDeque};

use thalweg_units::{Bytes, ConfigError, Rate, Span, Time, check};

use super::codel_ecn::CodelEcn;
use super::fifo::Fifo;
use super::{DropReason, Limits, Queued};
use crate::Packet;

/// How many queues there are: Linux's default. Flows whose numbers are alike modulo this share one.
const QUEUES: u64 = 1024;

/// A queue for each flow ([`Packet::flow`]), served by deficit round robin, with CoDel at the exit of each, which marks
/// packets that are capable of ECN and drops others. A flow that has just begun to send is served before those that have
/// a standing queue.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, rename_all = "kebab-case", deny_unknown_fields)
)]
pub struct FqCodelConfig {
    /// Limits of all queues together; when they are exceeded, the oldest packet of the longest queue is dropped.
    pub limits: Limits,
    /// How much of a flow leaves in a turn.
    pub quantum: Bytes,
    /// The target delay of each queue.
    pub target: Span,
    /// How long the target may be exceeded.
    pub interval: Span,
    /// Packets with ECT(1) that waited longer are marked at once (Linux's `ce_threshold`, with its selector for ECT(1)).
    pub threshold: Option<Span>,
}

impl Default for FqCodelConfig {
    /// Linux's defaults (tc-fq_codel(8)).
    fn default() -> FqCodelConfig {
        FqCodelConfig {
            limits: Limits::packets(10_240),
            quantum: Bytes::new(1514),
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            threshold: None,
        }
    }
}

/// The queue of a flow.
#[derive(Debug, Clone)]
struct Flow<P> {
    packets: Fifo<P>,
    codel: CodelEcn,
    /// Bytes that it may still send in this turn.
    deficit: i64,
    /// True if it is in one of the lists.
    is_listed: bool,
}

/// See [`FqCodelConfig`].
#[derive(Debug, Clone)]
pub(super) struct FqCodel<P> {
    config: FqCodelConfig,
    /// The CoDel that each queue begins with.
    codel: CodelEcn,
    /// The queues that have been used.
    flows: BTreeMap<u64, Flow<P>>,
    /// Flows that have just begun, and the others that have had a turn.
    new: VecDeque<u64>,
    old: VecDeque<u64>,
    bytes: Bytes,
    packets: u64,
}

impl<P: Packet> FqCodel<P> {
    pub(super) fn new(config: FqCodelConfig) -> Result<FqCodel<P>, ConfigError> {
        config.limits.check()?;
        check("fq-codel.quantum", config.quantum).within(Bytes::new(1)..=Bytes::new(1 << 20), "quantum = \"1514B\"")?;
        Ok(FqCodel {
            codel: CodelEcn::new("fq-codel", config.target, config.interval, config.threshold)?,
            config,
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            bytes: Bytes::ZERO,
            packets: 0,
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.packets == 0
    }

    pub(super) fn push(
        &mut self,
        rate: impl Fn() -> Rate,
        queued: Queued<P>,
        mut dropped: impl FnMut(Queued<P>, DropReason),
    ) {
        let key = queued.packet.flow() % QUEUES;
        self.bytes += queued.counted;
        self.packets += 1;
        let flow = self.flows.entry(key).or_insert_with(|| Flow {
            packets: Fifo::new(),
            codel: self.codel,
            deficit: 0,
            is_listed: false,
        });
        flow.packets.push(queued);
        if !flow.is_listed {
            (flow.is_listed, flow.deficit) = (true, self.config.quantum.get() as i64);
            self.new.push_back(key);
        }
        while !self.config.limits.admit(self.bytes, self.packets, &rate) {
            let longest = self.flows.values_mut().max_by_key(|flow| flow.packets.bytes());
            let Some(head) = longest.and_then(|flow| flow.packets.pop()) else { return };
            self.bytes -= head.counted;
            self.packets -= 1;
            dropped(head, DropReason::QueueFull);
        }
    }

    pub(super) fn pop(&mut self, now: Time, mut dropped: impl FnMut(Queued<P>, DropReason)) -> Option<Queued<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &self.new } else { &self.old };
            let key = *list.front()?;
            let flow = self.flows.get_mut(&key)?;
            if flow.deficit <= 0 {
                flow.deficit += self.config.quantum.get() as i64;
                self.take_turn(is_new);
                self.old.push_back(key);
                continue;
            }
            let (bytes, packets) = (flow.packets.bytes(), flow.packets.len());
            let popped = flow.codel.pop(now, &mut flow.packets, |lost| dropped(lost, DropReason::QueueManaged));
            self.bytes -= bytes - flow.packets.bytes();
            self.packets -= packets - flow.packets.len();
            if let Some(queued) = popped {
                flow.deficit -= queued.counted.get() as i64;
                return Some(queued);
            }
            // A new flow that has run empty waits for the others once before it is new again, or packets one by one would
            // starve them (RFC 8290 section 4.2).
            let stays = is_new && !self.old.is_empty();
            flow.is_listed = stays;
            self.take_turn(is_new);
            if stays {
                self.old.push_back(key);
            }
        }
    }

    /// The first of a list leaves it.
    fn take_turn(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::packet::MarkReason;
    use crate::queue::tests::{Numbered, packet};
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const RATE: Rate = Rate::from_kbps(10_000);

    fn queue(config: FqCodelConfig) -> FqCodel<Numbered> {
        FqCodel::new(config).unwrap()
    }

    /// The packet with this number, of this flow.
    fn of(flow: u64, number: u64, ms: u64, size: u64, ecn: Ecn) -> Queued<Numbered> {
        let packet = Numbered { flow, ..packet(number, ecn) };
        Queued { arrival: Time::from_millis(ms), counted: Bytes::new(size), packet }
    }

    fn never(lost: Queued<Numbered>, _: DropReason) {
        panic!("{lost:?} is dropped");
    }

    fn order(queue: &mut FqCodel<Numbered>, count: usize) -> Vec<u64> {
        (0..count).map(|_| queue.pop(Time::ZERO, never).unwrap().packet.flow).collect()
    }

    #[test]
    fn flows_take_turns_of_a_quantum_whatever_the_size_of_their_packets() {
        let mut queue = queue(FqCodelConfig::default());
        for number in 0..40 {
            queue.push(|| RATE, of(1, number, 0, 1514, Ecn::NotCapable), never);
            queue.push(|| RATE, of(2, number, 0, 757, Ecn::NotCapable), never);
        }
        assert_eq!(order(&mut queue, 9), [1, 2, 2, 1, 2, 2, 1, 2, 2]);
    }

    #[test]
    fn a_flow_that_begins_is_served_next_and_then_waits_for_its_turn() {
        // A turn of 1514 bytes is two packets of 1000, and the next one, for what was too much, one.
        let mut queue = queue(FqCodelConfig::default());
        let push = |queue: &mut FqCodel<Numbered>, flow, count| {
            (0..count).for_each(|number| queue.push(|| RATE, of(flow, number, 0, 1000, Ecn::NotCapable), never));
        };
        push(&mut queue, 1, 20);
        assert_eq!(order(&mut queue, 2), [1, 1]);
        push(&mut queue, 2, 3);
        assert_eq!(order(&mut queue, 6), [2, 2, 1, 1, 2, 1]);
        // It was found empty, and is new again.
        push(&mut queue, 2, 1);
        assert_eq!(order(&mut queue, 2), [2, 1]);
    }

    #[test]
    fn packets_one_by_one_do_not_starve_others() {
        let mut queue = queue(FqCodelConfig::default());
        let push = |queue: &mut FqCodel<Numbered>, flow, count| {
            (0..count).for_each(|number| queue.push(|| RATE, of(flow, number, 0, 1000, Ecn::NotCapable), never));
        };
        push(&mut queue, 1, 20);
        assert_eq!(order(&mut queue, 1), [1]);
        push(&mut queue, 3, 1);
        assert_eq!(order(&mut queue, 3), [1, 3, 1]);
        // It was found empty while others waited: it keeps its place among them, and its next packet waits.
        push(&mut queue, 3, 1);
        assert_eq!(order(&mut queue, 2), [1, 3]);
    }

    #[test]
    fn a_full_queue_drops_the_oldest_packet_of_the_longest_flow() {
        let mut queue = queue(FqCodelConfig { limits: Limits::packets(4), ..FqCodelConfig::default() });
        let mut lost = Vec::new();
        for (flow, number) in [(1, 0), (1, 1), (1, 2), (2, 3), (2, 4), (2, 5)] {
            let queued = of(flow, number, 0, 1500, Ecn::NotCapable);
            queue.push(|| RATE, queued, |dropped, why| lost.push((dropped.packet.number, why)));
        }
        assert_eq!(lost, [(0, DropReason::QueueFull), (3, DropReason::QueueFull)]);
        assert_eq!((queue.packets, queue.bytes), (4, Bytes::new(6000)));
    }

    #[test]
    fn only_the_flow_with_a_standing_queue_is_marked() {
        // One leaves each 2 ms. The first flow sends one each ms, the second one each 20 ms.
        let mut queue = queue(FqCodelConfig::default());
        let mut marked = [0; 3];
        for ms in 0..1000 {
            queue.push(|| RATE, of(1, ms, ms, 1500, Ecn::Ect1), never);
            if ms % 20 == 0 {
                queue.push(|| RATE, of(2, ms, ms, 1500, Ecn::Ect1), never);
            }
            if ms % 2 == 0 {
                let left = queue.pop(Time::from_millis(ms), never).unwrap();
                marked[left.packet.flow as usize] += usize::from(left.packet.ecn == Ecn::Ce);
            }
        }
        assert!(marked[1] > 10 && marked[2] == 0, "{marked:?}");
    }

    #[test]
    fn the_threshold_marks_ect1_at_once_and_nothing_else() {
        let config = FqCodelConfig { threshold: Some(Span::from_millis(1)), ..FqCodelConfig::default() };
        let mut queue = queue(config);
        for (flow, ecn) in [(1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::NotCapable)] {
            queue.push(|| RATE, of(flow, 0, 0, 1500, ecn), never);
        }
        let mut left = || queue.pop(Time::from_millis(2), never).unwrap().packet;
        let [low, classic, plain] = [left(), left(), left()];
        assert_eq!((low.ecn, low.marked), (Ecn::Ce, Some(MarkReason::Step)));
        assert_eq!([classic.ecn, plain.ecn], [Ecn::Ect0, Ecn::NotCapable]);
    }

    proptest! {
        /// Whatever enters leaves, marked or not, or is dropped, or is still there; each flow in its order, and no codepoint
        /// changes but to CE.
        #[test]
        fn every_packet_leaves_or_is_dropped_once_and_each_flow_in_its_order(
            steps in prop::collection::vec((0u64..5, 40u64..1500, 0usize..4, 0u64..8, any::<bool>()), 1..600)
        ) {
            let mut queue = queue(FqCodelConfig { limits: Limits::packets(50), ..FqCodelConfig::default() });
            let (mut now, mut dropped, mut left, mut sent) = (0, Vec::new(), Vec::new(), Vec::new());
            for (number, (flow, size, ecn, pause, leaves)) in steps.into_iter().enumerate() {
                now += pause;
                let queued = of(flow, number as u64, now, size, Ecn::ALL[ecn]);
                sent.push(queued.packet);
                queue.push(|| RATE, queued, |lost, _| dropped.push(lost.packet.number));
                if leaves {
                    left.extend(queue.pop(Time::from_millis(now), |lost, _| dropped.push(lost.packet.number)));
                }
                let waiting: u64 = queue.flows.values().map(|flow| flow.packets.len()).sum();
                prop_assert_eq!(waiting, queue.packets);
                prop_assert!(queue.packets <= 50);
            }
            while let Some(last) = queue.pop(Time::from_millis(now), |lost, _| dropped.push(lost.packet.number)) {
                left.push(last);
            }
            prop_assert!(queue.is_empty() && queue.bytes == Bytes::ZERO);
            let mut all: Vec<u64> = left.iter().map(|one| one.packet.number).chain(dropped).collect();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..sent.len() as u64));
            for flow in 0..5 {
                let numbers = left.iter().filter(|one| one.packet.flow == flow).map(|one| one.packet.number);
                prop_assert!(numbers.collect::<Vec<_>>().is_sorted());
            }
            for one in &left {
                let before = sent[one.packet.number as usize].ecn;
                prop_assert!(one.packet.ecn == before || one.packet.ecn == Ecn::Ce && before.is_capable());
            }
        }

        /// While flows are backlogged, none gets more than another by more than a quantum and a packet for each turn.
        #[test]
        fn backlogged_flows_get_the_same_bytes(sizes in prop::collection::vec(100u64..1500, 2..8), turns in 5usize..60) {
            let mut queue = queue(FqCodelConfig { limits: Limits::packets(100_000), ..FqCodelConfig::default() });
            for (flow, size) in sizes.iter().enumerate() {
                let enough = (turns as u64 + 2) * 1514 / size + 2;
                (0..enough).for_each(|number| {
                    queue.push(|| RATE, of(flow as u64, number, 0, *size, Ecn::NotCapable), never);
                });
            }
            let mut bytes = alloc::vec![0; sizes.len()];
            while bytes.iter().sum::<u64>() < turns as u64 * 1514 * sizes.len() as u64 {
                let left = queue.pop(Time::ZERO, never).unwrap();
                bytes[left.packet.flow as usize] += left.counted.get();
            }
            let (most, least) = (bytes.iter().max().unwrap(), bytes.iter().min().unwrap());
            prop_assert!(most - least <= 1514 + 1500, "{:?}", bytes);
        }
    }
}
