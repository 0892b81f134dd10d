//! The window controllers of the `vidaptive` crate, through its trait. They take packets one by one and an `Instant`.

use thalweg_control::{Report, SentPacket};
use thalweg_lab::contestant::{Estimator, Limits};
use thalweg_units::{Bytes, Rate, Time};
use vidaptive::{AckInfo, CongestionController, Copa, CopaConfig, LostPacket, Rocc, RoccConfig};

use crate::epoch::Epoch;

struct Window<C> {
    controller: C,
    epoch: Epoch,
}

/// `Copa::new` reads the clock, and its windows count whole microseconds since then.
pub(crate) fn copa(_: Limits) -> Box<dyn Estimator> {
    let (controller, epoch) = Epoch::around(|| Copa::new(CopaConfig::default()));
    Box::new(Window { controller, epoch })
}

pub(crate) fn rocc(_: Limits) -> Box<dyn Estimator> {
    let (controller, epoch) = Epoch::around(|| Rocc::new(RoccConfig::default()));
    Box::new(Window { controller, epoch })
}

/// Rate of so many bytes a second.
fn rate(bytes: u64) -> Rate {
    Rate::from_bps(bytes.saturating_mul(8).max(1))
}

impl<C> Window<C> {
    /// A nanosecond before a microsecond of the epoch ends: the same microsecond of one that began a little later.
    fn at(&self, time: Time) -> std::time::Instant {
        self.epoch.at(Time::from_nanos(time.as_nanos() / 1000 * 1000 + 999))
    }
}

impl<C: CongestionController + Send> Estimator for Window<C> {
    fn on_reports(&mut self, now: Time, reports: &[Report]) {
        let now = self.at(now);
        let (mut arrived, mut lost) = (Vec::new(), Vec::new());
        for Report { packet, fate, .. } in reports {
            let (seq, len) = (packet.id.0, packet.size.get() as usize);
            match fate {
                thalweg_control::Fate::Arrived { .. } => arrived.push(AckInfo { seq, len, acked_at: now }),
                thalweg_control::Fate::Lost => lost.push(LostPacket { seq, len, lost_at: now }),
            }
        }
        if !arrived.is_empty() {
            self.controller.on_packets_acked(&arrived);
        }
        lost.iter().for_each(|lost| self.controller.on_packet_lost(lost));
    }

    fn target(&self) -> Rate {
        rate(self.controller.cc_rate())
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        let (seq, len, sent_at) = (packet.id.0, packet.size.get() as usize, self.at(packet.at));
        let app_limited = packet.app_limited;
        self.controller.on_packet_sent(&vidaptive::SentPacket { seq, len, sent_at, app_limited });
    }

    fn pacing(&self) -> Rate {
        rate(self.controller.pacing_rate())
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes::new(self.controller.cwnd()))
    }
}
