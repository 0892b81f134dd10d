//! NACK and RTX: media packets are remembered for a while and repeated on request (RFC 4585, RFC 4588).

use alloc::collections::VecDeque;

use thalweg_units::{Span, Time};

use crate::event::Why;
use crate::packet::Fragment;

/// How long and how often packets can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct Config {
    /// How long a packet can be asked for (libwebrtc `RtpPacketHistory`: a second, or three round trips).
    pub history: Span,
    /// At most this many packets are remembered (libwebrtc: 600 to 9600).
    pub packets: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config { history: Span::from_secs(1), packets: 9_600 }
    }
}

#[derive(Debug, Clone, Copy)]
struct Remembered {
    at: Time,
    fragment: Fragment,
    repeated: Option<Time>,
}

/// Media packets sent lately, and those waiting to be repeated.
#[derive(Debug, Clone)]
pub struct Retransmissions {
    config: Config,
    first: u64,
    sent: VecDeque<Remembered>,
    waiting: VecDeque<u64>,
}

impl Retransmissions {
    /// An empty history.
    pub fn new(config: Config) -> Retransmissions {
        Retransmissions { config, first: 0, sent: VecDeque::new(), waiting: VecDeque::new() }
    }

    /// Media packet `sequence` left; sequences come without gaps.
    pub fn on_sent(&mut self, now: Time, sequence: u64, fragment: Fragment, srtt: Span) {
        debug_assert_eq!(sequence, self.first + self.sent.len() as u64);
        let keep = self.config.history.max(srtt * 3);
        while self.sent.len() >= self.config.packets || self.sent.front().is_some_and(|packet| packet.at + keep < now) {
            self.sent.pop_front();
            self.first += 1;
        }
        self.sent.push_back(Remembered { at: now, fragment, repeated: None });
    }

    /// The receiver misses `sequence`.
    ///
    /// # Errors
    /// The reason why it will not be repeated.
    pub fn request(&mut self, now: Time, sequence: u64, srtt: Span) -> Result<(), Why> {
        let packet = sequence
            .checked_sub(self.first)
            .and_then(|index| self.sent.get_mut(usize::try_from(index).ok()?))
            .ok_or(Why::Forgotten)?;
        if packet.repeated.is_some_and(|at| now - at < srtt) {
            return Err(Why::JustRepeated);
        }
        packet.repeated = Some(now);
        self.waiting.push_back(sequence);
        Ok(())
    }

    /// The next packet to repeat.
    pub fn head(&self) -> Option<(u64, Fragment)> {
        self.waiting.iter().find_map(|sequence| Some((*sequence, self.remembered(*sequence)?)))
    }

    /// Takes it out.
    pub fn pop(&mut self) -> Option<(u64, Fragment)> {
        while let Some(sequence) = self.waiting.pop_front() {
            if let Some(fragment) = self.remembered(sequence) {
                return Some((sequence, fragment));
            }
        }
        None
    }

    /// Forgets everything that waits to be repeated, because the frames are given up.
    pub fn flush(&mut self) {
        self.waiting.clear();
    }

    fn remembered(&self, sequence: u64) -> Option<Fragment> {
        let index = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        self.sent.get(index).map(|packet| packet.fragment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRTT: Span = Span::from_millis(50);

    fn fragment(frame: u64) -> Fragment {
        Fragment {
            frame,
            picture: frame,
            captured: Time::ZERO,
            index: 0,
            count: 1,
            offset: 0,
            length: 100,
            keyframe: false,
            depends_on: None,
            transition: None,
        }
    }

    #[test]
    fn a_packet_is_repeated_once_a_round_trip() {
        let mut history = Retransmissions::new(Config::default());
        history.on_sent(Time::ZERO, 0, fragment(0), SRTT);
        assert_eq!(history.request(Time::from_millis(60), 0, SRTT), Ok(()));
        assert_eq!(history.request(Time::from_millis(70), 0, SRTT), Err(Why::JustRepeated));
        assert_eq!(history.pop(), Some((0, fragment(0))));
        assert_eq!(history.pop(), None);
        assert_eq!(history.request(Time::from_millis(120), 0, SRTT), Ok(()));
    }

    #[test]
    fn what_is_too_old_or_was_never_sent_is_refused() {
        let mut history = Retransmissions::new(Config::default());
        history.on_sent(Time::ZERO, 0, fragment(0), SRTT);
        history.on_sent(Time::from_millis(1500), 1, fragment(1), SRTT);
        assert_eq!(history.request(Time::from_millis(1500), 0, SRTT), Err(Why::Forgotten));
        assert_eq!(history.request(Time::from_millis(1500), 7, SRTT), Err(Why::Forgotten));
        assert_eq!(history.request(Time::from_millis(1500), 1, SRTT), Ok(()));
    }
}
