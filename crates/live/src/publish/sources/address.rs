//! A live stream that ffmpeg reads from an address.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thalweg_emulate::clock::pause;
use thalweg_units::Size;
use thalweg_video::Picture;
use thalweg_video::source::{Decoding, Ffmpeg, Format, Source, SourceError};

use super::audio::RETRY;
use crate::media::Repeat;

/// The pictures of an address, which is opened again each time that it is lost, unless it is to be played once.
pub(super) struct Address {
    name: String,
    size: Size,
    repeat: Repeat,
    stream: Option<Ffmpeg>,
}

impl Address {
    /// Opens an address, whose pictures are scaled to `size`, or to their first size.
    pub(super) fn open(name: &str, size: Option<Size>, repeat: Repeat) -> Result<(Address, Format), SourceError> {
        let stream = Decoding::of(name, size)?.open()?;
        let format = stream.format();
        Ok((Address { name: name.into(), size: format.size, repeat, stream: Some(stream) }, format))
    }

    /// The next picture; `None` at the end, or when `stop` is set while the address is lost.
    pub(super) fn next_picture(&mut self, stop: &AtomicBool) -> Result<Option<Arc<Picture>>, SourceError> {
        loop {
            let next = match &mut self.stream {
                Some(stream) => stream.next_picture(),
                None => {
                    let opened = Decoding::of(&self.name, Some(self.size)).and_then(|decoding| decoding.open());
                    opened.and_then(|stream| {
                        tracing::info!(video = self.name, "the video is back");
                        self.stream.insert(stream).next_picture()
                    })
                }
            };
            let why = match next {
                Ok(Some(picture)) => return Ok(Some(picture)),
                next if self.repeat == Repeat::Once => return next,
                Ok(None) => "the stream has ended".to_string(),
                Err(error) => error.to_string(),
            };
            // A server that is away stays so for a while: it is said once.
            if self.stream.take().is_some() {
                tracing::warn!(video = self.name, why, "the video is lost; trying again each second");
            }
            pause(RETRY);
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }
}
