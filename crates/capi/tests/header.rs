//! The header is what the code says.

use super::support::here;

#[test]
fn the_header_is_what_cbindgen_makes_of_the_code() {
    let config = cbindgen::Config::from_file(here().join("cbindgen.toml")).expect("a configuration");
    let mut made = Vec::new();
    cbindgen::generate_with_config(here(), config).expect("the code can be read").write(&mut made);
    let (made, file) = (String::from_utf8(made).expect("text"), here().join("include/thalweg.h"));
    if std::env::var_os("THALWEG_WRITE").is_some() {
        std::fs::write(&file, &made).expect("it can be written");
    }
    let current = std::fs::read_to_string(&file).expect("it is there");
    assert!(
        current == made,
        "include/thalweg.h is not current: THALWEG_WRITE=1 cargo test -p thalweg-capi --test all header"
    );
}
