//! References of frames in temporal layers, as their packets declare them.

use std::collections::BTreeSet;

/// Max distance of a reference in frames: 12 bits of a dependency descriptor, 7 of VP9.
const REMEMBERED: u64 = 4096;

/// Max number of temporal layers above the base: 3 bits of layer (RFC 9628), 2 of VP8 (RFC 7741).
const UPPER: usize = 7;

/// The references declared by a frame's first packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Says {
    /// In the payload descriptor, if frames are in layers.
    pub(super) described: Option<Depends>,
    /// In the dependency descriptor.
    pub(super) dependency: Option<Dependency>,
}

/// Contents of a dependency descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The frame number.
    pub(super) number: u16,
    /// Distance of each reference in frames; `None` if the structure that defines them is missing.
    pub(super) back: Option<Vec<u16>>,
}

/// A frame's dependencies according to its payload descriptor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Depends {
    /// By layer: VP8, and VP9's non-flexible mode.
    Layers(ByLayer),
    /// By frame: VP9's flexible mode.
    Frames(ByFrame),
}

/// The layer of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByLayer {
    /// The running number of the newest base layer frame, which may be this frame (TL0PICIDX).
    pub(super) base: u8,
    /// The temporal layer, 0 to 7 (TID).
    pub(super) layer: u8,
    /// True if it depends on that base layer frame alone (VP8's Y).
    pub(super) base_only: bool,
    /// True if no later frame of a higher layer depends on one before this frame (VP9's U).
    pub(super) switching_point: bool,
}

/// Frame numbers that wrap around.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ByFrame {
    pub(super) number: u32,
    /// The modulus of the numbers.
    pub(super) turn: u32,
    /// Distance of each reference in frames, 1 or more.
    pub(super) back: Vec<u32>,
}

/// Frames given to the decoder, by numbers that wrap around.
#[derive(Debug, Default)]
struct Numbers {
    newest: Option<u64>,
    given: BTreeSet<u64>,
}

impl Numbers {
    /// Unwraps a number to the value nearest to the newest.
    fn place(&self, number: u32, turn: u32) -> u64 {
        let (number, turn) = (u64::from(number), u64::from(turn));
        let Some(newest) = self.newest else { return number + REMEMBERED + turn };
        let ahead = (number + turn - (newest - REMEMBERED) % turn) % turn;
        if ahead < turn / 2 { newest + ahead } else { newest + ahead - turn }
    }

    /// Returns true if the decoder was given everything that frame `number` refers to.
    fn suffice(&self, number: u32, turn: u32, back: impl Iterator<Item = u32>) -> bool {
        let number = self.place(number, turn);
        back.into_iter().all(|back| number.checked_sub(back.into()).is_some_and(|frame| self.given.contains(&frame)))
    }

    fn on_given(&mut self, number: u32, turn: u32) {
        let number = self.place(number, turn);
        self.newest = self.newest.max(Some(number));
        self.given.insert(number);
        self.given = self.given.split_off(&number.saturating_sub(REMEMBERED));
    }
}

/// The modulus of frame numbers in dependency descriptors.
const TURN: u32 = 1 << 16;

/// The frames that the decoder was given.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// The running number of the newest base layer frame.
    base: Option<u8>,
    /// For each layer above the base, whether the decoder was given all its frames that later ones may refer to.
    intact: [bool; UPPER],
    /// By picture ids of VP9's flexible mode.
    pictures: Numbers,
    /// By frame numbers of dependency descriptors.
    frames: Numbers,
}

impl Given {
    /// Returns true if a frame with these declarations can be decoded. `follows` if nothing is missing between it and
    /// the last frame given.
    ///
    /// With references by layer, a frame that is above the base and not `base_only` could refer to any missing frame of
    /// its layer or a lower one, so it waits.
    pub(super) fn suffices(&self, says: &Says, follows: bool) -> bool {
        if let Some(Dependency { number, back: Some(back) }) = &says.dependency {
            return self.frames.suffice((*number).into(), TURN, back.iter().map(|back| (*back).into()));
        }
        match &says.described {
            None => follows,
            Some(Depends::Frames(ByFrame { number, turn, back })) => {
                self.pictures.suffice(*number, *turn, back.iter().copied())
            }
            Some(Depends::Layers(ByLayer { base, layer: 0, .. })) => {
                follows || self.base.is_some_and(|last| last.wrapping_add(1) == *base)
            }
            Some(Depends::Layers(ByLayer { base, layer, base_only, .. })) => {
                let below = &self.intact[..usize::from(*layer).min(UPPER)];
                self.base == Some(*base) && (*base_only || follows && below.iter().all(|intact| *intact))
            }
        }
    }

    /// A frame with these declarations was given to the decoder.
    pub(super) fn on_given(&mut self, says: &Says, keyframe: bool, follows: bool) {
        if keyframe {
            *self = Given { intact: [true; UPPER], ..Given::default() };
        } else if !follows {
            // Whatever is missing was in a layer above the base, otherwise this frame could not be decoded.
            self.intact = [false; UPPER];
        }
        if let Some(dependency) = &says.dependency {
            self.frames.on_given(dependency.number.into(), TURN);
        }
        match &says.described {
            None => {}
            Some(Depends::Layers(ByLayer { base, layer, base_only, switching_point })) => {
                self.base = Some(*base);
                let layer = usize::from(*layer).min(UPPER);
                if *base_only && layer > 0 {
                    self.intact[layer - 1] = true;
                }
                if *switching_point {
                    self.intact[layer..].fill(true);
                }
            }
            Some(Depends::Frames(frame)) => self.pictures.on_given(frame.number, frame.turn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(depends: Depends) -> Says {
        Says { described: Some(depends), dependency: None }
    }

    fn vp8(base: u8, layer: u8, base_only: bool) -> Says {
        described(Depends::Layers(ByLayer { base, layer, base_only, switching_point: false }))
    }

    fn flexible(number: u32, turn: u32, back: &[u32]) -> Says {
        described(Depends::Frames(ByFrame { number: number % turn, turn, back: back.to_vec() }))
    }

    /// A dependency descriptor in addition to the VP8 descriptor.
    fn named(number: u32, back: Option<&[u16]>) -> Says {
        let dependency = Some(Dependency { number: number as u16, back: back.map(<[u16]>::to_vec) });
        Says { dependency, ..pattern(number) }
    }

    /// Distance of the reference of a place.
    fn back(place: u32) -> u32 {
        match place % 4 {
            0 => 4,
            2 => 2,
            _ => 1,
        }
    }

    /// Rebera's pattern in VP8 descriptors, by place.
    fn pattern(place: u32) -> Says {
        let base = (place / 4) as u8;
        match place % 4 {
            0 => vp8(base, 0, place == 0),
            2 => vp8(base, 1, true),
            odd => vp8(base, 2, odd == 1),
        }
    }

    /// Gives every decodable frame of these places, in order; returns the places given.
    fn given(places: &[u32], says: impl Fn(u32) -> Says) -> Vec<u32> {
        let (mut given, mut last) = (Given::default(), None);
        let mut out = Vec::new();
        for place in places {
            let follows = last.is_none_or(|last: u32| last + 1 == *place);
            if *place == 0 || given.suffices(&says(*place), follows) {
                given.on_given(&says(*place), *place == 0, follows);
                last = Some(*place);
                out.push(*place);
            }
        }
        out
    }

    #[test]
    fn a_missing_frame_of_an_upper_layer_does_not_stop_the_base() {
        assert_eq!(given(&[0, 1, 2, 3, 4, 5], pattern), [0, 1, 2, 3, 4, 5]);
        assert_eq!(given(&[0, 1, 4, 5, 6, 8], pattern), [0, 1, 4, 5, 6, 8]);
        assert_eq!(given(&[0, 2, 4, 6, 7, 8], pattern), [0, 2, 4, 6, 8]);
        // Without the base layer no later frame is decodable.
        assert_eq!(given(&[0, 1, 5, 6, 8, 9], pattern), [0, 1]);
    }

    #[test]
    fn what_may_refer_to_a_missing_frame_waits() {
        // 3 refers to 2; according to its layer it could also refer to 1.
        assert_eq!(given(&[0, 1, 3, 4], pattern), [0, 1, 4]);
        assert_eq!(given(&[0, 2, 3, 4], pattern), [0, 2, 4]);
    }

    #[test]
    fn where_frames_name_their_references_every_legal_subset_is_given() {
        let subsets = [&[0, 2, 3, 4, 5, 8, 10, 11][..], &[0, 1, 4, 6, 7, 8]];
        let (long, short) = (1 << 15, 1 << 7);
        for places in subsets {
            for turn in [long, short] {
                let says = |place: u32| flexible(place, turn, &[back(place)][usize::from(place == 0)..]);
                assert_eq!(given(places, says), places);
                // Frames whose references are missing are not given.
                assert_eq!(given(&[0, 1, 3, 4, 9], says), [0, 1, 4]);
            }
            let says = |place: u32| named(place, Some(&[back(place) as u16][usize::from(place == 0)..]));
            assert_eq!(given(places, says), places);
            assert_eq!(given(&[0, 1, 3, 4, 9], says), [0, 1, 4]);
        }
    }

    #[test]
    fn a_descriptor_whose_structure_is_missing_says_its_number_for_those_after_it() {
        // The first three have VP8 descriptors only, the others name their references.
        let says = |place: u32| named(place, (place > 2).then_some(&[back(place) as u16][..]));
        assert_eq!(given(&[0, 1, 2, 3, 4, 6, 7, 8], says), [0, 1, 2, 3, 4, 6, 7, 8]);
    }

    #[test]
    fn numbers_of_frames_go_round_and_are_not_taken_for_those_of_the_turn_before() {
        for turn in [1 << 7, 1 << 15] {
            let mut given = Given::default();
            given.on_given(&flexible(turn - 1, turn, &[]), true, true);
            assert!(
                given.suffices(&flexible(1, turn, &[2]), false) && !given.suffices(&flexible(1, turn, &[1]), false)
            );
            // One wrap-around later the same number is a different frame.
            for number in (9..turn + 40).step_by(30) {
                given.on_given(&flexible(number, turn, &[]), false, false);
            }
            assert!(!given.suffices(&flexible(turn, turn, &[1]), false), "{turn}");
        }
        let mut given = Given::default();
        for number in 0..200_000 {
            assert!(number == 0 || given.suffices(&named(number, Some(&[1])), false), "{number}");
            given.on_given(&named(number, Some(&[1])), number == 0, true);
        }
        assert!(given.frames.given.len() <= 4097);
    }

    #[test]
    fn after_a_gap_a_layer_is_whole_again_from_where_it_refers_to_the_base_alone() {
        let mut given = Given::default();
        given.on_given(&pattern(0), true, true);
        given.on_given(&pattern(4), false, false);
        assert!(!given.suffices(&pattern(7), true));
        given.on_given(&pattern(5), false, true);
        assert!(!given.suffices(&pattern(7), true));
        given.on_given(&pattern(6), false, true);
        assert!(given.suffices(&pattern(7), true));
    }

    #[test]
    fn from_a_switching_point_the_layers_above_are_whole() {
        let vp9 = |layer, switching_point| {
            described(Depends::Layers(ByLayer { base: 1, layer, base_only: false, switching_point }))
        };
        let mut given = Given { base: Some(0), ..Given::default() };
        given.on_given(&vp9(0, false), false, false);
        assert!(!given.suffices(&vp9(1, false), true));
        given.on_given(&vp9(0, true), false, true);
        assert!(given.suffices(&vp9(2, false), true) && !given.suffices(&vp9(2, false), false));
    }
}
