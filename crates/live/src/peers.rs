//! Which of several peers, on one or several sockets, a datagram belongs to.
//!
//! A connectivity check names its receiver by its ufrag, so a peer may send from a new address; anything else is known
//! by the address that it comes from.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use thalweg_transport::ufrag_of;

/// A peer, numbered in order of joining.
pub(crate) type Key = u64;

/// A socket's index, and an address that sends to it.
pub(crate) type Place = (usize, SocketAddr);

/// Addresses remembered for one peer: enough for a phone with interfaces in three networks. The oldest is removed.
pub(crate) const MAX_ADDRESSES: usize = 16;

/// The state of a peer's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Connecting,
    Connected,
    Disconnected,
    Closed,
}

impl State {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            State::Connecting => "connecting",
            State::Connected => "connected",
            State::Disconnected => "disconnected",
            State::Closed => "closed",
        }
    }
}

/// The peers by what identifies their datagrams.
#[derive(Debug, Default)]
pub(crate) struct Peers {
    by_ufrag: BTreeMap<String, Key>,
    by_address: BTreeMap<Place, Key>,
    addresses: BTreeMap<Key, VecDeque<Place>>,
}

impl Peers {
    /// The peer that a datagram belongs to.
    pub(crate) fn find(&self, place: Place, datagram: &[u8]) -> Option<Key> {
        let named = ufrag_of(datagram).and_then(|ufrag| self.by_ufrag.get(ufrag));
        named.or_else(|| self.by_address.get(&place)).copied()
    }

    /// A peer's checks use this ufrag from now on. The old one is removed, so that many restarts leave nothing behind.
    pub(crate) fn name(&mut self, key: Key, ufrag: &str) {
        self.by_ufrag.retain(|_, other| *other != key);
        self.by_ufrag.insert(ufrag.into(), key);
    }

    /// Assigns an address to a peer, whose check from it was authentic: a ufrag alone is no proof. Otherwise an observer
    /// of the path could assign the datagrams of others to a peer, and push out its own address.
    pub(crate) fn know(&mut self, key: Key, place: Place) {
        if self.by_address.insert(place, key) == Some(key) {
            return;
        }
        let addresses = self.addresses.entry(key).or_default();
        addresses.push_back(place);
        if addresses.len() > MAX_ADDRESSES
            && let Some(oldest) = addresses.pop_front()
        {
            self.release(key, oldest);
        }
    }

    /// Returns true if an address is assigned to a peer.
    pub(crate) fn is_known(&self, place: Place) -> bool {
        self.by_address.contains_key(&place)
    }

    /// The ufrags of all, each with its peer.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn ufrags(&self) -> Vec<(&str, Key)> {
        self.by_ufrag.iter().map(|(ufrag, key)| (ufrag.as_str(), *key)).collect()
    }

    /// Removes a peer.
    pub(crate) fn forget(&mut self, key: Key) {
        for place in self.addresses.remove(&key).unwrap_or_default() {
            self.release(key, place);
        }
        self.by_ufrag.retain(|_, other| *other != key);
    }

    /// Removes an address from a peer, unless it is another's by now: a phone's port is reused.
    fn release(&mut self, key: Key, place: Place) {
        if self.by_address.get(&place) == Some(&key) {
            self.by_address.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(port: u16) -> Place {
        (0, SocketAddr::from(([127, 0, 0, 1], port)))
    }

    #[test]
    fn addresses_are_bounded_and_one_that_is_anothers_now_stays_with_that() {
        let mut peers = Peers::default();
        (1..=MAX_ADDRESSES as u16 + 1).for_each(|port| peers.know(7, place(port)));
        assert_eq!([place(1), place(2)].map(|place| peers.find(place, &[])), [None, Some(7)]);
        peers.know(8, place(2));
        peers.know(8, place(2));
        peers.forget(7);
        assert_eq!([place(2), place(3)].map(|place| peers.find(place, &[])), [Some(8), None]);
        peers.forget(8);
        assert!(peers.by_address.is_empty() && peers.addresses.is_empty());
    }
}
