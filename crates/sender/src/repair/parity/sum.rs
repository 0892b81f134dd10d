//! The sum of packets: what parity carries.

use thalweg_units::Time;

use crate::frames::{StateHash, Transition};
use crate::packet::Fragment;

const KEYFRAME: u64 = 1;
const DEPENDS: u64 = 2;
const TRANSITION: u64 = 4;
/// Where in the flags the layer is.
const LAYER: u32 = 8;

/// The exclusive or of fragments: with all but one of them added once more, it is that one. On the wire it is that of
/// the packets' bytes (RFC 8627); where packets are descriptions, as in this crate, that of the descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sum([u64; 8]);

impl Sum {
    /// The sum of these.
    pub fn of<'a>(fragments: impl IntoIterator<Item = &'a Fragment>) -> Sum {
        let mut sum = Sum::default();
        for fragment in fragments {
            sum.add(fragment);
        }
        sum
    }

    /// What is in `words`: those of a packet that came, whoever made it.
    pub fn from_words(words: [u64; 8]) -> Sum {
        Sum(words)
    }

    /// Its words: those of the packet, where it is of one alone.
    pub fn words(&self) -> [u64; 8] {
        self.0
    }

    /// Adds one; a second time, takes it away.
    pub fn add(&mut self, fragment: &Fragment) {
        for (sum, word) in self.0.iter_mut().zip(words(fragment)) {
            *sum ^= word;
        }
    }

    /// The one fragment this is the sum of; `None` when there is no such fragment, because the sum was none of those
    /// packets.
    pub fn fragment(&self) -> Option<Fragment> {
        let [frame, picture, captured, place, flags, depends_on, source, target] = self.0;
        let fragment = Fragment {
            frame,
            picture,
            captured: Time::from_nanos(captured),
            index: place as u16,
            count: (place >> 16) as u16,
            offset: (place >> 32) as u32,
            length: (flags >> 32) as u32,
            keyframe: flags & KEYFRAME != 0,
            layer: (flags >> LAYER) as u8,
            depends_on: (flags & DEPENDS != 0).then_some(depends_on),
            transition: (flags & TRANSITION != 0)
                .then_some(Transition { source: StateHash(source), target: StateHash(target) }),
        };
        (fragment.index < fragment.count && words(&fragment) == self.0).then_some(fragment)
    }
}

fn words(fragment: &Fragment) -> [u64; 8] {
    let Fragment { frame, picture, captured, index, count, offset, length, keyframe, layer, depends_on, transition } =
        *fragment;
    let flag = |is: bool, flag: u64| if is { flag } else { 0 };
    [
        frame,
        picture,
        captured.as_nanos(),
        u64::from(index) | u64::from(count) << 16 | u64::from(offset) << 32,
        flag(keyframe, KEYFRAME)
            | flag(depends_on.is_some(), DEPENDS)
            | flag(transition.is_some(), TRANSITION)
            | u64::from(layer) << LAYER
            | u64::from(length) << 32,
        depends_on.unwrap_or(0),
        transition.map_or(0, |transition| transition.source.0),
        transition.map_or(0, |transition| transition.target.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn any_fragment() -> impl Strategy<Value = Fragment> {
        let numbers = (any::<u64>(), any::<u64>(), any::<u64>(), any::<u32>(), any::<u32>());
        let place = (1u16..).prop_flat_map(|count| (0..count, Just(count)));
        let states = prop::option::of((any::<u64>(), any::<u64>()));
        (numbers, place, any::<bool>(), prop::option::of(any::<u64>()), states).prop_map(
            |((frame, picture, captured, offset, length), (index, count), keyframe, depends_on, states)| Fragment {
                frame,
                picture,
                captured: Time::from_nanos(captured),
                index,
                count,
                offset,
                length,
                keyframe,
                layer: 0,
                depends_on,
                transition: states
                    .map(|(source, target)| Transition { source: StateHash(source), target: StateHash(target) }),
            },
        )
    }

    proptest! {
        #[test]
        fn whichever_one_is_missing_is_what_the_others_leave(
            fragments in prop::collection::vec(any_fragment(), 1..20),
        ) {
            for missing in 0..fragments.len() {
                let mut sum = Sum::of(&fragments);
                let others = fragments.iter().enumerate().filter(|(index, _)| *index != missing);
                others.for_each(|(_, fragment)| sum.add(fragment));
                prop_assert_eq!(sum.fragment(), Some(fragments[missing]));
            }
        }

        #[test]
        fn a_sum_is_read_only_as_what_would_be_written(words in any::<[u64; 8]>()) {
            if let Some(fragment) = Sum::from_words(words).fragment() {
                prop_assert_eq!(Sum::of(&[fragment]), Sum::from_words(words));
            }
        }
    }

    #[test]
    fn the_sum_of_an_even_number_of_fragments_of_a_frame_is_none() {
        let fragment = |index| Fragment {
            frame: 7,
            picture: 9,
            captured: Time::from_millis(300),
            index,
            count: 4,
            offset: u32::from(index) * 1000,
            length: 1000,
            keyframe: false,
            layer: 0,
            depends_on: Some(6),
            transition: None,
        };
        let fragments: Vec<Fragment> = (0..4).map(fragment).collect();
        assert_eq!(Sum::of(&fragments).fragment(), None);
        assert_eq!(Sum::default().fragment(), None);
    }
}
