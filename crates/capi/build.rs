//! The name by which programs find the shared library: `libthalweg.so.0` until the ABI breaks.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libthalweg.so.0");
    }
}
