//! The keys on which clients differ, as rows for a spreadsheet (RFC 4180).
//!
//! Columns: `partitions,record,key_hex,client,hash,partition,outcome`, a row for each client. The
//! partition is empty when there is no fixed one, the hash when the client computes none. Keys of
//! more than 1,024 bytes have one row, with their first 1,024 and no client.
//!
//! Empty and null keys have no record of their own: when they disagree, the record is `empty` or
//! `null`, and so is the `key_hex` of null keys; that of empty keys is empty.

use std::io::{self, Write};

use ::csv::{Terminator, WriterBuilder};

use crate::verify::{ClientPlacement, CountReport, VerifyReport};

const COLUMNS: [&str; 7] = [
    "partitions",
    "record",
    "key_hex",
    "client",
    "hash",
    "partition",
    "outcome",
];

pub(crate) fn write(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows(
        WriterBuilder::new()
            .terminator(Terminator::CRLF)
            .from_writer(out),
    );
    rows.0.write_record(COLUMNS)?;
    for count in &report.counts {
        for mismatch in &count.mismatches {
            let record = mismatch.record.to_string();
            rows.key(count, &record, &mismatch.key_hex, &mismatch.placements)?;
        }
        for (name, key_hex, keyless) in [("empty", "", &count.empty), ("null", "null", &count.null)]
        {
            if keyless.agreement.disagree > 0 {
                rows.key(count, name, key_hex, &keyless.placements)?;
            }
        }
    }
    rows.0.flush()
}

struct Rows<'o>(::csv::Writer<&'o mut dyn Write>);

impl Rows<'_> {
    fn key(
        &mut self,
        count: &CountReport,
        record: &str,
        key_hex: &str,
        placements: &[ClientPlacement],
    ) -> io::Result<()> {
        let partitions = count.partitions.to_string();
        if placements.is_empty() {
            let row = [&partitions, record, key_hex, "", "", "", ""];
            return Ok(self.0.write_record(row)?);
        }
        for placement in placements {
            let partition = placement.partition.map(|p| p.to_string());
            self.0.write_record([
                &partitions,
                record,
                key_hex,
                &placement.client,
                placement.hash.as_deref().unwrap_or_default(),
                partition.as_deref().unwrap_or_default(),
                placement.outcome.name(),
            ])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Case, written};
    use super::*;

    #[test]
    fn a_row_for_each_client_of_each_key() {
        let report = Case::text("TT0124\n\n-\n")
            .null("-")
            .clients("java,librdkafka,platformatic/compatibility,hash=crc32,reduce=mask,null=0")
            .counts(&[15])
            .run();
        assert_eq!(
            written(write, &report).split("\r\n").collect::<Vec<_>>(),
            [
                "partitions,record,key_hex,client,hash,partition,outcome",
                "15,1,545430313234,java,0xaa07cf36,10,pinned",
                "15,1,545430313234,librdkafka,0xf208558b,9,pinned",
                "15,1,545430313234,platformatic/compatibility,0xaa07cf36,10,pinned",
                "15,1,545430313234,\"hash=crc32,reduce=mask,null=0\",0xf208558b,1,pinned",
                "15,empty,,java,,6,pinned",
                "15,empty,,librdkafka,,,unpinned",
                "15,empty,,platformatic/compatibility,,6,pinned",
                "15,empty,,\"hash=crc32,reduce=mask,null=0\",,0,pinned",
                "15,null,null,java,,,unpinned",
                "15,null,null,librdkafka,,,unpinned",
                "15,null,null,platformatic/compatibility,,0,pinned",
                "15,null,null,\"hash=crc32,reduce=mask,null=0\",,0,pinned",
                "",
            ]
        );
    }

    #[test]
    fn agreement_is_the_header_alone() {
        let report = Case::text("a\n").clients("java,kafkajs").run();
        let rows = written(write, &report);
        assert_eq!(rows, COLUMNS.join(",") + "\r\n");
    }

    #[test]
    fn a_key_too_long_to_keep_is_not_lost() {
        let report = Case::text(&"x".repeat(1500)).run();
        let rows = written(write, &report);
        let row = rows.lines().nth(1).unwrap();
        assert_eq!(row, format!("1009,1,{},,,,", "78".repeat(1024)));
    }
}
