package placement

import (
	"fmt"
	"slices"
)

const (
	// inARow placements are asked of one instance: this shows round-robin and
	// random ones.
	inARow = 3
	// freshInstances are asked once each: this shows sticky ones, which one
	// instance repeats.
	freshInstances = 3
	// probeCount is so large that placements made at random can't be equal by
	// chance. It is always tried, whatever counts were asked for.
	probeCount = 65536
)

// Place asks one instance of a partitioner for the partition of key among
// partitions. An error means that the client refuses the key.
type Place func(key []byte, partitions int) (int, error)

// Impossible is the error for a key that the client's API cannot take at all: it
// says so in our words, not the client's.
type Impossible string

func (i Impossible) Error() string { return string(i) }

// outcome of one placement. A refusal holds the client's message.
type outcome struct {
	partition int
	refusal   string
}

// row is the verdict on one key.
type row struct {
	key        Key
	partitions []int // per count; nil unless pinned
	outcome    string
	detail     string
}

// judge places a key several times at every count and says whether the client
// pins it, leaves it open or rejects it.
func judge(fresh func() Place, key Key, counts []int) (row, error) {
	tried := counts
	if !slices.Contains(counts, probeCount) {
		tried = append(slices.Clone(counts), probeCount)
	}
	result := row{key: key}
	var unstable []int
	var refusal string
	placed := 0
	for _, count := range tried {
		outcomes, err := sample(fresh, key.Bytes, count)
		if err != nil {
			return row{}, err
		}
		for _, one := range outcomes {
			if one.refusal != "" {
				refusal = one.refusal
			} else {
				placed++
			}
		}
		if slices.ContainsFunc(outcomes, func(one outcome) bool { return one != outcomes[0] }) {
			unstable = append(unstable, count)
			if count == probeCount {
				result.detail = describe(outcomes)
			}
		}
		result.partitions = append(result.partitions, outcomes[0].partition)
	}
	switch {
	case refusal != "" && placed > 0:
		return row{}, fmt.Errorf("key %s: refused at some counts or times only: %s", key.ID, refusal)
	case refusal != "":
		result.outcome, result.detail, result.partitions = "rejected", refusal, nil
	case len(unstable) == 0:
		result.partitions = result.partitions[:len(counts)]
	case !slices.Contains(unstable, probeCount):
		return row{}, fmt.Errorf("key %s: placements differ at %v partitions but not at %d: neither pinned nor random",
			key.ID, unstable, probeCount)
	default:
		result.outcome, result.partitions = "unpinned", nil
	}
	return result, nil
}

func sample(fresh func() Place, key []byte, count int) ([]outcome, error) {
	var outcomes []outcome
	one := fresh()
	for range inARow {
		outcomes = append(outcomes, attempt(one, key, count))
	}
	for range freshInstances {
		outcomes = append(outcomes, attempt(fresh(), key, count))
	}
	for _, one := range outcomes {
		if one.refusal == "" && (one.partition < 0 || one.partition >= count) {
			return nil, fmt.Errorf("partition %d of %d: out of range", one.partition, count)
		}
	}
	return outcomes, nil
}

func attempt(place Place, key []byte, count int) (result outcome) {
	defer func() {
		if panicked := recover(); panicked != nil {
			result = outcome{refusal: fmt.Sprintf("panic: %v", panicked)}
		}
	}()
	partition, err := place(key, count)
	if impossible, ok := err.(Impossible); ok {
		return outcome{refusal: string(impossible)}
	}
	if err != nil {
		return outcome{refusal: fmt.Sprintf("error: %v", err)}
	}
	return outcome{partition: partition}
}

func describe(outcomes []outcome) string {
	row, fresh := outcomes[:inARow], outcomes[inARow:]
	repeats := row[1] == row[0] && row[2] == row[0]
	sameStart := !slices.ContainsFunc(fresh, func(one outcome) bool { return one != row[0] })
	switch {
	case repeats:
		return "same on one instance, differs between fresh instances"
	case sameStart:
		return "differs call by call, in the same way on every fresh instance"
	default:
		return "differs call by call and between fresh instances"
	}
}
