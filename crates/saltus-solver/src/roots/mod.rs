//! Root isolation.
