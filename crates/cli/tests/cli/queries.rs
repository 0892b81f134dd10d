//! Interfaces for other readers: the queries of docs/reference/queries.md run over the folder of a run, files match
//! their JSON schemas, and `events.parquet` says where it comes from. DuckDB, pandas and jsonschema come from
//! `.ci/tools queries`; where they cannot be had the test says so, and fails if they are required
//! (`THALWEG_REQUIRE_PYTHON=1`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Folder, text, thalweg};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of Python's modules of a list in `.ci`.
pub(crate) fn modules(list: &str) -> Option<PathBuf> {
    let done = Command::new(root().join(".ci/tools")).arg(list).output();
    let failed = match done {
        Ok(done) if done.status.success() => {
            return Path::new(text(&done.stdout).trim()).parent().map(Path::to_path_buf);
        }
        Ok(done) => text(&done.stderr),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("THALWEG_REQUIRE_PYTHON").is_none_or(|value| value == "0"), "{failed}");
    eprintln!("NOT RUN: the Python packages of .ci/{list}.txt could not be had: {failed}");
    None
}

fn python(modules: &Path, folder: &Path, code: &str) -> String {
    let command = Command::new("python3").arg("-c").arg(code).current_dir(folder).env("PYTHONPATH", modules).output();
    let done = command.unwrap();
    assert!(done.status.success(), "{code}\n{}", text(&done.stderr));
    text(&done.stdout)
}

/// The folder `out` of two schemes with an encoder model.
fn played(folder: &Folder) -> PathBuf {
    let out = folder.0.join("out");
    let shown = out.display().to_string();
    let options = ["compare", "--scheme", "gcc,vidaptive", "--encoder", "model", "--duration", "10s", "-o", &shown];
    let done = thalweg(&options);
    assert!(done.status.success(), "{}", text(&done.stderr));
    out
}

/// The blocks of code of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    page.split(&fence).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_string())).collect()
}

#[test]
fn every_query_of_the_book_answers_over_the_folder_of_a_run() {
    let Some(modules) = modules("queries") else { return };
    let folder = Folder::new("queries");
    played(&folder);
    fs::copy(root().join("docs/reference/views.sql"), folder.0.join("views.sql")).unwrap();
    let page = fs::read_to_string(root().join("docs/reference/queries.md")).unwrap();
    let (queries, programs) = (blocks(&page, "sql"), blocks(&page, "python"));
    assert!(queries.len() >= 5 && programs.len() >= 2, "{} queries, {} programs", queries.len(), programs.len());
    let start = "import duckdb\n\
        events = duckdb.sql(\"CREATE VIEW events AS SELECT * FROM 'out/gcc/events.parquet'\")\n\
        duckdb.sql(open('views.sql').read())\n";
    let ask = |query: &String| format!("found = duckdb.sql('''{query}''').fetchall()\nassert found, '''{query}'''\n");
    let asked: String = queries.iter().map(ask).collect();
    python(&modules, &folder.0, &format!("{start}{asked}"));
    for program in programs {
        let printed = python(&modules, &folder.0, &program);
        assert!(!printed.trim().is_empty(), "{program}");
    }
}

#[test]
fn what_is_written_matches_the_schemas_and_every_example_does() {
    let Some(modules) = modules("queries") else { return };
    let folder = Folder::new("schemas");
    let out = played(&folder).join("gcc");
    let root = root();
    let code = format!(
        "import glob, json, tomllib, jsonschema\n\
         def schema(path): return json.load(open('{root}/' + path))\n\
         def check(value, path):\n\
         \x20   jsonschema.Draft202012Validator(schema(path)).validate(value)\n\
         scenario = 'crates/cli/src/commands/scenario/schema.json'\n\
         run = tomllib.load(open('{out}/run.toml', 'rb'))\n\
         check(run['scenario'], scenario)\n\
         check(run['scheme'], 'docs/reference/scheme.schema.json')\n\
         check(json.load(open('{out}/summary.json')), 'docs/reference/summary.schema.json')\n\
         examples = glob.glob('{root}/examples/*.toml')\n\
         assert len(examples) > 3\n\
         for example in examples:\n\
         \x20   read = tomllib.load(open(example, 'rb'))\n\
         \x20   check(read['scenario'] if 'axes' in read else read, scenario)\n\
         try: check(dict(run['scenario'], sed=1), scenario)\n\
         except jsonschema.ValidationError: pass\n\
         else: raise SystemExit('an unknown key passed')\n",
        root = root.display(),
        out = out.display(),
    );
    python(&modules, &folder.0, &code);
}

#[test]
fn the_events_say_which_run_they_are_of() {
    let Some(modules) = modules("queries") else { return };
    let folder = Folder::new("metadata");
    let out = played(&folder).join("gcc");
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(out.join("summary.json")).unwrap()).unwrap();
    assert_eq!(summary["schema_version"], 1);
    let code = "import json, pyarrow.parquet\n\
        metadata = pyarrow.parquet.read_metadata('events.parquet').metadata\n\
        print(json.dumps({key.decode(): value.decode() for key, value in metadata.items()}))";
    let metadata: serde_json::Value = serde_json::from_str(&python(&modules, &out, code)).unwrap();
    for (key, of) in [
        ("scheme", "scheme"),
        ("trace", "trace"),
        ("video", "video"),
        ("codec", "codec"),
        ("version", "version"),
        ("fingerprint", "events_fingerprint"),
    ] {
        assert_eq!(metadata[format!("thalweg.{key}")], summary[of], "{key}");
    }
    assert_eq!(metadata["thalweg.seed"], "1");
    let units: serde_json::Value = serde_json::from_str(metadata["thalweg.units"].as_str().unwrap()).unwrap();
    assert_eq!(units["span_ns"], "ns");
}
