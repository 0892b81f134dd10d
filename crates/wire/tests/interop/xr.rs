//! Extended reports: webrtc-rs parses what we write identically, and we parse what GStreamer's crate writes. (The
//! parser of the latter is not a reference: it drops the last chunk of run lengths.)

use proptest::prelude::*;
use rtc_rtcp::extended_report as theirs;
use rtc_shared::marshal::Unmarshal;
use rtcp_types::prelude::*;
use thalweg_units::Bytes;
use thalweg_wire::rtcp::{
    self, BytesDiscarded, Hops, Packet, ReceiptTimes, RunLengths, Spread, StatisticsSummary, Xr, XrBlock,
};

fn written(blocks: Vec<XrBlock>) -> Vec<u8> {
    let mut out = Vec::new();
    rtcp::write(&[Packet::Xr(Xr { ssrc: 5, blocks })], &mut out).unwrap();
    out
}

fn read(bytes: &[u8]) -> Vec<XrBlock> {
    match rtcp::parse(bytes).unwrap().remove(0) {
        Packet::Xr(report) => report.blocks,
        other => panic!("{other:?}"),
    }
}

/// The bits that webrtc-rs's chunks represent.
fn bits_of(block: &theirs::RLEReportBlock) -> Vec<bool> {
    let mut bits = Vec::new();
    for chunk in &block.chunks {
        match chunk.chunk_type() {
            theirs::ChunkType::RunLength => {
                bits.extend(std::iter::repeat_n(chunk.run_type().unwrap() == 1, chunk.value().into()))
            }
            theirs::ChunkType::BitVector => bits.extend((0..15).rev().map(|bit| chunk.value() >> bit & 1 == 1)),
            theirs::ChunkType::TerminatingNull => break,
        }
    }
    bits.truncate(block.end_seq.wrapping_sub(block.begin_seq).into());
    bits
}

fn any_bits() -> impl Strategy<Value = Vec<bool>> {
    let run = (any::<bool>(), prop_oneof![3 => 1usize..4, 2 => 1usize..40, 1 => 16_000usize..17_000]);
    prop::collection::vec(run, 1..12)
        .prop_map(|runs| runs.iter().flat_map(|(bit, count)| std::iter::repeat_n(*bit, *count)).take(60_000).collect())
}

proptest! {
    #[test]
    fn losses_and_copies_mean_the_same_to_webrtc_rs(ssrc: u32, begin: u16, lost in any_bits(), twice in any_bits()) {
        let of = |bits: &[bool]| RunLengths::of(ssrc, begin, bits.iter().copied()).unwrap();
        let bytes = written(vec![XrBlock::Losses(of(&lost)), XrBlock::Duplicates(of(&twice))]);
        let report = theirs::ExtendedReport::unmarshal(&mut &bytes[..]).unwrap();
        prop_assert_eq!((report.sender_ssrc, report.reports.len()), (5, 2));
        for (block, (is_loss, bits)) in report.reports.iter().zip([(true, &lost), (false, &twice)]) {
            let block = block.as_any().downcast_ref::<theirs::RLEReportBlock>().unwrap();
            prop_assert_eq!((block.is_loss_rle, block.ssrc, block.begin_seq, block.t), (is_loss, ssrc, begin, 0));
            prop_assert_eq!(&bits_of(block), bits);
        }
    }

    #[test]
    fn receipt_times_and_statistics_mean_the_same_to_webrtc_rs(
        ssrc: u32, begin: u16, times in prop::collection::vec(any::<u32>(), 0..40), words: [u32; 6], hops: [u8; 4],
    ) {
        let [lost, duplicates, min, max, mean, deviation] = words;
        let jitter = Some(Spread { min, max, mean, deviation });
        let (lost, duplicates) = (Some(lost), Some(duplicates));
        let [min, max, mean, deviation] = hops;
        let hops = Some((Hops::Ipv4, Spread { min, max, mean, deviation }));
        let end = begin.wrapping_add(9);
        let summary = StatisticsSummary { ssrc, begin, end, lost, duplicates, jitter, hops };
        let blocks = vec![
            XrBlock::ReceiptTimes(ReceiptTimes { ssrc, begin, times: times.clone() }),
            XrBlock::Statistics(summary),
        ];
        let bytes = written(blocks);
        let report = theirs::ExtendedReport::unmarshal(&mut &bytes[..]).unwrap();
        let block = report.reports[0].as_any().downcast_ref::<theirs::PacketReceiptTimesReportBlock>().unwrap();
        prop_assert_eq!((block.ssrc, block.begin_seq, &block.receipt_time), (ssrc, begin, &times));
        prop_assert_eq!(block.end_seq, begin.wrapping_add(times.len() as u16));
        let block = report.reports[1].as_any().downcast_ref::<theirs::StatisticsSummaryReportBlock>().unwrap();
        prop_assert!(block.loss_reports && block.duplicate_reports && block.jitter_reports);
        prop_assert_eq!(block.ttl_or_hop_limit, theirs::TTLorHopLimitType::IPv4);
        prop_assert_eq!([block.lost_packets, block.dup_packets], [words[0], words[1]]);
        prop_assert_eq!(&[block.min_jitter, block.max_jitter, block.mean_jitter, block.dev_jitter], &words[2..]);
        let others = [block.min_ttl_or_hl, block.max_ttl_or_hl, block.mean_ttl_or_hl, block.dev_ttl_or_hl];
        prop_assert_eq!(others, [min, max, mean, deviation]);
    }

    #[test]
    fn what_gstreamer_writes_means_the_same_to_us(
        ssrc: u32, begin: u16, chunks in prop::collection::vec((any::<bool>(), 0u16..0x4000), 1..6),
        times in prop::collection::vec(any::<u32>(), 1..40),
    ) {
        let mut bits = Vec::new();
        let mut losses = rtcp_types::LossRle::builder().ssrc(ssrc).begin(begin);
        for (vector, value) in &chunks {
            if *vector {
                losses = losses.add_chunk(rtcp_types::RleChunk::BitVector(*value));
                bits.extend((0..15).rev().map(|bit| value >> bit & 1 == 1));
            } else {
                let run = value % 300 + 1;
                losses = losses.add_chunk(match value & 1 {
                    0 => rtcp_types::RleChunk::SkipLength(run),
                    _ => rtcp_types::RleChunk::RunLength(run),
                });
                bits.extend(std::iter::repeat_n(value & 1 == 1, run.into()));
            }
        }
        let losses = losses.end(begin.wrapping_add(bits.len() as u16));
        let mut receipts = rtcp_types::PacketReceiptTimes::builder().ssrc(ssrc).begin(begin);
        for time in &times {
            receipts = receipts.add_time(*time);
        }
        let receipts = receipts.end(begin.wrapping_add(times.len() as u16));
        let builder = rtcp_types::Xr::builder().sender_ssrc(5).add_block(losses).add_block(receipts);
        let mut bytes = vec![0; builder.calculate_size().unwrap()];
        builder.write_into(&mut bytes).unwrap();
        let blocks = read(&bytes);
        let [XrBlock::Losses(losses), XrBlock::ReceiptTimes(receipts)] = &blocks[..] else {
            panic!("{blocks:?}")
        };
        prop_assert_eq!((losses.ssrc, losses.begin()), (ssrc, begin));
        prop_assert!(losses.iter().map(|(_, bit)| bit).eq(bits));
        prop_assert_eq!(receipts, &ReceiptTimes { ssrc, begin, times });
    }
}

#[test]
fn webrtc_rs_passes_over_what_it_does_not_know() {
    let packets = RunLengths::of(7, 9, [true]).unwrap();
    let discards = XrBlock::Discards { early: false, packets: packets.clone() };
    let bytes_discarded =
        XrBlock::BytesDiscarded(BytesDiscarded { ssrc: 7, bytes: Bytes::new(3), ..BytesDiscarded::default() });
    let bytes = written(vec![discards, bytes_discarded, XrBlock::Losses(packets)]);
    let report = theirs::ExtendedReport::unmarshal(&mut &bytes[..]).unwrap();
    assert_eq!(report.reports.len(), 3);
    assert!(report.reports[2].as_any().downcast_ref::<theirs::RLEReportBlock>().is_some());
}
