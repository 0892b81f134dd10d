//! The payload descriptor before every part of a frame (RFC 9628 section 4.2).

use alloc::vec::Vec;

use super::Structure;
use crate::reader::Reader;
use crate::vp8::PictureId;
use crate::{ParseError, WriteError};

/// The payload descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// I: the picture id. Required in flexible mode.
    pub picture_id: Option<PictureId>,
    /// P: the frame refers to earlier pictures.
    pub inter_predicted: bool,
    /// L: the frame's layers.
    pub layer: Option<Layer>,
    /// F, and the fields that depend on it.
    pub mode: Mode,
    /// B: a frame starts here. With spatial layers a picture has more than one frame.
    pub frame_start: bool,
    /// E: a frame ends here.
    pub frame_end: bool,
    /// V: the scalability structure. Sent with keyframes and changes only.
    pub structure: Option<Structure>,
    /// Z: no frame of a higher layer of the same picture refers to this one.
    pub not_for_higher_layers: bool,
}

/// The layers of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layer {
    /// TID: the temporal layer, 0 to 7.
    pub temporal: u8,
    /// U: switching point to higher temporal layers.
    pub switching_point: bool,
    /// SID: the spatial layer, 0 to 7.
    pub spatial: u8,
    /// D: the frame refers to the next lower spatial layer of the same picture.
    pub inter_layer: bool,
}

/// How references are signalled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mode {
    /// Not at all, or by the structure's picture group (F = 0).
    Fixed {
        /// TL0PICIDX: a running number of the pictures of the lowest temporal layer. Present exactly when the layer is.
        base_layer_index: Option<u8>,
    },
    /// Individually (F = 1).
    Flexible {
        /// P_DIFF: distances of the reference pictures, 0 to 127 each. One to three if the frame is inter predicted,
        /// otherwise none.
        references: Vec<u8>,
    },
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::Fixed { base_layer_index: None }
    }
}

impl Descriptor {
    /// Parses the descriptor; returns it and the part of the frame after it, which may be empty.
    ///
    /// # Errors
    /// A truncated descriptor; flexible mode without a picture id, or with more than three references.
    pub fn parse(payload: &[u8]) -> Result<(Descriptor, &[u8]), ParseError> {
        let mut reader = Reader::new(payload);
        let first = reader.u8("VP9 payload descriptor")?;
        let flag = |place: u8| first >> place & 1 == 1;
        let (inter_predicted, flexible) = (flag(6), flag(4));
        let picture_id = if flag(7) { Some(picture_id(&mut reader)?) } else { None };
        if flexible && picture_id.is_none() {
            let what = "VP9 picture id flag in the flexible mode";
            return Err(ParseError::OutOfRange { what, at: 0, found: 0, min: 1, max: 1 });
        }
        let layer = if flag(5) { Some(Layer::parse(&mut reader)?) } else { None };
        let mode = if flexible {
            Mode::Flexible { references: if inter_predicted { references(&mut reader)? } else { Vec::new() } }
        } else {
            Mode::Fixed { base_layer_index: layer.map(|_| reader.u8("VP9 TL0PICIDX")).transpose()? }
        };
        let structure = if flag(1) { Some(Structure::parse(&mut reader)?) } else { None };
        let descriptor = Descriptor {
            picture_id,
            inter_predicted,
            layer,
            mode,
            frame_start: flag(3),
            frame_end: flag(2),
            structure,
            not_for_higher_layers: flag(0),
        };
        Ok((descriptor, reader.rest()))
    }

    /// Appends the descriptor to `out`.
    ///
    /// # Errors
    /// A picture id above 127 or 32767, a layer above 7, a structure the format cannot represent; a field that the mode
    /// requires and lacks, or forbids and has ([`Mode`]); `out` is then unchanged.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), WriteError> {
        self.check()?;
        let bit = |set: bool, place: u8| u8::from(set) << place;
        let flexible = matches!(self.mode, Mode::Flexible { .. });
        let parts = bit(self.picture_id.is_some(), 7) | bit(self.layer.is_some(), 5) | bit(self.structure.is_some(), 1);
        let frame = bit(self.frame_start, 3) | bit(self.frame_end, 2) | bit(self.not_for_higher_layers, 0);
        out.push(parts | bit(self.inter_predicted, 6) | bit(flexible, 4) | frame);
        match self.picture_id {
            Some(PictureId::Short(id)) => out.push(id),
            Some(PictureId::Long(id)) => out.extend_from_slice(&(0x8000 | id).to_be_bytes()),
            None => {}
        }
        if let Some(layer) = self.layer {
            let temporal = layer.temporal << 5 | bit(layer.switching_point, 4);
            out.push(temporal | layer.spatial << 1 | bit(layer.inter_layer, 0));
        }
        match &self.mode {
            Mode::Fixed { base_layer_index } => out.extend(*base_layer_index),
            Mode::Flexible { references } => {
                let more = |at: usize| bit(at + 1 < references.len(), 0);
                out.extend(references.iter().enumerate().map(|(at, reference)| reference << 1 | more(at)));
            }
        }
        if let Some(structure) = &self.structure {
            structure.write(out);
        }
        Ok(())
    }

    /// Checks that the format can represent the descriptor.
    fn check(&self) -> Result<(), WriteError> {
        match self.picture_id {
            Some(PictureId::Short(id)) => WriteError::check("7-bit VP9 picture id", id.into(), 0, 0x7f)?,
            Some(PictureId::Long(id)) => WriteError::check("15-bit VP9 picture id", id.into(), 0, 0x7fff)?,
            None => {}
        }
        let layer = self.layer.unwrap_or_default();
        WriteError::check("VP9 temporal layer", layer.temporal.into(), 0, 7)?;
        WriteError::check("VP9 spatial layer", layer.spatial.into(), 0, 7)?;
        match &self.mode {
            Mode::Fixed { base_layer_index } => {
                let layered = u64::from(self.layer.is_some());
                WriteError::check("VP9 TL0PICIDX, present", base_layer_index.is_some().into(), layered, layered)?;
            }
            Mode::Flexible { references } => {
                WriteError::check(
                    "VP9 picture id in the flexible mode, present",
                    self.picture_id.is_some().into(),
                    1,
                    1,
                )?;
                let (min, max) = if self.inter_predicted { (1, 3) } else { (0, 0) };
                WriteError::check("references of a VP9 frame", references.len() as u64, min, max)?;
                let farthest = references.iter().max().copied().unwrap_or(0);
                WriteError::check("VP9 reference", farthest.into(), 0, 0x7f)?;
            }
        }
        self.structure.as_ref().map_or(Ok(()), Structure::check)
    }

    /// Size of the descriptor in bytes.
    pub fn size(&self) -> usize {
        let picture = match self.picture_id {
            None => 0,
            Some(PictureId::Short(_)) => 1,
            Some(PictureId::Long(_)) => 2,
        };
        let mode = match &self.mode {
            Mode::Fixed { base_layer_index } => usize::from(base_layer_index.is_some()),
            Mode::Flexible { references } => references.len(),
        };
        let structure = self.structure.as_ref().map_or(0, Structure::size);
        1 + picture + usize::from(self.layer.is_some()) + mode + structure
    }
}

impl Layer {
    fn parse(reader: &mut Reader<'_>) -> Result<Layer, ParseError> {
        let byte = reader.u8("VP9 layer indices")?;
        let (switching_point, inter_layer) = (byte & 0x10 != 0, byte & 1 != 0);
        Ok(Layer { temporal: byte >> 5, switching_point, spatial: byte >> 1 & 7, inter_layer })
    }
}

fn picture_id(reader: &mut Reader<'_>) -> Result<PictureId, ParseError> {
    let high = reader.u8("VP9 picture id")?;
    if high & 0x80 == 0 {
        return Ok(PictureId::Short(high));
    }
    let low = reader.u8("VP9 picture id, second byte")?;
    Ok(PictureId::Long(u16::from(high & 0x7f) << 8 | u16::from(low)))
}

/// The references of flexible mode: each one signals whether another follows.
fn references(reader: &mut Reader<'_>) -> Result<Vec<u8>, ParseError> {
    let mut references = Vec::new();
    loop {
        let at = reader.at();
        let byte = reader.u8("VP9 reference")?;
        references.push(byte >> 1);
        if byte & 1 == 0 {
            return Ok(references);
        }
        if references.len() == 3 {
            let what = "flag that another VP9 reference follows the third";
            return Err(ParseError::OutOfRange { what, at, found: 1, min: 0, max: 0 });
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::structure::tests::any_structure;
    use super::*;
    use proptest::prelude::*;

    fn written(descriptor: &Descriptor) -> Vec<u8> {
        let mut out = Vec::new();
        descriptor.write(&mut out).unwrap();
        assert_eq!(out.len(), descriptor.size());
        out
    }

    #[test]
    fn a_layered_frame_of_the_fixed_mode_takes_five_bytes() {
        let descriptor = Descriptor {
            picture_id: Some(PictureId::Long(0x1234)),
            inter_predicted: true,
            layer: Some(Layer { temporal: 2, switching_point: true, spatial: 0, inter_layer: false }),
            mode: Mode::Fixed { base_layer_index: Some(0xab) },
            frame_start: true,
            frame_end: true,
            ..Descriptor::default()
        };
        let bytes = [0xec, 0x92, 0x34, 0x50, 0xab];
        assert_eq!(written(&descriptor), bytes);
        assert_eq!(Descriptor::parse(&bytes), Ok((descriptor, &[][..])));
        for length in 0..bytes.len() {
            assert!(Descriptor::parse(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn the_flexible_mode_names_up_to_three_references() {
        let flexible = |references: &[u8]| Descriptor {
            picture_id: Some(PictureId::Short(5)),
            inter_predicted: true,
            mode: Mode::Flexible { references: references.to_vec() },
            not_for_higher_layers: true,
            ..Descriptor::default()
        };
        assert_eq!(written(&flexible(&[1])), [0xd1, 5, 2]);
        assert_eq!(written(&flexible(&[1, 2, 127])), [0xd1, 5, 3, 5, 254]);
        assert!(Descriptor::parse(&[0xd1, 5, 3, 5, 255, 0]).is_err(), "a fourth");
        assert!(Descriptor::parse(&[0x51, 2]).is_err(), "no picture id");
    }

    #[test]
    fn what_the_descriptor_has_no_room_for_is_refused() {
        let none = Descriptor::default();
        let flexible = Descriptor { picture_id: Some(PictureId::Short(0)), ..none.clone() };
        let with = |references: &[u8]| Mode::Flexible { references: references.to_vec() };
        for bad in [
            Descriptor { picture_id: Some(PictureId::Short(128)), ..none.clone() },
            Descriptor { picture_id: Some(PictureId::Long(32_768)), ..none.clone() },
            Descriptor { layer: Some(Layer::default()), ..none.clone() },
            Descriptor { mode: Mode::Fixed { base_layer_index: Some(1) }, ..none.clone() },
            Descriptor { mode: with(&[]), ..none.clone() },
            Descriptor { mode: with(&[1]), ..flexible.clone() },
            Descriptor { mode: with(&[]), inter_predicted: true, ..flexible.clone() },
            Descriptor { mode: with(&[1; 4]), inter_predicted: true, ..flexible.clone() },
            Descriptor { mode: with(&[128]), inter_predicted: true, ..flexible.clone() },
            Descriptor { layer: Some(Layer { temporal: 8, ..Layer::default() }), mode: with(&[]), ..flexible.clone() },
            Descriptor { layer: Some(Layer { spatial: 8, ..Layer::default() }), mode: with(&[]), ..flexible },
            Descriptor { structure: Some(Structure { spatial_layers: 0, sizes: None, group: None }), ..none },
        ] {
            let mut out = Vec::new();
            assert!(bad.write(&mut out).is_err() && out.is_empty(), "{bad:?}");
        }
    }

    prop_compose! {
        pub(in crate::vp9) fn any_descriptor()(
            picture_id in prop_oneof![
                Just(None),
                (0u8..128).prop_map(|id| Some(PictureId::Short(id))),
                (0u16..32768).prop_map(|id| Some(PictureId::Long(id))),
            ],
            (inter_predicted, frame_start, frame_end, not_for_higher_layers, flexible) in any::<(bool, bool, bool, bool, bool)>(),
            layer in prop::option::of((0u8..8, any::<bool>(), 0u8..8, any::<bool>())),
            base_layer_index: u8,
            references in prop::collection::vec(0u8..128, 1..4),
            structure in prop::option::of(any_structure()),
        ) -> Descriptor {
            let layer = layer.map(|(temporal, switching_point, spatial, inter_layer)| Layer {
                temporal, switching_point, spatial, inter_layer,
            });
            let mode = if flexible && picture_id.is_some() {
                Mode::Flexible { references: if inter_predicted { references } else { Vec::new() } }
            } else {
                Mode::Fixed { base_layer_index: layer.map(|_| base_layer_index) }
            };
            Descriptor { picture_id, inter_predicted, layer, mode, frame_start, frame_end, structure, not_for_higher_layers }
        }
    }

    proptest! {
        #[test]
        fn a_descriptor_survives_being_written_and_read(descriptor in any_descriptor(), rest: Vec<u8>) {
            let mut out = written(&descriptor);
            for length in 0..out.len() {
                prop_assert!(Descriptor::parse(&out[..length]).is_err());
            }
            out.extend_from_slice(&rest);
            prop_assert_eq!(Descriptor::parse(&out), Ok((descriptor, &rest[..])));
        }
    }
}
