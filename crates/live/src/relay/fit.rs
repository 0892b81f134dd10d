//! Pictures of any shape in one of a given shape.

use std::sync::Arc;

use thalweg_units::Size;
use thalweg_video::{Picture, Plane, scale};

/// Shapes that differ by less are the same: sizes are rounded to whole samples, or to blocks.
const SAME: f64 = 0.03;

/// The picture in the shape of `size`: itself if it has that, at whatever size; otherwise whole in the middle of a black
/// one of `size`, as of a telephone that is held upright.
pub(super) fn fitted(picture: Arc<Picture>, size: Size) -> Arc<Picture> {
    let shape = |size: Size| f64::from(size.width) / f64::from(size.height);
    let own = picture.size();
    if own.pixels() == 0 || size.pixels() == 0 || (shape(own) / shape(size) - 1.0).abs() < SAME {
        return picture;
    }
    let ratio = (f64::from(size.width) / f64::from(own.width)).min(f64::from(size.height) / f64::from(own.height));
    let side = |own: u16, most: u16| (((f64::from(own) * ratio / 2.0).round() as u16) * 2).clamp(2.min(most), most);
    let inner = scale(&picture, Size::new(side(own.width, size.width), side(own.height, size.height)));
    let mut whole = Picture::filled(size, 16, 128, 128);
    // In samples of chroma, so that each is where it was beside the luma.
    let before = |all: u16, part: u16| usize::from(all - part) / 4;
    let (left, top) = (before(size.width, inner.size().width), before(size.height, inner.size().height));
    for plane in Plane::ALL {
        let (width, columns) = (Picture::plane_size(size, plane).0, Picture::plane_size(inner.size(), plane).0);
        let (left, top) = if plane == Plane::Y { (2 * left, 2 * top) } else { (left, top) };
        let target = whole.plane_mut(plane);
        for (row, samples) in inner.plane(plane).chunks_exact(columns).enumerate() {
            let start = (top + row) * width + left;
            target[start..start + columns].copy_from_slice(samples);
        }
    }
    Arc::new(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_of_about_the_shape_is_left_as_it_is() {
        for (width, height) in [(640, 360), (320, 180), (480, 270), (636, 358), (1280, 720)] {
            let picture = Arc::new(Picture::filled(Size::new(width, height), 90, 100, 110));
            assert!(Arc::ptr_eq(&fitted(picture.clone(), Size::new(640, 360)), &picture), "{width}x{height}");
        }
    }

    #[test]
    fn one_of_another_shape_is_whole_between_black_bars() {
        let size = Size::new(640, 360);
        let upright = fitted(Arc::new(Picture::filled(Size::new(360, 640), 90, 100, 110)), size);
        assert_eq!(upright.size(), size);
        let (luma, u) = (upright.plane(Plane::Y), upright.plane(Plane::U));
        let bright = luma[..640].iter().filter(|sample| **sample == 90).count();
        assert_eq!(bright, 202);
        assert_eq!((luma[0], luma[320], luma[639]), (16, 90, 16));
        assert_eq!(u[..320].iter().filter(|sample| **sample == 100).count(), 101);
        // Each row is the same, to the last.
        assert!(luma.chunks_exact(640).all(|row| row == &luma[..640]));
        let wide = fitted(Arc::new(Picture::filled(Size::new(1000, 100), 90, 100, 110)), size);
        let bright =
            wide.plane(Plane::Y).chunks_exact(640).filter(|row| row.iter().all(|sample| *sample == 90)).count();
        assert_eq!(bright, 64);
        for (width, height) in [(1, 1), (1, 4000), (16_383, 1), (3, 5)] {
            let odd = fitted(Arc::new(Picture::filled(Size::new(width, height), 90, 100, 110)), Size::new(321, 181));
            assert_eq!(odd.size(), Size::new(321, 181));
        }
    }
}
