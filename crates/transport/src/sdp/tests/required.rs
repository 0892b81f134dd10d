//! Requirements of RFC 9725, RFC 8834 and RFC 8854 on offers and answers.

use super::*;

/// The sections of an SDP, those that are refused left out.
fn sections(text: &str) -> Vec<Vec<&str>> {
    let count = text.lines().filter(|line| line.starts_with("m=")).count();
    (0..count).map(|number| section(text, number)).filter(|lines| !lines[0].contains(" 0 ")).collect()
}

fn values<'a>(text: &'a str, key: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.strip_prefix(key)).collect()
}

#[test]
fn an_offer_is_of_one_stream_bundled_and_multiplexed_and_leaves_the_role_in_dtls_open() {
    let text = offer(&local(1), &sender()).text;
    assert_eq!(values(&text, "a=group:BUNDLE "), ["0 1"]);
    assert_eq!(sections(&text).len(), 2);
    for lines in sections(&text) {
        for line in ["a=sendonly", "a=rtcp-mux", "a=rtcp-mux-only", "a=rtcp-rsize", "a=setup:actpass"] {
            assert!(lines.contains(&line), "{line} in {lines:#?}");
        }
        assert!(lines[0].contains(" UDP/TLS/RTP/SAVPF "), "{}", lines[0]);
    }
    // One MediaStream, each of whose tracks is of another kind.
    assert_eq!(values(&text, "a=msid:"), ["thalweg-1 video", "thalweg-1 audio"]);
}

#[test]
fn only_an_offer_rules_out_rtcp_on_a_port_of_its_own() {
    let offered = offer(&local(1), &sender()).text;
    assert_eq!(values(&offered, "a=rtcp-mux-only").len(), 2);
    let answered = answer(&offered, &local(2), &receiver()).expect("an answer").text;
    assert_eq!((values(&answered, "a=rtcp-mux-only").len(), values(&answered, "a=rtcp-mux").len()), (0, 2));
}

#[test]
fn rtcp_of_reduced_size_is_agreed_on_where_both_ends_name_it_in_every_section() {
    let offer = offer(&local(1), &sender());
    let without = offer.text.replacen("a=rtcp-rsize\r\n", "", 1);
    for (text, agreed) in
        [(offer.text.clone(), true), (without, false), (offer.text.replace("a=rtcp-rsize\r\n", ""), false)]
    {
        let answer = answer(&text, &local(2), &receiver()).expect("an answer");
        assert_eq!(answer.media.reduced_size, agreed);
        assert_eq!(values(&answer.text, "a=rtcp-rsize").len(), if agreed { 2 } else { 0 });
        assert_eq!(offer.accept(&answer.text).expect("our own answer").media.reduced_size, agreed);
    }
}

#[test]
fn a_fragment_and_the_sdp_before_it_name_the_same_options_of_ice() {
    let offer = offer(&local(1), &sender());
    let fragment = offer.fragment(&local(3).credentials, &[]).to_string();
    let options = values(&fragment, "a=ice-options:");
    assert_eq!(options.len(), 1);
    assert!(values(&offer.text, "a=ice-options:").iter().all(|of_offer| *of_offer == options[0]));
    for lite in [false, true] {
        let local = Local { lite, ..local(1) };
        let offer = super::super::offer(&local, &sender());
        let fragment = offer.fragment(&local.credentials, &[]).to_string();
        let is_said = |text: &str| text.lines().any(|line| line == "a=ice-lite");
        assert_eq!((is_said(&offer.text), is_said(&fragment)), (lite, lite));
    }
}

#[test]
fn who_receives_opus_says_that_it_uses_the_fec_in_it() {
    let offered = offer(&local(1), &receiver()).text;
    let answered = answer(&offer(&local(1), &sender()).text, &local(2), &receiver()).expect("an answer").text;
    for text in [offered, answered] {
        let parameters = values(&text, "a=fmtp:111 ");
        assert!(parameters.len() == 1 && parameters[0].split(';').any(|one| one == "useinbandfec=1"), "{parameters:?}");
    }
}

#[test]
fn a_section_of_fec_alone_is_refused_and_none_is_offered() {
    let offered = offer(&local(1), &sender()).text;
    let of_fec = "m=video 9 UDP/TLS/RTP/SAVPF 99\r\na=mid:9\r\na=sendonly\r\na=rtcp-mux\r\na=rtcp-rsize\r\n\
                  a=rtpmap:99 flexfec-03/90000\r\na=fmtp:99 repair-window=10000000\r\n";
    let answer = answer(&format!("{offered}{of_fec}"), &local(2), &receiver()).expect("an answer");
    assert_eq!(answer.refused.len(), 1, "{:?}", answer.refused);
    assert_eq!(section(&answer.text, 2)[0], "m=video 0 UDP/TLS/RTP/SAVPF 99");
    for lines in sections(&offered) {
        assert!(lines.iter().any(|line| line.contains(" VP8/90000") || line.contains(" opus/48000/2")), "{lines:#?}");
    }
}

#[test]
fn each_number_of_a_payload_type_has_one_meaning_in_all_sections_of_an_offer_and_of_an_answer() {
    let offered = offer(&local(1), &sender()).text;
    let answered = answer(&offered, &local(2), &receiver()).expect("an answer").text;
    for text in [&offered, &answered] {
        let maps = values(text, "a=rtpmap:");
        let mut numbers: Vec<_> = maps.iter().filter_map(|map| map.split(' ').next()).collect();
        assert!(numbers.len() >= 3);
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count, "{maps:?}");
        let named = text.lines().filter(|line| line.starts_with("m=")).map(|line| line.split(' ').count() - 3);
        assert_eq!(named.sum::<usize>(), count, "every number of an m= line is mapped");
    }
}

#[test]
fn all_streams_of_a_connection_have_one_name() {
    let text = offer(&local(1), &sender()).text;
    let mut names: Vec<_> = values(&text, "a=ssrc:").iter().filter_map(|line| line.split_once(" cname:")).collect();
    assert_eq!(names.len(), 4, "video, its retransmissions, its FEC, audio");
    assert!(names.drain(..).all(|(_, name)| name == "thalweg-1"));
}
