//! AV1 by dav1d through the codec interface. dav1d must be installed: ffmpeg, which `make setup-test` installs, brings it.

use thalweg_codecs::Decoder;
use thalweg_codecs::dav1d::{Av1Decoder, is_installed};
use thalweg_units::{Seed, Size};
use thalweg_video::{Picture, Plane};
use thalweg_vp8::ivf;

/// Twelve pictures whose luma rises by 16 from each to the next, whose blue-difference rises to the right and whose
/// red-difference falls downwards, with two keyframes:
///
/// ```sh
/// ffmpeg -f lavfi -i "nullsrc=s=161x91:r=30:d=0.4,format=yuv420p,geq=lum=16+16*N:cb=64+X:cr=200-Y" \
///   -c:v libaom-av1 -usage realtime -cpu-used 8 -lag-in-frames 0 -g 6 -b:v 300k -f ivf av1.ivf
/// ```
const STREAM: &[u8] = include_bytes!("data/av1.ivf");
const SIZE: Size = Size::new(161, 91);
const KEYFRAMES: [usize; 2] = [0, 6];

fn units() -> Vec<Vec<u8>> {
    let units: Vec<_> = ivf::Reader::new(STREAM, &[ivf::AV1]).unwrap().map(|frame| frame.unwrap().bytes).collect();
    assert_eq!(units.len(), 12);
    units
}

/// Luma in the middle, and chroma at both ends of its lines and columns.
fn samples(picture: &Picture) -> [u8; 5] {
    let at = |plane, x: usize, y: usize| picture.plane(plane)[y * Picture::plane_size(SIZE, plane).0 + x];
    [at(Plane::Y, 80, 45), at(Plane::U, 0, 20), at(Plane::U, 80, 20), at(Plane::V, 40, 0), at(Plane::V, 40, 45)]
}

#[test]
fn each_picture_is_the_one_that_was_encoded() {
    assert!(is_installed());
    let mut decoder = Av1Decoder::new().unwrap();
    for (number, unit) in (0u8..).zip(units()) {
        let picture = decoder.decode(&unit).unwrap().expect("each unit is shown at once");
        assert_eq!(picture.size(), SIZE);
        let expected = [16 + 16 * number, 64, 144, 200, 155];
        for (sample, expected) in samples(&picture).into_iter().zip(expected) {
            assert!(sample.abs_diff(expected) <= 12, "picture {number}: {:?}", samples(&picture));
        }
    }
}

#[test]
fn it_waits_for_a_keyframe_at_the_beginning_and_after_what_it_cannot_decode() {
    let units = units();
    let mut decoder = Av1Decoder::new().unwrap();
    let error = decoder.decode(&units[1]).unwrap_err().to_string();
    assert!(error.contains("dav1d AV1 cannot decode a frame of 92 bytes"), "{error}");
    assert!(decoder.decode(&units[0]).unwrap().is_some() && decoder.decode(&units[1]).unwrap().is_some());
    assert!(decoder.decode(&units[2][..20]).is_err() && decoder.decode(&[]).is_err());
    assert!(decoder.decode(&units[3]).is_err());
    for unit in &units[KEYFRAMES[1]..] {
        assert!(decoder.decode(unit).unwrap().is_some());
    }
}

#[test]
fn damaged_units_are_refused_or_decoded_and_do_no_harm() {
    let units = units();
    let mut random = Seed::new(1).child("damage").random();
    for _ in 0..200 {
        let mut decoder = Av1Decoder::new().unwrap();
        for unit in &units {
            let mut unit = unit.clone();
            for _ in 0..random.below(3) {
                let at = random.below(unit.len() as u64) as usize;
                unit[at] ^= 1 << random.below(8);
            }
            let _ = decoder.decode(&unit);
        }
        // Whatever it was given, a keyframe is decoded.
        assert!(decoder.decode(&units[0]).unwrap().is_some());
    }
}
