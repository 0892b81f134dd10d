//! Results on standard output.
//!
//! `println!` panics when the reader has closed the pipe, as `head` does after its lines; here that ends the command
//! quietly.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

/// `print!` that ends the command quietly when the pipe has no reader.
macro_rules! out {
    ($($part:tt)*) => { $crate::out::write(format_args!($($part)*)) };
}

/// `println!` that ends the command quietly when the pipe has no reader.
macro_rules! outln {
    ($($part:tt)*) => { $crate::out::write(format_args!("{}\n", format_args!($($part)*))) };
}

pub(crate) fn write(text: Arguments<'_>) {
    if let Err(error) = std::io::stdout().lock().write_fmt(text) {
        if error.kind() == ErrorKind::BrokenPipe {
            std::process::exit(0);
        }
        eprintln!("thalweg: standard output: {error}");
        std::process::exit(1);
    }
}
