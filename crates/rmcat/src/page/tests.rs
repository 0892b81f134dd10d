use super::*;
use crate::bar::judge;
use crate::case::{Case, Options};
use crate::cases::find;
use crate::log::Log;
use crate::outcome::{Figures, Trajectory};

/// A possible outcome of a case: rates and delays that swing, bars on both sides of their bounds.
fn outcome(case: &Case, scheme: &str, seeds: u64) -> Outcome {
    let network = case.network(&Options::default());
    let (seconds, wire_bps) = (case.duration.as_secs_f64(), case.limits.wire.as_bps_f64());
    let flows = case.flows();
    let phases = (0..flows).map(|flow| network.as_ref().map_or_else(Vec::new, |of| of.phases(flow, seconds, wire_bps)));
    let swing = |seed: u64, second: usize| ((second as f64 * 0.37 + seed as f64).sin() + 1.0) / 2.0;
    let trajectory = |seed: u64| Trajectory {
        rates: (0..flows).map(|_| (0..seconds as usize).map(|second| 0.3 + swing(seed, second)).collect()).collect(),
        cross: vec![0.4; seconds as usize],
        delays: (0..seconds as usize)
            .map(
                |second| {
                    if second == 7 { [f64::NAN; 3] } else { [52.0, 60.0, 90.0].map(|ms| ms + swing(seed, second)) }
                },
            )
            .collect(),
        drops: (0..seconds as u32).map(|second| second % 9 / 8 * 3).collect(),
        target: vec![800.0; seconds as usize],
    };
    let value = |seed: u64, place: usize| Some(swing(seed, place * 11) * 40.0);
    let judged = case.bars.iter().enumerate().map(|(place, bar)| {
        judge(bar, &(1..=seeds).map(|seed| (value(seed, place), place % 5 == 0)).collect::<Vec<_>>())
    });
    Outcome {
        case: case.id.clone(),
        title: case.title.clone(),
        scheme: scheme.into(),
        seeds: (1..=seeds).collect(),
        duration_s: seconds,
        media: "fixfps".into(),
        feedback: "its own".into(),
        wire_bps,
        phases: phases.collect(),
        bars: judged.collect(),
        figures: Figures::default(),
        trajectories: (1..=seeds).map(trajectory).collect(),
        fingerprints: Vec::new(),
        network,
    }
}

fn about() -> About {
    About { command: "thalweg bench rmcat --case \"5.1\" <&>".into(), seeds: 3 }
}

fn outcomes(cases: &str, schemes: &[&str], seeds: u64) -> Vec<Outcome> {
    let cases = find(cases).unwrap();
    cases.iter().flat_map(|case| schemes.iter().map(|scheme| outcome(case, scheme, seeds))).collect()
}

/// The attributes of a tag, which must be quoted; panics on what is not well-formed.
fn attributes<'a>(tag: &'a str, rest: &'a str) -> Vec<(&'a str, &'a str)> {
    let (mut rest, mut found) = (rest.trim(), Vec::new());
    while !rest.is_empty() {
        let (name, after) = rest.split_once("=\"").unwrap_or_else(|| panic!("an attribute without value: {tag}"));
        let (value, after) = after.split_once('"').unwrap_or_else(|| panic!("an open quote: {tag}"));
        assert!(!name.contains(['"', '<']) && !value.contains('<'), "{tag}");
        assert!(!found.iter().any(|(known, _)| *known == name), "{name} twice: {tag}");
        found.push((name, value));
        rest = after.trim_start();
    }
    found
}

/// Checks that every tag is closed in order, every attribute quoted and given once, and every `&` an entity, and returns
/// all names to link to and all links within the page.
fn well_formed(page: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut open, mut names, mut links): (Vec<&str>, Vec<&str>, Vec<&str>) = Default::default();
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some((text, after)) = rest.split_once('<') {
        for entity in text.split('&').skip(1) {
            assert!(["amp;", "lt;", "gt;", "quot;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let (tag, after) = after.split_once('>').expect("a tag that does not end");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another");
            continue;
        }
        let (inside, empty) = tag.strip_suffix('/').map_or((tag, false), |inside| (inside, true));
        let (name, of) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
        for (attribute, value) in attributes(tag, of) {
            match attribute {
                "id" => names.push(value),
                "href" => links.push(value.strip_prefix('#').expect("a link that leaves the page")),
                _ => {}
            }
        }
        if ["style", "script"].contains(&name) {
            rest = rest.split_once(&format!("</{name}>")).expect("its end").1;
        } else if !empty {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    (names, links)
}

#[test]
fn a_page_of_every_case_is_well_formed_and_each_link_leads_to_one_place() {
    let outcomes = outcomes("all", &["gcc", "own:a b+c"], 3);
    let page = page(&outcomes, &about());
    let (names, links) = well_formed(&page);
    assert_eq!(links.len(), crate::all().len() * 3, "a link for each case and one for each verdict");
    for link in links {
        assert_eq!(names.iter().filter(|name| **name == link).count(), 1, "{link}");
    }
    assert!(!page.contains("NaN") && !page.contains("inf "), "a number that is none");
}

#[test]
fn the_matrix_has_each_case_of_each_scheme_with_its_verdict_in_words() {
    let mut outcomes = outcomes("wired", &["gcc", "nada"], 3);
    outcomes[5].bars.clear();
    outcomes[5].trajectories.clear();
    let page = page(&outcomes, &about());
    for outcome in &outcomes {
        let (class, name) = (class(outcome.verdict()), name(outcome.verdict()));
        let link = format!("href=\"#{}\"", anchor(&outcome.case, &outcome.scheme));
        let cell = page.split("<td class=\"").find(|cell| cell.contains(&link)).unwrap();
        assert!(cell.starts_with(&format!("{class}\"")) && cell.contains(&format!(">{name}<small>")), "{cell}");
    }
    assert!(page.contains("Not played: the case asks for weights"));
}

#[test]
fn a_named_figure_says_what_it_is_under_the_pointer() {
    let page = page(&outcomes("5.1", &["gcc"], 2), &about());
    let decided = outcomes("5.1", &["gcc"], 2)[0].decided_by().unwrap().bar.figure.meaning();
    assert!(page.contains(&format!(": {}\"", escaped(decided))), "{decided}");
    let waits = "<span title=\"95th percentile of waiting in queues, in ms.\">q95 of flow 0";
    assert!(page.contains(waits), "no {waits}");
    assert!(page.contains("Sizes of frames: each exactly its share of the target (fixfps)"));
}

#[test]
fn names_of_others_are_text_and_no_markup() {
    let evil = "<script>alert(1)</script>\"&";
    let mut outcomes = outcomes("5.1", &[evil], 1);
    let Outcome { case, title, media, feedback, .. } = &mut outcomes[0];
    [case, title, media, feedback].into_iter().for_each(|text| *text = evil.into());
    let page = page(&outcomes, &about());
    well_formed(&page);
    assert!(!page.contains("<script>alert"));
    assert!(page.contains("--case &quot;5.1&quot; &lt;&amp;&gt;"));
}

#[test]
fn a_drawing_says_what_it_shows_and_the_same_outcomes_give_the_same_bytes() {
    let outcomes = outcomes("5.3", &["gcc"], 2);
    let html = page(&outcomes, &about());
    assert_eq!(html, page(&outcomes, &about()));
    let charts: Vec<&str> = html.split("<svg class=\"chart\"").skip(1).collect();
    assert_eq!(charts.len(), 2);
    for chart in charts {
        let begin = chart.split("</desc>").next().unwrap();
        assert!(begin.contains("<title>5.3, gcc: ") && begin.contains("irst seed"), "{begin}");
    }
    assert!(html.contains("the way back, below the axis"), "5.3 has media both ways");
}

#[test]
fn flows_that_could_have_the_same_are_one_dotted_line() {
    let dotted = |case: &str| {
        let page = page(&outcomes(case, &["gcc"], 1), &about());
        let path = page.split("<path class=\"a\" d=\"").nth(2).unwrap().split('"').next().unwrap().to_string();
        path.matches('M').count()
    };
    // The first path of this class is the legend's. Of 5.2's two flows always the same; 5.3's go two ways.
    assert_eq!([dotted("5.2"), dotted("5.3")], [1, 2]);
}

#[test]
fn a_case_without_a_network_shows_the_target() {
    let case = &find("5.1").unwrap()[0];
    let mut outcome = outcome(case, "gcc", 2);
    (outcome.network, outcome.phases) = (None, vec![Vec::new()]);
    let page = page(&[outcome], &about());
    well_formed(&page);
    assert!(page.contains("5.1, gcc: the controller's target"));
    assert!(page.contains("flow 0 0.8 Mbps"));
}

#[test]
fn nothing_played_is_a_page() {
    well_formed(&page(&[], &about()));
    let empty = Trajectory::of(&Log::default(), 10.0);
    let mut outcomes = outcomes("5.1", &["gcc"], 1);
    outcomes[0].trajectories = vec![empty];
    well_formed(&page(&outcomes, &about()));
}

#[test]
fn twelve_cases_of_seven_schemes_with_ten_seeds_stay_below_four_megabytes() {
    let outcomes = outcomes("wired", &["gcc", "nada", "scream", "copa", "bbr", "camel", "vidaptive"], 10);
    assert!(outcomes.len() >= 84);
    let size = page(&outcomes, &about()).len();
    assert!(size < 4_000_000, "{size} bytes");
}

#[test]
fn numbers_have_three_figures_and_anchors_tell_all_names_apart() {
    assert_eq!([0.8814, 60.0, 12.34, 214.4, -0.001, 100.0].map(number), ["0.88", "60", "12.3", "214", "0", "100"]);
    assert_eq!(anchor("6.2/5.4", "gcc"), "6.2_2f5.4/gcc");
    assert_ne!(anchor("a", "b_2f"), anchor("a", "b/"));
}

/// The relative luminance of a colour, and the contrast of two (WCAG 2.2).
fn contrast(one: &str, other: &str) -> f64 {
    let luminance = |colour: &str| {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    };
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn lines_stand_out_by_three_to_one_and_texts_by_four_and_a_half() {
    let style = include_str!("style.css");
    let blocks: Vec<&str> =
        style.split(":root {").skip(1).take(2).map(|block| block.split('}').next().unwrap()).collect();
    for block in blocks {
        let colour = |name: &str| {
            let value = block.split(&format!("--{name}: ")).nth(1).unwrap_or_else(|| panic!("no {name}"));
            &value[..7]
        };
        let at_least = |least: f64, one: &str, other: &str| {
            let found = contrast(colour(one), colour(other));
            assert!(found >= least, "{one} {} on {other} {}: {found:.2}", colour(one), colour(other));
        };
        for line in ["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "capacity", "frame", "should"] {
            at_least(3.0, line, "paper");
        }
        at_least(3.0, "mark", "should");
        at_least(3.0, "mark", "must");
        at_least(3.0, "f1", "spread");
        for (text, ground) in [("ink", "paper"), ("quiet", "paper"), ("quiet", "raised"), ("link", "paper")] {
            at_least(4.5, text, ground);
        }
        for verdict in ["pass", "weak", "open", "fail"] {
            at_least(4.5, &format!("{verdict}-ink"), verdict);
            at_least(3.0, &format!("{verdict}-ink"), "paper");
        }
    }
}
