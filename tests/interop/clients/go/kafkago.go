package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
)

type kafkaGo struct {
	bootstrap string
	client    *kafka.Client
}

func newKafkaGo(bootstrap string) Client {
	return &kafkaGo{bootstrap, &kafka.Client{Addr: kafka.TCP(bootstrap), Timeout: 30 * time.Second}}
}

var kafkaGoBalancers = map[string]func() kafka.Balancer{
	// What a writer does that is told nothing.
	"none":               func() kafka.Balancer { return nil },
	"hash":               func() kafka.Balancer { return &kafka.Hash{} },
	"reference-hash":     func() kafka.Balancer { return &kafka.ReferenceHash{} },
	"crc32":              func() kafka.Balancer { return kafka.CRC32Balancer{} },
	"crc32-consistent":   func() kafka.Balancer { return kafka.CRC32Balancer{Consistent: true} },
	"murmur2":            func() kafka.Balancer { return kafka.Murmur2Balancer{} },
	"murmur2-consistent": func() kafka.Balancer { return kafka.Murmur2Balancer{Consistent: true} },
}

func (k *kafkaGo) Lacks() map[string]string {
	return map[string]string{
		"group-consumer":     "knows the classic protocol only",
		"group-static":       "readers have no group.instance.id",
		"idempotent":         "has no idempotent producer",
		"reads-empty-key":    "readers give nil for no bytes",
		"reads-empty-value":  "readers give nil for no bytes",
		"reads-empty-header": "readers give nil for no bytes",
	}
}

func (k *kafkaGo) Create(topic string, partitions int, configs map[string]string) error {
	config := kafka.TopicConfig{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1}
	for name, value := range configs {
		config.ConfigEntries = append(config.ConfigEntries, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	answer, err := k.client.CreateTopics(context.Background(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{config}})
	if err != nil {
		return err
	}
	return answer.Errors[topic]
}

func (k *kafkaGo) Produce(r *Request) ([]*Placed, error) {
	codecs := map[string]kafka.Compression{"gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd}
	placed := make([]*Placed, len(r.Records))
	var failed error
	writer := &kafka.Writer{Addr: kafka.TCP(k.bootstrap), Topic: r.Topic, Balancer: &kafka.Hash{}, BatchTimeout: 20 * time.Millisecond,
		RequiredAcks: kafka.RequiredAcks(r.Acks), Compression: codecs[r.Compression], MaxAttempts: 3,
		Completion: func(messages []kafka.Message, err error) {
			failed = errors.Join(failed, err)
			for _, message := range messages {
				placed[message.WriterData.(int)] = &Placed{int32(message.Partition), message.Offset}
			}
		}}
	if chosen, ok := kafkaGoBalancers[r.Partitioner]; ok {
		writer.Balancer = chosen()
		// The shared one keeps metadata for seconds, in which a topic that others have made does not exist.
		transport := &kafka.Transport{}
		defer transport.CloseIdleConnections()
		writer.Transport = transport
	} else if r.Partitioner != "" {
		return nil, notOffered("no balancer " + r.Partitioner)
	}
	if !r.keyed() {
		partition := int(*r.Records[0].Partition)
		writer.Balancer = kafka.BalancerFunc(func(kafka.Message, ...int) int { return partition })
	}
	var messages []kafka.Message
	for i, record := range r.Records {
		one := kafka.Message{Key: record.Key, Value: record.Value, Time: time.UnixMilli(record.Timestamp), WriterData: i}
		for _, header := range record.Headers {
			one.Headers = append(one.Headers, kafka.Header{Key: header.Name, Value: header.Value})
		}
		messages = append(messages, one)
	}
	err := writer.WriteMessages(context.Background(), messages...)
	// Close waits for the completions.
	return placed, errors.Join(err, writer.Close(), failed)
}

func (k *kafkaGo) Read(topic string, ends map[int32]int64) ([]Seen, error) {
	ctx, done := soon()
	defer done()
	var seen []Seen
	for partition, end := range ends {
		if end == 0 {
			continue
		}
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{k.bootstrap}, Topic: topic, Partition: int(partition), MaxBytes: 10 << 20,
			MaxWait: 100 * time.Millisecond})
		for {
			message, err := reader.ReadMessage(ctx)
			if err != nil {
				return nil, errors.Join(err, reader.Close())
			}
			one := Seen{partition, message.Offset, message.Time.UnixMilli(), message.Key, message.Value, nil}
			for _, header := range message.Headers {
				one.Headers = append(one.Headers, Header{header.Key, header.Value})
			}
			seen = append(seen, one)
			if message.Offset+1 >= end {
				break
			}
		}
		if err := reader.Close(); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

func (k *kafkaGo) Offset(topic string, partition int32, at At) (*Offset, error) {
	request := kafka.TimeOffsetOf(int(partition), time.UnixMilli(at.Time))
	switch at.Name {
	case "earliest":
		request = kafka.FirstOffsetOf(int(partition))
	case "latest":
		request = kafka.LastOffsetOf(int(partition))
	case "max":
		return nil, notOffered("no call for the largest timestamp")
	}
	answer, err := k.client.ListOffsets(context.Background(), &kafka.ListOffsetsRequest{
		Topics: map[string][]kafka.OffsetRequest{topic: {request}}})
	if err != nil {
		return nil, err
	}
	found := answer.Topics[topic][0]
	switch at.Name {
	case "earliest":
		return &Offset{Offset: found.FirstOffset}, found.Error
	case "latest":
		return &Offset{Offset: found.LastOffset}, found.Error
	}
	// The time that comes with the offset is the one that was asked for.
	for offset := range found.Offsets {
		return &Offset{Offset: offset}, found.Error
	}
	return &Offset{Offset: -1}, found.Error
}

func nodes(brokers []kafka.Broker) []int32 {
	ids := []int32{}
	for _, broker := range brokers {
		ids = append(ids, int32(broker.ID))
	}
	return ids
}

func (k *kafkaGo) Describe(topic string) ([]Partition, error) {
	answer, err := k.client.Metadata(context.Background(), &kafka.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	var partitions []Partition
	for _, one := range answer.Topics[0].Partitions {
		partitions = append(partitions, Partition{int32(one.ID), int32(one.Leader.ID), nodes(one.Replicas), nodes(one.Isr)})
	}
	return partitions, answer.Topics[0].Error
}

func (k *kafkaGo) Configs(topic string) (map[string]string, error) {
	answer, err := k.client.DescribeConfigs(context.Background(), &kafka.DescribeConfigsRequest{
		Resources: []kafka.DescribeConfigRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic}}})
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for _, entry := range answer.Resources[0].ConfigEntries {
		values[entry.ConfigName] = entry.ConfigValue
	}
	return values, answer.Resources[0].Error
}

func (k *kafkaGo) Alter(topic, name, value string) error {
	answer, err := k.client.IncrementalAlterConfigs(context.Background(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{ResourceType: kafka.ResourceTypeTopic, ResourceName: topic,
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{{Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet}}}}})
	if err != nil {
		return err
	}
	return answer.Resources[0].Error
}

func (k *kafkaGo) Grow(topic string, partitions int) error {
	answer, err := k.client.CreatePartitions(context.Background(), &kafka.CreatePartitionsRequest{
		Topics: []kafka.TopicPartitionsConfig{{Name: topic, Count: int32(partitions)}}})
	if err != nil {
		return err
	}
	return answer.Errors[topic]
}

func (k *kafkaGo) DeleteRecords(string, int32, int64) (*LowWatermark, error) {
	return nil, notOffered("no call for DeleteRecords")
}

func (k *kafkaGo) Delete(topic string) error {
	answer, err := k.client.DeleteTopics(context.Background(), &kafka.DeleteTopicsRequest{Topics: []string{topic}})
	if err != nil {
		return err
	}
	return answer.Errors[topic]
}
