//! `thalweg schemes`.

use std::sync::Arc;

use serde_json::json;
use thalweg_lab::bound::BOUNDS;
use thalweg_sender::scheme::{known, suffixes};
use thalweg_sender::{Registry, SenderFactory};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// The scheme to begin with, and its form that browsers are sent (docs/thalweg.md).
const RECOMMENDED: [&str; 2] = ["thalweg", "thalweg:standard-decoder"];

/// Lists the schemes, and the suffixes that their names may have.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let named = |list: &[(&str, &str)]| -> Vec<_> {
        list.iter().map(|(name, about)| json!({ "name": name, "about": about })).collect()
    };
    let suffixes: Vec<(&str, &str)> = suffixes().iter().map(|suffix| (suffix.name, suffix.about)).collect();
    if arguments.json {
        let scheme = |known: &thalweg_sender::scheme::Known| {
            json!({
                "name": known.name,
                "about": known.about,
                "feedback": known.scheme().feedback().name(),
                "browsers": in_browsers(known),
                "recommended": RECOMMENDED.contains(&known.name),
            })
        };
        let schemes: Vec<_> = known().iter().map(scheme).collect();
        let whole = json!({ "schemes": schemes, "suffixes": named(&suffixes), "bounds": named(&BOUNDS) });
        outln!("{}", serde_json::to_string_pretty(&whole)?);
        return Ok(());
    }
    let width = known().iter().map(|known| known.name.len()).max().unwrap_or(0);
    for known in known() {
        let recommended = if RECOMMENDED.contains(&known.name) { '*' } else { ' ' };
        let browsers = if in_browsers(known) { 'b' } else { ' ' };
        outln!("{:width$}  {recommended}{browsers} {}", known.name, known.about);
    }
    outln!("* recommended; b browsers can follow it: thalweg and salsify as their form :standard-decoder");
    outln!("");
    for (name, about) in suffixes {
        outln!("{name:width$}     {about}");
    }
    outln!("");
    outln!("bounds, for the laboratory alone: compare, and run without --live");
    for (name, about) in BOUNDS {
        outln!("{name:width$}     {about}");
    }
    outln!("");
    outln!("learned policies, where the build has the feature onnx");
    outln!("{:width$}     a model in a file, with gcc beside it (docs/learning.md)", "onnx:FILE");
    Ok(())
}

/// Returns true if its frames, or those of its form for standard decoders, can be decoded without the states of our own
/// decoder.
fn in_browsers(known: &thalweg_sender::scheme::Known) -> bool {
    let scheme: Arc<dyn SenderFactory> = Arc::new(known.scheme());
    Registry::new().for_standard_decoder(&scheme).is_some()
}
