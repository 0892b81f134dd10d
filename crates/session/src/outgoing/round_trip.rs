//! Lets a receiver that sends no media measure the round trip: sends its timestamps back (RFC 3611 sections 4.4 and
//! 4.5).

use thalweg_units::Time;
use thalweg_wire::rtcp::{Compound, LastReceiverTime, NtpShort, Packet, Xr, XrBlock};

/// The receiver's last timestamp, until it is sent back.
#[derive(Debug, Default)]
pub(super) struct ReceiverTime(Option<Said>);

/// A timestamp, its source, and when it arrived.
#[derive(Debug, Clone, Copy)]
struct Said {
    ssrc: u32,
    time: NtpShort,
    came: Time,
}

impl ReceiverTime {
    /// An RTCP datagram arrived; one that cannot be parsed is ignored.
    pub(super) fn on_rtcp(&mut self, now: Time, datagram: &[u8]) {
        let extended = |packet| if let Ok(Packet::Xr(report)) = packet { Some(report) } else { None };
        for Xr { ssrc, blocks } in Compound::new(datagram).filter_map(extended) {
            for block in blocks {
                if let XrBlock::ReceiverTime(time) = block {
                    self.0 = Some(Said { ssrc, time: time.short(), came: now });
                }
            }
        }
    }

    /// The packet to add to the reports of stream `ssrc`, once for each timestamp.
    pub(super) fn echo(&mut self, now: Time, ssrc: u32) -> Option<Packet> {
        let said = self.0.take()?;
        let delay = NtpShort::of(now - said.came);
        let last = LastReceiverTime { ssrc: said.ssrc, last_report: said.time, delay };
        Some(Packet::Xr(Xr { ssrc, blocks: vec![XrBlock::SinceReceiverTime(vec![last])] }))
    }
}

#[cfg(test)]
mod tests {
    use thalweg_wire::rtcp::{self, NtpTime};

    use super::*;

    #[test]
    fn the_newest_time_is_sent_back_once_with_how_long_ago_it_came() {
        let mut times = ReceiverTime::default();
        let said = |millis| {
            let blocks = vec![XrBlock::ReceiverTime(NtpTime::at(Time::from_millis(millis)))];
            let mut datagram = Vec::new();
            rtcp::write(&[Packet::Xr(Xr { ssrc: 9, blocks })], &mut datagram).unwrap();
            datagram
        };
        assert_eq!(times.echo(Time::ZERO, 5), None);
        times.on_rtcp(Time::from_millis(100), &said(7_000));
        times.on_rtcp(Time::from_millis(200), &said(8_000));
        times.on_rtcp(Time::from_millis(300), &[0x80, 207, 0]);
        let last_report = NtpShort::at(Time::from_millis(8_000));
        // Half a second in 2^-16 s.
        let last = LastReceiverTime { ssrc: 9, last_report, delay: NtpShort::from_bits(0x8000) };
        let blocks = vec![XrBlock::SinceReceiverTime(vec![last])];
        let expected = Packet::Xr(Xr { ssrc: 5, blocks });
        assert_eq!(times.echo(Time::from_millis(700), 5), Some(expected));
        assert_eq!(times.echo(Time::from_millis(800), 5), None);
    }
}
