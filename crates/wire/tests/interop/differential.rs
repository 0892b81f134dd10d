//! `rtp-types` and `rtcp-types` parse what we write identically, and we parse what they write.

use proptest::prelude::*;
use rtcp_types::prelude::*;
use rtcp_types::{FciFeedbackPacketType, PayloadFeedback, RtcpParseError, TransportFeedback, Twcc, TwccPacketStatus};
use thalweg_units::Span;
use thalweg_wire::rtcp::twcc::{Feedback, Status};
use thalweg_wire::rtcp::{self, Bye, DecoderState, Nack, NtpShort, NtpTime, Packet, Pli};
use thalweg_wire::rtcp::{Fir, FirRequest, ReceiverReport, ReportBlock, SenderReport};
use thalweg_wire::rtp;

fn ours(packet: &Packet) -> Vec<u8> {
    let mut out = Vec::new();
    packet.write(&mut out).unwrap();
    out
}

fn theirs(writer: &impl RtcpPacketWriter) -> Vec<u8> {
    let mut out = vec![0; writer.calculate_size().unwrap()];
    writer.write_into(&mut out).unwrap();
    out
}

fn read(bytes: &[u8]) -> Packet {
    let mut packets = rtcp::parse(bytes).unwrap();
    assert_eq!(packets.len(), 1);
    packets.remove(0)
}

prop_compose! {
    fn any_block()(
        (ssrc, fraction_lost, highest_sequence, jitter, last_report, delay) in any::<(u32, u8, u32, u32, u32, u32)>(),
        cumulative_lost in -(1i32 << 23)..1 << 23,
    ) -> ReportBlock {
        let (last_report, delay) = (NtpShort::from_bits(last_report), NtpShort::from_bits(delay));
        ReportBlock { ssrc, fraction_lost, cumulative_lost, highest_sequence, jitter, last_report, delay }
    }
}

/// 24 bits, in their unsigned representation.
fn unsigned(lost: i32) -> u32 {
    lost as u32 & 0xff_ffff
}

fn their_block(block: &ReportBlock) -> rtcp_types::ReportBlockBuilder {
    rtcp_types::ReportBlock::builder(block.ssrc)
        .fraction_lost(block.fraction_lost)
        .cumulative_lost(unsigned(block.cumulative_lost))
        .extended_sequence_number(block.highest_sequence)
        .interarrival_jitter(block.jitter)
        .last_sender_report_timestamp(block.last_report.bits())
        .delay_since_last_sender_report_timestamp(block.delay.bits())
}

fn same_blocks<'a>(
    mut theirs: impl Iterator<Item = rtcp_types::ReportBlock<'a>>,
    blocks: &[ReportBlock],
) -> Result<(), TestCaseError> {
    for block in blocks {
        let other = theirs.next().expect("as many blocks");
        let losses = (other.fraction_lost(), other.cumulative_lost());
        prop_assert_eq!((other.ssrc(), losses), (block.ssrc, (block.fraction_lost, unsigned(block.cumulative_lost))));
        let counts = (other.extended_sequence_number(), other.interarrival_jitter());
        prop_assert_eq!(counts, (block.highest_sequence, block.jitter));
        let times = (other.last_sender_report_timestamp(), other.delay_since_last_sender_report_timestamp());
        prop_assert_eq!(times, (block.last_report.bits(), block.delay.bits()));
    }
    prop_assert!(theirs.next().is_none());
    Ok(())
}

fn their_status(status: &Status) -> TwccPacketStatus {
    match *status {
        Status::Arrived(delta) => TwccPacketStatus::Received { delta },
        Status::Missing | Status::Untimed => TwccPacketStatus::NotReceived,
    }
}

/// Application layer feedback in their representation: the bytes after the SSRCs.
struct ApplicationFeedback<'a>(&'a [u8]);

impl<'a> FciParser<'a> for ApplicationFeedback<'a> {
    const PACKET_TYPE: FciFeedbackPacketType = FciFeedbackPacketType::PAYLOAD;
    const FCI_FORMAT: u8 = 15;

    fn parse(data: &'a [u8]) -> Result<Self, RtcpParseError> {
        Ok(ApplicationFeedback(data))
    }
}

proptest! {
    #[test]
    fn rtp_packets_mean_the_same(
        marker: bool, payload_type in 0u8..128, sequence: u16, timestamp: u32, ssrc: u32, padding: u8,
        contributors in prop::collection::vec(any::<u32>(), 0..16),
        elements in prop::option::of(prop::collection::vec((1u8..=255, any::<[u8; 3]>()), 0..5)),
        payload: Vec<u8>,
    ) {
        let buffer = elements.map(|elements| {
            let borrowed: Vec<_> = elements.iter().map(|(id, data)| rtp::Extension { id: *id, data }).collect();
            rtp::ExtensionBuffer::of(&borrowed).unwrap()
        });
        let header = rtp::Header { marker, payload_type, sequence, timestamp, ssrc };
        let extensions = buffer.as_ref().map(rtp::ExtensionBuffer::as_extensions);
        let packet = rtp::Packet { header, contributors, extensions, payload: &payload, padding };
        let mut bytes = Vec::new();
        packet.write(&mut bytes).unwrap();

        let other = rtp_types::RtpPacket::parse(&bytes).unwrap();
        prop_assert_eq!((other.marker_bit(), other.payload_type()), (marker, payload_type));
        prop_assert_eq!((other.sequence_number(), other.timestamp(), other.ssrc()), (sequence, timestamp, ssrc));
        prop_assert_eq!(other.csrc().collect::<Vec<_>>(), packet.contributors.clone());
        prop_assert_eq!(other.padding().unwrap_or(0), padding);
        prop_assert_eq!(other.payload(), &payload[..]);
        prop_assert_eq!(other.extension(), extensions.map(|block| (block.profile(), block.data())));

        let written = other.as_builder().write_vec().unwrap();
        prop_assert_eq!(rtp::Packet::parse(&written), Ok(packet));
    }

    #[test]
    fn sender_reports_mean_the_same(
        ssrc: u32, ntp: u64, rtp_timestamp: u32, packets: u32, payload_bytes: u32,
        blocks in prop::collection::vec(any_block(), 0..32),
    ) {
        let mut builder = rtcp_types::SenderReport::builder(ssrc).ntp_timestamp(ntp).rtp_timestamp(rtp_timestamp)
            .packet_count(packets).octet_count(payload_bytes);
        for block in &blocks {
            builder = builder.add_report_block(their_block(block));
        }
        let (ntp, extension) = (NtpTime::from_bits(ntp), Vec::new());
        let report = SenderReport { ssrc, ntp, rtp_timestamp, packets, payload_bytes, blocks, extension };
        let packet = Packet::SenderReport(report.clone());
        prop_assert_eq!(read(&theirs(&builder)), packet.clone());

        let bytes = ours(&packet);
        let other = rtcp_types::SenderReport::parse(&bytes).unwrap();
        prop_assert_eq!((other.ssrc(), other.ntp_timestamp(), other.rtp_timestamp()), (ssrc, ntp.bits(), rtp_timestamp));
        prop_assert_eq!((other.packet_count(), other.octet_count()), (packets, payload_bytes));
        same_blocks(other.report_blocks(), &report.blocks)?;
    }

    #[test]
    fn receiver_reports_mean_the_same(ssrc: u32, blocks in prop::collection::vec(any_block(), 0..32)) {
        let mut builder = rtcp_types::ReceiverReport::builder(ssrc);
        for block in &blocks {
            builder = builder.add_report_block(their_block(block));
        }
        let packet = Packet::ReceiverReport(ReceiverReport { ssrc, blocks: blocks.clone(), extension: Vec::new() });
        prop_assert_eq!(read(&theirs(&builder)), packet.clone());

        let bytes = ours(&packet);
        let other = rtcp_types::ReceiverReport::parse(&bytes).unwrap();
        prop_assert_eq!(other.ssrc(), ssrc);
        same_blocks(other.report_blocks(), &blocks)?;
    }

    #[test]
    fn nacks_mean_the_same(sender_ssrc: u32, media_ssrc: u32, lost in prop::collection::btree_set(any::<u16>(), 1..200)) {
        let lost: Vec<u16> = lost.into_iter().collect();
        let nack = Nack::of(sender_ssrc, media_ssrc, lost.iter().copied());
        let mut builder = rtcp_types::Nack::builder();
        for sequence in &lost {
            builder = builder.add_rtp_sequence(*sequence);
        }
        let builder = TransportFeedback::builder_owned(builder).sender_ssrc(sender_ssrc).media_ssrc(media_ssrc);
        prop_assert_eq!(read(&theirs(&builder)), Packet::Nack(nack.clone()));

        let bytes = ours(&Packet::Nack(nack));
        let other = TransportFeedback::parse(&bytes).unwrap();
        prop_assert_eq!((other.sender_ssrc(), other.media_ssrc()), (sender_ssrc, media_ssrc));
        prop_assert_eq!(other.parse_fci::<rtcp_types::Nack<'_>>().unwrap().entries().collect::<Vec<_>>(), lost);
    }

    #[test]
    fn requests_for_key_frames_mean_the_same(sender_ssrc: u32, media_ssrc: u32, ssrc: u32, sequence: u8) {
        let loss = Packet::Pli(Pli { sender_ssrc, media_ssrc });
        let pli = PayloadFeedback::builder_owned(rtcp_types::Pli::builder()).sender_ssrc(sender_ssrc).media_ssrc(media_ssrc);
        prop_assert_eq!(theirs(&pli), ours(&loss));
        prop_assert_eq!(read(&theirs(&pli)), loss);

        let intra = Packet::Fir(Fir { sender_ssrc, requests: vec![FirRequest { ssrc, sequence }] });
        let fir = PayloadFeedback::builder_owned(rtcp_types::Fir::builder().add_ssrc(ssrc, sequence));
        let fir = fir.sender_ssrc(sender_ssrc);
        prop_assert_eq!(theirs(&fir), ours(&intra));
        prop_assert_eq!(read(&theirs(&fir)), intra);
    }

    #[test]
    fn decoder_states_are_feedback_of_an_application(
        sender_ssrc: u32, media_ssrc: u32, frame: u32, current: u64, complete in prop::collection::vec(any::<u64>(), 0..256),
    ) {
        let states = complete.len();
        let interarrival = Span::from_micros(337);
        let message = DecoderState { sender_ssrc, media_ssrc, frame, fragment: 5, interarrival, current, complete };
        let bytes = ours(&Packet::DecoderState(message));
        let other = PayloadFeedback::parse(&bytes).unwrap();
        prop_assert_eq!((other.sender_ssrc(), other.media_ssrc(), other.padding()), (sender_ssrc, media_ssrc, None));
        let ApplicationFeedback(message) = other.parse_fci().unwrap();
        prop_assert_eq!((&message[..4], message.len()), (&b"SLFY"[..], 24 + 8 * states));
        prop_assert_eq!(&message[4..8], &frame.to_be_bytes()[..]);
    }

    #[test]
    fn goodbyes_mean_the_same(sources in prop::collection::vec(any::<u32>(), 0..32), reason in "[ -~]{1,40}") {
        let mut builder = rtcp_types::Bye::builder().reason(reason.clone());
        for source in &sources {
            builder = builder.add_source(*source);
        }
        let goodbye = Packet::Bye(Bye { sources, reason: Some(reason.into_bytes()) });
        prop_assert_eq!(theirs(&builder), ours(&goodbye));
        prop_assert_eq!(read(&theirs(&builder)), goodbye);
    }

    #[test]
    fn transport_feedback_means_the_same(
        sender_ssrc: u32, media_ssrc: u32, base_sequence: u16, reference_time in 0u32..1 << 24, feedback_count: u8,
        statuses in prop::collection::vec(prop_oneof![
            4 => (Just(Status::Missing), 1usize..30),
            4 => ((0i16..256).prop_map(Status::Arrived), 1usize..30),
            1 => (any::<i16>().prop_map(Status::Arrived), 1usize..20),
            1 => (Just(Status::Missing), 8000usize..9000),
        ], 1..20),
    ) {
        let statuses: Vec<Status> =
            statuses.into_iter().flat_map(|(status, times)| std::iter::repeat_n(status, times)).take(65_535).collect();
        let listed: Vec<TwccPacketStatus> = statuses.iter().map(their_status).collect();
        let feedback = Feedback { sender_ssrc, media_ssrc, base_sequence, reference_time, feedback_count, statuses };
        let packet = Packet::TransportFeedback(feedback);

        let builder = Twcc::builder(base_sequence, reference_time, feedback_count, &listed, None);
        prop_assert_eq!(builder.packet_status_count(), listed.len());
        let builder = TransportFeedback::builder_owned(builder).sender_ssrc(sender_ssrc).media_ssrc(media_ssrc);
        prop_assert_eq!(read(&theirs(&builder)), packet.clone());

        let bytes = ours(&packet);
        let other = TransportFeedback::parse(&bytes).unwrap();
        prop_assert_eq!((other.sender_ssrc(), other.media_ssrc()), (sender_ssrc, media_ssrc));
        let other = other.parse_fci::<Twcc<'_>>().unwrap();
        prop_assert_eq!((other.base_sequence_number(), other.reference_time()), (base_sequence, reference_time));
        prop_assert_eq!(other.feedback_packet_count(), feedback_count);
        let packets: Vec<(u16, TwccPacketStatus)> = other.packets().collect::<Result<_, _>>().unwrap();
        let numbered = (0..).map(|index| base_sequence.wrapping_add(index)).zip(listed);
        prop_assert_eq!(packets, numbered.collect::<Vec<_>>());
    }
}
