//! Opus in RTP (RFC 7587): the payload is one whole packet, whose first bytes determine its duration (RFC 6716 section
//! 3.1).

use crate::ParseError;

/// RTP clock rate in Hz, for any audio bandwidth (RFC 7587 section 4.1).
pub const CLOCK: u32 = 48_000;
/// Max duration of a packet in ticks: 120 ms (RFC 6716 section 3.2.5, requirement 5).
const LONGEST: u32 = 5_760;

/// The duration of `packet` in ticks of the RTP clock, 120 to 5760: the step to the next packet's timestamp.
///
/// # Errors
/// An empty packet; one that declares no frames, or more than 120 ms of them.
pub fn ticks(packet: &[u8]) -> Result<u32, ParseError> {
    let short = |what, at| ParseError::Short { what, at, needed: 1, found: 0 };
    let head = *packet.first().ok_or(short("Opus packet's first byte", 0))?;
    let each = frame(head >> 3);
    let (at, frames) = match head & 3 {
        0 => (0, 1),
        1 | 2 => (0, 2),
        _ => (1, u32::from(packet.get(1).ok_or(short("Opus frame count", 1))? & 0x3f)),
    };
    let (found, max) = (frames.into(), (LONGEST / each).into());
    if !(1..=max).contains(&found) {
        return Err(ParseError::OutOfRange { what: "frames of an Opus packet", at, found, min: 1, max });
    }
    Ok(frames * each)
}

/// Duration of a frame in ticks, by configuration, 0 to 31 (RFC 6716 table 2).
fn frame(configuration: u8) -> u32 {
    let millis = |millis: u32| millis * CLOCK / 1_000;
    match (configuration, configuration & 3) {
        // SILK: 10, 20, 40, 60 ms in each of three bandwidths.
        (0..12, 3) => millis(60),
        (0..12, step) => millis(10) << step,
        // Hybrid: 10, 20 ms in each of two.
        (12..16, step) => millis(10) << (step & 1),
        // CELT: 2.5, 5, 10, 20 ms in each of four.
        (_, step) => (millis(5) / 2) << step,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    #[test]
    fn every_configuration_has_the_frames_of_table_2() {
        // 10, 20, 40 and 60 ms; 10 and 20 ms; 2.5, 5, 10 and 20 ms.
        let expected =
            [[480, 960, 1920, 2880].repeat(3), [480, 960].repeat(2), [120, 240, 480, 960].repeat(4)].concat();
        // The stereo flag (0x04) changes nothing.
        for stereo in [0, 4] {
            let found: Vec<u32> = (0u8..32).map(|at| ticks(&[at << 3 | stereo]).unwrap()).collect();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_code_says_how_many_frames() {
        // Configuration 31, 20 ms: one frame, two of equal size, two of any size, and a count in the second byte,
        // whatever its flags.
        let millis = |packet: &[u8]| ticks(packet).map(|ticks| ticks / 48);
        assert_eq!(
            [&[0xf8][..], &[0xf9], &[0xfa], &[0xfb, 3], &[0xfb, 0xc6]].map(millis),
            [20, 40, 40, 60, 120].map(Ok)
        );
        // 48 frames of 2.5 ms are the maximum.
        assert_eq!(millis(&[16 << 3 | 3, 48]), Ok(120));
    }

    #[test]
    fn no_frames_and_more_than_120_ms_are_refused() {
        for (packet, at, found, max) in
            [(&[0xfb, 0][..], 1, 0, 6), (&[0xfb, 7], 1, 7, 6), (&[0x83, 49], 1, 49, 48), (&[0x1b, 3], 1, 3, 2)]
        {
            let error = ParseError::OutOfRange { what: "frames of an Opus packet", at, found, min: 1, max };
            assert_eq!(ticks(packet), Err(error));
        }
        assert!(ticks(&[]).is_err() && ticks(&[0xfb]).is_err());
        assert_eq!(ticks(&[0x19]), Ok(5760), "two frames of 60 ms");
    }

    proptest! {
        #[test]
        fn what_has_a_duration_has_one_of_the_standard(packet: Vec<u8>) {
            if let Ok(ticks) = ticks(&packet) {
                prop_assert!(ticks % 120 == 0 && (120..=5760).contains(&ticks), "{}", ticks);
            }
        }
    }
}
