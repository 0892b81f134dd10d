//! TCP flows end to end.

mod any_path;
mod closed_loop;
mod marks;
mod pages;
mod support;
