//! People.

use super::shape::{Paint, Shape};
use super::texture::Surface;
use super::wave;
use crate::picture::Picture;

/// A person who talks, blinks, moves about and waves a hand.
pub(super) struct Person {
    /// 0 sits in front, the others walk about behind.
    pub(super) number: u32,
    /// Phase of the movements.
    pub(super) phase: f64,
    /// How far the person moves, 0 to 1.
    pub(super) liveliness: f64,
    /// Strength of the texture and shading of clothes and skin, 0 to 1.
    pub(super) detail: f64,
}

/// A colour: luma, and both chroma values.
type Colour = (f64, u8, u8);

/// Draws one person at one moment.
struct Pen<'a> {
    picture: &'a mut Picture,
    cloth: &'a Surface,
    /// The person's position, with which the texture moves.
    anchor: (f64, f64),
    /// 1 in constant light.
    light: f64,
    /// Strength of texture and shading.
    detail: f64,
}

impl Pen<'_> {
    fn part(&mut self, centre: (f64, f64), radius: (f64, f64), (luma, u, v): Colour, grain: f64, round: f64) {
        self.shape(Shape::Ellipse(centre, radius), (luma, u, v), grain, round);
    }

    fn shape(&mut self, shape: Shape, (luma, u, v): Colour, grain: f64, round: f64) {
        let (grain, round) = (grain * self.detail, round * self.detail);
        let paint = Paint { luma: luma * self.light, chroma: (u, v), grain, round, anchor: self.anchor };
        shape.paint(self.picture, &paint, self.cloth);
    }
}

impl Person {
    /// Draws the person at `seconds`, at a brightness of `light` in 128ths.
    pub(super) fn draw(&self, picture: &mut Picture, cloth: &Surface, seconds: f64, light: i32) {
        let (width, height) = (f64::from(picture.size().width), f64::from(picture.size().height));
        let (front, p, lively) = (self.number == 0, self.phase, self.liveliness);
        let scale = if front { 0.30 } else { 0.17 + 0.03 * f64::from(self.number % 2) };
        let head = height * scale * 0.5;
        let (reach, pace, aside) = if front { (0.02, 0.21, 0.0) } else { (0.33, 0.09, 0.1) };
        let middle = width * (0.5 + reach * lively * wave(seconds, pace, p) + aside);
        let nod = lively * (head * 0.10 * wave(seconds, 0.8, p) + head * 0.05 * wave(seconds, 2.2, p));
        let top = height * (if front { 0.30 } else { 0.42 }) + nod;
        let anchor = (middle, top);
        let mut pen = Pen { picture, cloth, anchor, light: f64::from(light) / 128.0, detail: self.detail };

        let tone = 20.0 * f64::from(self.number % 3);
        let shirt = (78.0 + tone, 118 + 9 * (self.number % 8) as u8, 120 + 5 * (self.number % 8) as u8);
        let skin = (150.0 + tone / 2.0, 110, 151);
        let hair = (38.0 + tone, 124, 132);
        let at = |x: f64, y: f64| (middle + head * x, top + head * y);
        let by = |x: f64, y: f64| (head * x, head * y);

        pen.part(at(0.0, 1.0), by(0.38, 0.50), (skin.0 - 22.0, skin.1, skin.2), 12.0, 20.0);
        pen.shape(Shape::Block(at(0.0, 4.4), by(1.55, 3.2)), shirt, GRAIN, 16.0);
        // A collar.
        pen.part(at(0.0, 1.26), by(0.46, 0.22), (skin.0 - 12.0, skin.1, skin.2), 12.0, 8.0);

        let gesture = lively * wave(seconds, 0.9, p + 2.0).max(-0.2);
        let (shoulder, elbow) = (at(1.18, 1.85), at(1.75 + 0.1 * gesture, 3.3));
        let hand = at(1.45 + 0.35 * gesture, 2.6 - 1.6 * gesture);
        let sleeve = (shirt.0 - 5.0, shirt.1, shirt.2);
        pen.shape(Shape::Limb(shoulder, elbow, head * 0.40), sleeve, GRAIN, 0.0);
        pen.shape(Shape::Limb(elbow, hand, head * 0.34), sleeve, GRAIN, 0.0);
        pen.part(hand, by(0.34, 0.42), skin, 12.0, 12.0);

        // Hair behind, and the face in front of it.
        pen.part(at(0.0, -0.20), by(0.84, 0.92), hair, 26.0, 10.0);
        for side in [-0.70, 0.70] {
            pen.part(at(side, 0.18), by(0.12, 0.20), (skin.0 - 10.0, skin.1, skin.2 + 2), 12.0, 0.0);
        }
        pen.part(at(0.0, 0.12), by(0.70, 0.88), skin, 14.0, 16.0);
        self.draw_face(&mut pen, seconds, at, by, skin, hair);
    }

    fn draw_face(
        &self,
        pen: &mut Pen,
        seconds: f64,
        at: impl Fn(f64, f64) -> (f64, f64),
        by: impl Fn(f64, f64) -> (f64, f64),
        skin: Colour,
        hair: Colour,
    ) {
        let blinks = wave(seconds, 0.31, self.phase) > 0.96;
        let look = 0.03 * wave(seconds, 0.23, self.phase);
        for side in [-0.30, 0.30] {
            pen.part(at(side, -0.24), by(0.17, 0.035), hair, 8.0, 0.0);
            if blinks {
                pen.part(at(side, -0.04), by(0.14, 0.02), (60.0, 122, 136), 4.0, 0.0);
            } else {
                pen.part(at(side, -0.04), by(0.14, 0.075), (200.0, 126, 130), 4.0, 10.0);
                pen.part(at(side + look, -0.04), by(0.065, 0.07), (34.0, 130, 126), 4.0, 0.0);
            }
        }
        pen.part(at(0.0, 0.20), by(0.09, 0.17), (skin.0 - 10.0, skin.1, skin.2 + 2), 10.0, 12.0);
        let talk = 0.04 + 0.09 * (wave(seconds, 4.3, self.phase) * wave(seconds, 0.6, self.phase)).abs();
        pen.part(at(0.0, 0.56), by(0.27, talk + 0.03), (112.0, 112, 162), 6.0, 6.0);
        pen.part(at(0.0, 0.56), by(0.21, talk), (58.0, 114, 156), 4.0, 0.0);
    }
}

/// Strength of the texture of a shirt.
const GRAIN: f64 = 52.0;
