//! The checker finds every fault in a small repository with one fault of each kind.

use std::fs;

use super::*;

const INDEX: &str = "\
# Specifications
## 1. Papers
| name | paper | sections |
|---|---|---|
| Salsify | a title | 1, 3.2, IV-B |
";
const PAGE: &str = "\
# A page
## 1. First
A reading [C9].
### 1.1 Below `it`
1. an example
```
## 7. in a fenced block
```
| id | what |
| E2 | an experiment |
";

fn repository(file: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("docs/specs/README.md", INDEX);
    write("docs/specs/page.md", PAGE);
    write(file, text);
    faults(folder.path()).unwrap().iter().map(Fault::to_string).collect()
}

fn in_code(text: &str) -> Vec<String> {
    repository("crates/a/src/lib.rs", text)
}

#[track_caller]
fn one(found: &[String], place: &str, what: &str) {
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with(place) && found[0].contains(what), "{found:?}");
}

#[test]
fn what_exists_is_no_fault() {
    let right = "//! specs/page.md; specs/page.md 1, specs/page.md 1.1 and 1; specs/page.md 1.1, example 1 (specs/page.md
        //! 1.1). specs/page.md C9, E2. Salsify section 3.2, Salsify's section IV-B, RFC 8888 section 3.1.\n// docs/specs/page.md\n";
    assert_eq!(in_code(right), [] as [&str; 0]);
}

#[test]
fn a_page_that_is_not_there_is_a_fault_with_its_file_and_line() {
    one(&in_code("\n\n/// As in specs/other.md 3."), "crates/a/src/lib.rs:3: ", "there is no docs/specs/other.md");
}

#[test]
fn a_section_that_is_not_there_is_a_fault_also_in_the_next_line_of_a_comment() {
    one(&in_code("/// (specs/page.md 1.2)"), "crates/a/src/lib.rs:1: ", "no section 1.2");
    one(&in_code("/// (specs/page.md\n    /// 7)"), "crates/a/src/lib.rs:1: ", "no section 7");
    one(&in_code("/// (specs/page.md 1 and 2)"), "crates/a/src/lib.rs:1: ", "no section 2");
}

#[test]
fn an_example_or_a_reading_that_is_not_there_is_a_fault() {
    one(&in_code("// specs/page.md 1.1, example 2."), "crates", "no example 2 in section 1.1");
    one(&in_code("// specs/page.md, example 1."), "crates", "say in which section");
    one(&in_code("// specs/page.md C8."), "crates", "nothing named C8");
    one(&in_code("// specs/page.md C9, C10."), "crates", "nothing named C10");
}

#[test]
fn a_reading_without_its_page_is_a_fault_but_on_the_page_of_its_paper() {
    one(&in_code("// so it is (C9)."), "crates", "say of what page C9 is");
    assert_eq!(repository("docs/papers/page.md", "so it is (C9)."), [] as [&str; 0]);
    one(&repository("docs/papers/page.md", "so it is (C8)."), "docs/papers/page.md:1: ", "C8");
}

#[test]
fn a_section_that_a_paper_has_not_is_a_fault() {
    one(
        &in_code("/// as Salsify section 5.3 says"),
        "crates",
        "the Salsify paper has no section 5.3, only 1, 3.2, IV-B",
    );
    one(&in_code("/// as Salsify\n/// sections 1 and 2 say"), "crates", "no section 2");
}

#[test]
fn a_document_that_is_not_there_and_a_citation_in_another_form_are_faults() {
    one(&in_code("// see page.md."), "crates", "there is no page.md here");
    one(&in_code("// see docs/live.md."), "crates", "there is no docs/live.md here");
    let both = in_code("// see page.md section 1.");
    assert!(both.iter().any(|fault| fault.contains("write specs/NAME.md NUMBER")), "{both:?}");
}

#[test]
fn a_link_to_nowhere_is_a_fault_by_file_and_by_heading() {
    let page = |text: &str| repository("docs/live.md", text);
    assert_eq!(
        page("[a](specs/page.md) [b](specs/page.md#11-below-it) [c](#here) [d](https://e.org/x)\n# Here\n"),
        [] as [&str; 0]
    );
    one(&page("[a](none.md)"), "docs/live.md:1: ", "which does not exist");
    one(&page("\n![a](none.png)"), "docs/live.md:2: ", "none.png");
    one(&page("[a](specs/page.md#second)"), "docs/live.md:1: ", "no heading for #second");
    one(&page("[a](#second)"), "docs/live.md:1: ", "no heading for #second");
    one(&page("<img src=\"none.png\">"), "docs/live.md:1: ", "none.png");
}

#[test]
fn headings_in_fenced_blocks_are_none() {
    assert!(!Page::read(PAGE).has_section("7"));
    assert!(Page::read(PAGE).has_section("1.1"));
}

#[test]
fn folders_of_what_is_built_are_not_read() {
    assert_eq!(repository("target/doc/x.md", "[a](none.md)"), [] as [&str; 0]);
}

const TABLE: &str = "| section | level | requirement | shown by | exception |\n|---|---|---|---|---|\n";
const COUNTS: &str = "| RFC | requirements | shown by tests | not ours | open |\n|---|---|---|---|---|\n";
const SOURCE: &str = "\
#[test]
fn it_is_so() {}

#[test]
// Takes hours.
#[ignore = \"slow\"]
fn it_is_slow() {}

fn helper() {}
proptest! {
    #[test]
    fn it_is_always_so(x: u8) {}
}
";

/// A repository with these rows about RFC 1, whose numbers are these.
fn requirements(rows: &str, counts: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("docs/specs/README.md", INDEX);
    write("crates/a/src/lib.rs", SOURCE);
    write("docs/requirements/rfc1.md", &format!("# RFC 1\n{TABLE}{rows}"));
    write("docs/requirements/README.md", &format!("# Requirements\n{COUNTS}{counts}"));
    faults(folder.path()).unwrap().iter().map(Fault::to_string).collect()
}

const ONE: &str = "| [1](rfc1.md) | 1 | 1 | 0 | 0 |\n";

#[test]
fn requirements_with_tests_or_reasons_in_the_order_of_their_sections_are_no_fault() {
    let rows = "\
| 2 | MUST | be so | `a/src/lib.rs::it_is_so`, `a/src/lib.rs::it_is_always_so` | |
| 2 | SHOULD | be nice | | n/a: this is for a lite agent |
| 10.1 | MUST NOT | be so | `a/src/lib.rs::it_is_so` | open: half of it is not done yet |
";
    let counts = "| [1](rfc1.md) | 3 | 1 | 1 | 1 |\n| all | 3 | 1 | 1 | 1 |\n";
    assert_eq!(requirements(rows, counts), [] as [&str; 0]);
}

#[test]
fn a_requirement_without_a_test_that_runs_and_without_a_reason_is_a_fault() {
    let row = |shown: &str, exception: &str| requirements(&format!("| 1 | MUST | be | {shown} | {exception} |\n"), ONE);
    let place = "docs/requirements/rfc1.md:4: ";
    assert!(row("", "").iter().any(|fault| fault.starts_with(place) && fault.contains("neither a test")));
    one(&row("`a/src/lib.rs::it_was_so`", ""), place, "has no test it_was_so");
    one(&row("`a/src/main.rs::it_is_so`", ""), place, "there is no crates/a/src/main.rs");
    one(&row("`a/src/lib.rs::helper`", ""), place, "helper in crates/a/src/lib.rs is no test");
    one(&row("`a/src/lib.rs::it_is_slow`", ""), place, "is ignored");
    assert!(row("somebody", "").iter().any(|fault| fault.contains("\"somebody\" names no test")));
    assert!(row("", "later").iter().any(|fault| fault.contains("\"later\" must begin with")));
    assert!(row("", "open: later").iter().any(|fault| fault.contains("gives no reason")));
}

#[test]
fn a_section_out_of_order_a_wrong_level_and_a_row_cut_short_are_faults() {
    let shown = "`a/src/lib.rs::it_is_so` | |";
    let two = |first: &str, second: &str| {
        let rows = format!("| {first} | MUST | be | {shown}\n| {second} | MUST | be | {shown}\n");
        requirements(&rows, "| [1](rfc1.md) | 2 | 2 | 0 | 0 |\n")
    };
    assert_eq!(two("9.2", "10.1"), [] as [&str; 0]);
    one(&two("10.1", "9.2"), "docs/requirements/rfc1.md:5: ", "section 9.2 stands after a later one");
    one(&two("1", "next"), "docs/requirements/rfc1.md:5: ", "invalid section");
    one(
        &requirements(&format!("| 1 | MAY | be | {shown}\n"), ONE),
        "docs/requirements/rfc1.md:4: ",
        "\"MAY\" is no level",
    );
    assert!(requirements("| 1 | MUST | be |\n", ONE).iter().any(|fault| fault.contains("3 cells in a row, must be 5")));
    assert!(requirements("", ONE).iter().any(|fault| fault.contains("no table with the header")));
}

#[test]
fn numbers_that_are_not_those_of_the_tables_are_a_fault_that_says_the_right_ones() {
    let row = "| 1 | MUST | be | `a/src/lib.rs::it_is_so` | |\n";
    let place = "docs/requirements/README.md:4: ";
    one(&requirements(row, "| [1](rfc1.md) | 2 | 2 | 0 | 0 |\n"), place, "rfc1.md has | 1 | 1 | 0 | 0 |");
    one(
        &requirements(row, &format!("{ONE}| all | 9 | 9 | 0 | 0 |\n")),
        "docs/requirements/README.md:5: ",
        "all have | 1 |",
    );
    one(&requirements(row, ""), "docs/requirements/README.md:1: ", "rfc1.md is not in the table");
}

#[test]
fn a_text_that_begins_with_what_is_a_fault_wherever_a_reader_meets_it() {
    for (text, what) in [
        ("/// Whether it is due.\n", "not 'Whether'"),
        ("    //! Of both.\n", "not 'Of'"),
        ("help(\"What is sent.\")\n", "not 'What'"),
        ("#[error(\n    \"what came from {0} is too long\")]\n", "not 'what'"),
        ("format!(\"'{name}' is no scheme: write one\")\n", "not 'is no scheme:'"),
        ("format!(\"no scheme '{name}': choose from {all}\")\n", "not ': choose from'"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("lib.rs"), text).unwrap();
        let faults: Vec<String> = faults_of_prose(folder.path()).unwrap().iter().map(Fault::to_string).collect();
        one(&faults, "lib.rs:", what);
    }
}

#[test]
fn a_comment_a_noun_and_a_word_that_begins_alike_are_no_faults_of_prose() {
    let right = "/// Offset of it.\n// Whether \"What is this\" is asked.\nlet a = \"Thatch is no roof\";\n";
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lib.rs"), right).unwrap();
    assert_eq!(faults_of_prose(folder.path()).unwrap(), []);
}

const FIGURES: &str = "\
# Camel

## camel-fig10

### Readings

| link | scheme | estimate accuracy | latency p95 ms |
| --- | --- | ---: | ---: |
| 60 % | gcc | 90.9%±2.8 | 1,085±4 |
| 60 % | camel | 99.6%±0.0 | 76±1 |
| 20 % | camel | 99.9%±0.0 | 77±1 |

## camel-fig11

| link | scheme | estimate accuracy |
| --- | --- | ---: |
| 60 % | gcc | -12.5% [-14.0, 3.1] |
";

fn quoting(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("docs/specs/README.md", INDEX);
    write("docs/papers/results/camel.md", FIGURES);
    write("docs/a.md", text);
    faults(folder.path()).unwrap().iter().map(Fault::to_string).collect()
}

#[test]
fn a_quotation_is_the_cell_it_names_or_the_cell_rounded() {
    let right = "\
A <!-- quotes camel-fig10; 60 %; camel; estimate accuracy -->99.6 % and <!-- quotes camel-fig10; gcc; latency p95 ms -->1085
B <!-- quotes camel-fig11; gcc;
estimate accuracy -->-12.5 %, of [-14, 3.1]<!-- end -->, 7 of
C <!-- quotes docs/papers/results/camel.md#camel-fig11; gcc; estimate accuracy -->**-12.5** <!-- counts docs/*.md -->1 page
D <!-- counts docs/a.md: <!-- quotes -->4 lines
";
    assert_eq!(quoting(right), [] as [&str; 0]);
    let table = "\
<!-- table quotes camel-fig10; 60 % -->

| | `gcc` | camel |
|---|---|---|
| estimate accuracy | 91 % | **99.6 %** |
";
    assert_eq!(quoting(table), [] as [&str; 0]);
}

#[test]
fn a_quotation_that_is_not_what_its_cell_says_is_a_fault() {
    one(
        &quoting("A <!-- quotes camel-fig10; 60 %; camel; estimate accuracy -->98.6 %"),
        "docs/a.md:1",
        "99.6%±0.0, not 98.6",
    );
    one(
        &quoting("A <!-- quotes camel-fig10; gcc; estimate accuracy -->90.91 %"),
        "docs/a.md:1",
        "90.9%±2.8, not 90.91",
    );
    one(
        &quoting("A <!-- quotes camel-fig10; camel; estimate accuracy -->99.6 %"),
        "docs/a.md:1",
        "2 rows camel: add a label",
    );
    one(&quoting("A <!-- quotes camel-fig10; copa; estimate accuracy -->1"), "docs/a.md:1", "no row copa");
    one(
        &quoting("A\n<!-- quotes camel-fig10; gcc; estimate accuracy -->90.9 %"),
        "docs/a.md:2",
        "begins with a comment",
    );
    one(&quoting("A <!-- quotes camel-fig12; copa; estimate accuracy -->1"), "docs/a.md:1", "heading camel-fig12");
    one(&quoting("A <!-- counts docs/*.md -->2 pages"), "docs/a.md:1", "the source has 1, not 2");
    one(
        &quoting("<!-- table quotes camel-fig11 -->\n\n| | gcc |\n|---|---|\n| estimate accuracy | 12.5 |\n"),
        "docs/a.md:1",
        "not 12.5",
    );
}
