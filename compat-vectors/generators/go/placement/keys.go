package placement

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Key is one line of keys.jsonl.
type Key struct {
	ID  string
	Hex *string
	// Bytes is nil for the null key and a zero-length, non-nil slice for the
	// empty key: several clients treat the two differently.
	Bytes []byte
}

func readKeys(path string) ([]Key, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var keys []Key
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for number := 1; lines.Scan(); number++ {
		var line struct {
			ID  string  `json:"id"`
			Hex *string `json:"key_hex"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		key := Key{ID: line.ID, Hex: line.Hex}
		if line.Hex != nil {
			key.Bytes = make([]byte, hex.DecodedLen(len(*line.Hex)))
			if _, err := hex.Decode(key.Bytes, []byte(*line.Hex)); err != nil {
				return nil, fmt.Errorf("%s:%d: key_hex: %w", path, number, err)
			}
		}
		keys = append(keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: no keys", path)
	}
	return keys, nil
}

func parseCounts(list string) ([]int, error) {
	var counts []int
	for _, word := range strings.Split(list, ",") {
		count, err := strconv.ParseInt(word, 10, 32)
		if err != nil || count < 1 {
			return nil, fmt.Errorf("partition counts %q: %q is not a positive number", list, word)
		}
		counts = append(counts, int(count))
	}
	return counts, nil
}
