// franz-go's client of a Schema Registry: its calls, and records that begin with an id.
//
// usage: registry BOOTSTRAP URL
//
// Prints a line for each part that holds; fails with the first that does not.
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

const (
	records = 50
	user    = `{"type":"record","name":"User","namespace":"test","fields":[{"name":"id","type":"long"},{"name":"name","type":"string"}]}`
	wrong   = `{"type":"record","name":"User","namespace":"test","fields":[{"name":"id","type":"string"}]}`
)

func expect(holds bool, what string, found ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, append([]any{what + ":"}, found...)...)
		os.Exit(1)
	}
}

func must[T any](value T, err error) T {
	expect(err == nil, "unexpected", err)
	return value
}

func refused(err error, code int, what string) {
	var response *sr.ResponseError
	expect(errors.As(err, &response) && response.ErrorCode == code, what, err)
}

// An Avro record of a long and a string.
type record struct {
	id   int64
	name string
}

func encode(value any) ([]byte, error) {
	it := value.(record)
	bytes := binary.AppendVarint(nil, it.id)
	bytes = binary.AppendVarint(bytes, int64(len(it.name)))
	return append(bytes, it.name...), nil
}

func decode(bytes []byte, value any) error {
	it := value.(*record)
	var read int
	it.id, read = binary.Varint(bytes)
	bytes = bytes[read:]
	length, read := binary.Varint(bytes)
	if int(length) != len(bytes)-read {
		return errors.New("not the length that it says")
	}
	it.name = string(bytes[read:])
	return nil
}

func calls(ctx context.Context, registry *sr.Client) {
	types := must(registry.SupportedTypes(ctx))
	expect(len(types) == 3, "types", types)
	schema := sr.Schema{Schema: user}
	one := must(registry.CreateSchema(ctx, "go-calls", schema))
	expect(one.Version == 1, "registered", one)
	again := must(registry.CreateSchema(ctx, "go-calls", schema))
	expect(again.ID == one.ID, "registered again", again)
	found := must(registry.LookupSchema(ctx, "go-calls", schema))
	expect(found.ID == one.ID && found.Version == 1, "looked up", found)
	expect(must(registry.SchemaByID(ctx, one.ID)).Schema == user, "by id")
	expect(must(registry.SchemaTextByID(ctx, one.ID)) == user, "the text by id")
	expect(must(registry.SchemaTextByVersion(ctx, "go-calls", -1)) == user, "the text by version")
	usages := must(registry.SchemaUsagesByID(ctx, one.ID))
	expect(slices.ContainsFunc(usages, func(it sr.SubjectSchema) bool { return it.Subject == "go-calls" }), "usages", usages)
	_, err := registry.CreateSchema(ctx, "go-calls", sr.Schema{Schema: wrong})
	refused(err, 40901, "an incompatible schema")
	check := must(registry.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), "go-calls", -1, sr.Schema{Schema: wrong}))
	expect(!check.Is && len(check.Messages) > 0, "compatibility", check)
	reference := sr.SchemaReference{Name: "test.User", Subject: "go-calls", Version: 1}
	list := sr.Schema{Schema: `{"type":"array","items":"test.User"}`, References: []sr.SchemaReference{reference}}
	lists := must(registry.CreateSchema(ctx, "go-lists", list))
	users := must(registry.SchemaReferences(ctx, "go-calls", 1))
	expect(len(users) == 1 && users[0].ID == lists.ID, "references", users)
	refused(registry.DeleteSchema(ctx, "go-calls", 1, sr.SoftDelete), 42206, "a version that is used")
	for _, result := range registry.SetCompatibility(ctx, sr.SetCompatibility{Level: sr.CompatFull}, "go-calls") {
		expect(result.Err == nil && result.Level == sr.CompatFull, "the level is set", result)
	}
	for _, result := range registry.Compatibility(ctx, "go-calls") {
		expect(result.Err == nil && result.Level == sr.CompatFull, "the level", result)
	}
	for _, result := range registry.SetMode(ctx, sr.ModeReadOnly, "go-lists") {
		expect(result.Err == nil, "the mode is set", result)
	}
	_, err = registry.DeleteSubject(ctx, "go-lists", sr.SoftDelete)
	refused(err, 42205, "a change in read-only mode")
	for _, result := range registry.ResetMode(ctx, "go-lists") {
		expect(result.Err == nil && result.Mode == sr.ModeReadOnly, "the mode is taken back", result)
	}
	must(registry.DeleteSubject(ctx, "go-lists", sr.SoftDelete))
	must(registry.DeleteSubject(ctx, "go-lists", sr.HardDelete))
	subjects := must(registry.Subjects(ctx))
	expect(slices.Contains(subjects, "go-calls") && !slices.Contains(subjects, "go-lists"), "subjects", subjects)
	expect(slices.Equal(must(registry.SubjectVersions(ctx, "go-calls")), []int{1}), "versions")
	fmt.Println("franz-go sr: its client's calls")
}

func consume(ctx context.Context, bootstrap, topic string, serde *sr.Serde) {
	from := map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}
	client := must(kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumePartitions(from)))
	defer client.Close()
	for read := 0; read < records; {
		fetches := client.PollFetches(ctx)
		expect(fetches.Err() == nil, topic, fetches.Err())
		fetches.EachRecord(func(it *kgo.Record) {
			var found record
			err := serde.Decode(it.Value, &found)
			wanted := record{int64(read), fmt.Sprintf("name %d", read)}
			expect(err == nil && found == wanted, topic, found, err)
			read++
		})
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	bootstrap, url := os.Args[1], os.Args[2]
	registry := must(sr.NewClient(sr.URLs(url)))
	calls(ctx, registry)
	schema := must(registry.CreateSchema(ctx, "go-avro-value", sr.Schema{Schema: user}))
	var serde sr.Serde
	serde.Register(schema.ID, record{}, sr.EncodeFn(encode), sr.DecodeFn(decode))
	client := must(kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.RecordPartitioner(kgo.ManualPartitioner())))
	defer client.Close()
	for number := range records {
		value := must(serde.Encode(record{int64(number), fmt.Sprintf("name %d", number)}))
		written := client.ProduceSync(ctx, &kgo.Record{Topic: "go-avro", Value: value})
		expect(written.FirstErr() == nil, "written", written.FirstErr())
	}
	consume(ctx, bootstrap, "go-avro", &serde)
	// One schema has one id, whoever registered it.
	consume(ctx, bootstrap, "python-avro", &serde)
	fmt.Printf("franz-go sr: %d records of its own, and those of Python\n", records)
}
