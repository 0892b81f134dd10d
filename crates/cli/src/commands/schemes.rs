//! `thalweg schemes`.

use thalweg_lab::bound::BOUNDS;
use thalweg_sender::scheme::{known, suffixes};

/// Lists the schemes, and the suffixes that their names may have.
pub(crate) fn run() -> anyhow::Result<()> {
    for known in known() {
        outln!("{:20} {}", known.name, known.about);
    }
    outln!("");
    for suffix in suffixes() {
        outln!("{:20} {}", suffix.name, suffix.about);
    }
    outln!("");
    outln!("bounds, for the laboratory alone: compare, and run without --live");
    for (name, about) in BOUNDS {
        outln!("{name:20} {about}");
    }
    outln!("");
    outln!("learned policies, where the build has the feature onnx");
    outln!("{:20} a model in a file, with gcc beside it (docs/learning.md)", "onnx:FILE");
    Ok(())
}
