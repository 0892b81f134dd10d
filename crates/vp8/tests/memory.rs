//! The memory of kept states, as measured in the allocator.
#![allow(unsafe_code)] // An allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use thalweg_vp8::encode::{Plan, Settings, encode};
use thalweg_vp8::{Image, Size, State, decode};

/// Counts the bytes that are allocated.
struct Counting;

static BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is the system allocator's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn each_kept_state_costs_one_picture_and_less_than_20_kilobytes() {
    let size = Size::new(640, 368).unwrap();
    let frames = frames(size);
    let mut states = vec![State::new()];
    states.reserve(frames.len());
    let mut before = 0;
    for frame in &frames {
        // Half of them are kept before counting: by then all pooled buffers are in use.
        if states.len() == frames.len() / 2 {
            before = BYTES.load(Relaxed);
        }
        states.push(decode(states.last().unwrap(), frame).unwrap().state);
    }
    let kept = frames.len() - (frames.len() / 2 - 1);
    let each = (BYTES.load(Relaxed) - before) / kept;
    let picture = size.pixels() * 3 / 2;
    println!("{each} bytes each, of which {picture} are the picture");
    assert!((picture - picture / 20..picture + 20_000).contains(&each), "{each} bytes each, a picture is {picture}");
    // All states are still there, each with its own picture.
    let hashes: std::collections::BTreeSet<_> = states.iter().map(State::hash).collect();
    assert_eq!(hashes.len(), frames.len() + 1);
}

/// A key frame and inter frames, each predicted from the previous one.
fn frames(size: Size) -> Vec<Vec<u8>> {
    let mut state = State::new();
    (0..40)
        .map(|time: usize| {
            let pixel = |i: usize| (i % 640 / 5 + i / 640 / 3 + time * 5) as u8;
            let bytes: Vec<u8> = (0..Image::i420_length(size)).map(pixel).collect();
            let image = Image::from_i420(size, &bytes).unwrap();
            let plan = if time == 0 { Plan::key(40) } else { Plan::inter(40) };
            let coded = encode(&state, &image, &plan, &Settings::default()).unwrap();
            state = coded.state;
            coded.frame
        })
        .collect()
}
