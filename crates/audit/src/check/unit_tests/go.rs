//! Go: Sarama, kafka-go and franz-go.

use std::fmt::Write as _;

use super::{Call, MADE, Suite, identifier};

pub(super) const CLIENTS: &[&str] = &["sarama", "kafka-go", "franz-go"];

pub(super) fn call(client: &str, partitioner: Option<&str>) -> Option<Call> {
    let (import, what, place) = match client {
        "sarama" => {
            let new = match partitioner {
                None | Some("hash") => "NewHashPartitioner",
                Some("reference-hash") => "NewReferenceHashPartitioner",
                Some("consistent-crc") => "NewConsistentCRCHashPartitioner",
                Some("murmur2") => "NewMurmur2Partitioner",
                Some(_) => return None,
            };
            (
                "\"github.com/IBM/sarama\"",
                format!("sarama.{new}"),
                format!(
                    "partition, err := sarama.{new}(\"topic\").Partition(&sarama.ProducerMessage{{Key: sarama.ByteEncoder(key)}}, int32(count))\n\tif err != nil {{\n\t\tt.Fatal(err)\n\t}}\n\treturn int(partition)"
                ),
            )
        }
        "kafka-go" => {
            let balancer = match partitioner {
                Some("hash") => "&kafka.Hash{}",
                Some("reference-hash") => "&kafka.ReferenceHash{}",
                Some("crc32") => "kafka.CRC32Balancer{}",
                Some("crc32-consistent") => "kafka.CRC32Balancer{Consistent: true}",
                Some("murmur2") => "kafka.Murmur2Balancer{}",
                // A Writer without a Balancer ignores keys.
                _ => return None,
            };
            (
                "kafka \"github.com/segmentio/kafka-go\"",
                balancer.trim_start_matches('&').to_owned(),
                format!(
                    "partitions := make([]int, count)\n\tfor i := range partitions {{\n\t\tpartitions[i] = i\n\t}}\n\tvar balancer kafka.Balancer = {balancer}\n\treturn balancer.Balance(kafka.Message{{Key: key}}, partitions...)"
                ),
            )
        }
        "franz-go" => {
            let new = match partitioner {
                None | Some("uniform-bytes") => "UniformBytesPartitioner(64<<10, true, true, nil)",
                Some("sticky-key") => "StickyKeyPartitioner(nil)",
                Some(_) => return None,
            };
            (
                "\"github.com/twmb/franz-go/pkg/kgo\"",
                format!("kgo.{new}"),
                format!(
                    "return kgo.{new}.ForTopic(\"topic\").Partition(&kgo.Record{{Key: key}}, count)"
                ),
            )
        }
        _ => return None,
    };
    Some(Call {
        imports: vec![import.to_owned()],
        place,
        what,
    })
}

pub(super) fn file(suites: &[Suite]) -> String {
    let call = &suites[0].call;
    let mut text = format!(
        "// {MADE}\npackage partitions\n\nimport (\n\t\"encoding/hex\"\n\t\"testing\"\n\n\t{}\n)\n\n// {}\nfunc place(t *testing.T, key []byte, count int) int {{\n\tt.Helper()\n\t{}\n}}\n",
        call.imports.join("\n\t"),
        call.what,
        call.place
    );
    for suite in suites {
        let _ = write!(
            text,
            "\nfunc TestPartitionsOf_{}(t *testing.T) {{\n\tfor _, row := range []struct {{\n\t\tkeyHex    string\n\t\tpartition int\n\t}}{{\n",
            identifier(&suite.topic)
        );
        for (hex, partition) in &suite.rows {
            let _ = writeln!(text, "\t\t{{\"{hex}\", {partition}}},");
        }
        let _ = write!(
            text,
            "\t}} {{\n\t\tkey, err := hex.DecodeString(row.keyHex)\n\t\tif err != nil {{\n\t\t\tt.Fatal(err)\n\t\t}}\n\t\tif got := place(t, key, {}); got != row.partition {{\n\t\t\tt.Errorf(\"key %s of topic {} goes to partition %d, not %d\", row.keyHex, got, row.partition)\n\t\t}}\n\t}}\n}}\n",
            suite.partitions, suite.topic
        );
    }
    text
}
