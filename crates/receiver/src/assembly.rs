//! Assembles fragments into frames, and orders frames for decoding.

use std::collections::{BTreeMap, VecDeque};

use thalweg_types::Fragment;
use thalweg_units::Time;

use crate::order::{self, FRAMES};

/// A frame that is ready to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameInfo {
    /// The frame number.
    pub frame: u64,
    /// The number of its picture.
    pub picture: u64,
    /// When the picture was captured.
    pub captured: Time,
}

#[derive(Debug, Clone)]
struct Partial {
    template: Fragment,
    received: Vec<bool>,
    left: u16,
}

/// Max distance of a reference in frames: a long-term buffer is refreshed long before.
const REMEMBERED: usize = 1024;

/// Incomplete frames, and complete ones waiting for their reference.
#[derive(Debug, Default)]
pub struct Assembly {
    frames: BTreeMap<u64, Partial>,
    /// Recently decoded frames, in order: the newest, and those that may still be in a long-term buffer.
    decoded: VecDeque<u64>,
    abandoned: VecDeque<u64>,
    /// True if nothing says what a frame refers to: then it is taken to need the one before it.
    pub(crate) in_order: bool,
}

impl Assembly {
    /// Takes a fragment; returns the frames that can now be decoded, in order.
    pub fn on_fragment(&mut self, fragment: Fragment) -> Vec<FrameInfo> {
        if self.decoded.back().is_some_and(|newest| fragment.frame <= *newest) {
            return Vec::new();
        }
        if self.frames.len() >= FRAMES && !self.frames.contains_key(&fragment.frame) {
            self.abandoned.extend(std::mem::take(&mut self.frames).into_keys());
        }
        let partial = self.frames.entry(fragment.frame).or_insert_with(|| Partial {
            template: fragment,
            received: vec![false; fragment.count.into()],
            left: fragment.count,
        });
        match partial.received.get_mut(usize::from(fragment.index)) {
            Some(received) if !*received => {
                *received = true;
                partial.left -= 1;
            }
            _ => return Vec::new(),
        }
        self.ready()
    }

    fn ready(&mut self) -> Vec<FrameInfo> {
        let mut ready = Vec::new();
        loop {
            let decodable = |partial: &Partial| {
                let Fragment { frame, keyframe, depends_on, .. } = partial.template;
                let depends_on = if self.in_order { frame.checked_sub(1) } else { depends_on };
                let is_here = |needed: u64| self.decoded.binary_search(&needed).is_ok();
                partial.left == 0 && (keyframe || depends_on.is_some_and(is_here))
            };
            let next = self.frames.iter().find(|(_, partial)| decodable(partial)).map(|(frame, _)| *frame);
            let Some((frame, (Partial { template, .. }, before))) =
                next.and_then(|frame| Some((frame, order::take(&mut self.frames, frame)?)))
            else {
                return ready;
            };
            self.abandoned.extend(before.into_keys());
            ready.push(FrameInfo { frame, picture: template.picture, captured: template.captured });
            self.decoded.push_back(frame);
            if self.decoded.len() > REMEMBERED {
                self.decoded.pop_front();
            }
        }
    }

    /// Returns true if any frame is incomplete or waits for its reference.
    pub fn waits(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Returns true if only a keyframe can help: nothing was decoded yet, or a complete frame waits for a reference
    /// that never arrived.
    pub fn needs_keyframe(&self) -> bool {
        self.decoded.is_empty()
    }

    /// The next abandoned frame.
    pub fn poll_abandoned(&mut self) -> Option<u64> {
        self.abandoned.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fragment;

    fn feed(assembly: &mut Assembly, fragments: &[Fragment]) -> Vec<u64> {
        fragments.iter().flat_map(|f| assembly.on_fragment(*f)).map(|info| info.frame).collect()
    }

    #[test]
    fn frames_come_out_whole_and_in_order_whatever_order_fragments_come_in() {
        let mut assembly = Assembly::default();
        let fragments = [
            fragment(1, (0, 1), Some(0)),
            fragment(0, (1, 2), None),
            fragment(0, (1, 2), None),
            fragment(0, (0, 2), None),
            fragment(2, (0, 1), Some(1)),
        ];
        assert_eq!(feed(&mut assembly, &fragments), [0, 1, 2]);
    }

    #[test]
    fn frames_that_wait_for_what_never_comes_are_given_up_when_they_are_too_many() {
        let mut assembly = Assembly::default();
        let waiting: Vec<Fragment> = (1..10_000).map(|frame| fragment(frame, (0, 1), Some(frame - 1))).collect();
        assert_eq!(feed(&mut assembly, &waiting), [0u64; 0]);
        assert!(assembly.frames.len() <= FRAMES);
        assert_eq!(std::iter::from_fn(|| assembly.poll_abandoned()).collect::<Vec<_>>(), (1..9601).collect::<Vec<_>>());
        assert_eq!(feed(&mut assembly, &[fragment(10_000, (0, 1), None)]), [10_000]);
    }

    #[test]
    fn a_frame_that_goes_back_over_a_loss_is_decoded_only_where_it_can_say_so() {
        let loses_two = [
            fragment(0, (0, 1), None),
            fragment(1, (0, 1), Some(0)),
            fragment(3, (0, 1), Some(2)),
            fragment(4, (0, 1), Some(1)),
            fragment(5, (0, 1), Some(4)),
        ];
        let decoded = |in_order| feed(&mut Assembly { in_order, ..Assembly::default() }, &loses_two);
        assert_eq!((decoded(false), decoded(true)), (vec![0, 1, 4, 5], vec![0, 1]));
        // What was lost comes late: all are decoded in order, or nothing that is older than what was shown.
        let late = [&loses_two[..], &[fragment(2, (0, 1), Some(1))]].concat();
        let decoded = |in_order| feed(&mut Assembly { in_order, ..Assembly::default() }, &late);
        assert_eq!((decoded(false), decoded(true)), (vec![0, 1, 4, 5], vec![0, 1, 2, 3, 4, 5]));
    }

    #[test]
    fn a_keyframe_gives_up_what_was_missing_before_it() {
        let mut assembly = Assembly::default();
        feed(&mut assembly, &[fragment(0, (0, 1), None), fragment(1, (0, 2), Some(0)), fragment(2, (0, 1), Some(1))]);
        assert_eq!(feed(&mut assembly, &[fragment(3, (0, 1), None)]), [3]);
        assert_eq!((assembly.poll_abandoned(), assembly.poll_abandoned()), (Some(1), Some(2)));
        assert_eq!(feed(&mut assembly, &[fragment(1, (1, 2), Some(0))]), [0u64; 0]);
    }
}
