package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
)

type kafkaGoMember struct {
	reader  *kafka.Reader
	fetched []kafka.Message
}

func (k *kafkaGo) Enter(r *Request) (Member, error) {
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{k.bootstrap}, Topic: r.Topic, GroupID: r.Group, StartOffset: kafka.FirstOffset,
		SessionTimeout: 10 * time.Second, HeartbeatInterval: 500 * time.Millisecond, JoinGroupBackoff: 500 * time.Millisecond,
		MaxWait: 100 * time.Millisecond})
	return &kafkaGoMember{reader: reader}, nil
}

// Poll does not say what the reader was assigned, since the reader does not.
func (m *kafkaGoMember) Poll(wait time.Duration) (*Polled, error) {
	ctx, done := context.WithTimeout(context.Background(), wait)
	defer done()
	polled := &Polled{}
	for {
		message, err := m.reader.FetchMessage(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return polled, nil
		}
		if err != nil {
			return nil, err
		}
		m.fetched = append(m.fetched, message)
		polled.Records = append(polled.Records, [2]int64{int64(message.Partition), message.Offset})
	}
}

func (m *kafkaGoMember) Commit() error {
	err := m.reader.CommitMessages(context.Background(), m.fetched...)
	m.fetched = nil
	return err
}

func (m *kafkaGoMember) Exit() error {
	return m.reader.Close()
}
