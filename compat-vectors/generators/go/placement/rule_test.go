package placement

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var someKey = Key{ID: "k1", Bytes: []byte("key")}

func fixed(_ []byte, partitions int) (int, error) { return 7 % partitions, nil }

func roundRobin() Place {
	next := -1
	return func(_ []byte, partitions int) (int, error) {
		next++
		return next % partitions, nil
	}
}

func sticky() Place {
	chosen := -1
	return func(_ []byte, partitions int) (int, error) {
		if chosen < 0 {
			chosen = rand.IntN(partitions)
		}
		return chosen, nil
	}
}

func random(_ []byte, partitions int) (int, error) { return rand.IntN(partitions), nil }

func always(place Place) func() Place { return func() Place { return place } }

func TestAFunctionOfTheKeyIsPinnedAtTheCountsAskedFor(t *testing.T) {
	verdict, err := judge(always(fixed), someKey, []int{1, 5, 12})
	if err != nil || verdict.outcome != "" || !slices.Equal(verdict.partitions, []int{0, 2, 7}) {
		t.Fatalf("%+v, %v", verdict, err)
	}
}

// Even where a single partition leaves no choice.
func TestEveryKindOfOpenPlacementIsUnpinned(t *testing.T) {
	for name, kind := range map[string]struct {
		fresh  func() Place
		detail string
	}{
		"round-robin": {roundRobin, "in the same way on every fresh instance"},
		"sticky":      {sticky, "same on one instance"},
		"random":      {always(random), "call by call and between fresh instances"},
	} {
		for _, counts := range [][]int{{1}, {1, 2}, {12}, {65536}} {
			verdict, err := judge(kind.fresh, someKey, counts)
			if err != nil || verdict.outcome != "unpinned" || verdict.partitions != nil || !strings.Contains(verdict.detail, kind.detail) {
				t.Errorf("%s at %v: %+v, %v", name, counts, verdict, err)
			}
		}
	}
}

func TestAnErrorOrAPanicIsARejection(t *testing.T) {
	refuse := func([]byte, int) (int, error) { return 0, errors.New("no key") }
	panics := func([]byte, int) (int, error) { panic("no key") }
	impossible := func([]byte, int) (int, error) { return 0, Impossible("it has no key") }
	for _, place := range []Place{refuse, panics, impossible} {
		verdict, err := judge(always(place), someKey, []int{12})
		if err != nil || verdict.outcome != "rejected" || !strings.HasSuffix(verdict.detail, "no key") {
			t.Errorf("%+v, %v", verdict, err)
		}
	}
}

func TestWhatIsNeitherPinnedNorOpenFailsTheRun(t *testing.T) {
	outside := func(_ []byte, partitions int) (int, error) { return partitions, nil }
	negative := func([]byte, int) (int, error) { return -1, nil }
	refusesSome := func(_ []byte, partitions int) (int, error) {
		if partitions == 5 {
			return 0, errors.New("not five")
		}
		return 0, nil
	}
	openAtFive := func(key []byte, partitions int) (int, error) {
		if partitions == 5 {
			return random(key, partitions)
		}
		return 0, nil
	}
	for name, place := range map[string]Place{"outside": outside, "negative": negative, "refuses some": refusesSome} {
		if verdict, err := judge(always(place), someKey, []int{5, 12}); err == nil {
			t.Errorf("%s: %+v", name, verdict)
		}
	}
	// Random among five repeats six times in a row once in 3125 tries.
	failed := false
	for range 5 {
		_, err := judge(always(openAtFive), someKey, []int{5, 12})
		failed = failed || err != nil
	}
	if !failed {
		t.Error("open at one count only: not noticed")
	}
}
