//! AV1 decoding.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_uint};

use thalweg_units::Size;
use thalweg_video::{Picture, Plane};

use super::CODEC;
use super::library::{Context, Data, Empty, Frame, Functions, LAYOUT_420, Settings, library};
use crate::seam::{DecodeError, Decoder};

/// The largest picture for which memory is allocated, in pixels: that of the highest level (AV1 section A.3,
/// MaxPicSize of level 6.0 to 6.3).
const MAX_PIXELS: c_uint = 35_651_584;

/// More has to be sent before there is a picture: `DAV1D_ERR(EAGAIN)`.
const AGAIN: c_int = -11;

/// An AV1 decoder. It takes temporal units, whose OBUs have their sizes, and returns the highest spatial layer.
pub struct Av1Decoder {
    functions: &'static Functions,
    context: Context,
}

// SAFETY: the context is owned, has no thread affinity, and is only used through `&mut self`.
unsafe impl Send for Av1Decoder {}

impl Av1Decoder {
    /// Creates a decoder that waits for a keyframe.
    ///
    /// # Errors
    /// When dav1d is not installed, or has no memory for a decoder.
    pub fn new() -> Result<Av1Decoder, DecodeError> {
        let error = |reason: String| DecodeError { codec: CODEC, length: 0, reason };
        let functions = library().map_err(|reason| error(reason.into()))?;
        let mut settings = Settings::empty();
        let mut context: Context = std::ptr::null_mut();
        // SAFETY: the library fills the settings and reads them during the call; it writes a context if it returns 0.
        let status = unsafe {
            (functions.default_settings)(&raw mut settings);
            // Each picture is returned before the next frame is given.
            (settings.threads, settings.max_frame_delay) = (1, 1);
            settings.all_layers = 0;
            settings.frame_size_limit = MAX_PIXELS;
            settings.logger = std::ptr::null_mut();
            (functions.open)(&raw mut context, &raw const settings)
        };
        match status {
            0 => Ok(Av1Decoder { functions, context }),
            _ => Err(error(words(status))),
        }
    }

    /// Gives a temporal unit to dav1d, which takes all of it.
    fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut data = Data::empty();
        // SAFETY: the library returns null, or a buffer of this length that `data` refers to until it was taken or is
        // released; releasing what was taken does nothing.
        let status = unsafe {
            let buffer = (self.functions.data_create)(&raw mut data, bytes.len());
            if buffer.is_null() {
                return Err("out of memory".into());
            }
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len());
            let status = (self.functions.send_data)(self.context, &raw mut data);
            (self.functions.data_unref)(&raw mut data);
            status
        };
        if status == 0 { Ok(()) } else { Err(words(status)) }
    }

    /// The next picture of what was sent.
    fn picture(&mut self) -> Result<Option<Picture>, String> {
        let mut frame = Frame::empty();
        // SAFETY: the context is open; the library fills the frame if it returns 0, and it is copied before its memory is
        // returned.
        unsafe {
            match (self.functions.get_picture)(self.context, &raw mut frame) {
                0 => {
                    let picture = copy(&frame);
                    (self.functions.picture_unref)(&raw mut frame);
                    picture.map(Some)
                }
                AGAIN => Ok(None),
                status => Err(words(status)),
            }
        }
    }
}

/// The meaning of the errors that dav1d returns, which are negative numbers of the system's.
fn words(status: c_int) -> String {
    match -status {
        12 => "out of memory".into(),
        22 => "the bits are damaged, or a reference is missing: it needs a keyframe".into(),
        34 => format!("a picture of more than {MAX_PIXELS} pixels"),
        other => format!("error {other}"),
    }
}

impl Decoder for Av1Decoder {
    fn decode(&mut self, data: &[u8]) -> Result<Option<Picture>, DecodeError> {
        let error = |reason: String| DecodeError { codec: CODEC, length: data.len(), reason };
        if data.is_empty() {
            return Err(error("empty".into()));
        }
        let shown = self.send(data).and_then(|()| {
            let mut shown = None;
            while let Some(picture) = self.picture()? {
                shown = Some(picture);
            }
            Ok(shown)
        });
        if shown.is_err() {
            // What it has of this unit is not for the next one: it waits for a keyframe, as the receiver does.
            // SAFETY: the context is open.
            unsafe { (self.functions.flush)(self.context) };
        }
        shown.map_err(error)
    }
}

/// # Safety
/// `frame` is one that dav1d has just returned.
unsafe fn copy(frame: &Frame) -> Result<Picture, String> {
    let (Ok(width), Ok(height)) = (u16::try_from(frame.width), u16::try_from(frame.height)) else {
        return Err(format!("pictures of {}x{}, at most 65535 either way", frame.width, frame.height));
    };
    if frame.layout != LAYOUT_420 || frame.bits != 8 {
        return Err(format!("samples of {} bits and layout {}, must be 4:2:0 of 8 bits", frame.bits, frame.layout));
    }
    let size = Size::new(width, height);
    let mut picture = Picture::filled(size, 0, 0, 0);
    for (index, plane) in Plane::ALL.into_iter().enumerate() {
        let width = Picture::plane_size(size, plane).0;
        let stride = frame.strides[usize::from(index > 0)];
        for (row, out) in (0..).zip(picture.plane_mut(plane).chunks_exact_mut(width)) {
            // SAFETY: each plane has its height in rows, `stride` bytes apart, of at least `width` bytes.
            let source = unsafe {
                let start = frame.planes[index].cast::<u8>().offset(row * stride);
                std::slice::from_raw_parts(start, width)
            };
            out.copy_from_slice(source);
        }
    }
    Ok(picture)
}

impl Drop for Av1Decoder {
    fn drop(&mut self) {
        // SAFETY: the context is open and is not used again.
        unsafe { (self.functions.close)(&raw mut self.context) };
    }
}
