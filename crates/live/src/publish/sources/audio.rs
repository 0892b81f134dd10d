//! A thread that produces audio packets at their times.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use thalweg_emulate::thread::spawn;
use thalweg_session::AudioFrame;
use thalweg_units::{Span, Time};
use thalweg_video::ffmpeg::is_address;
use thalweg_video::source::SourceError;

use super::running::{Running, wait_until};
use crate::media::Repeat;
use crate::media::audio::AudioSource;
use thalweg_emulate::clock::Clock;

/// Opus clock ticks per second (RFC 7587).
const CLOCK: i128 = 48_000;
/// How far a source may fall behind before its clock is reset: a device that was suspended, or a slow file.
const BEHIND: Span = Span::from_millis(500);
/// How often audio that is shorter than its video looks whether that has begun again.
const LOOK: Span = Span::from_millis(10);

/// Pause before a lost address is opened again.
pub(super) const RETRY: Span = Span::from_secs(1);

/// An audio source that is not started yet.
pub(crate) struct AudioInput {
    name: String,
    source: AudioSource,
    /// The duration of the video whose own audio it is, once known: both begin again together.
    round: Option<Arc<OnceLock<Span>>>,
    /// True if it is opened again when it ends.
    again: bool,
}

impl AudioInput {
    /// Opens the source of this name. With a `round` it begins again each time that this much has passed, else, if it is to
    /// be repeated, when it ends; an address, which cannot, is then opened again.
    ///
    /// # Errors
    /// When there is no such source, or it cannot be read, with what to do about it.
    pub(crate) fn open(
        name: &str,
        repeat: Repeat,
        round: Option<Arc<OnceLock<Span>>>,
    ) -> Result<AudioInput, SourceError> {
        let again = repeat == Repeat::Forever && is_address(name);
        let repeat = if round.is_some() || again { Repeat::Once } else { repeat };
        Ok(AudioInput { name: name.into(), source: AudioSource::open(name, repeat)?, round, again })
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
        self,
        clock: Clock,
        start: Time,
        stop: &AtomicBool,
        take: &mut dyn FnMut(AudioFrame),
    ) -> Result<(), SourceError> {
        let AudioInput { name, mut source, round, again } = self;
        let length = || round.as_ref().and_then(|round| round.get().copied());
        // When this round began, and ticks before it.
        let (mut began, mut ticks) = (start, 0);
        let mut begin = began - span(u64::from(source.lead()));
        let mut next = round.is_some().then(|| opened(&name)).transpose()?;
        while !stop.load(Ordering::Relaxed) {
            let packet = source.next_packet()?;
            // A packet is complete when its last sample has been captured.
            let due = packet.as_ref().map(|packet| begin + span(packet.timestamp + u64::from(packet.duration)));
            match due {
                Some(due) => wait_until(&clock, due, stop),
                None if round.is_none() && !again => return Ok(()),
                None if round.is_none() => {
                    tracing::warn!(audio = name, "the audio is lost; trying again each second");
                    let Some(back) = retried(&name, &clock, stop) else { return Ok(()) };
                    (source, began) = (back, clock.now());
                    ticks = ticks_in(began - start);
                    begin = began - span(u64::from(source.lead()));
                    continue;
                }
                // The video is longer.
                None => wait_until(&clock, clock.now() + LOOK, stop),
            }
            let ends = length().map(|length| began + length);
            if let Some(ends) = ends.filter(|ends| due.unwrap_or(clock.now() + LOOK) > *ends) {
                began = ends;
                ticks = ticks_in(began - start);
                source = match next.take().map(JoinHandle::join) {
                    Some(Ok(opened)) => opened?,
                    _ => AudioSource::open(&name, Repeat::Once)?,
                };
                begin = began - span(u64::from(source.lead()));
                next = Some(opened(&name)?);
                continue;
            }
            let (Some(packet), Some(due)) = (packet, due) else { continue };
            let late = clock.now() - due;
            if late > BEHIND {
                tracing::warn!(late = %late.whole_millis(), "the audio fell behind; it goes on from here");
                begin += late;
            }
            let captured = begin + span(packet.timestamp);
            take(AudioFrame { data: packet.data.into(), ticks: ticks + packet.timestamp, captured });
        }
        Ok(())
    }
}

/// Opens the audio of the next round, beside this one.
fn opened(name: &str) -> Result<JoinHandle<Result<AudioSource, SourceError>>, SourceError> {
    let again = name.to_string();
    spawn("audio", move || AudioSource::open(&again, Repeat::Once)).map_err(|error| SourceError::io(name, error))
}

/// Opens an address as soon as it is there; `None` if it is to stop before.
fn retried(name: &str, clock: &Clock, stop: &AtomicBool) -> Option<AudioSource> {
    while !stop.load(Ordering::Relaxed) {
        wait_until(clock, clock.now() + RETRY, stop);
        if let Ok(source) = AudioSource::open(name, Repeat::Once) {
            return Some(source);
        }
    }
    None
}

/// Converts a time span to ticks.
fn ticks_in(span: Span) -> u64 {
    (i128::from(span.as_nanos()) * CLOCK / 1_000_000_000) as u64
}

/// Converts ticks to a time span.
fn span(ticks: u64) -> Span {
    Span::from_nanos((i128::from(ticks) * 1_000_000_000 / CLOCK) as i64)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;
    use crate::in_real_time::in_real_time;
    use crate::media::testing::{Scratch, ffmpeg};

    #[test]
    fn the_sound_of_a_film_begins_again_with_its_pictures_whichever_of_both_is_longer() {
        in_real_time(|| {
            let folder = Scratch::new("rounds");
            for (name, seconds) in [("shorter.wav", "0.3"), ("longer.wav", "3")] {
                let path = folder.path(name);
                ffmpeg(&["-f", "lavfi", "-i", &format!("sine=duration={seconds}"), &path]);
                let round = Arc::new(OnceLock::from(Span::from_millis(600)));
                let input = AudioInput::open(&path, Repeat::Forever, Some(round)).unwrap();
                let clock = Clock::new();
                let (taken, packets) = mpsc::channel();
                let take = move |packet: AudioFrame| taken.send(packet.ticks).unwrap_or_default();
                let _running = input.start(clock, clock.now(), take, |ended| ended.unwrap()).unwrap();
                let mut ticks = Vec::new();
                // Three rounds of 0.6 s, which are 28,800 ticks.
                while ticks.last().is_none_or(|last| *last < 3 * 28_800) {
                    ticks.push(packets.recv_timeout(Duration::from_secs(60)).unwrap());
                }
                assert!(ticks.is_sorted(), "{name}: {ticks:?}");
                let of_round = |round: u64| ticks.iter().filter(|ticks| *ticks / 28_800 == round).count();
                let expected = if name == "longer.wav" { 29..=30 } else { 15..=17 };
                for round in 0..3 {
                    assert!(ticks.contains(&(round * 28_800)), "{name}: {ticks:?}");
                    assert!(expected.contains(&of_round(round)), "{name}: {ticks:?}");
                }
            }
        });
    }
}
