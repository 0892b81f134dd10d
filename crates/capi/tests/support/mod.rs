//! Programs in C and C++ for tests.
#![allow(dead_code, reason = "each test takes what it needs")]

pub mod recording;

use std::path::{Path, PathBuf};
use std::process::Command;

/// This crate's folder.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Where cargo puts the library that it builds for a test: beside it.
pub fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    test.parent().expect("target/PROFILE/deps/TEST").to_owned()
}

/// With which library a program is linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    Static,
    Shared,
}

/// Compiles a program of `examples` or `tests`; returns where it is.
pub fn compile(source: &str, name: &str, library: Library, flags: &[&str]) -> PathBuf {
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let in_cpp = flags.contains(&"c++") || source.ends_with(".cpp");
    let mut compiler = Command::new(if in_cpp { "c++" } else { "cc" });
    compiler.arg(if in_cpp { "-std=c++17" } else { "-std=c11" });
    compiler.args(["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"]);
    compiler.args(flags.iter().filter(|flag| **flag != "c++"));
    if in_cpp {
        compiler.args(["-x", "c++"]);
    }
    compiler
        .arg("-I")
        .arg(here().join("include"))
        .arg("-o")
        .arg(&program)
        .arg(here().join(source))
        .args(["-x", "none"]);
    let folder = built();
    match library {
        Library::Static => compiler.arg(folder.join("libthalweg_capi.a")),
        Library::Shared => {
            // Found under the name by which it will be installed.
            let named = program.with_extension("lib");
            std::fs::create_dir_all(&named).expect("a folder");
            for name in ["libthalweg.so", "libthalweg.so.0"] {
                std::fs::copy(folder.join("libthalweg_capi.so"), named.join(name)).expect("built beside this test");
            }
            compiler.arg("-L").arg(&named).arg("-lthalweg").arg(format!("-Wl,-rpath,{}", named.display()))
        }
    };
    compiler.args(["-lm", "-lpthread", "-ldl"]);
    run(&mut compiler);
    program
}

/// Output of a command; it must succeed.
pub fn run(command: &mut Command) -> String {
    let tool = command.get_program().to_string_lossy().into_owned();
    let done = command.output().unwrap_or_else(|error| panic!("{tool}: {error}: `make setup-capi` installs it"));
    let (out, problems) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{command:?}: {}\n{out}\n{problems}", done.status);
    out.into_owned()
}
