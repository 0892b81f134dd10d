//! Uses of a functional encoder in a sender: to code two candidates of a picture and choose one, to skip a picture, and
//! to go back to a state that its receiver is known to have.
//!
//! ```text
//! cargo run -p thalweg-vp8 --release --example late_choice
//! ```

use thalweg_vp8::encode::{Analysis, EncodeError, Plan, Settings, encode};
use thalweg_vp8::{Image, Size, State, decode};

/// A bright ball that moves over a gradient.
fn picture(size: Size, time: usize) -> Image {
    let mut bytes = vec![128; Image::i420_length(size)];
    let (center_x, center_y) = (60 + 9 * time, 90 + 4 * time);
    for (i, pixel) in bytes[..size.pixels()].iter_mut().enumerate() {
        let (x, y) = (i % size.width(), i / size.width());
        let is_inside = x.abs_diff(center_x).pow(2) + y.abs_diff(center_y).pow(2) < 40 * 40;
        *pixel = if is_inside { 200 } else { 40 + (x * 80 / size.width() + y * 60 / size.height()) as u8 };
    }
    Image::from_i420(size, &bytes).expect("as many bytes as the size says")
}

fn main() -> Result<(), EncodeError> {
    let size = Size::new(640, 360).expect("a size of VP8");
    let settings = Settings::default();
    let key = encode(&State::default(), &picture(size, 0), &Plan::key(40), &settings)?;
    println!("0: key frame, {} bytes, state {}", key.frame.len(), key.state.hash());
    let mut state = key.state.clone();
    for time in 1..8 {
        let image = picture(size, time);
        // The capacity of the path is known only after the candidates are coded.
        let room = [900, 300, 40, 700, 500, 2000, 800][time - 1];
        let analysis = Analysis::new(&state, &image, &Plan::inter(40), &settings)?;
        let candidates = [analysis.encode(25), analysis.encode(63)];
        let sizes = [&candidates[0], &candidates[1]].map(|candidate| candidate.frame.len());
        match candidates.into_iter().find(|candidate| candidate.frame.len() <= room) {
            Some(chosen) => {
                println!("{time}: room for {room}, candidates {sizes:?}, quantiser {} is sent", chosen.quantizer);
                state = chosen.state;
            }
            None => println!("{time}: room for {room}, candidates {sizes:?}, skipped: the state stays"),
        }
    }
    // The receiver has lost everything after the key frame: the next frame starts from there.
    let recovery = encode(&key.state, &picture(size, 8), &Plan::inter(40), &settings)?;
    let shown = decode(&key.state, &recovery.frame).expect("what the encoder made");
    assert!(shown.image == recovery.image);
    println!("8: from the key frame's state again, {} bytes, no new key frame", recovery.frame.len());
    Ok(())
}
