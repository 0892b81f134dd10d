//! A thread that produces audio packets at their times.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use thalweg_session::AudioFrame;
use thalweg_units::{Span, Time};
use thalweg_video::source::SourceError;

use super::running::{Running, wait_until};
use crate::media::Repeat;
use crate::media::audio::AudioSource;
use thalweg_emulate::clock::Clock;

/// Opus clock ticks per second (RFC 7587).
const CLOCK: i128 = 48_000;
/// How far a source may fall behind before its clock is reset: a device that was suspended, or a slow file.
const BEHIND: Span = Span::from_millis(500);

/// An audio source that is not started yet.
pub(crate) struct AudioInput {
    source: AudioSource,
}

impl AudioInput {
    /// Opens the source of this name, repeated from the beginning when it ends.
    ///
    /// # Errors
    /// When there is no such source, or it cannot be read, with what to do about it.
    pub(crate) fn open(name: &str) -> Result<AudioInput, SourceError> {
        Ok(AudioInput { source: AudioSource::open(name, Repeat::Forever)? })
    }

    /// Starts the thread: the first audible sample is at `begin`, with the first picture. `take` is called with each
    /// packet, `ended` with the reason why there are no more, unless the thread was stopped.
    ///
    /// # Errors
    /// When the system cannot start a thread.
    pub(crate) fn start(
        self,
        clock: Clock,
        begin: Time,
        mut take: impl FnMut(AudioFrame) + Send + 'static,
        ended: impl FnOnce(Result<(), SourceError>) + Send + 'static,
    ) -> io::Result<Running> {
        Running::start("audio", move |stop| self.run(clock, begin, stop, &mut take), ended)
    }

    fn run(
        mut self,
        clock: Clock,
        begin: Time,
        stop: &AtomicBool,
        take: &mut dyn FnMut(AudioFrame),
    ) -> Result<(), SourceError> {
        let mut begin = begin - span(u64::from(self.source.lead()));
        while !stop.load(Ordering::Relaxed) {
            let Some(packet) = self.source.next_packet()? else { return Ok(()) };
            // A packet is complete when its last sample has been captured.
            let due = begin + span(packet.timestamp + u64::from(packet.duration));
            wait_until(&clock, due, stop);
            let late = clock.now() - due;
            if late > BEHIND {
                tracing::warn!(%late, "the audio fell behind; it goes on from here");
                begin += late;
            }
            let captured = begin + span(packet.timestamp);
            take(AudioFrame { data: packet.data.into(), ticks: packet.timestamp, captured });
        }
        Ok(())
    }
}

/// Converts ticks to a time span.
fn span(ticks: u64) -> Span {
    Span::from_nanos((i128::from(ticks) * 1_000_000_000 / CLOCK) as i64)
}
