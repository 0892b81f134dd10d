//! Invalid SDP, and SDP that cannot be used.

use proptest::prelude::*;

use super::*;

#[test]
fn an_sdp_over_64_kilobytes_is_refused_with_the_numbers() {
    let max = CHROMIUM.to_owned() + &"a=x:0123456789\r\n".repeat((MAX_BYTES - CHROMIUM.len()) / 16);
    assert!(max.len() <= MAX_BYTES && answer(&max, &local(1), &sender()).is_ok());
    let over = max + "a=x:0123456789\r\n";
    let error = answer(&over, &local(1), &sender()).unwrap_err();
    assert_eq!(error, SdpError::TooLong { found: over.len(), max: 65_536 });
    assert!(error.to_string().contains("65536") && error.to_string().contains(&over.len().to_string()), "{error}");
    assert!(offer(&local(1), &sender()).accept(&over).is_err());
}

#[test]
fn more_sections_than_are_read_are_refused_with_the_numbers() {
    let section = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\n";
    let error = answer(&(CHROMIUM.to_owned() + &section.repeat(31)), &local(1), &sender()).unwrap_err();
    assert_eq!(error, SdpError::TooManySections { found: 33, max: 32 });
    let answer = answer(&(CHROMIUM.to_owned() + &section.repeat(30)), &local(1), &sender()).expect("an answer");
    assert_eq!((answer.refused.len(), answer.text.matches("\r\nm=").count()), (30, 32));
}

#[test]
fn a_line_that_cannot_be_read_is_named() {
    let cases = [
        ("v=0", "v=one", 1, "v=one"),
        ("s=-", "x=-", 3, "x=-"),
        ("t=0 0", "t=now", 4, "t=now"),
        ("a=extmap-allow-mixed", "nonsense", 6, "nonsense"),
        ("m=video 9", "m=video nine", 8, "m=video nine"),
        ("c=IN IP4 0.0.0.0", "c=XX IP4 0.0.0.0", 9, "c=XX"),
    ];
    for (line, other, number, found) in cases {
        let error = answer(&CHROMIUM.replacen(line, other, 1), &local(1), &sender()).unwrap_err();
        match &error {
            SdpError::Syntax { line, found: text, .. } => {
                assert!(*line == number && text.starts_with(found), "{other}: {error}");
            }
            _ => panic!("{other}: {error}"),
        }
    }
    for text in ["", "\r\n", "v=0\r\n", "\u{0}", "hello"] {
        assert!(answer(text, &local(1), &sender()).is_err(), "{text:?}");
    }
    let session = CHROMIUM.split("m=video").next().expect("a session");
    let error = answer(session, &local(1), &sender()).unwrap_err();
    assert!(error.to_string().contains("no section"), "{error}");
}

#[test]
fn a_missing_line_is_named_with_its_section() {
    let cases = [
        ("a=ice-ufrag", "a=ice-ufrag"),
        ("a=ice-pwd", "a=ice-pwd"),
        ("a=fingerprint", "a=fingerprint"),
        ("a=setup", "a=setup"),
    ];
    for (line, named) in cases {
        let text: String = CHROMIUM.split_inclusive('\n').filter(|kept| !kept.starts_with(line)).collect();
        let error = answer(&text, &local(1), &sender()).unwrap_err();
        assert!(matches!(&error, SdpError::Missing { needed, .. } if needed.starts_with(named)), "{error}");
        assert!(error.to_string().starts_with("section 0 (video) has no a="), "{error}");
    }
}

#[test]
fn a_line_with_a_value_that_cannot_be_is_named() {
    let cases = [
        ("a=setup:actpass", "a=setup:holdconn", "actpass, active or passive"),
        ("a=ice-ufrag:zi4J", "a=ice-ufrag:zi", "4 to 256"),
        ("a=ice-ufrag:zi4J", "a=ice-ufrag:zi:4J", "4 to 256"),
        ("a=ice-pwd:rhWw", "a=ice-pwd:\u{7f}rhWw", "22 to 256"),
        ("a=fingerprint:sha-256 D6:", "a=fingerprint:sha-256 G6:", "32 pairs"),
    ];
    for (line, other, needed) in cases {
        let error = answer(&CHROMIUM.replace(line, other), &local(1), &sender()).unwrap_err().to_string();
        assert!(error.contains("section 0 (video)") && error.contains(needed), "{other}: {error}");
    }
}

#[test]
fn no_common_codec_is_explained_with_both_lists() {
    let offer = CHROMIUM_VIDEO.replace("VP8/", "VP7/");
    let capabilities = Capabilities { video: vec![VideoCodec::Vp8], ..sender() };
    let error = answer(&offer, &local(1), &capabilities).unwrap_err().to_string();
    assert!(error.contains("VP7/90000") && error.contains("needed is one of VP8"), "{error}");
    let error = answer(CHROMIUM_SENDS, &local(1), &sender()).unwrap_err().to_string();
    assert!(error.contains("is not recvonly, and this end is sendonly"), "{error}");
}

#[test]
fn of_several_fingerprints_the_one_that_can_be_checked_counts() {
    let line = "a=fingerprint:sha-256 ";
    let several = CHROMIUM.replace(line, &format!("a=fingerprint:sha-512 00:11\r\n{line}"));
    let answered = answer(&several, &local(1), &sender()).expect("an answer");
    assert_eq!(answered.remote.fingerprint.digest()[0], 0xd6);
}

#[test]
fn a_flood_of_candidates_is_cut_off() {
    let line = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n";
    let flood = CHROMIUM.replacen("a=ice-ufrag", &format!("{}a=ice-ufrag", line.repeat(1000)), 1);
    assert_eq!(answer(&flood, &local(1), &sender()).expect("an answer").remote.candidates.len(), 64);
}

fn mutated() -> impl Strategy<Value = String> {
    let bytes = proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4), 1..12);
    let ours = offer(&local(3), &sender()).text;
    let texts: Vec<String> = ALL.iter().map(|text| (*text).to_owned()).chain([ours]).collect();
    (proptest::sample::select(texts), bytes).prop_map(|(text, changes)| {
        let mut bytes = text.into_bytes();
        for (at, value, change) in changes {
            let at = at.index(bytes.len());
            match change {
                0 => bytes[at] = value,
                1 => bytes.insert(at, value),
                2 => drop(bytes.drain(at..(at + usize::from(value)).min(bytes.len() - 1))),
                // Duplicates a part: lines and sections that contradict each other.
                _ => {
                    let stretch = bytes[at..(at + usize::from(value) * 4).min(bytes.len())].to_vec();
                    bytes.splice(at..at, stretch);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_mutation_of_an_sdp_panics_and_what_is_answered_can_be_read(text in mutated()) {
        for (capabilities, other) in [(sender(), receiver()), (receiver(), sender())] {
            if let Ok(answered) = answer(&text, &local(1), &capabilities) {
                // Our answer, used as an offer, leaves no choice.
                prop_assert!(answer(&answered.text, &local(2), &other).is_ok(), "{}", answered.text);
            }
            let _ = offer(&local(3), &capabilities).accept(&text);
        }
        let _ = fragment::Fragment::read(&text);
    }
}
