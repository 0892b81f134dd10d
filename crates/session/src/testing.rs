//! Values that the unit tests vary.

use thalweg_types::Fragment;
use thalweg_units::Time;

/// Fragment `index` of `count` of a keyframe.
pub(crate) fn fragment(frame: u64, (index, count): (u16, u16)) -> Fragment {
    Fragment {
        frame,
        picture: frame,
        captured: Time::ZERO,
        index,
        count,
        offset: 0,
        length: 9,
        keyframe: true,
        layer: 0,
        depends_on: None,
        transition: None,
    }
}
