package main

import (
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"

	"copart/vectors/placement"
)

func franzGoRuns() []placement.Run {
	run := func(profile, partitioner string, chosen kgo.Partitioner) placement.Run {
		return placement.Run{
			Profile:     profile,
			Client:      "franz-go",
			Module:      "github.com/twmb/franz-go",
			Partitioner: partitioner,
			How:         "Go module; PartitionByBackup, or Partition, called with each key and count and nothing buffered; the null key is a nil Key",
			Fresh:       func() placement.Place { return franzGoPlace(chosen) },
		}
	}
	return []placement.Run{
		run("franz-go/uniform-bytes", "NewClient without RecordPartitioner", clientDefault()),
		run("franz-go/uniform-bytes", "UniformBytesPartitioner(64KiB,true,true,nil)",
			kgo.UniformBytesPartitioner(64<<10, true, true, nil)),
		run("franz-go/sticky-key", "StickyKeyPartitioner(nil)", kgo.StickyKeyPartitioner(nil)),
		run("franz-go/kafka-hasher-fnv1a", "StickyKeyPartitioner(KafkaHasher(fnv32a))",
			kgo.StickyKeyPartitioner(kgo.KafkaHasher(fnv32a))),
		run("franz-go/sarama-hasher-fnv1a", "StickyKeyPartitioner(SaramaHasher(fnv32a))",
			kgo.StickyKeyPartitioner(kgo.SaramaHasher(fnv32a))),
		run("franz-go/sarama-hasher-crc32", "StickyKeyPartitioner(SaramaHasher(crc32))",
			kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32IEEE))),
		run("franz-go/sarama-compat-hasher-fnv1a", "StickyKeyPartitioner(SaramaCompatHasher(fnv32a))",
			kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a))),
		run("franz-go/sarama-compat-hasher-crc32", "StickyKeyPartitioner(SaramaCompatHasher(crc32))",
			kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(crc32IEEE))),
	}
}

// clientDefault is the partitioner of a client that was given none. A client
// connects only when it is asked for something.
func clientDefault() kgo.Partitioner {
	client, err := kgo.NewClient()
	if err != nil {
		fmt.Fprintf(os.Stderr, "franz-go: a client without options: %v\n", err)
		os.Exit(1)
	}
	defer client.Close()
	return client.OptValue(kgo.RecordPartitioner).(kgo.Partitioner)
}

// franzGoPlace calls what the producer calls: PartitionByBackup where the
// partitioner has it.
func franzGoPlace(partitioner kgo.Partitioner) placement.Place {
	forTopic := partitioner.ForTopic("topic")
	byBackup, hasBackup := forTopic.(kgo.TopicBackupPartitioner)
	return func(key []byte, partitions int) (int, error) {
		record := &kgo.Record{Topic: "topic", Key: key}
		if hasBackup {
			return byBackup.PartitionByBackup(record, partitions, &nothingBuffered{partitions}), nil
		}
		return forTopic.Partition(record, partitions), nil
	}
}

// nothingBuffered is the backlog of an idle producer.
type nothingBuffered struct{ remaining int }

func (b *nothingBuffered) Next() (int, int64) {
	b.remaining--
	return b.remaining, 0
}

func (b *nothingBuffered) Rem() int { return b.remaining }
