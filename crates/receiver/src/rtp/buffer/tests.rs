use super::*;
use proptest::prelude::*;

fn piece(timestamp: u32, marker: bool, start: Start) -> Piece {
    let (arrived, origin) = (Time::ZERO, Origin::Media);
    Piece { payload: vec![7; 10], timestamp, marker, start, picture: None, says: Says::default(), arrived, origin }
}

/// Packets `begin..end` form a frame of timestamp `begin`; `says` is whether its first packet identifies itself as the
/// start.
fn frame(begin: u64, end: u64, says: bool) -> impl DoubleEndedIterator<Item = (u64, Piece)> {
    (begin..end).map(move |number| {
        let start = match (says, number == begin) {
            (true, true) => Start::Yes,
            (true, false) => Start::No,
            (false, _) => Start::AfterAnother,
        };
        (number, piece(begin as u32, number + 1 == end, start))
    })
}

fn feed(buffer: &mut Buffer, packets: impl Iterator<Item = (u64, Piece)>) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    for (number, piece) in packets {
        ranges.extend(buffer.on_piece(number, piece).1.iter().map(|whole| (whole.start, whole.end)));
    }
    ranges
}

#[test]
fn a_frame_is_whole_whatever_order_its_packets_come_in() {
    let mut buffer = Buffer::new();
    assert_eq!(feed(&mut buffer, frame(100, 105, true).rev()), [(100, 104)]);
    assert_eq!(feed(&mut buffer, frame(105, 106, true)), [(105, 105)]);
    assert_eq!((buffer.held(), buffer.bytes()), (0, 0));
}

#[test]
fn a_frame_that_does_not_say_where_it_begins_waits_for_the_packet_before_it() {
    let mut buffer = Buffer::new();
    // The first packet of the stream: it is unknown whether there was one before it.
    assert_eq!(feed(&mut buffer, frame(100, 103, false)), []);
    assert_eq!(feed(&mut buffer, frame(103, 105, false)), [(103, 104)]);
    assert_eq!(feed(&mut buffer, frame(107, 109, false)), []);
    assert_eq!(feed(&mut buffer, frame(105, 107, false)), [(105, 106), (107, 108)]);
    assert_eq!((buffer.held(), buffer.bytes()), (3, 30));
}

#[test]
fn padding_between_and_within_frames_leaves_no_hole() {
    for says in [true, false] {
        let mut buffer = Buffer::new();
        feed(&mut buffer, frame(98, 99, true));
        assert_eq!(feed(&mut buffer, frame(100, 102, says)), if says { vec![(100, 101)] } else { vec![] });
        let whole = buffer.on_padding(99).1;
        assert_eq!(whole.len(), usize::from(!says));
        let mut packets: Vec<_> = frame(102, 105, says).collect();
        packets.remove(1);
        assert_eq!(feed(&mut buffer, packets.into_iter()), []);
        assert_eq!(buffer.on_padding(103).1[0].pieces.len(), 2);
    }
}

#[test]
fn what_came_before_is_told_from_what_comes_too_late() {
    let mut buffer = Buffer::new();
    feed(&mut buffer, frame(10, 12, true));
    let again = |buffer: &mut Buffer, number| buffer.on_piece(number, piece(9, false, Start::No)).0;
    assert_eq!(again(&mut buffer, 11), Taken::Twice);
    buffer.clear_up_to(20);
    assert_eq!((again(&mut buffer, 11), again(&mut buffer, 15)), (Taken::Twice, Taken::Late));
    assert_eq!(again(&mut buffer, 20 + PACKETS), Taken::New);
    assert_eq!((again(&mut buffer, 21), again(&mut buffer, 20)), (Taken::New, Taken::Late));
}

#[test]
fn packets_of_frames_that_never_became_whole_make_room_and_are_counted() {
    let mut buffer = Buffer::new();
    feed(&mut buffer, frame(10, 14, true).skip(1));
    feed(&mut buffer, frame(14, 18, true).skip(1));
    assert_eq!((buffer.held(), buffer.take_overrun()), (6, false));
    buffer.on_padding(12 + PACKETS);
    assert_eq!((buffer.held(), buffer.take_overrun(), buffer.take_abandoned()), (4, true, 1));
    buffer.on_padding(u64::MAX / 2);
    assert_eq!((buffer.held(), buffer.bytes(), buffer.take_abandoned()), (0, 0, 1));
}

#[test]
fn what_can_begin_a_frame_goes_on_with_the_one_that_has_begun() {
    // An access unit delimiter and parameter sets, each in its own packet.
    let mut buffer = Buffer::new();
    let packets = [
        (10, piece(1, false, Start::Yes)),
        (11, piece(1, false, Start::Yes)),
        (12, piece(1, true, Start::AfterAnother)),
    ];
    assert_eq!(feed(&mut buffer, packets.into_iter()), [(10, 12)]);
}

#[test]
fn what_never_says_where_it_ends_is_never_whole() {
    let mut buffer = Buffer::new();
    let endless = (0..3 * PACKETS).map(|number| (number, piece(5, false, Start::Yes)));
    assert_eq!(feed(&mut buffer, endless), []);
    assert_eq!(buffer.held() as u64, PACKETS);
}

proptest! {
    #[test]
    fn whatever_comes_is_held_within_bounds_and_counted_right(
        packets in prop::collection::vec((0u64..6000, 0u32..4, any::<bool>(), 0u8..4), 1..400),
    ) {
        let mut buffer = Buffer::new();
        for (number, timestamp, marker, kind) in packets {
            let start = [Start::Yes, Start::No, Start::AfterAnother][usize::from(kind) % 3];
            let whole = if kind == 3 { buffer.on_padding(number).1 } else { buffer.on_piece(number, piece(timestamp, marker, start)).1 };
            for whole in whole {
                prop_assert!(whole.start <= whole.end && number <= whole.end);
                prop_assert!(!whole.pieces.is_empty() && whole.pieces.len() as u64 <= whole.end + 1 - whole.start);
                prop_assert!(whole.pieces.last().unwrap().marker);
            }
            let held = buffer.slots.iter().filter(|slot| matches!(slot.state, State::Media(_))).count();
            prop_assert_eq!((buffer.held(), buffer.bytes()), (held, 10 * held));
            if number % 97 == 0 {
                buffer.clear_up_to(number);
            }
        }
        buffer.clear();
        prop_assert_eq!(buffer.held(), 0);
    }
}
