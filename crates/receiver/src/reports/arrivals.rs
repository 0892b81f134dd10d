//! Recent arrivals by packet number.

use std::collections::VecDeque;

use thalweg_units::{Span, Time};

/// Max number of packets in a report (libwebrtc `PacketArrivalTimeMap::kMaxNumberOfPackets`).
const MAX: u64 = 1 << 15;

/// How far back reported arrivals are remembered, for reports that a late packet makes begin earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// For this long. An older packet that arrives late is still reported: the report then begins with it.
    Lasting(Span),
    /// This many of the newest packets. Older ones that arrive late are ignored.
    Newest(usize),
}

/// Remembers arrivals until they are reported, and for some time after.
#[derive(Debug)]
pub(super) struct Arrivals {
    memory: Memory,
    /// Arrival times by number: `times[i]` is number `first + i`.
    times: VecDeque<Option<Time>>,
    first: u64,
    /// First number of the next report; `None` before the first packet.
    begin: Option<u64>,
}

impl Arrivals {
    pub(super) fn new(memory: Memory) -> Arrivals {
        Arrivals { memory, times: VecDeque::new(), first: 0, begin: None }
    }

    /// The number after the newest.
    fn end(&self) -> u64 {
        self.first + self.times.len() as u64
    }

    /// Packet `number` arrived; returns whether it is new (duplicates are not).
    pub(super) fn on_packet(&mut self, now: Time, number: u64) -> bool {
        let begin = match self.begin {
            Some(begin) => begin,
            None => {
                self.start(number);
                number
            }
        };
        if begin == self.end() {
            self.forget(now, number);
        }
        if !self.make_room(number) {
            return false;
        }
        let time = &mut self.times[(number - self.first) as usize];
        if time.is_some() {
            return false;
        }
        *time = Some(now);
        self.begin = Some(begin.min(number).max(self.first));
        true
    }

    /// Handles the first packet. Packets sent just before it may still arrive, even where packets that are too old are
    /// ignored.
    fn start(&mut self, number: u64) {
        let before = match self.memory {
            Memory::Lasting(_) => 0,
            Memory::Newest(count) => number.min(count as u64 - 1),
        };
        self.first = number - before;
        self.times.resize(before as usize, None);
    }

    /// A packet that arrived is to be in the next report once more; returns whether it is still remembered.
    pub(super) fn report_again(&mut self, number: u64) -> bool {
        let place = number.checked_sub(self.first).and_then(|place| self.times.get(place as usize));
        let is_remembered = matches!(place, Some(Some(_)));
        if let (true, Some(begin)) = (is_remembered, &mut self.begin) {
            *begin = number.min(*begin);
        }
        is_remembered
    }

    /// Drops entries that are too old, before `number`.
    fn forget(&mut self, now: Time, number: u64) {
        let Memory::Lasting(span) = self.memory else { return };
        while self.first < number && self.times.front().is_some_and(|time| time.is_none_or(|at| at + span <= now)) {
            self.times.pop_front();
            self.first += 1;
        }
    }

    /// Extends the remembered range to include `number`; returns whether that is allowed.
    fn make_room(&mut self, number: u64) -> bool {
        if number < self.first {
            if matches!(self.memory, Memory::Newest(_)) || self.end() - number > MAX {
                return false;
            }
            for _ in number..self.first {
                self.times.push_front(None);
            }
            self.first = number;
        }
        // After a jump in the numbers the oldest are dropped.
        let oldest = (number + 1).saturating_sub(MAX);
        while self.first < oldest && self.times.pop_front().is_some() {
            self.first += 1;
        }
        self.first = self.first.max(oldest);
        let places = (number + 1 - self.first) as usize;
        if places > self.times.len() {
            self.times.resize(places, None);
        }
        true
    }

    /// The first remembered number, received or not.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// First number of the next report; `None` before the first packet.
    pub(super) fn begin(&self) -> Option<u64> {
        self.begin
    }

    /// Returns true if any remembered packet from `begin` up to, not including, `end` was not received.
    pub(super) fn misses(&self, begin: u64, end: u64) -> bool {
        let (begin, end) = (begin.max(self.first), end.min(self.end()));
        begin < end && self.times.range((begin - self.first) as usize..(end - self.first) as usize).any(Option::is_none)
    }

    /// Returns true if all arrivals were reported.
    pub(super) fn is_reporting(&self) -> bool {
        self.begin.is_none_or(|begin| begin == self.end())
    }

    /// All remembered packets from `begin` up to, not including, `end`, reported before or not, and marks them as
    /// reported. Earlier unreported arrivals stay unreported.
    pub(super) fn take_range(&mut self, begin: u64, end: u64) -> Vec<(u64, Option<Time>)> {
        let (begin, end) = (begin.max(self.first), end.min(self.end()));
        if begin >= end {
            return Vec::new();
        }
        let places = (begin - self.first) as usize..(end - self.first) as usize;
        let report = (begin..end).zip(self.times.range(places).copied()).collect();
        self.begin = self.begin.map(|untold| if begin <= untold { untold.max(end) } else { untold });
        report
    }

    /// The contents of the next report: every packet from the first unreported arrival to the newest, received or not.
    /// Marks them as reported.
    pub(super) fn take(&mut self) -> Vec<(u64, Option<Time>)> {
        let (end, Some(begin)) = (self.end(), self.begin) else { return Vec::new() };
        let report = (begin..end).zip(self.times.range((begin - self.first) as usize..).copied()).collect();
        self.begin = Some(end);
        if let Memory::Newest(count) = self.memory {
            let excess = self.times.len().saturating_sub(count);
            self.times.drain(..excess);
            self.first += excess as u64;
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LASTING: Memory = Memory::Lasting(Span::from_millis(500));

    fn fed(memory: Memory, packets: &[(u64, u64)]) -> Arrivals {
        let mut arrivals = Arrivals::new(memory);
        for (millis, number) in packets {
            arrivals.on_packet(Time::from_millis(*millis), *number);
        }
        arrivals
    }

    fn at(millis: u64) -> Option<Time> {
        Some(Time::from_millis(millis))
    }

    #[test]
    fn a_report_covers_what_came_and_what_did_not_from_where_the_last_ended() {
        for memory in [LASTING, Memory::Newest(64)] {
            let mut arrivals = fed(memory, &[(1, 100), (2, 103), (3, 102), (4, 103)]);
            assert_eq!(arrivals.take(), [(100, at(1)), (101, None), (102, at(3)), (103, at(2))]);
            assert_eq!(arrivals.take(), []);
            assert!(arrivals.on_packet(Time::from_millis(5), 105));
            assert_eq!(arrivals.take(), [(104, None), (105, at(5))]);
        }
    }

    #[test]
    fn a_late_packet_makes_the_next_report_begin_with_it() {
        for memory in [LASTING, Memory::Newest(64)] {
            let mut arrivals = fed(memory, &[(1, 100), (2, 102)]);
            arrivals.take();
            assert!(arrivals.on_packet(Time::from_millis(5), 101));
            assert!(!arrivals.on_packet(Time::from_millis(6), 101));
            assert_eq!(arrivals.take(), [(101, at(5)), (102, at(2))]);
            assert!(arrivals.on_packet(Time::from_millis(7), 99));
            assert_eq!(arrivals.take(), [(99, at(7)), (100, at(1)), (101, at(5)), (102, at(2))]);
        }
    }

    #[test]
    fn memory_of_a_time_ends_when_something_new_comes_after_it() {
        let mut arrivals = fed(LASTING, &[(0, 0), (1, 1), (400, 2)]);
        arrivals.take();
        assert!(arrivals.on_packet(Time::from_millis(501), 3));
        assert_eq!(arrivals.first, 2);
        arrivals.take();
        // A forgotten arrival looks new, and the packets after it look missing: the sender knows better.
        assert!(arrivals.on_packet(Time::from_millis(502), 0));
        assert_eq!(arrivals.take(), [(0, at(502)), (1, None), (2, at(400)), (3, at(501))]);
    }

    #[test]
    fn memory_of_a_count_passes_over_what_is_older() {
        let mut arrivals = fed(Memory::Newest(4), &[(0, 10), (1, 11), (2, 12), (3, 13), (4, 14)]);
        assert!(!arrivals.on_packet(Time::from_millis(5), 6));
        assert_eq!(arrivals.take().len(), 5);
        assert!(!arrivals.on_packet(Time::from_millis(6), 10));
        assert_eq!(arrivals.take(), []);
        assert!(arrivals.on_packet(Time::from_millis(7), 15));
        assert_eq!(arrivals.take(), [(15, at(7))]);
    }

    #[test]
    fn a_jump_of_the_numbers_costs_bounded_memory() {
        for memory in [LASTING, Memory::Newest(64)] {
            let mut arrivals = fed(memory, &[(0, 0), (1, 1 << 40), (2, (1 << 40) - 5)]);
            assert!(arrivals.times.len() as u64 <= MAX);
            let report = arrivals.take();
            assert_eq!((report.len() as u64, report.last()), (MAX, Some(&(1 << 40, at(1)))));
            assert!(arrivals.on_packet(Time::from_millis(3), (1 << 40) + 1));
            assert_eq!(arrivals.take(), [((1 << 40) + 1, at(3))]);
        }
    }
}
