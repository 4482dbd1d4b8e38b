// Program goka runs the partitioner that goka gives to the producer of an
// emitter which was configured with nothing but brokers and a topic.
package main

import (
	"fmt"
	"os"

	"github.com/IBM/sarama"
	"github.com/lovoo/goka"
	"github.com/lovoo/goka/codec"

	"copart/vectors/placement"
)

func main() {
	constructor, err := emitterDefault()
	if err != nil {
		fmt.Fprintf(os.Stderr, "goka: %v\n", err)
		os.Exit(1)
	}
	placement.Main(placement.Run{
		Profile:     "goka/default",
		Client:      "goka",
		Module:      "github.com/lovoo/goka",
		Partitioner: "NewEmitter without hasher",
		How:         "Go module; the Sarama partitioner that goka puts into the producer's configuration, called with each key as a string and each count",
		Fresh: func() placement.Place {
			partitioner := constructor("topic")
			return func(key []byte, partitions int) (int, error) {
				if key == nil {
					return 0, placement.Impossible("goka takes keys as Go strings: it has no null key")
				}
				message := &sarama.ProducerMessage{Topic: "topic", Key: sarama.StringEncoder(key)}
				partition, err := partitioner.Partition(message, int32(partitions))
				return int(partition), err
			}
		},
	})
}

// emitterDefault reads the partitioner from the configuration that goka has
// completed. The emitter itself can't be had without a broker: its producer
// fails to connect to a port where nothing listens.
func emitterDefault() (sarama.PartitionerConstructor, error) {
	config := goka.DefaultConfig()
	config.Metadata.Retry.Max = 0
	config.Producer.Partitioner = nil // Sarama's default, which goka replaces
	emitter, err := goka.NewEmitter([]string{"127.0.0.1:1"}, "topic", new(codec.Bytes),
		goka.WithEmitterProducerBuilder(goka.ProducerBuilderWithConfig(config)))
	if err == nil {
		emitter.Finish()
	}
	if config.Producer.Partitioner == nil {
		return nil, fmt.Errorf("the emitter did not set the producer's partitioner (%v)", err)
	}
	return config.Producer.Partitioner, nil
}
