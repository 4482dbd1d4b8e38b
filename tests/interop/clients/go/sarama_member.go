package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// saramaMember is its own handler: Sarama calls Setup with what it got, and ConsumeClaim for each partition.
type saramaMember struct {
	group   sarama.ConsumerGroup
	topic   string
	cancel  context.CancelFunc
	ended   chan error
	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
	records [][2]int64
}

func (s *saramaClient) Enter(r *Request) (Member, error) {
	config := saramaConfig()
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Session.Timeout = 10 * time.Second
	config.Consumer.Group.Heartbeat.Interval = 500 * time.Millisecond
	config.Consumer.Group.InstanceId = r.Instance
	group, err := sarama.NewConsumerGroup(s.bootstrap, r.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	member := &saramaMember{group: group, topic: r.Topic, cancel: cancel, ended: make(chan error, 1)}
	go func() {
		for ctx.Err() == nil {
			if err := group.Consume(ctx, []string{r.Topic}, member); err != nil {
				member.ended <- err
				return
			}
		}
		member.ended <- nil
	}()
	return member, nil
}

func (m *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	return nil
}

func (m *saramaMember) Cleanup(sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = nil
	return nil
}

func (m *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		m.mutex.Lock()
		m.records = append(m.records, [2]int64{int64(message.Partition), message.Offset})
		m.mutex.Unlock()
	}
	return nil
}

func (m *saramaMember) Poll(wait time.Duration) (*Polled, error) {
	select {
	case err := <-m.ended:
		return nil, err
	case <-time.After(wait):
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	polled := &Polled{Records: m.records, Assigned: []int32{}}
	m.records = nil
	if m.session != nil {
		polled.Assigned = append(polled.Assigned, m.session.Claims()[m.topic]...)
	}
	slices.Sort(polled.Assigned)
	return polled, nil
}

func (m *saramaMember) Commit() error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.session == nil {
		return notOffered("there is no session at the moment")
	}
	m.session.Commit()
	return nil
}

func (m *saramaMember) Exit() error {
	m.cancel()
	err := <-m.ended
	if closed := m.group.Close(); err == nil {
		err = closed
	}
	return err
}
