// Program kafka-go-0.2 runs the Hash balancer of a kafka-go older than 0.3.1,
// which took the hash as an unsigned number. A build holds one version of a
// module, so this is a program of its own.
package main

import (
	"github.com/segmentio/kafka-go"

	"copart/vectors/placement"
)

func main() {
	lists := map[int][]int{}
	placement.Main(placement.Run{
		Profile:     "kafka-go/hash@0.2",
		Client:      "kafka-go",
		Module:      "github.com/segmentio/kafka-go",
		Partitioner: "Hash",
		How:         "Go module; Balance called with each key and all partitions; the null key is a nil Key",
		Fresh: func() placement.Place {
			balancer := &kafka.Hash{}
			return func(key []byte, partitions int) (int, error) {
				if lists[partitions] == nil {
					for partition := range partitions {
						lists[partitions] = append(lists[partitions], partition)
					}
				}
				return balancer.Balance(kafka.Message{Key: key}, lists[partitions]...), nil
			}
		},
	})
}
