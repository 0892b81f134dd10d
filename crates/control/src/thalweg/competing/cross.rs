//! Traffic of others through the path's queue.
//!
//! Nimbus (Goyal et al., SIGCOMM 2022) infers the rate of cross traffic from the path's rate, the rate sent and the rate
//! received. Here the path's rate is known from within frames: their packets leave together, so that hardly anything comes
//! between them, and behind a queue they arrive at that rate. Between two frames that both waited, the path served
//! without a pause too; what it needed beyond the time for our packets, others had queued.

use alloc::collections::VecDeque;

use thalweg_units::{Bytes, Rate, Span, Time};

use crate::packet::{Payload, SentPacket};

/// Packets that waited count for so long.
pub(super) const WINDOW: Span = Span::from_secs(1);
/// So many packets behind others of their frame must have measured the path.
const MEASURED: u32 = 8;

/// A packet that the path served right after another.
#[derive(Debug, Clone, Copy)]
struct Served {
    at: Time,
    took: Span,
    size: Bytes,
    /// True if it is of the same frame as the one before.
    within: bool,
}

/// Sums over packets.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    took: Span,
    size: Bytes,
    packets: u32,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Cross {
    served: VecDeque<Served>,
    within: Sums,
    between: Sums,
    /// The newest packet that arrived, and whether its frame waited.
    newest: Option<(Time, SentPacket, bool)>,
    /// Audio since then.
    audio: Bytes,
}

impl Cross {
    /// Takes a packet that arrived at `at`, and would have at `due` by the latest on an empty path; packets sent within
    /// `together` of one another are of one frame. Audio is ours, but comes too often to tell a wait from jitter.
    pub(super) fn on_arrival(&mut self, at: Time, packet: &SentPacket, due: Time, together: Span) {
        if packet.payload == Payload::Audio {
            self.audio += packet.size;
            return;
        }
        let audio = core::mem::take(&mut self.audio);
        let before = self.newest.filter(|(_, newest, _)| newest.id < packet.id);
        if before.is_none() && self.newest.is_some() {
            // Reordered.
            return;
        }
        let within = before.is_some_and(|(_, newest, _)| packet.at - newest.at <= together);
        let waited = before.is_some_and(|(newest, _, waited)| if within { waited } else { newest >= due });
        self.newest = Some((at, *packet, waited));
        if let Some((newest, _, _)) = before.filter(|_| waited) {
            let served = Served { at, took: at - newest, size: packet.size + audio, within };
            let sums = self.of(within);
            *sums = Sums { took: sums.took + served.took, size: sums.size + served.size, packets: sums.packets + 1 };
            self.served.push_back(served);
        }
        let since = at - WINDOW;
        while let Some(served) = self.served.front().copied().filter(|served| served.at <= since) {
            let sums = self.of(served.within);
            *sums = Sums { took: sums.took - served.took, size: sums.size - served.size, packets: sums.packets - 1 };
            self.served.pop_front();
        }
    }

    fn of(&mut self, within: bool) -> &mut Sums {
        if within { &mut self.within } else { &mut self.between }
    }

    /// The share of the window in which the path served without a pause.
    pub(super) fn busy(&self) -> f64 {
        (self.within.took + self.between.took).ratio(WINDOW)
    }

    /// The rate of the path; `None` where too few packets measured it.
    pub(super) fn path(&self) -> Option<Rate> {
        (self.within.packets >= MEASURED).then(|| self.within.size.per(self.within.took.max(Span::from_micros(1))))
    }

    /// The share of others in what the path served without a pause; `None` where the path's rate is unknown.
    pub(super) fn share(&self) -> Option<f64> {
        let own = self.path()?.time_for(self.between.size);
        let all = (self.within.took + self.between.took).max(Span::from_micros(1));
        Some((self.between.took - own).max(Span::ZERO).ratio(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketId;

    const TOGETHER: Span = Span::from_millis(2);

    /// Frames of four packets of 1000 bytes each 40 ms over a path of 4 Mbps (2 ms a packet) with a standing
    /// queue, in which others have `others` packets of that size before each frame.
    fn played(others: i64, empty: bool) -> Cross {
        let mut cross = Cross::default();
        let mut arrival = Time::from_millis(50);
        for frame in 0..50 {
            let sent = Time::from_millis(40 * frame);
            for packet in 0..4 {
                arrival += Span::from_millis(if packet == 0 { 2 + 2 * others } else { 2 });
                let packet = SentPacket::new(PacketId(frame * 4 + packet), sent, Bytes::new(1000));
                let due = if empty { arrival } else { Time::ZERO };
                cross.on_arrival(arrival, &packet, due, TOGETHER);
            }
        }
        cross
    }

    #[test]
    fn what_the_path_needs_between_frames_beyond_the_time_for_our_packets_others_have_sent() {
        let cross = played(16, false);
        // A frame takes 8 ms, the others before it 32 ms.
        assert_eq!(cross.path(), Some(Rate::from_kbps(4000)));
        let share = cross.share().unwrap();
        assert!((0.79..=0.81).contains(&share), "{share}");
        assert!((0.95..=1.0).contains(&cross.busy()), "{}", cross.busy());
    }

    #[test]
    fn a_queue_of_our_own_frames_has_no_packets_of_others() {
        let cross = played(0, false);
        assert_eq!((cross.path(), cross.share()), (Some(Rate::from_kbps(4000)), Some(0.0)));
    }

    #[test]
    fn audio_that_jitter_delays_behind_a_frame_is_no_traffic_of_others() {
        // When packets leave and arrive: two frames, the second behind the first, and audio.
        let frames = [(0, 27), (0, 29), (0, 31), (0, 33), (6, 35), (6, 37), (6, 39), (6, 41)];
        let media = frames.map(|times| (times, Payload::Media, 1000));
        let packets = media.into_iter().chain([((11, 47), Payload::Audio, 100)]);
        let mut cross = Cross::default();
        for (id, (begin, ((left, arrives), payload, size))) in
            (0..).zip((0..50).flat_map(|pair| packets.clone().map(move |packet| (40 * pair, packet))))
        {
            let sent = Time::from_millis(begin + left);
            let packet = SentPacket { payload, ..SentPacket::new(PacketId(id), sent, Bytes::new(size)) };
            cross.on_arrival(Time::from_millis(begin + arrives), &packet, sent + Span::from_millis(27), TOGETHER);
        }
        assert_eq!(cross.share(), Some(0.0));
    }

    #[test]
    fn frames_that_meet_an_empty_path_say_nothing() {
        let cross = played(16, true);
        assert_eq!((cross.busy(), cross.path(), cross.share()), (0.0, None, None));
    }
}
