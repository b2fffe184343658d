//! flatten
