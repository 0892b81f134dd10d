//! The template structure: the kinds of frames in a stream.

use alloc::vec::Vec;

use crate::bits::{BitReader, BitWriter};
use crate::{ParseError, WriteError};

/// The role of a frame in a decode target, which is a layer and the layers it needs (A.3: DTI).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Indication {
    /// The frame is not part of the target.
    NotPresent,
    /// It is part of it, and no other frame of the target refers to it.
    Discardable,
    /// A receiver of a lower target can switch to this target at this frame.
    Switch,
    /// It is part of it, and other frames may refer to it.
    Required,
}

impl Indication {
    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Indication, ParseError> {
        Ok(match reader.bits("decode target indication", 2)? {
            0 => Indication::NotPresent,
            1 => Indication::Discardable,
            2 => Indication::Switch,
            _ => Indication::Required,
        })
    }

    pub(super) fn write(self, out: &mut BitWriter) {
        out.bits(self as u32, 2);
    }
}

/// A frame template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The spatial layer, from 0.
    pub spatial: u8,
    /// The temporal layer, from 0.
    pub temporal: u8,
    /// The frame's indication for each decode target.
    pub indications: Vec<Indication>,
    /// Distance of each reference in frames, 1 to 16.
    pub references: Vec<u8>,
    /// Distance in frames to the last frame of each chain, 0 to 15; 0 if there is none.
    pub chains: Vec<u8>,
}

/// The frame templates of a stream, and its decode targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Structure {
    /// The number of the first template, 0 to 63. A structure that replaces another uses the numbers after its
    /// templates.
    pub first_template: u8,
    /// Number of decode targets, 1 to 32.
    pub targets: u8,
    /// The templates, 1 to 64: ordered by spatial layer, then by temporal layer, without gaps.
    pub templates: Vec<Template>,
    /// The chain that protects each decode target; empty if there are no chains.
    pub protected_by: Vec<u8>,
    /// Width and height minus one of each spatial layer, if present.
    pub resolutions: Option<Vec<(u16, u16)>>,
}

/// How the next template's layer relates to this one's (A.8.2: next_layer_idc).
const SAME: u32 = 0;
const NEXT_TEMPORAL: u32 = 1;
const NEXT_SPATIAL: u32 = 2;
const LAST: u32 = 3;

/// Number of template numbers: they have six bits.
pub(super) const TEMPLATES: usize = 64;

impl Structure {
    /// One, two or three temporal layers in the hierarchical P pattern, without skipped frames (libwebrtc's `L1T1`,
    /// `L1T2` and `L1T3`): a base frame refers to the previous base frame, a frame of layer 1 of three to the base,
    /// every other to the previous frame. One chain, the base, protects all targets.
    ///
    /// # Errors
    /// Any other number of layers.
    pub fn hierarchical(layers: u8) -> Result<Structure, WriteError> {
        WriteError::check("temporal layers", layers.into(), 1, 3)?;
        let group = 1u8 << (layers - 1);
        // Layer, reference and last base frame, the last two as distances.
        let kinds: &[(u8, Option<u8>, u8)] = match layers {
            1 => &[(0, None, 0), (0, Some(group), group)],
            2 => &[(0, None, 0), (0, Some(group), group), (1, Some(1), 1)],
            _ => &[(0, None, 0), (0, Some(group), group), (1, Some(2), 2), (2, Some(1), 1), (2, Some(1), 3)],
        };
        let template = |(temporal, reference, chain): &(u8, Option<u8>, u8)| Template {
            spatial: 0,
            temporal: *temporal,
            indications: Structure::indications(layers, *temporal),
            references: reference.iter().copied().collect(),
            chains: Vec::from([*chain]),
        };
        Ok(Structure {
            first_template: 0,
            targets: layers,
            templates: kinds.iter().map(template).collect(),
            protected_by: alloc::vec![0; layers.into()],
            resolutions: None,
        })
    }

    /// One layer whose frames may refer to any earlier ones: a keyframe and a frame that refers to the one before it, every
    /// other frame says its own references. There are no chains, for no frame is needed by all that follow.
    pub fn free() -> Structure {
        let template = |indication, references| Template {
            spatial: 0,
            temporal: 0,
            indications: Vec::from([indication]),
            references,
            chains: Vec::new(),
        };
        Structure {
            first_template: 0,
            targets: 1,
            templates: Vec::from([
                template(Indication::Switch, Vec::new()),
                template(Indication::Required, Vec::from([1])),
            ]),
            protected_by: Vec::new(),
            resolutions: None,
        }
    }

    /// The indications of a frame of a layer in that pattern: target n consists of all layers up to n.
    fn indications(layers: u8, temporal: u8) -> Vec<Indication> {
        let of = |target: u8| match (target, temporal) {
            (target, temporal) if target < temporal => Indication::NotPresent,
            (target, temporal) if target == temporal && temporal > 0 => Indication::Discardable,
            _ => Indication::Switch,
        };
        (0..layers).map(of).collect()
    }

    /// The template with this number.
    pub fn template(&self, number: u8) -> Option<&Template> {
        let index = (usize::from(number) + TEMPLATES - usize::from(self.first_template)) % TEMPLATES;
        self.templates.get(index)
    }

    /// Number of chains.
    pub fn chains(&self) -> usize {
        self.templates.first().map_or(0, |template| template.chains.len())
    }

    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Structure, ParseError> {
        let first_template = reader.bits("template id offset", 6)? as u8;
        let targets = reader.bits("decode targets less one", 5)? as u8 + 1;
        let mut templates = layers(reader)?;
        for template in &mut templates {
            for _ in 0..targets {
                template.indications.push(Indication::read(reader)?);
            }
        }
        for template in &mut templates {
            while reader.flag("flag of another reference")? {
                template.references.push(reader.bits("reference less one", 4)? as u8 + 1);
            }
        }
        let chains = reader.one_of("number of chains", u32::from(targets) + 1)?;
        let mut protected_by = Vec::new();
        if chains > 0 {
            for _ in 0..targets {
                protected_by.push(reader.one_of("chain of a decode target", chains)? as u8);
            }
            for template in &mut templates {
                for _ in 0..chains {
                    template.chains.push(reader.bits("distance to a chain", 4)? as u8);
                }
            }
        }
        let resolutions = if reader.flag("flag of resolutions")? {
            let spatial = templates.last().map_or(0, |template| template.spatial);
            let mut resolutions = Vec::new();
            for _ in 0..=spatial {
                let width = reader.bits("width less one", 16)? as u16;
                resolutions.push((width, reader.bits("height less one", 16)? as u16));
            }
            Some(resolutions)
        } else {
            None
        };
        Ok(Structure { first_template, targets, templates, protected_by, resolutions })
    }

    pub(super) fn write(&self, out: &mut BitWriter) -> Result<(), WriteError> {
        self.check()?;
        out.bits(self.first_template.into(), 6);
        out.bits(u32::from(self.targets) - 1, 5);
        for (index, template) in self.templates.iter().enumerate() {
            let next = match self.templates.get(index + 1) {
                None => LAST,
                Some(next) if next.spatial != template.spatial => NEXT_SPATIAL,
                Some(next) if next.temporal != template.temporal => NEXT_TEMPORAL,
                Some(_) => SAME,
            };
            out.bits(next, 2);
        }
        self.templates.iter().flat_map(|template| &template.indications).for_each(|indication| indication.write(out));
        for template in &self.templates {
            for reference in &template.references {
                out.flag(true);
                out.bits(u32::from(*reference) - 1, 4);
            }
            out.flag(false);
        }
        let chains = self.chains() as u32;
        out.one_of(chains, u32::from(self.targets) + 1);
        if chains > 0 {
            self.protected_by.iter().for_each(|chain| out.one_of((*chain).into(), chains));
            self.templates.iter().flat_map(|template| &template.chains).for_each(|back| out.bits((*back).into(), 4));
        }
        out.flag(self.resolutions.is_some());
        for (width, height) in self.resolutions.iter().flatten() {
            out.bits((*width).into(), 16);
            out.bits((*height).into(), 16);
        }
        Ok(())
    }

    /// Checks that the format can represent the structure.
    fn check(&self) -> Result<(), WriteError> {
        let length =
            |what, found: usize, wanted: usize| WriteError::check(what, found as u64, wanted as u64, wanted as u64);
        WriteError::check("template id offset", self.first_template.into(), 0, 63)?;
        WriteError::check("decode targets", self.targets.into(), 1, 32)?;
        WriteError::check("templates", self.templates.len() as u64, 1, TEMPLATES as u64)?;
        let (targets, chains) = (usize::from(self.targets), self.chains());
        WriteError::check("chains", chains as u64, 0, targets as u64)?;
        length("chains of decode targets", self.protected_by.len(), if chains > 0 { targets } else { 0 })?;
        let max = (chains as u64).saturating_sub(1);
        self.protected_by.iter().try_for_each(|chain| WriteError::check("chain", (*chain).into(), 0, max))?;
        let (mut spatial, mut temporal) = (0, 0);
        for (index, template) in self.templates.iter().enumerate() {
            // Each layer is the same as the previous one, or the next.
            if index > 0 && template.spatial == spatial + 1 {
                (spatial, temporal) = (spatial + 1, 0);
            } else if index > 0 && template.temporal == temporal + 1 {
                temporal += 1;
            }
            WriteError::check("spatial layer of a template", template.spatial.into(), spatial.into(), spatial.into())?;
            WriteError::check(
                "temporal layer of a template",
                template.temporal.into(),
                temporal.into(),
                temporal.into(),
            )?;
            length("indications of a template", template.indications.len(), targets)?;
            length("chains of a template", template.chains.len(), chains)?;
            template.references.iter().try_for_each(|back| WriteError::check("reference", (*back).into(), 1, 16))?;
            template
                .chains
                .iter()
                .try_for_each(|back| WriteError::check("distance to a chain", (*back).into(), 0, 15))?;
        }
        let layers = usize::from(spatial) + 1;
        self.resolutions.as_ref().map_or(Ok(()), |found| length("resolutions", found.len(), layers))
    }
}

/// Parses the layers of the templates.
fn layers(reader: &mut BitReader<'_>) -> Result<Vec<Template>, ParseError> {
    let (mut spatial, mut temporal) = (0, 0);
    let mut templates = Vec::new();
    loop {
        let (indications, references, chains) = (Vec::new(), Vec::new(), Vec::new());
        templates.push(Template { spatial, temporal, indications, references, chains });
        match reader.bits("what follows a template", 2)? {
            LAST => return Ok(templates),
            NEXT_TEMPORAL => temporal += 1,
            NEXT_SPATIAL => (spatial, temporal) = (spatial + 1, 0),
            _ => {}
        }
        if templates.len() == TEMPLATES {
            let what = "templates of a dependency structure";
            return Err(ParseError::OutOfRange { what, at: 5, found: 65, min: 1, max: 64 });
        }
    }
}
