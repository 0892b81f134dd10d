//! Soft-edged shapes filled with a cloth texture.

use std::ops::Range;

use super::texture::Surface;
use crate::picture::{Picture, Plane};
use crate::widest::widest;

/// An outline that every row crosses at most twice; in luma samples.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// An ellipse: its centre, and half its width and height.
    Ellipse((f64, f64), (f64, f64)),
    /// The same with the curve |x|^4 + |y|^4 = 1, between an ellipse and its rectangle.
    Block((f64, f64), (f64, f64)),
    /// All points within a distance of a line segment.
    Limb((f64, f64), (f64, f64), f64),
}

/// The fill of a shape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    /// Luma at the centre.
    pub(super) luma: f64,
    /// Both chroma values.
    pub(super) chroma: (u8, u8),
    /// Strength of the texture: luma steps for 128 steps of the cloth.
    pub(super) grain: f64,
    /// How much darker the sides are, in luma steps, as on a round object.
    pub(super) round: f64,
    /// The origin of the texture.
    pub(super) anchor: (f64, f64),
}

impl Shape {
    /// Paints the shape over `picture`. The edge is anti-aliased: a sample takes the paint in proportion to the part
    /// that the shape covers.
    pub(super) fn paint(&self, picture: &mut Picture, paint: &Paint, cloth: &Surface) {
        self.paint_plane(picture, Plane::Y, paint, paint.luma, cloth);
        let half = |(x, y): (f64, f64)| (x / 2.0, y / 2.0);
        let small = match *self {
            Shape::Ellipse(centre, radius) => Shape::Ellipse(half(centre), half(radius)),
            Shape::Block(centre, radius) => Shape::Block(half(centre), half(radius)),
            Shape::Limb(from, to, radius) => Shape::Limb(half(from), half(to), radius / 2.0),
        };
        let plain = Paint { grain: 0.0, round: 0.0, ..*paint };
        small.paint_plane(picture, Plane::U, &plain, f64::from(paint.chroma.0), cloth);
        small.paint_plane(picture, Plane::V, &plain, f64::from(paint.chroma.1), cloth);
    }

    fn paint_plane(&self, picture: &mut Picture, plane: Plane, paint: &Paint, value: f64, cloth: &Surface) {
        let (width, height) = Picture::plane_size(picture.size(), plane);
        let samples = picture.plane_mut(plane);
        let origin = (libm::round(paint.anchor.0) as i64, libm::round(paint.anchor.1) as i64);
        let (centre, radius) = self.bounds();
        for y in within(centre.1 - radius.1 - 0.5, centre.1 + radius.1 + 0.5, height) {
            // The edges cross this row somewhere between its upper and its lower border.
            let at = y as f64;
            let (above, middle, below) = (self.chord(at - 0.5), self.chord(at), self.chord(at + 0.5));
            let Some((outer, inner)) = spread([above, middle, below]) else { continue };
            let columns = within(outer.0, outer.1, width);
            let brush = Brush {
                edges: (outer.0 as f32, outer.1 as f32),
                steepness: ((1.0 / (inner.0 - outer.0)) as f32, (1.0 / (outer.1 - inner.1)) as f32),
                centre: centre.0 as f32,
                // Lit from above.
                value: (value + paint.round * (centre.1 - at) / radius.1) as f32,
                grain: (paint.grain / 128.0) as f32,
                round: (paint.round / (radius.0 * radius.0)) as f32,
            };
            let threads = cloth.row(y as i64 - origin.1);
            let row = &mut samples[y * width..][..width];
            widest(
                #[inline(always)]
                || brush.sweep(row, columns, threads, origin.0),
            );
        }
    }

    /// Centre and half sides of the bounding rectangle.
    fn bounds(&self) -> ((f64, f64), (f64, f64)) {
        match *self {
            Shape::Ellipse(centre, radius) | Shape::Block(centre, radius) => (centre, radius),
            Shape::Limb(from, to, radius) => {
                let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0);
                (middle, ((from.0 - middle.0).abs() + radius, (from.1 - middle.1).abs() + radius))
            }
        }
    }

    /// The interval that the shape covers on the line at height `y`.
    fn chord(&self, y: f64) -> Option<(f64, f64)> {
        let around = |(centre, radius): ((f64, f64), (f64, f64)), full: bool| {
            let height = (y - centre.1) / radius.1;
            let square = height * height;
            let rest = if full { libm::sqrt((1.0 - square * square).max(0.0)) } else { 1.0 - square };
            let half = radius.0 * libm::sqrt(rest.max(0.0));
            (square < 1.0).then_some((centre.0 - half, centre.0 + half))
        };
        match *self {
            Shape::Ellipse(centre, radius) => around((centre, radius), false),
            Shape::Block(centre, radius) => around((centre, radius), true),
            Shape::Limb(from, to, radius) => {
                let round = (radius, radius);
                let ends = [around((from, round), false), around((to, round), false), band(from, to, radius, y)];
                ends.into_iter().flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }
}

/// The interval of the line at height `y` that is within `radius` of a line segment that is not horizontal, beside it
/// and not beyond its ends.
fn band(from: (f64, f64), to: (f64, f64), radius: f64, y: f64) -> Option<(f64, f64)> {
    let (across, down) = (to.0 - from.0, to.1 - from.1);
    let length = libm::sqrt(across * across + down * down);
    if length < 1e-6 || down.abs() < 1e-6 * length {
        return None;
    }
    // Beside the segment: the distance from its line, measured along this one, is at most this.
    let (centre, half) = (from.0 + across * (y - from.1) / down, radius * length / down.abs());
    // Not beyond its ends: the position along the segment is 0 to its length.
    let (mut first, mut last) = (centre - half, centre + half);
    if across.abs() > 1e-6 * length {
        let place = |along: f64| from.0 + (along * length - (y - from.1) * down) / across;
        let (start, end) = (place(0.0), place(length));
        (first, last) = (first.max(start.min(end)), last.min(start.max(end)));
    } else if !(from.1.min(to.1)..=from.1.max(to.1)).contains(&y) {
        return None;
    }
    (first <= last).then_some((first, last))
}

/// Where the coverage of a row begins and ends, and where it is complete, from the intervals at the row's borders and
/// middle.
fn spread(chords: [Option<(f64, f64)>; 3]) -> Option<((f64, f64), (f64, f64))> {
    let (mut outer, mut inner) = ((f64::INFINITY, f64::NEG_INFINITY), (f64::NEG_INFINITY, f64::INFINITY));
    for (left, right) in chords.into_iter().flatten() {
        outer = (outer.0.min(left), outer.1.max(right));
        inner = (inner.0.max(left), inner.1.min(right));
    }
    if chords.contains(&None) {
        // The shape ends within this row.
        let middle = f64::midpoint(outer.0, outer.1);
        inner = (middle, middle);
    }
    (outer.0 <= outer.1).then_some(((outer.0 - 0.5, outer.1 + 0.5), (inner.0 + 0.5, inner.1 - 0.5)))
}

/// Integer positions from `from` to `to` that are in a plane of this length.
fn within(from: f64, to: f64, length: usize) -> Range<usize> {
    let from = libm::ceil(from).clamp(0.0, length as f64) as usize;
    let to = (libm::floor(to) + 1.0).clamp(0.0, length as f64) as usize;
    from..to.max(from)
}

/// One row of a shape. Each sample is computed with a few IEEE operations in this order: the same on every machine.
struct Brush {
    /// Where the coverage begins and ends.
    edges: (f32, f32),
    /// Increase of the coverage per sample inwards, from the left and from the right.
    steepness: (f32, f32),
    centre: f32,
    value: f32,
    grain: f32,
    round: f32,
}

impl Brush {
    #[inline(always)]
    fn sweep(&self, row: &mut [u8], columns: Range<usize>, threads: &[u8], origin: i64) {
        let mut from = columns.start;
        while from < columns.end {
            // Up to where the cloth repeats.
            let thread = (from as i64 - origin).rem_euclid(threads.len() as i64) as usize;
            let to = (from + threads.len() - thread).min(columns.end);
            for (i, (sample, thread)) in row[from..to].iter_mut().zip(&threads[thread..]).enumerate() {
                let x = (from + i) as i32 as f32;
                let (left, right) = ((x - self.edges.0) * self.steepness.0, (self.edges.1 - x) * self.steepness.1);
                let cover = left.min(right).clamp(0.0, 1.0);
                let away = x - self.centre;
                let paint = self.value + (f32::from(*thread) - 128.0) * self.grain - away * away * self.round;
                let below = f32::from(*sample);
                *sample = (below + (paint.clamp(16.0, 235.0) - below) * cover + 0.5) as i32 as u8;
            }
            from = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::{Seed, Size};

    const PAINT: Paint = Paint { luma: 200.0, chroma: (90, 160), grain: 0.0, round: 0.0, anchor: (0.0, 0.0) };

    /// The luma that `shape` adds to a black picture, in fully covered samples.
    fn area(shape: Shape) -> f64 {
        let mut picture = Picture::filled(Size::new(200, 160), 0, 128, 128);
        shape.paint(&mut picture, &PAINT, &Surface::cloth(1.0, Seed::new(1)));
        picture.plane(Plane::Y).iter().map(|sample| f64::from(*sample)).sum::<f64>() / PAINT.luma
    }

    #[test]
    fn shapes_cover_the_areas_of_geometry() {
        let pi = std::f64::consts::PI;
        let covers = |shape, wanted: f64| {
            let area = area(shape);
            assert!((area / wanted - 1.0).abs() < 0.01, "{shape:?} covers {area}, not {wanted}");
        };
        covers(Shape::Ellipse((100.3, 80.7), (40.0, 25.5)), pi * 40.0 * 25.5);
        // The area inside |x|^4 + |y|^4 = 1 is 3.7081.
        covers(Shape::Block((100.3, 80.7), (40.0, 25.5)), 3.7081 * 40.0 * 25.5);
        let ends = pi * 15.0 * 15.0;
        covers(Shape::Limb((60.0, 40.0), (120.0, 120.0), 15.0), ends + 100.0 * 30.0);
        covers(Shape::Limb((60.0, 80.0), (140.0, 80.0), 15.0), ends + 80.0 * 30.0);
        covers(Shape::Limb((60.0, 40.0), (60.0, 120.0), 15.0), ends + 80.0 * 30.0);
        covers(Shape::Limb((60.0, 40.0), (60.0, 40.0), 15.0), ends);
    }

    #[test]
    fn a_shape_outside_the_picture_paints_nothing_and_one_across_its_edge_is_cut() {
        assert_eq!(area(Shape::Ellipse((-50.0, 80.0), (40.0, 40.0))), 0.0);
        assert_eq!(area(Shape::Limb((300.0, -50.0), (400.0, 500.0), 20.0)), 0.0);
        let half = area(Shape::Ellipse((-0.5, 80.0), (40.0, 40.0)));
        assert!((half / (std::f64::consts::PI * 800.0) - 1.0).abs() < 0.01, "{half}");
    }
}
