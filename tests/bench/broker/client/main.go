// The client of the broker bench: the same program for every broker. Produces or consumes a number of records as fast
// as the broker takes or gives them, and prints one JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type options struct {
	bootstrap, topic  string
	records, size     int
	partitions, acks  int
	codec             string
	idempotent, fresh bool
}

func main() {
	var o options
	flag.StringVar(&o.bootstrap, "bootstrap", "127.0.0.1:9092", "where the broker is")
	flag.StringVar(&o.topic, "topic", "bench", "the topic")
	flag.IntVar(&o.records, "records", 1_000_000, "how many records")
	flag.IntVar(&o.size, "size", 100, "bytes of a record's value")
	flag.IntVar(&o.partitions, "partitions", 12, "partitions of the topic, if it is created")
	flag.IntVar(&o.acks, "acks", -1, "-1 for all, 1 for the leader")
	flag.StringVar(&o.codec, "codec", "none", "none, lz4 or zstd")
	flag.BoolVar(&o.idempotent, "idempotent", false, "as an idempotent producer")
	flag.BoolVar(&o.fresh, "create", false, "create the topic first")
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "produce":
		err = produce(o)
	case "consume":
		err = consume(o)
	default:
		err = fmt.Errorf("produce or consume, not %q", flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func report(o options, records int64, begun time.Time) error {
	seconds := time.Since(begun).Seconds()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return err
	}
	cpu := float64(usage.Utime.Sec+usage.Stime.Sec) + float64(usage.Utime.Usec+usage.Stime.Usec)/1e6
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"records": records, "seconds": seconds, "client_cpu_seconds": cpu,
		"mb": float64(records) * float64(o.size) / 1e6,
	})
}

func create(o options) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(o.bootstrap))
	if err != nil {
		return err
	}
	defer client.Close()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = o.topic, int32(o.partitions), 1
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(context.Background(), client)
	if err != nil {
		return err
	}
	if code := response.Topics[0].ErrorCode; code != 0 {
		return fmt.Errorf("creating %s: error %d", o.topic, code)
	}
	return nil
}

func produce(o options) error {
	if o.fresh {
		if err := create(o); err != nil {
			return err
		}
	}
	acks := kgo.AllISRAcks()
	if o.acks == 1 {
		acks = kgo.LeaderAck()
	}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	settings := []kgo.Opt{
		kgo.SeedBrokers(o.bootstrap), kgo.DefaultProduceTopic(o.topic), kgo.RequiredAcks(acks),
		kgo.ProducerBatchCompression(codecs[o.codec]), kgo.ProducerLinger(5 * time.Millisecond),
		kgo.ProducerBatchMaxBytes(1_000_000), kgo.MaxBufferedRecords(100_000),
		// Whole batches for one partition after the other, as Java's producer does it.
		kgo.RecordPartitioner(kgo.UniformBytesPartitioner(256<<10, false, false, nil)),
	}
	if !o.idempotent {
		settings = append(settings, kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(5))
	}
	client, err := kgo.NewClient(settings...)
	if err != nil {
		return err
	}
	defer client.Close()
	value := make([]byte, o.size)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range value {
		value[i] = byte('a' + random.IntN(26))
	}
	ctx := context.Background()
	if err := client.Ping(ctx); err != nil {
		return err
	}
	var failed atomic.Pointer[error]
	begun := time.Now()
	for range o.records {
		client.Produce(ctx, &kgo.Record{Value: value}, func(_ *kgo.Record, err error) {
			if err != nil {
				failed.Store(&err)
			}
		})
	}
	if err := client.Flush(ctx); err != nil {
		return err
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	return report(o, int64(o.records), begun)
}

func consume(o options) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(o.bootstrap), kgo.ConsumeTopics(o.topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxBytes(50<<20), kgo.FetchMaxPartitionBytes(4<<20))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	var count int64
	begun := time.Now()
	for count < int64(o.records) {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			return err
		}
		for _, failure := range fetches.Errors() {
			return failure.Err
		}
		count += int64(fetches.NumRecords())
	}
	return report(o, count, begun)
}
