package main

import (
	"hash"
	"hash/crc32"

	"github.com/IBM/sarama"

	"copart/vectors/placement"
)

func saramaRuns() []placement.Run {
	newCRC32 := func() hash.Hash32 { return crc32.NewIEEE() }
	run := func(profile, partitioner string, constructor sarama.PartitionerConstructor) placement.Run {
		return placement.Run{
			Profile:     profile,
			Client:      "sarama",
			Module:      "github.com/IBM/sarama",
			Partitioner: partitioner,
			How:         "Go module; Partition called with each key and count; the null key is a nil Key, the empty key a zero-length ByteEncoder",
			Fresh:       func() placement.Place { return saramaPlace(constructor) },
		}
	}
	return []placement.Run{
		run("sarama/hash", "NewHashPartitioner", sarama.NewHashPartitioner),
		run("sarama/hash", "NewConfig().Producer.Partitioner", sarama.NewConfig().Producer.Partitioner),
		run("sarama/reference-hash", "NewReferenceHashPartitioner", sarama.NewReferenceHashPartitioner),
		run("sarama/consistent-crc", "NewConsistentCRCHashPartitioner", sarama.NewConsistentCRCHashPartitioner),
		run("sarama/consistent-crc", "NewCustomPartitioner(HashUnsigned,crc32)",
			sarama.NewCustomPartitioner(sarama.WithHashUnsigned(), sarama.WithCustomHashFunction(newCRC32))),
		run("sarama/murmur2", "NewMurmur2Partitioner", sarama.NewMurmur2Partitioner),
		run("sarama/custom-crc32", "NewCustomHashPartitioner(crc32)", sarama.NewCustomHashPartitioner(newCRC32)),
		run("sarama/custom-crc32-abs-first", "NewCustomPartitioner(AbsFirst,crc32)",
			sarama.NewCustomPartitioner(sarama.WithAbsFirst(), sarama.WithCustomHashFunction(newCRC32))),
		run("sarama/custom-crc32-abs-first", "NewCustomPartitioner(AbsFirst,HashUnsigned,crc32)",
			sarama.NewCustomPartitioner(sarama.WithAbsFirst(), sarama.WithHashUnsigned(), sarama.WithCustomHashFunction(newCRC32))),
		run("sarama/custom-fnv1a-unsigned", "NewCustomPartitioner(HashUnsigned,fnv1a)",
			sarama.NewCustomPartitioner(sarama.WithHashUnsigned())),
	}
}

func saramaPlace(constructor sarama.PartitionerConstructor) placement.Place {
	partitioner := constructor("topic")
	return func(key []byte, partitions int) (int, error) {
		message := &sarama.ProducerMessage{Topic: "topic"}
		// A nil ByteEncoder in the interface would not be a nil Key: the
		// client would hash it as an empty key.
		if key != nil {
			message.Key = sarama.ByteEncoder(key)
		}
		partition, err := partitioner.Partition(message, int32(partitions))
		return int(partition), err
	}
}
