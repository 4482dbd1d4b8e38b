//! A producer without a partitioner does not compile, and the compiler says what to do.

#[test]
fn without_a_partitioner_nothing_is_built() {
    trybuild::TestCases::new().compile_fail("tests/ui/no_partitioner.rs");
}
