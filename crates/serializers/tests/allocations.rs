//! Serializing into a batch that has room allocates nothing, and hostile bytes allocate no more than they
//! account for. One test, because the allocator counts for the whole process.

use std::alloc::System;

use copart_serializers::{
    Bool, Context, Deserialize, Float32, Float64, Int16, Int32, Int64, Json, List, Optional,
    Payload, Raw, Serialize, Utf8, UuidBytes, UuidText,
};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[derive(serde::Serialize)]
struct Order<'a> {
    item: u32,
    customer: &'a str,
    price: f64,
}

/// Appends a value as a producer does, and returns how often memory was asked for.
fn allocations<S: Serialize<T>, T: ?Sized>(
    batch: &mut Vec<u8>,
    serializer: &S,
    value: &T,
) -> usize {
    let before = batch.len();
    let region = Region::new(ALLOCATOR);
    serializer
        .append(&Context::value("orders"), value, batch)
        .expect("a value that can be written");
    let change = region.change();
    assert!(batch.len() > before);
    change.allocations + change.reallocations
}

fn writes_allocate_nothing() {
    let mut batch = Vec::with_capacity(1 << 16);
    let id = uuid::Uuid::from_u128(7);
    let order = Order {
        item: 7,
        customer: "Żaneta \"7\"",
        price: 1.25,
    };
    let batch = &mut batch;
    let counts = [
        allocations(batch, &Raw, "bytes"),
        allocations(batch, &Utf8, "text"),
        allocations(batch, &Int16, &7),
        allocations(batch, &Int32, &7),
        allocations(batch, &Int64, &7),
        allocations(batch, &Float32, &7.0),
        allocations(batch, &Float64, &f64::NAN),
        allocations(batch, &Bool, &true),
        allocations(batch, &UuidText, &id),
        allocations(batch, &UuidBytes, &id),
        allocations(batch, &Optional(Int64), &Some(7)),
        allocations(batch, &List(Optional(Int64)), &[Some(7), None]),
        allocations(batch, &List(Utf8), &["a", "b"]),
        allocations(batch, &Json::<Order<'_>>::new(), &order),
    ];
    assert_eq!(counts, [0; 14]);
}

fn reading_shares_the_batch() {
    let batch = bytes::Bytes::from(vec![7; 1 << 20]);
    let region = Region::new(ALLOCATOR);
    let value = Raw
        .deserialize(
            &Context::value("orders"),
            Payload::within(&batch, &batch[10..]),
        )
        .expect("bytes");
    assert!(
        region.change().bytes_allocated < 100,
        "{:?}",
        region.change()
    );
    assert_eq!(value.as_ptr(), batch[10..].as_ptr());
}

/// Lists that claim two billion elements, or as many as Java's own check lets through.
fn hostile_lists_allocate_little() {
    let region = Region::new(ALLOCATOR);
    for claimed in [u32::MAX, i32::MAX as u32, 1 << 20, 1000] {
        for prefix in [&[0, 0, 0, 0, 0][..], &[1], &[0]] {
            for length in [0, 100, 1000] {
                let mut bytes = prefix.to_vec();
                bytes.extend(claimed.to_be_bytes());
                bytes.resize(bytes.len() + length, 0x7f);
                List(Utf8)
                    .deserialize(&Context::value("t"), Payload::new(&bytes))
                    .expect_err("hostile");
                List(Int64)
                    .deserialize(&Context::value("t"), Payload::new(&bytes))
                    .expect_err("hostile");
            }
        }
    }
    // 72 errors with their texts, and the inputs.
    assert!(
        region.change().bytes_allocated < 200_000,
        "{:?}",
        region.change()
    );
}

#[test]
fn memory() {
    writes_allocate_nothing();
    reading_shares_the_batch();
    hostile_lists_allocate_little();
}
