//! The audio of a video sender: packets of constant rate without contents.

use thalweg_units::{Bytes, ConfigError, Span, Time, above, check};

use super::ticks::Ticks;
use crate::scenario::Audio;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct Microphone {
    audio: Audio,
    ticks: Ticks,
    /// The number of the next packet.
    number: u64,
    next: Time,
}

impl Microphone {
    /// # Errors
    /// When the audio has no rate.
    pub(super) fn new(audio: Audio, times: (Time, Time), pauses: &[(Time, Time)]) -> Result<Microphone, ConfigError> {
        check("audio.interval", audio.interval).within(above(Span::ZERO), "20ms")?;
        check("audio.payload", audio.payload).within(Bytes::new(1)..=Bytes::new(1200), "50B")?;
        let mut ticks = Ticks::new(times, pauses);
        Ok(Microphone { audio, next: ticks.at(Span::ZERO), ticks, number: 0 })
    }

    pub(super) fn next_event(&self) -> Time {
        self.next
    }

    /// The number and length of the next packet that is due at `now`.
    pub(super) fn poll(&mut self, now: Time) -> Option<(u64, u32)> {
        if self.next > now {
            return None;
        }
        let number = self.number;
        self.number += 1;
        self.next = self.ticks.at(self.audio.interval * self.number as i64);
        Some((number, self.audio.payload.get() as u32))
    }
}
