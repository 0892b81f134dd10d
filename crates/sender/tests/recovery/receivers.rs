//! Two receivers, exact as far as their metadata allows.

use std::collections::{BTreeMap, BTreeSet};

use thalweg_media::feedback::DecoderReport;
use thalweg_sender::Fragment;
use thalweg_sender::frames::StateHash;
use thalweg_units::Span;

use crate::encoder::{Made, NOTHING, Pictures, mixed};

pub trait Receiver {
    /// A fragment arrived; `made` has every frame as it was encoded. Returns the frames decoded exactly now.
    fn on_fragment(&mut self, fragment: Fragment, made: &[Made]) -> Vec<u64>;

    /// The decoder report that goes with the reports of arrivals.
    fn report(&self) -> Option<DecoderReport>;
}

#[derive(Debug)]
struct Partial {
    template: Fragment,
    came: BTreeSet<u16>,
}

impl Partial {
    fn new(template: Fragment) -> Partial {
        Partial { template, came: BTreeSet::new() }
    }

    fn is_whole(&self) -> bool {
        self.came.len() == usize::from(self.template.count)
    }
}

/// Decodes each complete frame once its reference is decoded, and nothing older than the newest decoded.
#[derive(Debug, Default)]
pub struct Standard {
    partial: BTreeMap<u64, Partial>,
    decoded: BTreeSet<u64>,
    pictures: Pictures,
}

impl Receiver for Standard {
    fn on_fragment(&mut self, fragment: Fragment, made: &[Made]) -> Vec<u64> {
        if self.decoded.last().is_some_and(|newest| fragment.frame <= *newest) {
            return Vec::new();
        }
        let partial = self.partial.entry(fragment.frame).or_insert_with(|| Partial::new(fragment));
        partial.came.insert(fragment.index);
        let mut shown = Vec::new();
        while let Some(frame) = self.next() {
            let meant = &made[frame as usize];
            let picture = self.pictures.decode(meant);
            assert_eq!(picture, meant.picture, "frame {frame} could be decoded and is not what was meant: {meant:?}");
            self.decoded.insert(frame);
            self.partial = self.partial.split_off(&(frame + 1));
            shown.push(frame);
        }
        shown
    }

    fn report(&self) -> Option<DecoderReport> {
        None
    }
}

impl Standard {
    fn next(&self) -> Option<u64> {
        let has = |partial: &Partial| {
            let template = &partial.template;
            template.keyframe || template.depends_on.is_some_and(|frame| self.decoded.contains(&frame))
        };
        let ready = |(_, partial): &(&u64, &Partial)| partial.is_whole() && has(partial);
        self.partial.iter().find(ready).map(|(frame, _)| *frame)
    }
}

/// Keeps at most `max` states by their hashes (specs/salsify.md 2).
#[derive(Debug)]
pub struct Keeping {
    max: usize,
    next_frame: u64,
    partial: Option<Partial>,
    current: StateHash,
    complete: Vec<StateHash>,
    evicted: BTreeSet<StateHash>,
    /// Whether the sender cannot know which states were dropped: because of `max`, or because of false reports.
    unpredictable: bool,
    newest: Option<(u64, u16)>,
}

impl Keeping {
    pub fn new(max: usize) -> Keeping {
        Keeping {
            max,
            next_frame: 0,
            partial: None,
            current: NOTHING,
            complete: Vec::new(),
            evicted: BTreeSet::new(),
            unpredictable: false,
            newest: None,
        }
    }

    /// A receiver whose reports are altered on the way to the sender.
    pub fn of_a_liar(max: usize) -> Keeping {
        Keeping { unpredictable: true, ..Keeping::new(max) }
    }

    fn damage(&mut self, with: u64) {
        self.current = StateHash(mixed(&[self.current.0, with, 0xdead]));
    }

    fn evict(&mut self, count: usize, from: usize) {
        self.evicted.extend(self.complete.drain(from..from + count));
    }

    /// Whether a complete frame was decoded exactly.
    fn decode(&mut self, frame: u64, made: &Made) -> bool {
        let source = made.transition.source;
        let position = self.complete.iter().position(|state| *state == source);
        if made.keyframe {
            self.current = made.transition.target;
        } else {
            assert!(
                self.unpredictable || !self.evicted.contains(&source),
                "frame {frame} leads from a state the sender let go"
            );
            if position.is_some() {
                self.current = source;
            }
            if self.current == source {
                self.evict(position.unwrap_or(0), 0);
                self.current = made.transition.target;
            } else {
                self.damage(made.content);
            }
        }
        if self.current != made.transition.target {
            return false;
        }
        if self.complete.len() >= self.max {
            // The oldest is the one that the sender encodes from.
            self.unpredictable = true;
            self.evict(1, 1);
        }
        self.complete.push(self.current);
        assert!(self.complete.len() <= self.max);
        true
    }
}

impl Receiver for Keeping {
    fn on_fragment(&mut self, fragment: Fragment, made: &[Made]) -> Vec<u64> {
        if fragment.frame < self.next_frame {
            return Vec::new();
        }
        if fragment.frame > self.next_frame {
            if let Some(partial) = self.partial.take()
                && partial.came.contains(&0)
            {
                self.damage(partial.template.frame);
            }
            self.next_frame = fragment.frame;
        }
        self.newest = self.newest.max(Some((fragment.frame, fragment.index)));
        let partial = self.partial.get_or_insert_with(|| Partial::new(fragment));
        partial.came.insert(fragment.index);
        if !partial.is_whole() {
            return Vec::new();
        }
        self.partial = None;
        self.next_frame = fragment.frame + 1;
        let exact = self.decode(fragment.frame, &made[fragment.frame as usize]);
        exact.then_some(fragment.frame).into_iter().collect()
    }

    fn report(&self) -> Option<DecoderReport> {
        let (frame, fragment) = self.newest?;
        let (current, complete) = (self.current, self.complete.clone());
        Some(DecoderReport { frame, fragment, interarrival: Span::from_micros(900), current, complete })
    }
}
