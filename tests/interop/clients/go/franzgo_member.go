package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type franzMember struct {
	client   *kgo.Client
	mutex    sync.Mutex
	assigned map[int32]bool
}

func (f *franz) Enter(r *Request) (Member, error) {
	member := &franzMember{assigned: map[int32]bool{}}
	change := func(has bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, topics map[string][]int32) {
			member.mutex.Lock()
			defer member.mutex.Unlock()
			for _, partition := range topics[r.Topic] {
				if has {
					member.assigned[partition] = true
				} else {
					delete(member.assigned, partition)
				}
			}
		}
	}
	ctx := context.Background()
	if r.Protocol == "consumer" {
		// How franz-go is told that one wants KIP-848.
		ctx = context.WithValue(ctx, "opt_in_kafka_next_gen_balancer_beta", true)
	}
	options := []kgo.Opt{kgo.SeedBrokers(f.bootstrap), kgo.ConsumerGroup(r.Group), kgo.ConsumeTopics(r.Topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.SessionTimeout(10 * time.Second), kgo.HeartbeatInterval(500 * time.Millisecond),
		kgo.OnPartitionsAssigned(change(true)), kgo.OnPartitionsRevoked(change(false)), kgo.OnPartitionsLost(change(false)), kgo.WithContext(ctx)}
	if r.Instance != "" {
		options = append(options, kgo.InstanceID(r.Instance))
	}
	client, err := kgo.NewClient(options...)
	member.client = client
	return member, err
}

func (m *franzMember) Poll(wait time.Duration) (*Polled, error) {
	ctx, done := context.WithTimeout(context.Background(), wait)
	defer done()
	polled := &Polled{}
	for ctx.Err() == nil {
		fetches := m.client.PollFetches(ctx)
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			polled.Records = append(polled.Records, [2]int64{int64(record.Partition), record.Offset})
		})
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	polled.Assigned = []int32{}
	for partition := range m.assigned {
		polled.Assigned = append(polled.Assigned, partition)
	}
	slices.Sort(polled.Assigned)
	return polled, nil
}

func (m *franzMember) Commit() error {
	ctx, done := soon()
	defer done()
	return m.client.CommitUncommittedOffsets(ctx)
}

func (m *franzMember) Exit() error {
	m.client.Close()
	return nil
}
