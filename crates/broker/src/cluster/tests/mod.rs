//! Tests of the controller as a whole.
