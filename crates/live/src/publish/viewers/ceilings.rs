//! The most that each viewer may be sent: a limit of its own, and its part of a limit for all together.

use thalweg_units::{Rate, Span, Time};

use thalweg_video::source::Format;

use super::schedule::Viewers;
use super::viewer::Viewer;
use crate::web::{Refused, RefusedKind};

/// The least rate for which a viewer is admitted, and the least that may be configured: a picture of 180 lines and audio.
pub(crate) const LEAST: Rate = Rate::from_kbps(100);
/// A viewer may use this many times what it was sent in the last second, so that its scheme finds room as it grows: GCC
/// grows by 8 % a second, and its probes take twice the rate (specs/gcc.md 4 and 8).
const GROWTH: f64 = 2.0;
/// How much a viewer may use at least if there is room: one that has just come has sent nothing yet.
const FIRST: Rate = Rate::from_kbps(500);
/// How often shares follow what is used.
const INTERVAL: Span = Span::from_millis(250);

/// Bits in each pixel that an encoder can use: 0.07 times 4, for much motion (K. Amerasinghe, *H.264 for the Rest of Us*,
/// Adobe). The limits of libwebrtc (`GetMaxDefaultVideoBitrateKbps`, video/config/encoder_stream_factory.cc), which it
/// chose where finer quantisers gain little, are 0.26 at 320x240, 0.18 at 640x480 and 0.09 at 720p, at 30 a second.
const BITS_PER_PIXEL: f64 = 4.0 * 0.07;
/// The least of libwebrtc's limits there, for all sizes up to 320x240.
const LEAST_USABLE: Rate = Rate::from_kbps(600);

/// The most that an encoder can use of such pictures: the limit of each viewer where none is configured.
pub(crate) fn usable(format: Format) -> Rate {
    let pixels = format.size.pixels() as f64 / format.interval().as_secs_f64();
    Rate::from_bps((BITS_PER_PIXEL * pixels / 1e4).round() as u64 * 10_000).max(LEAST_USABLE)
}

/// The most that a viewer is sent of frames that came at the rate `encoded` in the last second.
fn of_media(encoded: Rate) -> Rate {
    encoded.scale(GROWTH) + FIRST
}

/// Shares `total` among viewers that use these rates, each at most `max`: in equal parts, but what one does not need for
/// its growth goes to those who do (max-min fairness), and the rest to all.
fn share(total: Rate, max: Rate, used: &[Rate]) -> Vec<Rate> {
    let wanted: Vec<f64> = used.iter().map(|used| used.scale(GROWTH).max(FIRST).min(max).as_bps_f64()).collect();
    let mut shares = vec![0.0; used.len()];
    let rest = fill(&mut shares, total.as_bps_f64(), &wanted);
    fill(&mut shares, rest, &vec![max.as_bps_f64(); used.len()]);
    shares.iter().map(|share| Rate::from_bps(*share as u64)).collect()
}

/// Adds what is left to shares in equal parts, each up to its limit, and returns what nobody may have.
fn fill(shares: &mut [f64], mut left: f64, limits: &[f64]) -> f64 {
    let room = |shares: &[f64], index: usize| (limits[index] - shares[index]).max(0.0);
    let mut order: Vec<usize> = (0..shares.len()).collect();
    order.sort_by(|a, b| room(shares, *a).total_cmp(&room(shares, *b)));
    for (place, index) in order.iter().enumerate() {
        let part = room(shares, *index).min(left / (order.len() - place) as f64);
        shares[*index] += part;
        left -= part;
    }
    left
}

/// The limits of rates, if there are any.
pub(crate) struct Ceilings {
    /// The most that one viewer, and all together, may be sent.
    max: Option<Rate>,
    max_total: Option<Rate>,
    /// Where frames are made elsewhere and sent unchanged over an open path, the most before they come: nobody knows how much
    /// they take, and more than their growth and [`FIRST`] beside them, for audio and repair, would be padding.
    before_media: Option<Rate>,
    /// When the total was last shared out.
    shared_out: Time,
}

impl Ceilings {
    pub(crate) fn new(max: Option<Rate>, max_total: Option<Rate>, begin: Time) -> Ceilings {
        Ceilings { max, max_total, before_media: None, shared_out: begin }
    }

    /// The same where, if there is a `first` and no limit is set, each viewer is sent at most what follows from the frames of
    /// the last second, and at most `first` where there are none.
    pub(crate) fn following_media(self, first: Option<Rate>) -> Ceilings {
        Ceilings { before_media: first.filter(|_| self.max.is_none()), ..self }
    }

    /// Refuses one more than `viewers` where there would be less than [`LEAST`] for each.
    pub(crate) fn check(&self, viewers: usize) -> Result<(), Refused> {
        let Some(total) = self.max_total.filter(|total| total.scale(1.0 / (viewers + 1) as f64) < LEAST) else {
            return Ok(());
        };
        let message =
            format!("{viewers} viewers are here, and {total} is all that may be sent to them; try again later");
        Err(Refused::new(RefusedKind::Full, message))
    }

    /// Sets the most that each viewer may be sent, where there is a limit: at once when viewers came or went, and as they
    /// use it.
    pub(crate) fn share_out(&mut self, now: Time, audience_changed: bool, viewers: &mut Viewers) {
        let follows = self.max_total.is_some() || self.before_media.is_some();
        if self.max.is_none() && !follows {
            return;
        }
        if !audience_changed && (!follows || now - self.shared_out < INTERVAL) {
            return;
        }
        self.shared_out = now;
        // Who is not connected is sent nothing.
        let mut viewers: Vec<&mut Viewer> = viewers.values_mut().filter(|viewer| viewer.is_sent()).collect();
        let max = self.max.unwrap_or(Rate::MAX);
        let used: Vec<Rate> = viewers.iter().map(|viewer| viewer.gauges.wire(now)).collect();
        let shares = match self.max_total {
            Some(total) => share(total, max, &used),
            None => vec![max; used.len()],
        };
        for (viewer, share) in viewers.iter_mut().zip(shares) {
            let encoded = Some(viewer.gauges.encoded(now)).filter(|encoded| *encoded > Rate::ZERO);
            let share = self.before_media.map_or(share, |first| share.min(encoded.map_or(first, of_media)));
            viewer.outgoing.set_ceiling(now, Some(share));
            viewer.due(now);
        }
    }

    /// The most that one more than `viewers` may be sent as it connects, until the rate is shared out anew.
    pub(crate) fn first(&self, viewers: usize) -> Option<Rate> {
        let part = self.max_total.map(|total| total.scale(1.0 / (viewers + 1) as f64));
        [self.max, self.before_media, part].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_units::Size;

    fn shares(total: u64, max: u64, used: &[u64]) -> Vec<u64> {
        let used: Vec<Rate> = used.iter().map(|used| Rate::from_kbps(*used)).collect();
        share(Rate::from_kbps(total), Rate::from_kbps(max), &used).iter().map(|rate| rate.as_bps() / 1000).collect()
    }

    #[test]
    fn an_encoder_can_use_what_the_size_and_the_rate_of_its_pictures_say() {
        let usable = |width, height, frame_rate| {
            usable(Format { size: Size::new(width, height), frame_rate: (frame_rate, 1) }).as_bps() / 1000
        };
        assert_eq!(usable(640, 360, 30), 1940, "640 * 360 * 30 * 0.28");
        assert_eq!([usable(1280, 720, 30), usable(1280, 720, 60), usable(1920, 1080, 30)], [7740, 15_480, 17_420]);
        assert_eq!([usable(320, 180, 30), usable(16, 16, 5)], [600, 600]);
    }

    #[test]
    fn frames_that_are_sent_unchanged_may_double_and_leave_room_for_audio() {
        assert_eq!(of_media(Rate::from_kbps(300)), Rate::from_kbps(1100));
        let ceilings = |max| Ceilings::new(max, None, Time::ZERO).following_media(Some(Rate::from_kbps(600)));
        assert_eq!(ceilings(None).first(0), Some(Rate::from_kbps(600)), "before the first frame");
        let set = Rate::from_kbps(12_000);
        assert_eq!(ceilings(Some(set)).first(0), Some(set), "a limit that is set is the only one");
    }

    #[test]
    fn what_one_does_not_use_goes_to_the_others_and_never_more_than_all_is_given() {
        assert_eq!(shares(6000, 12_000, &[2000, 2000, 2000]), [2000, 2000, 2000]);
        // One on a slow path leaves four times what it uses, after its growth.
        assert_eq!(shares(6000, 12_000, &[500, 2500, 2500]), [1000, 2500, 2500]);
        assert_eq!(shares(6000, 12_000, &[0, 0, 0]), [2000, 2000, 2000], "the rest goes to all");
        assert_eq!(shares(6000, 1500, &[1500, 1500, 10]), [1500, 1500, 1500]);
        assert_eq!(shares(6000, 12_000, &[]), [0u64; 0]);
        for used in [&[1, 2, 3][..], &[9000, 1, 1, 1], &[700; 16]] {
            assert!(shares(6000, 12_000, used).iter().sum::<u64>() <= 6000, "{used:?}");
        }
    }
}
