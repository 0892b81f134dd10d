//! Packets lost, late and duplicated.

use super::*;
use proptest::prelude::*;

/// A decoder that represents each state by its hash.
struct Hashes {
    current: StateHash,
    kept: BTreeSet<StateHash>,
}

impl Hashes {
    /// Executes the moves; fails where that is impossible.
    fn follow(&mut self, moves: &Moves, transition: Transition, keyframe: bool) -> Result<(), TestCaseError> {
        for gone in &moves.forget {
            prop_assert!(self.kept.remove(gone), "{} is forgotten but was not kept", gone);
        }
        if let Some(state) = moves.load {
            prop_assert!(state == INITIAL || self.kept.contains(&state), "{} was not kept", state);
            self.current = state;
        }
        let exact = moves.length.is_none() && (keyframe || self.current == transition.source);
        self.current = if exact { transition.target } else { StateHash::UNKNOWN };
        if let Some(target) = moves.target {
            prop_assert_eq!(self.current, target);
            self.kept.insert(target);
        }
        Ok(())
    }
}

proptest! {
    #[test]
    fn whatever_comes_in_whatever_order_the_decoder_can_do_what_it_is_told_and_is_where_the_report_says(
        // Distance of the source (0: a keyframe), the target, the number of fragments, and for each fragment: lost,
        // late or duplicated.
        frames in prop::collection::vec((0usize..5, 0u64..40, 1u16..4, prop::collection::vec(0u8..8, 3)), 1..120),
        max_states in 2usize..6,
        shows_damage: bool,
        window in 0i64..6,
    ) {
        let reordering_window = Span::from_millis(window);
        let mut talk = Talk::new(StatefulReceiver { max_states, shows_damage, reordering_window, ..paper() });
        let mut decoder = Hashes { current: INITIAL, kept: BTreeSet::new() };
        let mut sent: Vec<Fragment> = Vec::new();
        let mut packets: Vec<(usize, Fragment)> = Vec::new();
        for (number, (back, target, count, fates)) in frames.iter().enumerate() {
            let behind = sent.len().checked_sub(*back).filter(|_| *back > 0 && number > 0);
            let source = behind.and_then(|index| sent.get(index)).and_then(|fragment| fragment.transition);
            let keyframe = source.is_none();
            let source = source.map_or(INITIAL, |transition| transition.target);
            // Here a keyframe and another frame never lead to the same state, nor do frames of different sources.
            let target = if keyframe { *target } else { 100 + (source.0 * 31 + target) % 50 };
            let transition = Some(Transition { source, target: state(target) });
            let whole = Fragment { keyframe, transition, ..fragment(number as u64, None, (0, *count)) };
            sent.push(whole);
            for index in 0..*count {
                let fragment = Fragment { index, ..whole };
                let at = 10 * packets.len();
                match fates[usize::from(index)] {
                    0 => {}
                    1 => packets.push((at + 35, fragment)),
                    2 => packets.extend([(at, fragment), (at + 25, fragment)]),
                    _ => packets.push((at, fragment)),
                }
            }
        }
        packets.sort_by_key(|(at, _)| *at);
        let mut past = BTreeSet::new();
        for (_, fragment) in packets {
            for (frame, moves) in talk.packet(Span::from_millis(1), Span::ZERO, Some(fragment)) {
                prop_assert!(past.insert(frame) && past.last() == Some(&frame), "frame {} after others", frame);
                let frame = sent[frame as usize];
                decoder.follow(&moves, frame.transition.unwrap(), frame.keyframe)?;
            }
            while let Some(frame) = talk.receiver.poll_abandoned() {
                prop_assert!(past.insert(frame), "frame {} was decoded or given up before", frame);
            }
            let Some(report) = talk.report() else { continue };
            let complete: BTreeSet<StateHash> = report.complete.iter().copied().collect();
            prop_assert!(complete.len() == report.complete.len() && complete.len() <= max_states);
            prop_assert_eq!(&complete, &decoder.kept);
            prop_assert!(report.current == StateHash::UNKNOWN || report.current == decoder.current);
        }
    }
}
