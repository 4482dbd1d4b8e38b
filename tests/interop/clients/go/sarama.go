package main

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"time"

	"github.com/IBM/sarama"
)

type saramaClient struct {
	bootstrap []string
	client    sarama.Client
	admin     sarama.ClusterAdmin
}

// Compression by zstd and idempotence need more than the release that Sarama assumes.
func saramaConfig() *sarama.Config {
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion
	config.Producer.Return.Successes = true
	config.Producer.Flush.Frequency = 20 * time.Millisecond
	return config
}

func newSarama(bootstrap string) (Client, error) {
	client, err := sarama.NewClient([]string{bootstrap}, saramaConfig())
	if err != nil {
		return nil, err
	}
	admin, err := sarama.NewClusterAdminFromClient(client)
	if err != nil {
		return nil, err
	}
	return &saramaClient{[]string{bootstrap}, client, admin}, nil
}

func (s *saramaClient) Lacks() map[string]string {
	return map[string]string{"group-consumer": "knows the classic protocol only"}
}

func (s *saramaClient) Create(topic string, partitions int, configs map[string]string) error {
	settings := map[string]*string{}
	for name, value := range configs {
		settings[name] = &value
	}
	detail := &sarama.TopicDetail{NumPartitions: int32(partitions), ReplicationFactor: 1, ConfigEntries: settings}
	return s.admin.CreateTopic(topic, detail, false)
}

var saramaPartitioners = map[string]sarama.PartitionerConstructor{
	"hash":                  sarama.NewHashPartitioner,
	"reference-hash":        sarama.NewReferenceHashPartitioner,
	"consistent-crc":        sarama.NewConsistentCRCHashPartitioner,
	"custom-crc32":          sarama.NewCustomHashPartitioner(func() hash.Hash32 { return crc32.NewIEEE() }),
	"custom-fnv1a-unsigned": sarama.NewCustomPartitioner(sarama.WithHashUnsigned()),
}

func encoder(data Hex) sarama.Encoder {
	if data == nil {
		return nil
	}
	return sarama.ByteEncoder(data)
}

func (s *saramaClient) Produce(r *Request) ([]*Placed, error) {
	config := saramaConfig()
	codecs := map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy, "lz4": sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}
	config.Producer.Compression = codecs[r.Compression]
	config.Producer.RequiredAcks = sarama.RequiredAcks(r.Acks)
	if !r.keyed() {
		config.Producer.Partitioner = sarama.NewManualPartitioner
	} else if r.Partitioner != "" {
		chosen, ok := saramaPartitioners[r.Partitioner]
		if !ok {
			return nil, notOffered("no partitioner " + r.Partitioner)
		}
		config.Producer.Partitioner = chosen
	}
	if r.Idempotent {
		config.Producer.Idempotent = true
		config.Net.MaxOpenRequests = 1
	}
	producer, err := sarama.NewSyncProducer(s.bootstrap, config)
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	var messages []*sarama.ProducerMessage
	for _, record := range r.Records {
		one := &sarama.ProducerMessage{Topic: r.Topic, Key: encoder(record.Key), Value: encoder(record.Value),
			Timestamp: time.UnixMilli(record.Timestamp)}
		if record.Partition != nil {
			one.Partition = *record.Partition
		}
		for _, header := range record.Headers {
			one.Headers = append(one.Headers, sarama.RecordHeader{Key: []byte(header.Name), Value: header.Value})
		}
		messages = append(messages, one)
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	var placed []*Placed
	for _, message := range messages {
		placed = append(placed, &Placed{message.Partition, message.Offset})
	}
	return placed, nil
}

func (s *saramaClient) Read(topic string, ends map[int32]int64) ([]Seen, error) {
	consumer, err := sarama.NewConsumer(s.bootstrap, saramaConfig())
	if err != nil {
		return nil, err
	}
	defer consumer.Close()
	var seen []Seen
	until := time.After(30 * time.Second)
	for partition, end := range ends {
		if end == 0 {
			continue
		}
		from, err := consumer.ConsumePartition(topic, partition, sarama.OffsetOldest)
		if err != nil {
			return nil, err
		}
		for done := false; !done; {
			select {
			case message := <-from.Messages():
				one := Seen{partition, message.Offset, message.Timestamp.UnixMilli(), message.Key, message.Value, nil}
				for _, header := range message.Headers {
					one.Headers = append(one.Headers, Header{string(header.Key), header.Value})
				}
				seen = append(seen, one)
				done = message.Offset+1 >= end
			case <-until:
				return seen, nil
			}
		}
		from.AsyncClose()
	}
	return seen, nil
}

func (s *saramaClient) Offset(topic string, partition int32, at At) (*Offset, error) {
	target := at.Time
	switch at.Name {
	case "earliest":
		target = sarama.OffsetOldest
	case "latest":
		target = sarama.OffsetNewest
	case "max":
		return nil, notOffered("no call for the largest timestamp")
	}
	offset, err := s.client.GetOffset(topic, partition, target)
	return &Offset{Offset: offset}, err
}

func (s *saramaClient) Describe(topic string) ([]Partition, error) {
	topics, err := s.admin.DescribeTopics([]string{topic})
	if err != nil {
		return nil, err
	}
	var partitions []Partition
	for _, one := range topics[0].Partitions {
		partitions = append(partitions, Partition{one.ID, one.Leader, one.Replicas, one.Isr})
	}
	if topics[0].Err != sarama.ErrNoError {
		return nil, topics[0].Err
	}
	return partitions, nil
}

func (s *saramaClient) Configs(topic string) (map[string]string, error) {
	entries, err := s.admin.DescribeConfig(sarama.ConfigResource{Type: sarama.TopicResource, Name: topic})
	values := map[string]string{}
	for _, entry := range entries {
		values[entry.Name] = entry.Value
	}
	return values, err
}

func (s *saramaClient) Alter(topic, name, value string) error {
	return s.admin.IncrementalAlterConfig(sarama.TopicResource, topic,
		map[string]sarama.IncrementalAlterConfigsEntry{name: {Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &value}}, false)
}

func (s *saramaClient) Grow(topic string, partitions int) error {
	return s.admin.CreatePartitions(topic, int32(partitions), nil, false)
}

func (s *saramaClient) DeleteRecords(topic string, partition int32, before int64) (*LowWatermark, error) {
	return nil, s.admin.DeleteRecords(topic, map[int32]int64{partition: before})
}

func (s *saramaClient) Delete(topic string) error {
	err := s.admin.DeleteTopic(topic)
	var failure *sarama.TopicError
	if errors.As(err, &failure) {
		return fmt.Errorf("%w (%v)", err, failure.ErrMsg)
	}
	return err
}
