//! `thalweg data`: the recordings and clips that tests, figures and documents use.

use anyhow::bail;
use thalweg_data::{Manifest, Origin, Outcome, Place, Set, State, fetch};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  thalweg data list
  thalweg data fetch mahimahi
  thalweg data verify mahimahi")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the data sets: size, licence, and whether they are present
    List,
    /// Fetch data sets into THALWEG_DATA, or into thalweg in XDG_DATA_HOME or ~/.local/share
    Fetch {
        /// Mirror's address, or folder, to fetch the sets from (default: the upstream repositories)
        #[arg(long, value_name = "ADDRESS|FOLDER")]
        from: Option<Origin>,
        /// Sets to fetch (default: all)
        sets: Vec<String>,
    },
    /// Check every file against its SHA-256
    Verify {
        /// Sets to check (default: all)
        sets: Vec<String>,
    },
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let place = Place::of_user()?;
    match &arguments.command {
        Command::List => list(&place),
        Command::Fetch { from, sets } => fetch_sets(&place, from.as_ref().unwrap_or(&Origin::Upstream), sets),
        Command::Verify { sets } => verify(&place, sets),
    }
}

fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Set>> {
    let manifest = Manifest::built_in();
    if names.is_empty() {
        return Ok(manifest.sets().iter().collect());
    }
    Ok(names.iter().map(|name| manifest.set(name)).collect::<Result<_, _>>()?)
}

fn list(place: &Place) -> anyhow::Result<()> {
    outln!("{}", place.root().display());
    for set in chosen(&[])? {
        let here = set.files.iter().filter(|file| place.path(set, file).is_file()).count();
        let all = set.files.len();
        let there = if here == all { "here".to_string() } else { format!("{here} of {all} files") };
        outln!("{:18} {:>7} {there:>17}  {}", set.name, size(set.bytes()), set.about);
        let mut sources: Vec<&str> = set.files.iter().map(|file| file.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        for source in sources.iter().filter_map(|name| set.files.iter().find(|file| file.source == *name)) {
            let source = Manifest::built_in().source(source);
            let from = source.repository.as_deref().unwrap_or("made for this project: --from a mirror or folder");
            outln!("{:46}{from}; licence: {}", "", source.licence);
        }
    }
    Ok(())
}

fn fetch_sets(place: &Place, origin: &Origin, names: &[String]) -> anyhow::Result<()> {
    let manifest = Manifest::built_in();
    let (mut failed, mut left_out) = (0, 0);
    for set in chosen(names)? {
        let (mut fetched, mut kept) = (0, 0);
        for file in &set.files {
            match fetch(manifest, place, origin, set, file) {
                Outcome::Kept => kept += 1,
                Outcome::Fetched => fetched += 1,
                Outcome::NoUpstream => left_out += 1,
                Outcome::Failed(error) => {
                    failed += 1;
                    eprintln!("thalweg: {}/{}: {error}", set.name, file.name);
                }
            }
        }
        outln!("{:18} {fetched} fetched, {kept} here already, of {}", set.name, set.files.len());
    }
    if left_out > 0 {
        let what = format!(
            "{left_out} files were made for this project and have no upstream: give --from a mirror or a folder"
        );
        // Without names, files that upstream does not have are skipped; a set requested by name is incomplete without
        // them.
        if !names.is_empty() {
            bail!(what);
        }
        outln!("{what}");
    }
    if failed > 0 {
        bail!("{failed} files could not be fetched into {}", place.root().display());
    }
    Ok(())
}

fn verify(place: &Place, names: &[String]) -> anyhow::Result<()> {
    let mut wrong = 0;
    for set in chosen(names)? {
        for file in &set.files {
            let what = match place.state(set, file)? {
                State::Here => continue,
                State::Missing => "missing",
                State::Corrupt => "corrupt",
            };
            wrong += 1;
            outln!("{what} {}: `thalweg data fetch {}` gets it", place.path(set, file).display(), set.name);
        }
    }
    match wrong {
        0 => Ok(()),
        _ => bail!("{wrong} files are missing or corrupt in {}", place.root().display()),
    }
}

fn size(bytes: u64) -> String {
    if bytes >= 1_000_000 { format!("{:.1} MB", bytes as f64 / 1e6) } else { format!("{} kB", bytes.div_ceil(1000)) }
}
