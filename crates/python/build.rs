//! Links libvpx statically where its archive is, so that a wheel needs nothing of the system: the first folder in which the
//! linker looks for libvpx is one that has the archive alone.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("CARGO_FEATURE_LIBVPX").is_none() {
        return Ok(());
    }
    let Some(archive) = archive() else {
        println!("cargo:warning=libvpx is linked dynamically: there is no libvpx.a (Debian's libvpx-dev has it)");
        return Ok(());
    };
    println!("cargo:rerun-if-changed={}", archive.display());
    let Some(out) = env::var_os("OUT_DIR") else { return Err(io::Error::other("cargo sets OUT_DIR")) };
    fs::copy(archive, Path::new(&out).join("libvpx.a"))?;
    println!("cargo:rustc-link-search=native={}", Path::new(&out).display());
    Ok(())
}

/// The archive where the linker would look for it: Debian's `vpx.pc` names another folder.
fn archive() -> Option<PathBuf> {
    let asked = Command::new("cc").arg("-print-file-name=libvpx.a").output().ok()?;
    let archive = PathBuf::from(String::from_utf8(asked.stdout).ok()?.trim());
    archive.is_file().then_some(archive)
}
