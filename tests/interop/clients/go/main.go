// Does with a Go client what each line of the input asks for: driver CLIENT BOOTSTRAP. See ../README.md.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// Client is what each of the three implements. A call that the client does not have answers notOffered.
type Client interface {
	Lacks() map[string]string
	Create(topic string, partitions int, configs map[string]string) error
	Produce(request *Request) ([]*Placed, error)
	Read(topic string, ends map[int32]int64) ([]Seen, error)
	Offset(topic string, partition int32, at At) (*Offset, error)
	Describe(topic string) ([]Partition, error)
	Configs(topic string) (map[string]string, error)
	Alter(topic, name, value string) error
	Grow(topic string, partitions int) error
	DeleteRecords(topic string, partition int32, before int64) (*LowWatermark, error)
	Delete(topic string) error
	Enter(request *Request) (Member, error)
}

// Member is one of a group.
type Member interface {
	// Poll takes the records that come for a while.
	Poll(time.Duration) (*Polled, error)
	Commit() error
	Exit() error
}

// Polled is what came, as pairs of partition and offset, and what the member has, if the client tells.
type Polled struct {
	Records  [][2]int64 `json:"records"`
	Assigned []int32    `json:"assigned"`
}

var members = map[string]Member{}

type notOffered string

func (why notOffered) Error() string { return string(why) }

// Hex is bytes, or nil for a null.
type Hex []byte

func (h *Hex) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil || text == nil {
		return err
	}
	decoded, err := hex.DecodeString(*text)
	*h = append(Hex{}, decoded...)
	return err
}

func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(h))
}

// Header is written as a pair.
type Header struct {
	Name  string
	Value Hex
}

func (h *Header) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&h.Name, &h.Value})
}

func (h Header) MarshalJSON() ([]byte, error) { return json.Marshal([]any{h.Name, h.Value}) }

// Record is one to be written. Timestamps are in milliseconds.
type Record struct {
	Partition *int32   `json:"partition"`
	Key       Hex      `json:"key"`
	Value     Hex      `json:"value"`
	Headers   []Header `json:"headers"`
	Timestamp int64    `json:"timestamp"`
}

// Seen is a record that was read.
type Seen struct {
	Partition int32    `json:"partition"`
	Offset    int64    `json:"offset"`
	Timestamp int64    `json:"timestamp"`
	Key       Hex      `json:"key"`
	Value     Hex      `json:"value"`
	Headers   []Header `json:"headers"`
}

type Placed struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
}

type Offset struct {
	Offset    int64  `json:"offset"`
	Timestamp *int64 `json:"timestamp"`
}

type Partition struct {
	Partition int32   `json:"partition"`
	Leader    int32   `json:"leader"`
	Replicas  []int32 `json:"replicas"`
	ISR       []int32 `json:"isr"`
}

type LowWatermark struct {
	Offset int64 `json:"low_watermark"`
}

// At is "earliest", "latest", "max" or a time in milliseconds.
type At struct {
	Name string
	Time int64
}

func (a *At) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, &a.Name)
	}
	return json.Unmarshal(data, &a.Time)
}

type Request struct {
	Op          string            `json:"op"`
	Topic       string            `json:"topic"`
	Partitions  int               `json:"partitions"`
	Configs     map[string]string `json:"configs"`
	Acks        int               `json:"acks"`
	Compression string            `json:"compression"`
	Idempotent  bool              `json:"idempotent"`
	Partitioner string            `json:"partitioner"`
	Records     []Record          `json:"records"`
	Ends        map[int32]int64   `json:"ends"`
	Partition   int32             `json:"partition"`
	At          At                `json:"at"`
	Name        string            `json:"name"`
	Value       string            `json:"value"`
	Before      int64             `json:"before"`
	Member      string            `json:"member"`
	Group       string            `json:"group"`
	Protocol    string            `json:"protocol"`
	Instance    string            `json:"instance"`
	Seconds     int               `json:"seconds"`
}

// keyed: the records name no partition, so the client's partitioner is asked.
func (r *Request) keyed() bool { return len(r.Records) > 0 && r.Records[0].Partition == nil }

func act(client Client, module string, r *Request) (any, error) {
	switch r.Op {
	case "hello":
		return map[string]any{"version": version(module), "lacks": client.Lacks()}, nil
	case "create":
		return nil, client.Create(r.Topic, r.Partitions, r.Configs)
	case "produce":
		return client.Produce(r)
	case "read":
		seen, err := client.Read(r.Topic, r.Ends)
		for i := range seen {
			if seen[i].Headers == nil {
				seen[i].Headers = []Header{}
			}
		}
		return seen, err
	case "offset":
		return client.Offset(r.Topic, r.Partition, r.At)
	case "describe":
		partitions, err := client.Describe(r.Topic)
		return map[string]any{"partitions": partitions}, err
	case "configs":
		return client.Configs(r.Topic)
	case "alter":
		return nil, client.Alter(r.Topic, r.Name, r.Value)
	case "grow":
		return nil, client.Grow(r.Topic, r.Partitions)
	case "delete_records":
		low, err := client.DeleteRecords(r.Topic, r.Partition, r.Before)
		if low == nil {
			return nil, err
		}
		return low, err
	case "delete":
		return nil, client.Delete(r.Topic)
	case "enter":
		member, err := client.Enter(r)
		members[r.Member] = member
		return nil, err
	case "poll":
		polled, err := members[r.Member].Poll(time.Duration(r.Seconds) * time.Second)
		if polled != nil && polled.Records == nil {
			polled.Records = [][2]int64{}
		}
		return polled, err
	case "commit":
		return nil, members[r.Member].Commit()
	case "exit":
		return nil, members[r.Member].Exit()
	}
	return nil, fmt.Errorf("no operation %q", r.Op)
}

// version is the one that was built in.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return strings.TrimPrefix(dependency.Version, "v")
			}
		}
	}
	return "unknown"
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: driver CLIENT BOOTSTRAP")
		os.Exit(2)
	}
	var client Client
	var module string
	var err error
	switch os.Args[1] {
	case "franz-go":
		module = "github.com/twmb/franz-go"
		client, err = newFranz(os.Args[2])
	case "sarama":
		module = "github.com/IBM/sarama"
		client, err = newSarama(os.Args[2])
	case "kafka-go":
		module = "github.com/segmentio/kafka-go"
		client = newKafkaGo(os.Args[2])
	default:
		err = fmt.Errorf("no client %q", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var request Request
		var answer map[string]any
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			answer = map[string]any{"error": "the request: " + err.Error()}
		} else if result, err := act(client, module, &request); err == nil {
			answer = map[string]any{"ok": result}
		} else if why, ok := err.(notOffered); ok {
			answer = map[string]any{"not_offered": string(why)}
		} else {
			answer = map[string]any{"error": err.Error()}
		}
		if err := answers.Encode(answer); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
