//! Programs in C and C++ as their authors would compile them, and under tools that see what a compiler does not.

use std::path::PathBuf;
use std::process::Command;

use super::support::Library::{Shared, Static};
use super::support::recording::{record, replay};
use super::support::{built, compile, here, run};
use thalweg_units::Span;

fn recording(name: &str, duration: Span) -> (PathBuf, String) {
    let (file, text) = (PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name), record(duration));
    std::fs::write(&file, &text).expect("it can be written");
    (file, text)
}

#[test]
fn a_replay_in_c_and_in_cpp_prints_what_one_in_rust_does_to_the_byte() {
    let (file, text) = recording("whole.txt", Span::from_secs(20));
    let programs = [
        compile("examples/c/replay.c", "replay", Static, &[]),
        compile("examples/c/replay.c", "replay-shared", Shared, &[]),
        compile("examples/c/replay.c", "replay-cpp", Static, &["c++"]),
    ];
    for scheme in ["gcc", "nada", "copa", "scream", "bbr", "tfrc"] {
        let expected = replay(&text, scheme);
        assert!(expected.lines().count() > 300, "{scheme}: {}", expected.lines().count());
        for program in &programs {
            let printed = run(Command::new(program).arg(scheme).arg(&file));
            assert!(printed == expected, "{scheme}, {}", program.display());
        }
    }
}

/// Under valgrind each instruction takes some thirty: half a minute.
#[test]
fn valgrind_finds_no_error_and_no_leak() {
    let (file, _) = recording("short.txt", Span::from_secs(3));
    let valgrind = |program: PathBuf| {
        let mut command = Command::new("valgrind");
        command.args(["--quiet", "--error-exitcode=1", "--leak-check=full"]).arg(program);
        command
    };
    let replay = compile("examples/c/replay.c", "replay-valgrind", Static, &[]);
    run(valgrind(replay.clone()).arg("gcc").arg(&file));
    run(valgrind(replay).arg("copa").arg(&file));
    run(&mut valgrind(compile("examples/c/aimd.c", "aimd-valgrind", Static, &[])));
    run(&mut valgrind(compile("examples/c/controller.cpp", "controller-valgrind", Static, &[])));
}

#[test]
fn the_sanitizers_of_addresses_and_of_undefined_behaviour_find_nothing() {
    let (file, _) = recording("sanitized.txt", Span::from_secs(10));
    let compile = |source: &str, name: &str| {
        compile(source, name, Static, &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"])
    };
    run(Command::new(compile("examples/c/replay.c", "replay-sanitized")).arg("nada").arg(&file));
    run(&mut Command::new(compile("examples/c/aimd.c", "aimd-sanitized")));
    run(&mut Command::new(compile("examples/c/controller.cpp", "controller-sanitized")));
}

#[test]
fn two_threads_on_one_handle_are_refused_in_turn_and_no_race_is_seen_in_c() {
    let threads = compile("tests/programs/threads.c", "threads", Shared, &["-fsanitize=thread"]);
    // The library is not compiled for ThreadSanitizer, which would not see that its atomics keep its `memcpy` apart.
    let suppressions = threads.with_extension("suppressions");
    std::fs::write(&suppressions, "called_from_lib:libthalweg.so\n").expect("it can be written");
    let options = format!("halt_on_error=1 suppressions={}", suppressions.display());
    let printed = run(Command::new(threads).env("TSAN_OPTIONS", options));
    assert!(printed.contains("calls done"), "{printed}");
}

#[test]
fn a_controller_in_c_leads_an_engine_and_one_in_cpp_gets_the_reason_for_an_error() {
    let aimd = run(&mut Command::new(compile("examples/c/aimd.c", "aimd", Static, &[])));
    let sent: Vec<u64> = aimd.lines().filter_map(|line| line.split_whitespace().nth(3)?.parse().ok()).collect();
    // Up to what the path of 2 Mbps carries, and down when its queue is full.
    assert!(sent.len() == 20 && *sent.iter().max().unwrap() > 1900, "{aimd}");
    assert!(sent.windows(2).any(|pair| pair[1] < pair[0] * 3 / 4), "{aimd}");
    let controller = run(&mut Command::new(compile("examples/c/controller.cpp", "controller", Static, &[])));
    assert!(
        controller.contains("\nscream ") && controller.contains("unknown scheme 'gc': did you mean gcc"),
        "{controller}"
    );
}

#[test]
fn what_is_installed_is_found_by_pkg_config_and_runs_under_its_own_name() {
    let prefix = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("prefix");
    run(Command::new(here().join("../../.ci/capi")).arg(&prefix).arg(built()));
    let found = |arguments: &[&str]| {
        let mut command = Command::new("pkg-config");
        run(command.args(arguments).arg("thalweg").env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")))
    };
    assert_eq!(found(&["--modversion"]).trim(), env!("CARGO_PKG_VERSION"));
    let (file, text) = recording("installed.txt", Span::from_secs(3));
    for (name, options) in [("shared", &["--cflags", "--libs"][..]), ("static", &["--cflags", "--libs", "--static"])] {
        let program = prefix.join(name);
        let mut compiler = Command::new("cc");
        compiler.arg(here().join("examples/c/replay.c")).arg("-o").arg(&program);
        compiler.args((name == "static").then_some("-Wl,-Bstatic"));
        for word in found(options).split_whitespace() {
            // Of the libraries only ours is meant.
            compiler.arg(word);
            compiler.args((name == "static" && word == "-lthalweg").then_some("-Wl,-Bdynamic"));
        }
        run(&mut compiler);
        let mut replayed = Command::new(&program);
        let library = prefix.join("lib");
        let printed = run(replayed.arg("gcc").arg(&file).env("LD_LIBRARY_PATH", &library));
        assert!(printed == replay(&text, "gcc"), "{name}");
        let needs = run(Command::new("readelf").arg("-d").arg(&program));
        assert_eq!(needs.contains("[libthalweg.so.0]"), name == "shared", "{needs}");
    }
}

#[test]
fn the_recording_of_the_examples_is_what_the_tests_make() {
    let (file, made) = (here().join("examples/c/recording.txt"), record(Span::from_secs(4)));
    if std::env::var_os("THALWEG_WRITE").is_some() {
        std::fs::write(&file, &made).expect("it can be written");
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(current == made, "not current: THALWEG_WRITE=1 cargo test -p thalweg-capi --test all programs");
}
