//! Nothing of its own: cargo builds the plugins that it depends on.
