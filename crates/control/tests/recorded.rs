//! GCC compared with a recorded browser.

#[allow(dead_code, unused_imports)] // Its own tests belong to another target.
#[path = "trajectories/gcc.rs"]
mod gcc;
mod support;

fn within(value: f64, low: f64, high: f64, what: &str) {
    println!("{what}: {value:.3} (expected {low:.3} to {high:.3})");
    assert!(value >= low && value <= high, "{what} is {value:.3}, expected {low:.3} to {high:.3}");
}

thalweg_data::data_tests! {
    ["chromium-gcc"] => [gcc::gcc_does_on_the_square_link_what_a_browser_does];
}
