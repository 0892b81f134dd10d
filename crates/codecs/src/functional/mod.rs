//! VP8 by this workspace's functional codec ([`thalweg_vp8`]): several candidates per picture, of which one or none is
//! sent.

mod decoder;
mod effort;
mod encoder;
mod guess;
mod rate;
mod settings;

pub use decoder::FunctionalDecoder;
pub use encoder::FunctionalEncoder;
pub use settings::{Preset, Settings};

use thalweg_types::StateHash;
use thalweg_units::Size;
use thalweg_video::{Picture, PictureError};
use thalweg_vp8::{Image, State};

use crate::seam::EncodeError;

const CODEC: &str = "functional VP8";
/// Quantiser assumed for the first frame, until its size is known.
const FIRST_QUANTIZER: u8 = 40;

/// A state's hash in the form frames and packets carry it.
fn hash(state: &State) -> StateHash {
    StateHash(state.hash().0)
}

pub(crate) fn to_image(picture: &Picture) -> Option<Image> {
    let (width, height) = (picture.size().width.into(), picture.size().height.into());
    Image::from_i420(thalweg_vp8::Size::new(width, height).ok()?, picture.data()).ok()
}

fn to_picture(image: &Image) -> Result<Picture, PictureError> {
    let size = Size::new(image.size().width() as u16, image.size().height() as u16);
    Picture::new(size, image.to_i420())
}

fn library(error: thalweg_vp8::encode::EncodeError) -> EncodeError {
    EncodeError::Library { codec: CODEC, call: "Analysis::new", reason: error.to_string() }
}
