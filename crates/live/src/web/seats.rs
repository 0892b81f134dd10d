//! Who may stay connected, when more would than can.
//!
//! A connection is a stranger until it has sent a whole request, with the token where there is one. Strangers never have
//! more than half of the seats, and give way to newcomers, the oldest first: idle connections keep nobody out.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The seats of a server.
#[derive(Clone)]
pub(super) struct Seats {
    /// The maximum number in all, and from one source.
    most: usize,
    most_per_source: usize,
    taken: Arc<Mutex<Taken>>,
}

/// The seats that are taken, the oldest first.
#[derive(Default)]
struct Taken {
    seats: Vec<Place>,
    next: u64,
}

struct Place {
    number: u64,
    source: IpAddr,
    is_stranger: bool,
    leave: Arc<Notify>,
}

impl Seats {
    pub(super) fn new(most: usize, most_per_source: usize) -> Seats {
        Seats { most, most_per_source, taken: Arc::default() }
    }

    /// A seat for a newcomer; where there is none left, that of a stranger: of the same source if that is what has too
    /// many. `None` if all those are known.
    pub(super) fn take(&self, source: IpAddr) -> Option<Seat> {
        let mut taken = self.lock();
        let of_source = taken.seats.iter().filter(|seat| seat.source == source).count();
        let strangers = taken.seats.iter().filter(|seat| seat.is_stranger).count();
        if of_source >= self.most_per_source {
            taken.dismiss(|seat| seat.source == source)?;
        } else if taken.seats.len() >= self.most || strangers >= self.most.div_ceil(2) {
            taken.dismiss(|_| true)?;
        }
        let (number, leave) = (taken.next, Arc::new(Notify::new()));
        taken.next += 1;
        taken.seats.push(Place { number, source, is_stranger: true, leave: leave.clone() });
        drop(taken);
        Some(Seat { seats: self.clone(), number, leave })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    /// Takes its seat from the oldest stranger of those that `may` go.
    fn dismiss(&mut self, may: impl Fn(&Place) -> bool) -> Option<()> {
        let oldest = self.seats.iter().position(|seat| seat.is_stranger && may(seat))?;
        self.seats.remove(oldest).leave.notify_one();
        Some(())
    }
}

/// A seat, given back when dropped.
pub(super) struct Seat {
    seats: Seats,
    number: u64,
    leave: Arc<Notify>,
}

impl Seat {
    /// From now on it is nobody else's.
    pub(super) fn keep(&self) {
        if let Some(seat) = self.seats.lock().seats.iter_mut().find(|seat| seat.number == self.number) {
            seat.is_stranger = false;
        }
    }

    /// Waits until a newcomer has this seat.
    pub(super) async fn lost(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.lock().seats.retain(|seat| seat.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

    fn is_lost(seat: &Seat) -> bool {
        seat.lost().now_or_never().is_some()
    }

    #[test]
    fn strangers_give_way_the_oldest_first_and_those_who_are_known_stay() {
        let seats = Seats::new(4, 4);
        let known = seats.take(HERE).expect("a seat");
        known.keep();
        let [first, second] = [(); 2].map(|()| seats.take(HERE).expect("a seat"));
        // Half of the seats are strangers' now.
        let third = seats.take(THERE).expect("the seat of the first");
        assert_eq!([&known, &first, &second, &third].map(is_lost), [false, true, false, false]);
        let others = [second, third].map(|seat| {
            seat.keep();
            seat
        });
        let fourth = seats.take(THERE).expect("the last seat");
        fourth.keep();
        assert!(seats.take(THERE).is_none(), "all are known");
        drop(others);
        assert!(seats.take(THERE).is_some());
    }

    #[test]
    fn a_source_with_too_many_seats_loses_one_of_its_own() {
        let seats = Seats::new(100, 2);
        let [there, first, second] = [THERE, HERE, HERE].map(|source| seats.take(source).expect("a seat"));
        let third = seats.take(HERE).expect("the seat of the first");
        assert_eq!([&there, &first, &second, &third].map(is_lost), [false, true, false, false]);
        second.keep();
        third.keep();
        assert!(seats.take(HERE).is_none());
    }

    #[test]
    fn a_seat_comes_back_and_one_that_was_lost_takes_no_other_with_it() {
        let seats = Seats::new(1, 1);
        let first = seats.take(HERE).expect("a seat");
        let second = seats.take(HERE).expect("the seat of the first");
        drop(first);
        second.keep();
        assert!(seats.take(HERE).is_none());
        drop(second);
        assert!(seats.lock().seats.is_empty());
    }
}
