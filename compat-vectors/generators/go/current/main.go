// Program current runs the partitioners of today's Sarama, kafka-go and
// franz-go.
package main

import (
	"hash/crc32"
	"hash/fnv"
	"slices"

	"copart/vectors/placement"
)

func main() {
	placement.Main(slices.Concat(saramaRuns(), kafkaGoRuns(), franzGoRuns())...)
}

// The two hash functions that users plug into these clients, from Go's own
// library.

func fnv32a(data []byte) uint32 {
	hasher := fnv.New32a()
	hasher.Write(data)
	return hasher.Sum32()
}

func crc32IEEE(data []byte) uint32 { return crc32.ChecksumIEEE(data) }
