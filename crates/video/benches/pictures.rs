//! Milliseconds per picture of each kernel and of its plain version: `cargo bench -p thalweg-video [-- word of a
//! name]`. Shows the minimum of many runs, which is least affected by other work on the machine.

#[path = "../tests/reference/mod.rs"]
mod reference;

use std::hint::black_box;

use thalweg_video::source::{Format, Scene, SceneConfig};
use thalweg_video::{Picture, Plane, Size, quality, scale};

fn main() {
    println!("{:<34} {:>9} {:>9} {:>8}", "", "ms", "plain ms", "ratio");
    for size in [Size::HD, Size::FULL_HD] {
        let (a, b) = pictures(size);
        let (width, height) = (usize::from(size.width), usize::from(size.height));
        let (left, right) = (a.plane(Plane::Y), b.plane(Plane::Y));
        line(
            &format!("MSE {size}"),
            || quality::mean_squared_error(&a, &b),
            || reference::mean_squared_error(left, right),
        );
        line(
            &format!("8x8 SSIM {size}"),
            || quality::ssim(&a, &b),
            || reference::window_ssim(left, right, width, height),
        );
        line(
            &format!("Daala SSIM {size}"),
            || quality::ssim_daala(&a, &b),
            || reference::gaussian_ssim(left, right, width, height),
        );
        alone(&format!("MS-SSIM {size}"), || quality::ms_ssim(&a, &b));
        let scene = scene(size);
        let mut number = 0;
        let next = || {
            number += 1;
            scene.picture(number)
        };
        alone(&format!("scene {size}"), next);
    }
    for (from, to) in
        [((1280, 720), (960, 540)), ((960, 540), (1280, 720)), ((1280, 720), (320, 180)), ((1920, 1080), (1280, 720))]
    {
        let (from, to) = (Size::new(from.0, from.1), Size::new(to.0, to.1));
        let picture = pictures(from).0;
        line(
            &format!("scale {from} to {to}"),
            || scale(&picture, to),
            || {
                Plane::ALL.map(|plane| {
                    reference::scale_plane(
                        picture.plane(plane),
                        Picture::plane_size(from, plane),
                        Picture::plane_size(to, plane),
                    )
                })
            },
        );
    }
}

fn scene(size: Size) -> Scene {
    Scene::new(SceneConfig { format: Format { size, frame_rate: (30, 1) }, ..SceneConfig::default() })
}

/// Two similar pictures.
fn pictures(size: Size) -> (Picture, Picture) {
    let scene = scene(size);
    (scene.picture(100), scene.picture(101))
}

fn line<A, B>(name: &str, fast: impl FnMut() -> A, plain: impl FnMut() -> B) {
    if !wanted(name) {
        return;
    }
    let (fast, plain) = (milliseconds(fast), milliseconds(plain));
    println!("{name:<34} {fast:>9.3} {plain:>9.3} {:>7.1}x", plain / fast);
}

/// Prints a line for a kernel without a plain version.
fn alone<T>(name: &str, work: impl FnMut() -> T) {
    if wanted(name) {
        println!("{name:<34} {:>9.3}", milliseconds(work));
    }
}

fn wanted(name: &str) -> bool {
    std::env::args().skip(1).all(|word| word.starts_with('-') || name.contains(&word))
}

/// The minimum time of runs over half a second, at least three.
#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
fn milliseconds<T>(mut work: impl FnMut() -> T) -> f64 {
    let start = std::time::Instant::now();
    let mut min = f64::INFINITY;
    let mut runs = 0;
    while runs < 3 || start.elapsed().as_secs_f64() < 0.5 {
        let before = std::time::Instant::now();
        black_box(work());
        min = min.min(before.elapsed().as_secs_f64() * 1e3);
        runs += 1;
    }
    min
}
