//! The fast kernels compared with the plain ones, at sizes that are not multiples of a chunk.

use proptest::prelude::*;
use thalweg_units::Seed;
use thalweg_video::{Picture, Plane, Size, quality, scale};

/// A picture of noise over slow waves, and another that differs from it by at most `error`.
fn pair(size: Size, seed: u64, error: u64) -> (Picture, Picture) {
    let mut random = Seed::new(seed).random();
    let mut a = Picture::filled(size, 0, 128, 128);
    for (index, sample) in a.plane_mut(Plane::Y).iter_mut().enumerate() {
        *sample = ((index / 7) as u64 % 200 + random.below(56)) as u8;
    }
    let mut b = a.clone();
    for sample in b.plane_mut(Plane::Y) {
        let difference = random.below(2 * error + 1) as i64 - error as i64;
        *sample = (i64::from(*sample) + difference).clamp(0, 255) as u8;
    }
    (a, b)
}

fn sizes(from: u16) -> impl Strategy<Value = Size> {
    (from..140, from..70).prop_map(|(width, height)| Size::new(width, height))
}

proptest! {
    #[test]
    fn the_squared_error_is_that_of_the_plain_sum(size in sizes(1), seed in any::<u64>(), error in 0u64..256) {
        let (a, b) = pair(size, seed, error);
        prop_assert_eq!(quality::mean_squared_error(&a, &b), super::reference::mean_squared_error(a.plane(Plane::Y), b.plane(Plane::Y)));
    }

    #[test]
    fn ssim_over_windows_is_that_of_the_plain_sum(size in sizes(8), seed in any::<u64>(), error in 0u64..256) {
        let (a, b) = pair(size, seed, error);
        let wanted =
            super::reference::window_ssim(a.plane(Plane::Y), b.plane(Plane::Y), usize::from(size.width), usize::from(size.height));
        prop_assert!((quality::ssim(&a, &b) - wanted).abs() < 1e-11, "{} is not {wanted}", quality::ssim(&a, &b));
    }

    #[test]
    fn ssim_under_a_gaussian_is_that_of_the_plain_sum(size in sizes(1), seed in any::<u64>(), error in 0u64..256) {
        let (a, b) = pair(size, seed, error);
        let wanted =
            super::reference::gaussian_ssim(a.plane(Plane::Y), b.plane(Plane::Y), usize::from(size.width), usize::from(size.height));
        let got = quality::ssim_daala(&a, &b);
        prop_assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
    }

    #[test]
    fn scaling_gives_the_bytes_of_the_plain_filter(from in sizes(1), to in sizes(1), seed in any::<u64>()) {
        let (mut picture, _) = pair(from, seed, 0);
        let mut random = Seed::new(seed).child("chroma").random();
        for plane in [Plane::U, Plane::V] {
            picture.plane_mut(plane).iter_mut().for_each(|sample| *sample = random.below(256) as u8);
        }
        let scaled = scale(&picture, to);
        for plane in Plane::ALL {
            let (from, to) = (Picture::plane_size(from, plane), Picture::plane_size(to, plane));
            let wanted = if from == to { picture.plane(plane).to_vec() } else { super::reference::scale_plane(picture.plane(plane), from, to) };
            prop_assert!(scaled.plane(plane) == wanted, "{plane:?} from {from:?} to {to:?}");
        }
    }
}
