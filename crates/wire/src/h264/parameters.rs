//! Stores parameter sets for keyframes that come without them.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::golomb::exponential_golomb;
use super::packets::push;
use super::{UnitKind, is_keyframe, units};

/// The parameter sets of a stream. Decoding cannot start at a keyframe without them, and some encoders and most files
/// send them only once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParameterSets {
    /// By kind (sequence parameter sets first) and id.
    sets: BTreeMap<(bool, u32), Vec<u8>>,
}

impl ParameterSets {
    /// An empty collection.
    pub fn new() -> ParameterSets {
        ParameterSets::default()
    }

    /// Stores the parameter sets of `access_unit` (Annex B) and returns it; missing sets are inserted before a
    /// keyframe. Sets that come with a keyframe replace all others of their kind: some encoders use new ids each time.
    pub fn complete<'a>(&mut self, access_unit: &'a [u8]) -> Cow<'a, [u8]> {
        let mut present = Vec::new();
        for unit in units(access_unit) {
            if let Some(key) = key(unit) {
                self.sets.insert(key, unit.to_vec());
                present.push(key);
            }
        }
        if !is_keyframe(access_unit) {
            return Cow::Borrowed(access_unit);
        }
        let brings = |kind: bool| present.iter().any(|(of, _)| *of == kind);
        self.sets.retain(|key, _| present.contains(key) || !brings(key.0));
        let mut missing = self.sets.iter().filter(|(key, _)| !present.contains(key)).peekable();
        if missing.peek().is_none() {
            return Cow::Borrowed(access_unit);
        }
        let mut complete = Vec::new();
        missing.for_each(|(_, set)| push(&mut complete, set));
        units(access_unit).for_each(|unit| push(&mut complete, unit));
        Cow::Owned(complete)
    }
}

/// Type of a parameter set, `true` for a picture's and `false` for a sequence's, and its id (sections 7.3.2.1.1 and
/// 7.3.2.2); `None` for other units and for ids beyond the standard's 31 and 255.
fn key(unit: &[u8]) -> Option<(bool, u32)> {
    let (header, body) = unit.split_first()?;
    match UnitKind::of(*header) {
        // After profile, constraints and level.
        UnitKind::SequenceParameters => Some((false, exponential_golomb(body.get(3..)?).filter(|id| *id < 32)?)),
        UnitKind::PictureParameters => Some((true, exponential_golomb(body).filter(|id| *id < 256)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEQUENCE: [u8; 5] = [0x67, 0x42, 0, 0x0a, 0xf8];
    const PICTURE: [u8; 3] = [0x68, 0xce, 0x38];
    const KEY: [u8; 2] = [0x65, 0x88];
    const DELTA: [u8; 2] = [0x41, 0x9a];

    fn stream(units: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        units.iter().for_each(|unit| push(&mut out, unit));
        out
    }

    #[test]
    fn a_key_frame_without_sets_gets_the_last_ones() {
        let mut sets = ParameterSets::new();
        let first = stream(&[&SEQUENCE, &PICTURE, &KEY]);
        assert_eq!(sets.complete(&first), first);
        let delta = stream(&[&DELTA]);
        assert!(matches!(sets.complete(&delta), Cow::Borrowed(same) if same == delta));
        assert_eq!(sets.complete(&stream(&[&KEY])), first);
        // A new set replaces the one with the same id, and only missing ones are inserted.
        let other = [0x68, 0xee, 0x3c];
        assert_eq!(sets.complete(&stream(&[&other, &KEY])), stream(&[&SEQUENCE, &other, &KEY]));
        assert_eq!(sets.complete(&stream(&[&KEY])), stream(&[&SEQUENCE, &other, &KEY]));
        // A set with another id replaces nothing.
        let second = [0x68, 0x5e, 0x3c];
        sets.complete(&stream(&[&second]));
        assert_eq!(sets.complete(&stream(&[&KEY])), stream(&[&SEQUENCE, &other, &second, &KEY]));
        // A set that comes with a keyframe replaces all others of its kind.
        let renewed = stream(&[&second, &KEY]);
        assert_eq!(sets.complete(&renewed), stream(&[&SEQUENCE, &second, &KEY]));
        assert_eq!(sets.complete(&stream(&[&KEY])), stream(&[&SEQUENCE, &second, &KEY]));
    }

    #[test]
    fn a_key_frame_before_any_set_stays_as_it_is() {
        let mut sets = ParameterSets::new();
        let frame = stream(&[&KEY]);
        assert_eq!(sets.complete(&frame), frame);
    }
}
