package main

import (
	"github.com/segmentio/kafka-go"

	"copart/vectors/placement"
)

func kafkaGoRuns() []placement.Run {
	run := func(profile, partitioner string, balancer func() kafka.Balancer) placement.Run {
		return placement.Run{
			Profile:     profile,
			Client:      "kafka-go",
			Module:      "github.com/segmentio/kafka-go",
			Partitioner: partitioner,
			How:         "Go module; Balance called with each key and all partitions; the null key is a nil Key",
			Fresh:       func() placement.Place { return kafkaGoPlace(balancer()) },
		}
	}
	return []placement.Run{
		run("kafka-go/round-robin", "NewWriter without Balancer", writerDefault),
		run("kafka-go/hash", "Hash", func() kafka.Balancer { return &kafka.Hash{} }),
		run("kafka-go/reference-hash", "ReferenceHash", func() kafka.Balancer { return &kafka.ReferenceHash{} }),
		run("kafka-go/crc32", "CRC32Balancer", func() kafka.Balancer { return kafka.CRC32Balancer{} }),
		run("kafka-go/crc32-consistent", "CRC32Balancer{Consistent:true}",
			func() kafka.Balancer { return kafka.CRC32Balancer{Consistent: true} }),
		run("kafka-go/murmur2", "Murmur2Balancer", func() kafka.Balancer { return kafka.Murmur2Balancer{} }),
		run("kafka-go/murmur2-consistent", "Murmur2Balancer{Consistent:true}",
			func() kafka.Balancer { return kafka.Murmur2Balancer{Consistent: true} }),
	}
}

// writerDefault is the balancer that a writer chooses when it is given none. A
// writer connects only when it is asked to write.
func writerDefault() kafka.Balancer {
	writer := kafka.NewWriter(kafka.WriterConfig{Brokers: []string{"localhost:9092"}, Topic: "topic"})
	defer writer.Close()
	return writer.Balancer
}

var partitionLists = map[int][]int{}

// partitionList is what the writer passes: the ids of all partitions.
func partitionList(count int) []int {
	list, made := partitionLists[count]
	if !made {
		for partition := range count {
			list = append(list, partition)
		}
		partitionLists[count] = list
	}
	return list
}

func kafkaGoPlace(balancer kafka.Balancer) placement.Place {
	return func(key []byte, partitions int) (int, error) {
		return balancer.Balance(kafka.Message{Key: key}, partitionList(partitions)...), nil
	}
}
