//! Serialisation of states.
//!
//! The layout, numbers in little-endian order:
//!
//! | bytes | what |
//! |---|---|
//! | 5 | "VP8S" and the version, 1 |
//! | 1056, 38, 4, 3 | the probabilities of coefficients, vectors, luma modes, chroma modes |
//! | 1, 4, 4 | what segments differ in: whether absolute, quantisers, loop filter levels |
//! | 4, 4 | what is added to loop filter levels by reference, by mode |
//!
//! This is the whole state at the start of a stream. Any other state continues:
//!
//! | bytes | what |
//! |---|---|
//! | 2, 2, 1 | width, height, scaling (across in the low half, down in the high) |
//! | 4, as many | the length of the segment map, and the map, four macroblocks a byte; nothing when all are in segment 0 |
//! | 1, 1 | which picture the golden and the altref frame are: 0 is the last frame |
//! | 1.5 a pixel each | the pictures that differ: Y, U, V of whole macroblocks |

use std::sync::Arc;

use super::{FilterDeltas, References, SegmentMap, SegmentValues, State};
use crate::image::{Image, Size, SizeError};
use crate::syntax::Probabilities;
use crate::syntax::header::Scaling;

/// The first bytes of a state: a name and the version of the layout.
const START: [u8; 5] = *b"VP8S\x01";

/// Why bytes are not a valid state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The start is wrong.
    #[error("not the bytes of a VP8 state: they begin with {found:02x?}, not with \"VP8S\" and version 1")]
    Start {
        /// The bytes found.
        found: [u8; 5],
    },
    /// The bytes end too early.
    #[error("the bytes of a VP8 state end in its {part}: there are {missing} too few")]
    Truncated {
        /// The part that is incomplete.
        part: &'static str,
        /// Number of missing bytes.
        missing: usize,
    },
    /// There are more bytes than the state needs.
    #[error("there are {surplus} bytes after a VP8 state: give exactly what `to_bytes` returned")]
    Surplus {
        /// Number of additional bytes.
        surplus: usize,
    },
    /// The size of the pictures is invalid.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A number is out of range.
    #[error("a VP8 state's {field} is {value}, not {range}")]
    Value {
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
        /// The valid range.
        range: &'static str,
    },
}

impl State {
    /// The state as bytes: 1.5 per pixel for each distinct picture, and a few kilobytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.bytes_but_pictures();
        if let Some(references) = &self.references {
            let (pictures, golden, altref) = distinct(references);
            bytes.extend([golden, altref]);
            pictures.iter().for_each(|picture| bytes.extend_from_slice(picture.coded()));
        }
        bytes
    }

    /// The state from the bytes of [`to_bytes`](Self::to_bytes). Its memory is bounded by their length.
    ///
    /// # Errors
    /// When the bytes are malformed, or more than one state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let mut rest = Rest(bytes);
        let found = rest.array("name")?;
        if found != START {
            return Err(StateError::Start { found });
        }
        let mut probabilities = Probabilities::default();
        for part in probability_parts(&mut probabilities) {
            part.copy_from_slice(rest.take("probabilities", part.len())?);
        }
        let are_absolute = match rest.array("segments' values")? {
            [value @ (0 | 1)] => value == 1,
            [value] => return Err(out_of_range("flag of absolute segment values", i64::from(value), "0 or 1")),
        };
        let quantizers = rest.signed("segments' values", "segment's quantiser", 127, "-127 to 127")?;
        let mut delta = |field| rest.signed("loop filter's deltas", field, 63, "-63 to 63");
        let segment_values = SegmentValues { are_absolute, quantizers, levels: delta("segment's loop filter level")? };
        let filter_deltas =
            FilterDeltas { references: delta("loop filter delta")?, modes: delta("loop filter delta")? };
        let mut state =
            Self { references: None, probabilities, segment_values, segments: SegmentMap::default(), filter_deltas };
        if !rest.0.is_empty() {
            state.read_references(&mut rest)?;
        }
        match rest.0.len() {
            0 => Ok(state),
            surplus => Err(StateError::Surplus { surplus }),
        }
    }

    /// Everything up to the picture index of each reference.
    pub(super) fn bytes_but_pictures(&self) -> Vec<u8> {
        let mut bytes = START.to_vec();
        for part in probability_parts(&mut self.probabilities.clone()) {
            bytes.extend_from_slice(part);
        }
        let (values, deltas) = (&self.segment_values, &self.filter_deltas);
        bytes.push(u8::from(values.are_absolute));
        let signed = [values.quantizers, values.levels, deltas.references, deltas.modes];
        bytes.extend(signed.as_flattened().iter().map(|&value| value as u8));
        if let Some(references) = &self.references {
            let (size, scaling) = (references.size, references.scaling);
            bytes.extend((size.width() as u16).to_le_bytes());
            bytes.extend((size.height() as u16).to_le_bytes());
            bytes.push(scaling.across | scaling.down << 4);
            let map = self.segments.bytes();
            bytes.extend((map.len() as u32).to_le_bytes());
            bytes.extend_from_slice(map);
        }
        bytes
    }

    fn read_references(&mut self, rest: &mut Rest<'_>) -> Result<(), StateError> {
        let [width, height] = [rest.array("size")?, rest.array("size")?].map(u16::from_le_bytes);
        let size = Size::new(usize::from(width), usize::from(height))?;
        let [scaling] = rest.array("scaling")?;
        if scaling & 0xcc != 0 {
            return Err(out_of_range("scaling", i64::from(scaling), "two halves of 0 to 3"));
        }
        let scaling = Scaling { across: scaling & 3, down: scaling >> 4 };
        let length = u32::from_le_bytes(rest.array("segment map")?) as usize;
        if length != 0 && length != size.macroblocks().div_ceil(4) {
            return Err(out_of_range("segment map's length", length as i64, "0 or a byte for four macroblocks"));
        }
        let map = rest.take("segment map", length)?;
        let spare_bits = 2 * (size.macroblocks().wrapping_neg() % 4) as u32;
        if let Some(&last) = map.last()
            && (last.leading_zeros() < spare_bits || map.iter().all(|&byte| byte == 0))
        {
            return Err(out_of_range("segment map's last byte", i64::from(last), "that of the shortest form"));
        }
        self.segments = SegmentMap::of_bytes(map);
        let [golden, altref] = rest.array("list of references")?;
        if golden > 1 || altref > golden + 1 {
            let value = i64::from(golden) << 8 | i64::from(altref);
            return Err(out_of_range("list of references", value, "0 to 1, and 0 to one more"));
        }
        let count = usize::from(golden.max(altref)) + 1;
        let pictures: Vec<Arc<Image>> = (0..count)
            .map(|_| {
                let length = Image::coded_length(size);
                let pixels = rest.take("pictures", length)?;
                let picture = Image::from_coded(size, pixels);
                picture.map(Arc::new).ok_or(StateError::Truncated { part: "pictures", missing: length })
            })
            .collect::<Result<_, _>>()?;
        let picture = |index: u8| Arc::clone(&pictures[usize::from(index)]);
        self.references =
            Some(References { size, scaling, last: picture(0), golden: picture(golden), altref: picture(altref) });
        Ok(())
    }
}

/// The distinct pictures, the last frame first, and the indices of the golden and the altref frame.
pub(super) fn distinct(references: &References) -> (Vec<&Arc<Image>>, u8, u8) {
    let mut pictures: Vec<&Arc<Image>> = Vec::new();
    let [_, golden, altref] = references.all().map(|picture| {
        let index = pictures.iter().position(|other| *other == picture).unwrap_or_else(|| {
            pictures.push(picture);
            pictures.len() - 1
        });
        index as u8
    });
    (pictures, golden, altref)
}

/// All probabilities, in the order of the bytes.
fn probability_parts(probabilities: &mut Probabilities) -> [&mut [u8]; 4] {
    let Probabilities { coefficients, vectors, luma_modes, chroma_modes } = probabilities;
    let coefficients = coefficients.as_flattened_mut().as_flattened_mut().as_flattened_mut();
    [coefficients, vectors.as_flattened_mut(), luma_modes, chroma_modes]
}

fn out_of_range(field: &'static str, value: i64, range: &'static str) -> StateError {
    StateError::Value { field, value, range }
}

/// The remaining bytes.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, part: &'static str, length: usize) -> Result<&'a [u8], StateError> {
        let missing = length.saturating_sub(self.0.len());
        let (taken, rest) = self.0.split_at_checked(length).ok_or(StateError::Truncated { part, missing })?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const LENGTH: usize>(&mut self, part: &'static str) -> Result<[u8; LENGTH], StateError> {
        let mut array = [0; LENGTH];
        array.copy_from_slice(self.take(part, LENGTH)?);
        Ok(array)
    }

    fn signed(
        &mut self,
        part: &'static str,
        field: &'static str,
        max: i8,
        range: &'static str,
    ) -> Result<[i8; 4], StateError> {
        let values = self.array::<4>(part)?.map(|byte| byte as i8);
        match values.into_iter().find(|&value| value < -max || value > max) {
            Some(value) => Err(out_of_range(field, i64::from(value), range)),
            None => Ok(values),
        }
    }
}
