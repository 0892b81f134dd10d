//! The wire crate on recordings: packets, captures and fuzz corpora of other implementations.

mod captures;
mod control;
mod corpus;
mod packets;
mod video;

thalweg_data::data_tests! {
    ["rtp-interop"] => [
        control::aiortc_packets_are_read_and_written_back_byte_for_byte,
        control::broken_packets_of_aiortc_are_refused_with_field_place_and_range,
        control::what_parses_of_the_webrtc_corpora_parses_again_after_writing,
        control::sender_reports_between_the_packets_of_libwebrtc_are_read,
        packets::aiortc_packets_are_read_and_written_back_byte_for_byte,
        packets::every_packet_of_str0m_is_read_and_written_back_byte_for_byte,
        packets::what_parses_of_the_webrtc_corpora_parses_again_after_writing,
        video::the_packets_of_str0m_reassemble_into_frames,
        video::the_packets_of_libwebrtc_reassemble_into_frames,
        video::what_parses_of_recorded_descriptors_is_written_back_byte_for_byte,
        video::vp9_packets_of_others_reassemble_into_pictures,
        video::h264_packets_of_others_reassemble_into_access_units,
    ];
}
