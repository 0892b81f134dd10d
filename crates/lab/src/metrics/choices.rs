//! Which candidates were sent, and how many decoder states sender and receiver kept meanwhile (Salsify section 5.2).

use serde::{Deserialize, Serialize};

/// The choices of a run whose sender chose among candidates of a picture after encoding them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// The share of pictures of which the first candidate was sent, the one of better quality, 0..1.
    pub better_share: f64,
    /// The share of which another was sent, 0..1.
    pub lower_share: f64,
    /// The share of which none was sent, 0..1.
    pub none_share: f64,
    /// States that the sender keeps, mean over the frames it sent; null if the receiver keeps none.
    pub sender_states: Option<f64>,
    /// States that the receiver keeps, mean over the packets it received; null if it keeps none.
    pub receiver_states: Option<f64>,
}

/// Counts them.
#[derive(Debug, Clone, Default)]
pub struct Choosing {
    better: u64,
    lower: u64,
    none: u64,
    /// Frames whose states the encoder keeps.
    kept: u64,
    sender: Mean,
    receiver: Mean,
}

#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    sum: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: u64) {
        self.sum += value;
        self.count += 1;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

impl Choosing {
    /// One of `candidates` was sent, or none. A picture with a single candidate is no choice.
    pub fn on_choice(&mut self, candidates: usize, chosen: Option<usize>) {
        if candidates > 1 {
            match chosen {
                Some(0) => self.better += 1,
                Some(_) => self.lower += 1,
                None => self.none += 1,
            }
        }
        if chosen.is_some() {
            self.kept += 1;
            self.sender.add(self.kept);
        }
    }

    /// The sender gives up a state.
    pub fn on_forgotten(&mut self) {
        self.kept = self.kept.saturating_sub(1);
    }

    /// A packet arrived at a receiver that now keeps this many states.
    pub fn on_receiver(&mut self, states: usize) {
        self.receiver.add(states as u64);
    }

    /// The figures; `None` if there was nothing to choose.
    pub fn figures(&self) -> Option<Choices> {
        let all = self.better + self.lower + self.none;
        let share = |count: u64| count as f64 / all as f64;
        let receiver_states = self.receiver.get();
        (all > 0).then(|| Choices {
            better_share: share(self.better),
            lower_share: share(self.lower),
            none_share: share(self.none),
            sender_states: receiver_states.and(self.sender.get()),
            receiver_states,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_shares_of_the_pictures_that_had_several_candidates() {
        let mut choosing = Choosing::default();
        [Some(0), Some(1), None, Some(0)].into_iter().for_each(|chosen| choosing.on_choice(2, chosen));
        choosing.on_choice(1, None);
        let found = choosing.figures().unwrap();
        assert_eq!((found.better_share, found.lower_share, found.none_share), (0.5, 0.25, 0.25));
        assert_eq!((found.sender_states, found.receiver_states), (None, None), "the receiver keeps none");
        assert_eq!(Choosing::default().figures(), None);
    }

    #[test]
    fn states_count_from_their_frame_until_they_are_forgotten() {
        let mut choosing = Choosing::default();
        choosing.on_choice(2, Some(0));
        choosing.on_choice(2, Some(1));
        choosing.on_forgotten();
        choosing.on_choice(2, Some(1));
        (1..=3).for_each(|states| choosing.on_receiver(states));
        let found = choosing.figures().unwrap();
        assert_eq!((found.sender_states, found.receiver_states), (Some((1.0 + 2.0 + 2.0) / 3.0), Some(2.0)));
    }
}
