//! Tests that need data. Without the data such a test is reported as ignored, with the command that fetches them; where
//! they are required (`CI=true`, or `THALWEG_REQUIRE_DATA=1`) it fails.
//!
//! The built-in harness cannot ignore a test at run time, so these tests have a harness of their own: a test target
//! with `harness = false` that lists its tests in [`data_tests!`](crate::data_tests).

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::{Manifest, Place, VARIABLE};

/// A test, and the sets that it needs.
#[derive(Debug, Clone, Copy)]
pub struct DataTest {
    /// Its name.
    pub name: &'static str,
    /// The sets that it needs.
    pub needs: &'static [&'static str],
    /// The test itself; it panics on failure.
    pub run: fn(),
}

/// The place of the tests' data: `THALWEG_DATA`, else `../shared/data` beside the repository, else the place of this
/// user.
#[must_use]
pub fn place() -> Place {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let named = env::var_os(VARIABLE).is_some_and(|value| !value.is_empty());
    if !named && beside.is_dir() { Place::at(beside) } else { Place::of_user().unwrap_or_else(|_| Place::at(beside)) }
}

/// The folder of a set, if all its files are present.
#[must_use]
pub fn folder(set: &str) -> Option<PathBuf> {
    Manifest::built_in().set(set).and_then(|set| place().folder_of(set)).ok()
}

/// The folder of a set that the test declared as needed.
///
/// # Panics
/// When the set is not present; the message has the command that fetches it.
#[must_use]
pub fn needed(set: &str) -> PathBuf {
    let found = Manifest::built_in().set(set).and_then(|set| place().folder_of(set));
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs tests with the command line of the built-in harness.
#[must_use]
pub fn run(tests: &[DataTest]) -> ExitCode {
    let trials = tests.iter().map(trial).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(test: &DataTest) -> Trial {
    let run = test.run;
    let whole = Trial::test(test.name, move || {
        run();
        Ok(())
    });
    let missing: Vec<&str> = test.needs.iter().filter(|set| folder(set).is_none()).copied().collect();
    if missing.is_empty() {
        return whole;
    }
    whole.with_kind(format!("thalweg data fetch {}", missing.join(" "))).with_ignored_flag(!required())
}

fn required() -> bool {
    let set = |name: &str, but: &str| env::var(name).is_ok_and(|value| !value.is_empty() && value != but);
    set("CI", "false") || set("THALWEG_REQUIRE_DATA", "0")
}

/// The `main` of a test target with `harness = false`: lists of sets, each with the tests that need them. A test that is not
/// built everywhere has its `#[cfg]` before its name.
///
/// ```text
/// thalweg_data::data_tests! {
///     ["mahimahi", "lumos5g"] => [every_trace_reads, every_trace_writes];
///     ["video"] => [clips::every_clip_decodes];
/// }
/// ```
#[macro_export]
macro_rules! data_tests {
    ($($needs:expr => [$($(#[$when:meta])* $test:path),* $(,)?]);* $(;)?) => {
        fn main() -> ::std::process::ExitCode {
            $crate::testing::run(&[$($(
                $(#[$when])*
                $crate::testing::DataTest { name: stringify!($test), needs: &$needs, run: $test },
            )*)*])
        }
    };
}
