//! Clients of a publisher's web server, in any order.

mod model;

use crate::steps::Steps;
use model::{Ask, Patch, Tag, play};

/// Longer inputs take time without adding cases.
const MAX_STEPS: usize = 40;

const SCHEMES: [&str; 6] = ["gcc", "vidaptive", "camel", "salsify", "gcc+dummies", "magic"];

/// Joins, patches, leaves, switches and waits; see `play` for what must come of it.
pub fn hub(data: &[u8]) {
    let mut steps = Steps(data);
    let mut asked = Vec::new();
    while steps.more() && asked.len() < MAX_STEPS {
        let what = steps.byte();
        let who = usize::from(what >> 4);
        asked.push(match what & 15 {
            0..=2 => Ask::Join { text: None, path: String::new() },
            3 => {
                let scheme = SCHEMES[usize::from(steps.byte()) % SCHEMES.len()];
                let channel = ["", "/main", "/other", "/none"][who % 4];
                Ask::Join { text: None, path: format!("{channel}?scheme={}", scheme.replace('+', "%2B")) }
            }
            4 => Ask::Join { text: Some(text(&mut steps)), path: String::new() },
            5..=9 => {
                let how = steps.byte();
                let condition = match how & 7 {
                    0 => Tag::Missing,
                    1 => Tag::Stale,
                    2 | 3 => Tag::Any,
                    _ => Tag::Present,
                };
                let what = match how >> 4 & 3 {
                    0 => Patch::Candidate,
                    1 => Patch::Restart,
                    2 => Patch::BadRestart,
                    _ => Patch::Text(text(&mut steps)),
                };
                Ask::Patch { who, what, condition }
            }
            10 => Ask::Leave(who),
            11 => Ask::Switch(who, SCHEMES[usize::from(steps.byte()) % SCHEMES.len()].to_owned()),
            12 => Ask::ChangeLink(who, text(&mut steps)),
            13 => Ask::Get(["/about", "/clock", "/metrics", "/health", "/whep", "/"][who % 6].to_owned()),
            _ => Ask::Pass(steps.byte() % 40),
        });
    }
    if !asked.is_empty() {
        play(&asked);
    }
}

/// A few of the next bytes as text.
fn text(steps: &mut Steps) -> String {
    let length = usize::from(steps.byte()).min(steps.0.len());
    let bytes: Vec<u8> = (0..length).map(|_| steps.byte()).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
