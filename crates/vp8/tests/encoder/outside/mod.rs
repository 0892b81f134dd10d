//! Other decoders, and the check that they show the pictures that the encoder reports.

mod ffmpeg;
#[cfg(feature = "libvpx")]
pub mod libvpx;
mod oxideav;

use std::sync::Arc;
use thalweg_vp8::Size;
use thalweg_vp8::encode::Coded;
use thalweg_vp8::syntax::OpenFrame;

pub use ffmpeg::Ffmpeg;

/// A frame of the encoder, and the picture that it reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emitted {
    /// The frame's bytes.
    pub frame: Vec<u8>,
    /// The picture in I420.
    pub picture: Vec<u8>,
    /// True if a decoder shows it; otherwise it only serves as a reference.
    pub is_shown: bool,
    /// The picture's size.
    pub size: Size,
}

impl From<&Coded> for Emitted {
    fn from(coded: &Coded) -> Self {
        let is_shown = OpenFrame::new(&coded.frame).unwrap().header.is_shown;
        Self { frame: coded.frame.clone(), picture: coded.image.to_i420(), is_shown, size: coded.image.size() }
    }
}

/// The frames that a standard receiver gets, starting with a key frame.
#[derive(Debug, Clone)]
pub struct Stream {
    /// A description, to find the cause of a failure.
    pub name: String,
    /// Shared with other streams that begin with the same frames.
    pub frames: Vec<Arc<Emitted>>,
}

impl Stream {
    /// A stream whose frames are in no other.
    pub fn new(name: String, frames: Vec<Emitted>) -> Self {
        Self { name, frames: frames.into_iter().map(Arc::new).collect() }
    }
}

/// A decoder that shares no code with ours.
pub trait OutsideDecoder {
    /// Its name.
    fn name(&self) -> &'static str;

    /// The pictures that it shows for some streams in order, each in I420; an error says where it stopped.
    fn show(&self, streams: &[Stream]) -> Result<Vec<Vec<u8>>, String>;
}

/// The decoders that are libraries, and therefore fast. (libvpx needs the feature of its name.)
pub fn in_process() -> Vec<Box<dyn OutsideDecoder>> {
    vec![
        Box::new(oxideav::Oxideav),
        #[cfg(feature = "libvpx")]
        Box::new(libvpx::Libvpx),
    ]
}

/// All of them; ffmpeg only if it is installed.
pub fn all() -> Vec<Box<dyn OutsideDecoder>> {
    let mut all = in_process();
    match Ffmpeg::installed() {
        Some(ffmpeg) => all.push(Box::new(ffmpeg)),
        None => println!("skipped: ffmpeg is not installed"),
    }
    all
}

/// Asserts that the decoders show exactly the pictures that the encoder reports.
pub fn show_what_the_encoder_says(decoders: &[Box<dyn OutsideDecoder>], streams: &[Stream]) {
    let frames = || streams.iter().flat_map(|stream| stream.frames.iter().enumerate().map(move |at| (stream, at)));
    let expected: Vec<_> = frames().filter(|(_, (_, emitted))| emitted.is_shown).collect();
    for decoder in decoders {
        let shown = decoder.show(streams).unwrap_or_else(|error| panic!("{}: {error}", decoder.name()));
        for ((stream, (index, emitted)), picture) in expected.iter().zip(&shown) {
            assert!(*picture == emitted.picture, "{} sees otherwise: {}, frame {index}", decoder.name(), stream.name);
        }
        assert_eq!(shown.len(), expected.len(), "pictures that {} shows", decoder.name());
    }
}
