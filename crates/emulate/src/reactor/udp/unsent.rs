//! Datagrams that wait to be given to the kernel, and how they are grouped into few system calls.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use thalweg_units::{Bytes, Ecn};

/// The most datagrams that the kernel cuts one message into (`UDP_MAX_SEGMENTS` in Linux's include/linux/udp.h).
const SEGMENTS: usize = 64;
/// The longest message: what is left of an IPv4 packet's 65,535 bytes, less the headers of IPv6 and UDP.
const LONGEST: usize = 65_535 - 40 - 8;

/// A datagram to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmit {
    /// The local address to send it from; `None` leaves the choice to the kernel. Matters for sockets bound to a
    /// wildcard.
    pub from: Option<IpAddr>,
    /// The address of the receiver.
    pub to: SocketAddr,
    /// The ECN field of its IP packet.
    pub ecn: Ecn,
    /// Its payload.
    pub bytes: Vec<u8>,
}

impl Transmit {
    /// A datagram that leaves from the address that its receiver knows.
    #[must_use]
    pub fn from_known(from: SocketAddr, to: SocketAddr, ecn: Ecn, bytes: Vec<u8>) -> Transmit {
        Transmit { from: Some(from.ip()), to, ecn, bytes }
    }
}

/// Control data of a message beside its receiver, for the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Control {
    /// The family of the receiver's address.
    pub(super) ipv6: bool,
    pub(super) from: Option<IpAddr>,
    pub(super) ecn: Ecn,
    /// The kernel cuts the message into datagrams of this length; only the last may be shorter.
    pub(super) segment: Option<u16>,
}

/// The datagrams, in order.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    queue: VecDeque<Transmit>,
    bytes: Bytes,
}

impl Unsent {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(super) fn push(&mut self, transmit: Transmit) {
        self.bytes += Bytes::new(transmit.bytes.len() as u64);
        self.queue.push_back(transmit);
    }

    /// Removes the first datagrams.
    pub(super) fn pop(&mut self, count: usize) {
        for transmit in self.queue.drain(..count) {
            self.bytes -= Bytes::new(transmit.bytes.len() as u64);
        }
    }

    /// The messages of the next system call, each as the number of its datagrams, and what all of them have in common:
    /// the first datagrams of the queue, at most `most` messages. With `segmented`, a message has as many datagrams to
    /// one receiver as the kernel can cut it into, otherwise one.
    /// `None` if nothing waits.
    pub(super) fn messages(&self, most: usize, segmented: bool) -> Option<(Control, Vec<usize>)> {
        self.queue.front()?;
        let (common, mut at) = self.message(0, segmented);
        let mut messages = vec![at];
        while at < self.queue.len() && messages.len() < most {
            let (control, count) = self.message(at, segmented);
            if control != common {
                break;
            }
            messages.push(count);
            at += count;
        }
        Some((common, messages))
    }

    /// The message that begins with the datagram at `at`, and the number of its datagrams.
    fn message(&self, at: usize, segmented: bool) -> (Control, usize) {
        let first = &self.queue[at];
        let (length, mut sum, mut count) = (first.bytes.len(), first.bytes.len(), 1);
        if segmented && length > 0 {
            for next in self.queue.range(at + 1..).take(SEGMENTS - 1) {
                let size = next.bytes.len();
                let fits = (1..=length).contains(&size) && sum + size <= LONGEST;
                if !fits || (next.to, next.from, next.ecn) != (first.to, first.from, first.ecn) {
                    break;
                }
                (sum, count) = (sum + size, count + 1);
                if size < length {
                    break;
                }
            }
        }
        let segment = if count > 1 { u16::try_from(length).ok() } else { None };
        (Control { ipv6: first.to.is_ipv6(), from: first.from, ecn: first.ecn, segment }, count)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Transmit> {
        self.queue.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unsent(datagrams: &[(u16, usize)]) -> Unsent {
        let mut unsent = Unsent::default();
        for (port, length) in datagrams {
            let to = SocketAddr::from(([127, 0, 0, 1], *port));
            unsent.push(Transmit { from: None, to, ecn: Ecn::NotCapable, bytes: vec![0; *length] });
        }
        unsent
    }

    #[test]
    fn datagrams_of_one_length_to_one_receiver_are_one_message_that_a_shorter_one_ends() {
        let (control, messages) =
            unsent(&[(1, 1200), (1, 1200), (1, 700), (1, 700), (1, 800)]).messages(9, true).unwrap();
        assert_eq!((control.segment, messages), (Some(1200), vec![3]));
        let (control, messages) = unsent(&[(1, 700), (1, 800), (1, 800)]).messages(9, true).unwrap();
        assert_eq!((control.segment, messages), (None, vec![1]));
    }

    #[test]
    fn messages_to_several_receivers_leave_in_one_call_as_far_as_they_have_the_rest_in_common() {
        let mut mixed = unsent(&[(1, 900), (2, 1200), (3, 40), (4, 1200), (4, 1200)]);
        assert_eq!(mixed.messages(9, true).unwrap().1, [1, 1, 1]);
        assert_eq!(mixed.messages(2, true).unwrap().1, [1, 1]);
        assert_eq!(mixed.messages(9, false).unwrap().1, [1, 1, 1, 1, 1]);
        mixed.pop(3);
        assert_eq!((mixed.messages(9, true).unwrap().1, mixed.bytes()), (vec![2], Bytes::new(2400)));
        mixed.queue[1].ecn = Ecn::Ect1;
        assert_eq!(mixed.messages(9, false).unwrap().1, [1], "the second has another ECN field");
    }

    #[test]
    fn no_message_is_longer_than_the_kernel_takes() {
        assert_eq!(unsent(&[(1, 100); 100]).messages(9, true).unwrap().1, [SEGMENTS, 36]);
        assert_eq!(unsent(&[(1, 9000); 10]).messages(9, true).unwrap().1, [7, 3]);
        assert_eq!(
            unsent(&[(1, 0), (1, 0)]).messages(9, true).unwrap().1,
            [1, 1],
            "nothing can be cut from empty datagrams"
        );
    }
}
