//! Sequence parameter sets: picture size, format and rate (ITU-T H.264 sections 7.3.2.1.1, 7.4.2.1.1 and E.1).

use thalweg_units::Size;

use super::golomb::{Codes, unescaped};
use super::{UnitKind, units};

/// Profiles whose sets contain the chroma format (section 7.3.2.1.1).
const WITH_CHROMA: [u8; 13] = [44, 83, 86, 100, 110, 118, 122, 128, 134, 135, 138, 139, 244];
/// Width and height of a macroblock in pixels.
const MACROBLOCK: u32 = 16;
/// Max number of frames in a picture order count cycle (section 7.4.2.1.1).
const LONGEST_CYCLE: u32 = 255;

/// A sequence parameter set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sequence {
    /// The display size of pictures.
    pub size: Size,
    /// The chroma format: 0 for none, 1 for 4:2:0, 2 for 4:2:2 and 3 for 4:4:4.
    pub chroma_format: u8,
    /// The larger of the bit depths of luma and chroma: 8 to 14.
    pub bit_depth: u8,
    /// True if pictures may be interlaced (`frame_mbs_only_flag` is 0).
    pub may_be_interlaced: bool,
    /// Pictures per so many ticks, if the set has timing information (section E.2.1).
    pub frame_rate: Option<(u32, u32)>,
    /// How many frames at most precede a frame in decoding order and follow it in output order, if the set says so
    /// (`max_num_reorder_frames`): 0 without B-frames.
    pub max_reordered: Option<u32>,
}

/// The first sequence parameter set of `stream` (Annex B); `None` if there is none or it is invalid.
///
/// ```
/// use thalweg_units::Size;
/// use thalweg_wire::h264::sequence;
///
/// let set = [0x67, 0x42, 0xc0, 0x0b, 0xd9, 0x02, 0x84, 0x7e, 0x5c, 0x04, 0x40];
/// let found = sequence(&[&[0, 0, 0, 1][..], &set].concat()).ok_or("no set")?;
/// assert_eq!((found.size, found.chroma_format, found.bit_depth), (Size::new(160, 120), 1, 8));
/// # Ok::<(), &str>(())
/// ```
pub fn sequence(stream: &[u8]) -> Option<Sequence> {
    let set = units(stream).find(|unit| UnitKind::of(unit[0]) == UnitKind::SequenceParameters)?;
    read(&mut Codes::new(&unescaped(&set[1..])))
}

/// The display size of pictures according to the first sequence parameter set of `stream` (Annex B); `None` if there is
/// none or it is invalid.
pub fn picture_size(stream: &[u8]) -> Option<Size> {
    sequence(stream).map(|sequence| sequence.size)
}

/// Reads a set, starting after the unit's header.
fn read(codes: &mut Codes<'_>) -> Option<Sequence> {
    let profile = codes.bits(8)? as u8;
    // Constraints and level.
    codes.bits(16)?;
    codes.unsigned().filter(|id| *id < 32)?;
    let chroma = if WITH_CHROMA.contains(&profile) { chroma(codes)? } else { Chroma::HALVED };
    // Length of frame numbers.
    codes.unsigned()?;
    skip_order_counts(codes)?;
    // Number of reference frames, and whether frame numbers may have gaps.
    codes.unsigned()?;
    codes.flag()?;
    let (width, height) = (codes.unsigned()?, codes.unsigned()?);
    // If fields are allowed, heights are in units of a field's macroblocks.
    let fields = if codes.flag()? { 1 } else { 2 };
    if fields == 2 {
        codes.flag()?;
    }
    // Direct mode inference.
    codes.flag()?;
    let mut cropped = [0; 4];
    if codes.flag()? {
        for side in &mut cropped {
            *side = codes.unsigned()?;
        }
    }
    let [left, right, top, bottom] = cropped;
    let side = |macroblocks: u32, unit: u32, crop: [u32; 2]| {
        let coded = macroblocks.checked_add(1)?.checked_mul(MACROBLOCK)?;
        let cropped = crop[0].checked_add(crop[1])?.checked_mul(unit)?;
        u16::try_from(coded.checked_sub(cropped)?).ok().filter(|side| *side > 0)
    };
    let macroblocks_high = height.checked_add(1)?.checked_mul(fields)?.checked_sub(1)?;
    let width = side(width, chroma.across, [left, right])?;
    let size = Size::new(width, side(macroblocks_high, chroma.down * fields, [top, bottom])?);
    let mut usability = Usability::default();
    if codes.flag() == Some(true) {
        // What is cut short says nothing more.
        let _ = usability.read(codes);
    }
    Some(Sequence {
        size,
        chroma_format: chroma.format,
        bit_depth: chroma.depth,
        may_be_interlaced: fields == 2,
        frame_rate: usability.frame_rate,
        max_reordered: usability.max_reordered,
    })
}

/// Video usability information, as far as it has been read (section E.1.1).
#[derive(Default)]
struct Usability {
    frame_rate: Option<(u32, u32)>,
    max_reordered: Option<u32>,
}

impl Usability {
    fn read(&mut self, codes: &mut Codes<'_>) -> Option<()> {
        /// The aspect ratio that is written out (`Extended_SAR`).
        const EXTENDED: u32 = 255;
        if codes.flag()? && codes.bits(8)? == EXTENDED {
            codes.bits(32)?;
        }
        // Overscan.
        if codes.flag()? {
            codes.flag()?;
        }
        // Format and range of the signal, and its colours.
        if codes.flag()? {
            codes.bits(4)?;
            if codes.flag()? {
                codes.bits(24)?;
            }
        }
        // Places of chroma samples.
        if codes.flag()? {
            codes.unsigned()?;
            codes.unsigned()?;
        }
        if codes.flag()? {
            let (units, scale) = (codes.bits(32)?, codes.bits(32)?);
            codes.flag()?;
            // A tick is a field's duration.
            self.frame_rate = units.checked_mul(2).filter(|units| *units > 0 && scale > 0).map(|units| (scale, units));
        }
        // A hypothetical decoder for all units, and one for slices.
        let decoders = [skip_decoder(codes)?, skip_decoder(codes)?];
        if decoders.contains(&true) {
            codes.flag()?;
        }
        // Whether timing messages say how a picture is shown.
        codes.flag()?;
        if codes.flag()? {
            codes.flag()?;
            for _ in 0..4 {
                codes.unsigned()?;
            }
            self.max_reordered = Some(codes.unsigned()?);
        }
        Some(())
    }
}

/// Skips the parameters of a hypothetical reference decoder (section E.1.2); returns whether there are any.
fn skip_decoder(codes: &mut Codes<'_>) -> Option<bool> {
    /// The most entries (section E.2.2: `cpb_cnt_minus1` is at most 31).
    const MOST: u32 = 31;
    if !codes.flag()? {
        return Some(false);
    }
    let more = codes.unsigned().filter(|more| *more <= MOST)?;
    codes.bits(8)?;
    for _ in 0..=more {
        codes.unsigned()?;
        codes.unsigned()?;
        codes.flag()?;
    }
    codes.bits(20)?;
    Some(true)
}

/// Luma pixels per chroma pixel, the unit of cropping (table 6-1); 1 if there is no separate chroma.
struct Chroma {
    format: u8,
    depth: u8,
    across: u32,
    down: u32,
}

impl Chroma {
    const HALVED: Chroma = Chroma { format: 1, depth: 8, across: 2, down: 2 };
}

/// Parses the chroma format and the bit depths, and skips the fields after them, the scaling lists included.
fn chroma(codes: &mut Codes<'_>) -> Option<Chroma> {
    let format = codes.unsigned()?;
    let is_separate = format == 3 && codes.flag()?;
    let depth = codes.unsigned()?.max(codes.unsigned()?);
    let depth = u8::try_from(depth).ok().filter(|more| *more <= 6)? + 8;
    // Whether lossless blocks bypass the transform.
    codes.flag()?;
    if codes.flag()? {
        for list in 0..if format == 3 { 12 } else { 8 } {
            if codes.flag()? {
                skip_scaling_list(codes, if list < 6 { 16 } else { 64 })?;
            }
        }
    }
    let (across, down) = match format {
        _ if is_separate => (1, 1),
        0 | 3 => (1, 1),
        1 => (2, 2),
        2 => (2, 1),
        _ => return None,
    };
    Some(Chroma { format: format as u8, depth, across, down })
}

/// Skips a scaling list, which ends at the first scale of zero; that repeats the last one (section 7.3.2.1.1.1).
fn skip_scaling_list(codes: &mut Codes<'_>, length: usize) -> Option<()> {
    let mut scale = 8;
    for _ in 0..length {
        scale = (scale + codes.signed()?).rem_euclid(256);
        if scale == 0 {
            break;
        }
    }
    Some(())
}

fn skip_order_counts(codes: &mut Codes<'_>) -> Option<()> {
    match codes.unsigned()? {
        0 => drop(codes.unsigned()?),
        1 => {
            codes.flag()?;
            codes.signed()?;
            codes.signed()?;
            for _ in 0..codes.unsigned().filter(|frames| *frames <= LONGEST_CYCLE)? {
                codes.signed()?;
            }
        }
        2 => {}
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use proptest::prelude::*;

    fn of(set: &[u8]) -> Option<Size> {
        picture_size(&[&[0, 0, 0, 1, 0x09, 0xf0, 0, 0, 1][..], set, &[0, 0, 1, 0x68, 0xce]].concat())
    }

    #[test]
    fn sets_of_real_encoders_say_the_size_they_were_given() {
        // x264 by ffmpeg 4.4: constrained baseline; High with eight lines cropped; 4:2:2; 4:4:4 with odd width and
        // height; fields; monochrome; ten bits; a level of 5.2.
        let sets: [(u128, (u16, u16)); 8] = [
            (0x6742_c00b_d902_847e_5c04_4000_0003_0040, (160, 120)),
            (0x6764_0028_acd9_4078_0227_e5c0_4400_0003, (1920, 1080)),
            (0x677a_001f_bcd9_40d8_3de6_bc04_4000_0003, (854, 478)),
            (0x67f4_000d_919b_282a_10f1_d1d8_0880_0000, (323, 243)),
            (0x6764_001f_acd9_40b4_24fc_9808_8000_0003, (720, 564)),
            (0x6764_000d_f365_0542_1e3e_3f01_6c80_0000, (322, 242)),
            (0x676e_001e_a6cd_940a_02ff_9301_1000_0003, (640, 362)),
            (0x6742_c034_da00_4000_486c_0440_0000_0300, (4096, 2304)),
        ];
        for (set, (width, height)) in sets {
            assert_eq!(of(&u128::to_be_bytes(set)), Some(Size::new(width, height)));
        }
    }

    #[test]
    fn sets_of_real_encoders_say_their_format_their_rate_and_whether_pictures_change_places() {
        // x264 by ffmpeg 5.1: 10 a second without B-frames; 25 a second with them; 4:2:2 of ten bits; 4:4:4; interlaced.
        let of = |set: &[u8]| {
            let found = sequence(&[&[0, 0, 1][..], set].concat()).unwrap();
            let Sequence { chroma_format, bit_depth, may_be_interlaced, frame_rate, max_reordered, .. } = found;
            (chroma_format, bit_depth, may_be_interlaced, frame_rate, max_reordered)
        };
        let read = |text: &str| -> Vec<u8> {
            (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
        };
        for (set, expected) in [
            ("6742c00ad90626c044000003000400000300503c489920", (1, 8, false, Some((20, 2)), Some(0))),
            ("6764000aacd94626c044000003000400000300c83c489658", (1, 8, false, Some((50, 2)), Some(2))),
            ("677a000ab6cb20c4d80880000003008000001907891324", (2, 10, false, Some((50, 2)), Some(0))),
            ("67f4000a91964189b01100000303e90000ea600f122648", (3, 8, false, Some((60_000, 2002)), Some(0))),
            (
                "67640015ace41936022000000300200000064c04003d08000f425261807c50a920",
                (1, 8, true, Some((50, 2)), Some(0)),
            ),
        ] {
            assert_eq!(of(&read(set)), expected, "{set}");
        }
    }

    #[test]
    fn a_set_that_ends_early_or_that_nothing_would_be_left_of_says_nothing() {
        let set = [0x67, 0x42, 0xc0, 0x0b, 0xd9, 0x02, 0x84, 0x7e, 0x5c];
        assert_eq!(of(&set), Some(Size::new(160, 120)));
        for length in 1..set.len() {
            assert_eq!(of(&set[..length]), None, "{length}");
        }
        assert_eq!(picture_size(&[0, 0, 1, 0x68, 0xce, 0x38]), None);
        assert_eq!(picture_size(&[]), None);
        let crop = |width, cropped| of(&written(66, 0, 0, [width, 5], true, Some([cropped, 0, 0, 0])));
        assert_eq!(crop(1, 15), Some(Size::new(2, 96)));
        assert_eq!(crop(1, 16), None);
        assert_eq!(crop(4095, 8), Some(Size::new(65_520, 96)));
        assert_eq!(crop(4095, 0), None);
    }

    /// Writes bits with emulation prevention.
    #[derive(Default)]
    struct Writer(Vec<bool>);

    impl Writer {
        fn put(&mut self, count: u32, value: u32) -> &mut Writer {
            self.0.extend((0..count).rev().map(|place| value >> place & 1 == 1));
            self
        }

        fn unsigned(&mut self, value: u32) -> &mut Writer {
            let zeros = (value + 1).ilog2();
            self.put(zeros, 0).put(zeros + 1, value + 1)
        }

        fn unit(&mut self) -> Vec<u8> {
            self.put(1, 1);
            let bytes = self
                .0
                .chunks(8)
                .map(|bits| bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | u8::from(*bit) << place));
            let (mut unit, mut zeros) = (vec![0x67], 0);
            for byte in bytes {
                if zeros == 2 && byte <= 3 {
                    unit.push(3);
                    zeros = 0;
                }
                zeros = if byte == 0 { zeros + 1 } else { 0 };
                unit.push(byte);
            }
            unit
        }
    }

    /// A set with every optional field that its profile allows.
    fn written(profile: u8, chroma: u32, order: u32, sides: [u32; 2], frames: bool, crop: Option<[u32; 4]>) -> Vec<u8> {
        let mut bits = Writer::default();
        bits.put(8, profile.into()).put(16, 31).unsigned(0);
        if WITH_CHROMA.contains(&profile) {
            bits.unsigned(chroma);
            if chroma == 3 {
                bits.put(1, 0);
            }
            bits.unsigned(0).unsigned(0).put(1, 0).put(1, 1);
            for list in 0..if chroma == 3 { 12 } else { 8 } {
                // Absent, ended by a scale of zero (a change of -8), and complete.
                match list % 3 {
                    0 => _ = bits.put(1, 0),
                    1 => _ = bits.put(1, 1).unsigned(16),
                    _ => {
                        bits.put(1, 1);
                        for _ in 0..if list < 6 { 16 } else { 64 } {
                            bits.unsigned(1);
                        }
                    }
                }
            }
        }
        bits.unsigned(4).unsigned(order);
        match order {
            0 => _ = bits.unsigned(2),
            1 => _ = bits.put(1, 0).unsigned(7).unsigned(8).unsigned(2).unsigned(300).unsigned(0),
            _ => {}
        }
        bits.unsigned(3).put(1, 0).unsigned(sides[0]).unsigned(sides[1]).put(1, frames.into());
        if !frames {
            bits.put(1, 0);
        }
        bits.put(1, 1).put(1, crop.is_some().into());
        for side in crop.iter().flatten() {
            bits.unsigned(*side);
        }
        bits.put(1, 0);
        bits.unit()
    }

    proptest! {
        #[test]
        fn whatever_a_set_has_beside_it_the_size_is_found(
            profile in prop_oneof![Just(66u8), Just(77), Just(100), Just(244)], chroma in 0u32..4, order in 0u32..3,
            sides in [0u32..300, 0u32..150], frames: bool, crop in prop::option::of([0u32..4, 0u32..4, 0u32..2, 0u32..2]),
        ) {
            let chroma = if profile >= 100 { chroma } else { 1 };
            let (across, down) = [(1, 1), (2, 2), (2, 1), (1, 1)][chroma as usize];
            let fields = if frames { 1 } else { 2 };
            let [left, right, top, bottom] = crop.unwrap_or_default();
            let width = 16 * (sides[0] + 1) - across * (left + right);
            let height = 16 * (sides[1] + 1) * fields - down * fields * (top + bottom);
            let set = written(profile, chroma, order, sides, frames, crop);
            let expected = (width > 0 && height > 0).then(|| Size::new(width as u16, height as u16));
            prop_assert_eq!(of(&set), expected);
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = (picture_size(&bytes), of(&[&[0x67][..], &bytes].concat()), of(&[&[0x67, 100, 0, 30][..], &bytes].concat()));
        }
    }
}
