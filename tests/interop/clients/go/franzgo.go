package main

import (
	"context"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type franz struct {
	bootstrap string
	admin     *kadm.Client
}

func newFranz(bootstrap string) (Client, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap))
	if err != nil {
		return nil, err
	}
	return &franz{bootstrap, kadm.NewClient(client)}, nil
}

func fnv32a(data []byte) uint32 {
	hasher := fnv.New32a()
	hasher.Write(data)
	return hasher.Sum32()
}

var franzPartitioners = map[string]kgo.Partitioner{
	"sticky-key":                 kgo.StickyKeyPartitioner(nil),
	"kafka-hasher-fnv1a":         kgo.StickyKeyPartitioner(kgo.KafkaHasher(fnv32a)),
	"sarama-hasher-fnv1a":        kgo.StickyKeyPartitioner(kgo.SaramaHasher(fnv32a)),
	"sarama-hasher-crc32":        kgo.StickyKeyPartitioner(kgo.SaramaHasher(crc32.ChecksumIEEE)),
	"sarama-compat-hasher-fnv1a": kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(fnv32a)),
	"sarama-compat-hasher-crc32": kgo.StickyKeyPartitioner(kgo.SaramaCompatHasher(crc32.ChecksumIEEE)),
}

func (f *franz) Lacks() map[string]string {
	return map[string]string{"offset-none": "kadm gives the end of the partition if no record is that late"}
}

func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 30*time.Second)
}

func (f *franz) Create(topic string, partitions int, configs map[string]string) error {
	ctx, done := soon()
	defer done()
	settings := map[string]*string{}
	for name, value := range configs {
		settings[name] = kadm.StringPtr(value)
	}
	_, err := f.admin.CreateTopic(ctx, int32(partitions), 1, settings, topic)
	return err
}

func (f *franz) Produce(r *Request) ([]*Placed, error) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	options := []kgo.Opt{kgo.SeedBrokers(f.bootstrap), kgo.DefaultProduceTopic(r.Topic), kgo.ProducerLinger(20 * time.Millisecond),
		kgo.ProducerBatchCompression(codecs[r.Compression])}
	if !r.keyed() {
		options = append(options, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	} else if r.Partitioner != "" {
		chosen, ok := franzPartitioners[r.Partitioner]
		if !ok {
			return nil, notOffered("no partitioner " + r.Partitioner)
		}
		options = append(options, kgo.RecordPartitioner(chosen))
	}
	if r.Acks == 1 {
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	if !r.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var records []*kgo.Record
	for _, record := range r.Records {
		one := &kgo.Record{Key: record.Key, Value: record.Value, Timestamp: time.UnixMilli(record.Timestamp)}
		if record.Partition != nil {
			one.Partition = *record.Partition
		}
		for _, header := range record.Headers {
			one.Headers = append(one.Headers, kgo.RecordHeader{Key: header.Name, Value: header.Value})
		}
		records = append(records, one)
	}
	ctx, done := soon()
	defer done()
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	var placed []*Placed
	for _, record := range records {
		placed = append(placed, &Placed{record.Partition, record.Offset})
	}
	return placed, nil
}

func (f *franz) Read(topic string, ends map[int32]int64) ([]Seen, error) {
	assigned, left := map[int32]kgo.Offset{}, 0
	for partition, end := range ends {
		if end > 0 {
			assigned[partition] = kgo.NewOffset().AtStart()
			left++
		}
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(f.bootstrap),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: assigned}))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	ctx, done := soon()
	defer done()
	var seen []Seen
	for left > 0 && ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			one := Seen{record.Partition, record.Offset, record.Timestamp.UnixMilli(), record.Key, record.Value, nil}
			for _, header := range record.Headers {
				one.Headers = append(one.Headers, Header{header.Key, header.Value})
			}
			seen = append(seen, one)
			if record.Offset == ends[record.Partition]-1 {
				left--
			}
		})
	}
	return seen, nil
}

func (f *franz) Offset(topic string, partition int32, at At) (*Offset, error) {
	ctx, done := soon()
	defer done()
	var listed kadm.ListedOffsets
	var err error
	switch at.Name {
	case "earliest":
		listed, err = f.admin.ListStartOffsets(ctx, topic)
	case "latest":
		listed, err = f.admin.ListEndOffsets(ctx, topic)
	case "max":
		listed, err = f.admin.ListMaxTimestampOffsets(ctx, topic)
	default:
		listed, err = f.admin.ListOffsetsAfterMilli(ctx, at.Time, topic)
	}
	if err != nil {
		return nil, err
	}
	found, _ := listed.Lookup(topic, partition)
	if found.Err != nil {
		return nil, found.Err
	}
	return &Offset{found.Offset, &found.Timestamp}, nil
}

func (f *franz) Describe(topic string) ([]Partition, error) {
	ctx, done := soon()
	defer done()
	topics, err := f.admin.ListTopics(ctx, topic)
	if err != nil {
		return nil, err
	}
	var partitions []Partition
	for _, one := range topics[topic].Partitions.Sorted() {
		partitions = append(partitions, Partition{one.Partition, one.Leader, one.Replicas, one.ISR})
	}
	return partitions, topics[topic].Err
}

func (f *franz) Configs(topic string) (map[string]string, error) {
	ctx, done := soon()
	defer done()
	described, err := f.admin.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return nil, err
	}
	one, err := described.On(topic, nil)
	values := map[string]string{}
	for _, config := range one.Configs {
		values[config.Key] = config.MaybeValue()
	}
	return values, errors.Join(err, one.Err)
}

func (f *franz) Alter(topic, name, value string) error {
	ctx, done := soon()
	defer done()
	altered, err := f.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: name, Value: &value}}, topic)
	if err != nil {
		return err
	}
	one, err := altered.On(topic, nil)
	return errors.Join(err, one.Err)
}

func (f *franz) Grow(topic string, partitions int) error {
	ctx, done := soon()
	defer done()
	answers, err := f.admin.UpdatePartitions(ctx, partitions, topic)
	return errors.Join(err, answers.Error())
}

func (f *franz) DeleteRecords(topic string, partition int32, before int64) (*LowWatermark, error) {
	ctx, done := soon()
	defer done()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: before})
	answers, err := f.admin.DeleteRecords(ctx, offsets)
	if err != nil {
		return nil, err
	}
	one, _ := answers.Lookup(topic, partition)
	return &LowWatermark{one.LowWatermark}, one.Err
}

func (f *franz) Delete(topic string) error {
	ctx, done := soon()
	defer done()
	_, err := f.admin.DeleteTopic(ctx, topic)
	return err
}
