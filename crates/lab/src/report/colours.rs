//! One look for a scheme, by its name, in every report.

use serde::Serialize;

/// A colour on white and one on the dark page, each at least 3:1 against it (WCAG 2.2, 1.4.11). The first are those of
/// Okabe and Ito (2008), darkened where they were too pale; to readers who see some of the rest alike, they differ by
/// their dashes.
const COLOURS: [(&str, &str); 8] = [
    ("#d55e00", "#ff8c42"),
    ("#0072b2", "#4fa8e8"),
    ("#00855f", "#2fc79a"),
    ("#b8528f", "#f09bcb"),
    ("#3d3d3d", "#e8e8e8"),
    ("#a07000", "#e6b733"),
    ("#6a3d9a", "#b79cf0"),
    ("#3a8fc4", "#a5dcff"),
];

/// Colours that need no dashes to differ from each other.
const PLAIN: usize = 5;

/// Lengths of dashes and gaps in pixels; none for a solid line.
const DASHES: [&[u8]; 8] =
    [&[], &[8, 4], &[2, 3], &[8, 3, 2, 3], &[14, 4], &[14, 3, 2, 3, 2, 3], &[4, 8], &[14, 3, 4, 3]];

/// The schemes in the order of their styles. A new one goes to the end, so that no other changes.
const SCHEMES: [&str; 61] = [
    "gcc",
    "copa",
    "vidaptive",
    "vidaptive:rocc",
    "salsify",
    "camel",
    "fbra",
    "rebera",
    "bbr",
    "nada",
    "scream",
    "sqp",
    "pudica",
    "rrtcc",
    "tfrc",
    "cnadu",
    "copa+dummy",
    "copa+dummy+latency",
    "vidaptive+fec",
    "vidaptive+best",
    "vidaptive:gcc",
    "vidaptive+functional",
    "bbr:media",
    "fbra:xr",
    "fbra:xr-random",
    "camel:paper",
    "camel:careful",
    "camel:no-headroom",
    "camel:burst-sizes",
    "camel:fixed-burst",
    "rebera:sender",
    "rebera:absolute",
    "rebera:unspent",
    "rebera+fec",
    "rebera:paper",
    "rebera:precoded",
    "salsify-1c",
    "salsify-2c",
    "salsify:paper",
    "salsify:no-grace",
    "salsify:conventional-codec",
    "salsify:conventional-transport-and-codec",
    "salsify:standard-decoder",
    "tcp",
    "web",
    "gcc:2017",
    "gcc:2023",
    "vidaptive:resolution-by-quantizer",
    "vidaptive:gaps",
    "rrtcc:fec-probes",
    "salsify:paper-1c",
    "thalweg",
    "thalweg:standard-decoder",
    "thalweg:conventional",
    "bound:omniscient",
    "bound:causal",
    "gcc:loss",
    "scream:libwebrtc",
    "ace-n",
    "belabox",
    "openpilot",
];

/// How a scheme's lines are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Style {
    /// Its colour on the light page.
    pub(super) light: &'static str,
    /// Its colour on the dark page.
    pub(super) dark: &'static str,
    /// Its dashes and gaps.
    pub(super) dash: &'static [u8],
}

/// The style of what is no scheme: each colour at least 3:1 against its page, as those above.
pub(super) const MUTED: Style = Style { light: "#6f7b87", dark: "#8f9ba8", dash: &[6, 3] };

/// The style of the scheme of this name; of its `repeat`-th line, if a page has several of it.
pub(super) fn style(name: &str, repeat: usize) -> Style {
    let known = SCHEMES.iter().position(|known| *known == name);
    let slot = known.unwrap_or_else(|| hash(name) as usize % (COLOURS.len() * DASHES.len()));
    let (colour, round) = (slot % COLOURS.len(), slot / COLOURS.len() + repeat);
    let (light, dark) = COLOURS[colour];
    Style { light, dark, dash: DASHES[(round + usize::from(colour >= PLAIN)) % DASHES.len()] }
}

/// The style of this name beside those that a page has already: a name that is no scheme of ours has no place of its own, and
/// takes a plain colour that nothing on the page has, as long as there is one.
pub(super) fn style_beside(name: &str, repeat: usize, taken: &[Style]) -> Style {
    let own = style(name, repeat);
    if SCHEMES.contains(&name) || repeat > 0 {
        return own;
    }
    let first = hash(name) as usize;
    let plain = (0..PLAIN).map(|next| COLOURS[(first + next) % PLAIN]);
    let free = plain.into_iter().find(|(light, _)| taken.iter().all(|taken| taken.light != *light));
    free.map_or(own, |(light, dark)| Style { light, dark, dash: DASHES[0] })
}

/// FNV-1a.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_a_style_of_its_own_and_a_repeat_another() {
        let mut seen = Vec::new();
        for known in thalweg_sender::scheme::known() {
            assert!(SCHEMES.contains(&known.name), "{} has no place in SCHEMES", known.name);
            let style = style(known.name, 0);
            assert!(!seen.contains(&style), "{} looks as another", known.name);
            seen.push(style);
        }
        assert_ne!(style("gcc", 0), style("gcc", 1));
        assert_eq!(style("my own", 0), style("my own", 0));
    }

    #[test]
    fn names_that_are_no_schemes_have_plain_colours_that_nothing_else_on_the_page_has() {
        let mut taken = vec![style("gcc", 0)];
        for name in ["chromium-1", "ours-2", "aiortc-3", "pion-4"] {
            let style = style_beside(name, 0, &taken);
            assert!(taken.iter().all(|taken| taken.light != style.light) && style.dash.is_empty(), "{name}: {style:?}");
            assert!(COLOURS[..PLAIN].iter().any(|(light, _)| *light == style.light), "{name}: {style:?}");
            taken.push(style);
        }
        assert_eq!(style_beside("one more", 0, &taken), style("one more", 0));
        assert_eq!(style_beside("gcc", 0, &taken), style("gcc", 0));
    }

    /// The relative luminance of a colour (WCAG 2.2).
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(one: &str, other: &str) -> f64 {
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn lines_and_texts_stand_out_from_both_pages() {
        let style = include_str!("web/style.css");
        let variable = |theme: &str, name: &str| -> String {
            let block = style.split(theme).nth(1).unwrap_or_else(|| panic!("no {theme}"));
            let value = block.split(&format!("--{name}:")).nth(1).unwrap_or_else(|| panic!("no {name}"));
            value.trim()[..7].to_string()
        };
        let (light, dark) = (":root {", ":root[data-theme=dark] {");
        for (theme, colours) in [(light, COLOURS.map(|colour| colour.0)), (dark, COLOURS.map(|colour| colour.1))] {
            let papers = [variable(theme, "paper"), variable(theme, "raised")];
            let muted = if theme == light { MUTED.light } else { MUTED.dark };
            for colour in colours.into_iter().chain([muted]) {
                assert!(contrast(colour, &papers[0]) >= 3.0, "{theme} {colour}");
            }
            for (text, paper) in ["ink", "quiet", "link"].iter().flat_map(|text| papers.iter().map(move |p| (text, p)))
            {
                let colour = variable(theme, text);
                assert!(contrast(&colour, paper) >= 4.5, "{theme} {text} on {paper}: {}", contrast(&colour, paper));
            }
        }
        assert!((contrast("#ffffff", "#000000") - 21.0).abs() < 1e-9);
    }
}
