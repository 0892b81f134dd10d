//! `thalweg schemes`.

/// Lists the schemes.
pub(crate) fn run() -> anyhow::Result<()> {
    for known in thalweg_sender::scheme::known() {
        outln!("{:20} {}", known.name, known.about);
    }
    Ok(())
}
