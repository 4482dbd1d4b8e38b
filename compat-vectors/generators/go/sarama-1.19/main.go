// Program sarama-1.19 runs the partitioners that Sarama had in 2018, under its
// first module path.
package main

import (
	"hash"
	"hash/crc32"

	"github.com/Shopify/sarama"

	"copart/vectors/placement"
)

func main() {
	newCRC32 := func() hash.Hash32 { return crc32.NewIEEE() }
	placement.Main(
		run("sarama/hash", "NewHashPartitioner", sarama.NewHashPartitioner),
		run("sarama/reference-hash", "NewReferenceHashPartitioner", sarama.NewReferenceHashPartitioner),
		run("sarama/custom-crc32", "NewCustomHashPartitioner(crc32)", sarama.NewCustomHashPartitioner(newCRC32)),
		run("sarama/custom-crc32-abs-first", "NewCustomPartitioner(AbsFirst,crc32)",
			sarama.NewCustomPartitioner(sarama.WithAbsFirst(), sarama.WithCustomHashFunction(newCRC32))),
	)
}

func run(profile, partitioner string, constructor sarama.PartitionerConstructor) placement.Run {
	return placement.Run{
		Profile:     profile,
		Client:      "sarama",
		Module:      "github.com/Shopify/sarama",
		Partitioner: partitioner,
		How:         "Go module; Partition called with each key and count; the null key is a nil Key, the empty key a zero-length ByteEncoder",
		Fresh: func() placement.Place {
			partitioner := constructor("topic")
			return func(key []byte, partitions int) (int, error) {
				message := &sarama.ProducerMessage{Topic: "topic"}
				if key != nil {
					message.Key = sarama.ByteEncoder(key)
				}
				partition, err := partitioner.Partition(message, int32(partitions))
				return int(partition), err
			}
		},
	}
}
