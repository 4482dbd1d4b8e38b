//! Tests of settings as a whole.
