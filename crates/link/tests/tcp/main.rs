//! TCP flows end to end.

mod any_path;
mod closed_loop;
mod pages;
mod support;
