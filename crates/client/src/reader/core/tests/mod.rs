//! Step by step, on a clock of the test.
