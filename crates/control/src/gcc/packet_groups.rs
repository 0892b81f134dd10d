//! Packets sent together, and how the path changed the spacing of such groups (specs/gcc.md 1; libwebrtc
//! `inter_arrival_delta.cc`).

use thalweg_units::{Span, Time};

/// Packets sent within this time of the first packet of a group belong to that group.
const GROUP_LENGTH: Span = Span::from_millis(5);
/// Packets that arrive within this time of one another, although they were sent further apart, are one burst.
const BURST_GAP: Span = Span::from_millis(5);
/// A burst is never longer than this.
const MAX_BURST: Span = Span::from_millis(100);
/// If arrivals are this far ahead of the local clock, the receiver's clock jumped.
const CLOCK_JUMP: Span = Span::from_secs(3);
/// After this many groups in a row that arrived before their predecessors, the grouping restarts.
const REORDERED_RESET: u32 = 3;

#[derive(Debug, Clone, Copy)]
struct Group {
    first_sent: Time,
    last_sent: Time,
    first_arrival: Time,
    last_arrival: Time,
    /// When the sender received the feedback.
    last_seen: Time,
}

/// Differences in sending time and arrival time between a group and its predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Delta {
    pub(super) sent: Span,
    pub(super) arrived: Span,
}

/// Gathers packets into groups.
#[derive(Debug, Clone, Default)]
pub(super) struct PacketGroups {
    current: Option<Group>,
    previous: Option<Group>,
    reordered: u32,
}

impl PacketGroups {
    /// Takes an arrived packet, in order of arrival; returns a delta when the packet opens the third group or a later
    /// one.
    pub(super) fn on_packet(&mut self, sent: Time, arrival: Time, now: Time) -> Option<Delta> {
        let Some(current) = &mut self.current else {
            self.current = Some(Group::of(sent, arrival, now));
            return None;
        };
        if sent < current.first_sent {
            return None;
        }
        if current.takes_burst(sent, arrival) || sent - current.first_sent <= GROUP_LENGTH {
            current.last_sent = current.last_sent.max(sent);
            current.last_arrival = arrival;
            current.last_seen = now;
            return None;
        }
        let current = *current;
        let delta = match self.previous.map(|previous| self.between(&previous, &current)) {
            None => None,
            Some(Ok(delta)) => Some(delta),
            Some(Err(Reset::Everything)) => {
                *self = PacketGroups::default();
                return None;
            }
            // Ignore the packet: the group that it would have closed goes on.
            Some(Err(Reset::Nothing)) => return None,
        };
        self.previous = Some(current);
        self.current = Some(Group::of(sent, arrival, now));
        delta
    }

    fn between(&mut self, previous: &Group, current: &Group) -> Result<Delta, Reset> {
        let sent = current.last_sent - previous.last_sent;
        let arrived = current.last_arrival - previous.last_arrival;
        if arrived - (current.last_seen - previous.last_seen) >= CLOCK_JUMP {
            return Err(Reset::Everything);
        }
        if arrived < Span::ZERO {
            self.reordered += 1;
            return Err(if self.reordered >= REORDERED_RESET { Reset::Everything } else { Reset::Nothing });
        }
        self.reordered = 0;
        Ok(Delta { sent, arrived })
    }
}

enum Reset {
    Nothing,
    Everything,
}

impl Group {
    fn of(sent: Time, arrival: Time, now: Time) -> Group {
        Group { first_sent: sent, last_sent: sent, first_arrival: arrival, last_arrival: arrival, last_seen: now }
    }

    fn takes_burst(&self, sent: Time, arrival: Time) -> bool {
        if sent == self.last_sent {
            return true;
        }
        let arrived_after = arrival - self.last_arrival;
        arrived_after - (sent - self.last_sent) < Span::ZERO
            && arrived_after <= BURST_GAP
            && arrival - self.first_arrival < MAX_BURST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells new groups of packets, each by the milliseconds at which it was sent and arrived.
    fn groups() -> impl FnMut(u64, u64) -> Option<Delta> {
        let mut groups = PacketGroups::default();
        move |sent, arrival| {
            groups.on_packet(Time::from_millis(sent), Time::from_millis(arrival), Time::from_millis(arrival))
        }
    }

    #[test]
    fn a_delta_comes_out_when_the_third_group_opens() {
        let mut on = groups();
        assert_eq!(on(0, 50), None);
        assert_eq!(on(3, 52), None);
        assert_eq!(on(20, 71), None);
        assert_eq!(on(40, 92), Some(Delta { sent: Span::from_millis(17), arrived: Span::from_millis(19) }));
    }

    #[test]
    fn packets_that_queued_behind_one_another_are_one_burst() {
        let mut on = groups();
        on(0, 50);
        // Sent 10 ms apart but arrived 1 ms apart: released from a queue.
        assert_eq!(on(10, 51), None);
        assert_eq!(on(30, 80), None);
        assert_eq!(on(50, 100), Some(Delta { sent: Span::from_millis(20), arrived: Span::from_millis(29) }));
    }

    #[test]
    fn a_packet_that_finds_its_group_before_the_last_one_is_as_if_it_had_not_come() {
        let mut on = groups();
        // The packet sent at 40 ms joins the group of 20 ms, which thus arrived before that of 0 ms.
        assert_eq!((on(0, 50), on(20, 70), on(40, 40)), (None, None, None));
        // Twice without effect; the third time the grouping restarts.
        assert_eq!((on(60, 90), on(80, 110), on(100, 130)), (None, None, None));
        assert_eq!((on(120, 150), on(140, 170)), (None, None));
        assert_eq!(on(160, 190), Some(Delta { sent: Span::from_millis(20), arrived: Span::from_millis(20) }));
    }
}
