// Package placement asks a client's own partitioner for the partition of every
// key at every count, and writes the rows that the data set holds.
package placement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// Run is one partitioner of one version of a client.
type Run struct {
	Profile     string
	Client      string
	Module      string // its version is read from the build
	Partitioner string
	How         string
	// Fresh makes an instance as a new producer would.
	Fresh func() Place
}

// Main runs all of them: PROGRAM KEYS_JSONL COUNTS OUT_DIR.
func Main(runs ...Run) {
	if err := run(os.Args[1:], runs); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func run(args []string, runs []Run) error {
	if len(args) != 3 {
		return fmt.Errorf("usage: KEYS_JSONL COUNTS OUT_DIR")
	}
	keys, err := readKeys(args[0])
	if err != nil {
		return err
	}
	counts, err := parseCounts(args[1])
	if err != nil {
		return err
	}
	for _, one := range runs {
		if err := one.write(keys, counts, args[2]); err != nil {
			return fmt.Errorf("%s %s: %w", one.Client, one.Partitioner, err)
		}
	}
	return nil
}

func (r Run) write(keys []Key, counts []int, dir string) error {
	version, err := moduleVersion(r.Module)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, key := range keys {
		verdict, err := judge(r.Fresh, key, counts)
		if err != nil {
			return err
		}
		verdict.writeTo(&lines, counts)
	}
	file := notInFileNames.ReplaceAllString(strings.ReplaceAll(r.Profile, "/", "__")+"--"+r.Client+"-"+version+"--"+r.Partitioner, "-") + ".jsonl"
	if err := os.WriteFile(filepath.Join(dir, file), lines.Bytes(), 0o644); err != nil {
		return err
	}
	entry := fmt.Sprintf("{\"file\":%s,\"profile\":%s,\"client\":%s,\"version\":%s,\"partitioner\":%s,\"how\":%s}\n",
		quote(file), quote(r.Profile), quote(r.Client), quote(version), quote(r.Partitioner), quote(r.How))
	list, err := os.OpenFile(filepath.Join(dir, "runs.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := list.WriteString(entry); err != nil {
		list.Close()
		return err
	}
	return list.Close()
}

var notInFileNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// writeTo keeps the order of fields and counts that the data set has, which
// encoding/json would sort.
func (r row) writeTo(lines *bytes.Buffer, counts []int) {
	fmt.Fprintf(lines, `{"id":%s,"key_hex":`, quote(r.key.ID))
	if r.key.Hex == nil {
		lines.WriteString("null")
	} else {
		lines.WriteString(quote(*r.key.Hex))
	}
	if r.partitions == nil {
		fmt.Fprintf(lines, ",\"partitions\":null,\"outcome\":%s,\"detail\":%s}\n", quote(r.outcome), quote(r.detail))
		return
	}
	lines.WriteString(`,"partitions":{`)
	for i, count := range counts {
		if i > 0 {
			lines.WriteByte(',')
		}
		fmt.Fprintf(lines, `"%d":%d`, count, r.partitions[i])
	}
	lines.WriteString("}}\n")
}

func quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic(err) // a Go string always encodes
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func moduleVersion(path string) (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("the program was built without module information")
	}
	for _, dep := range info.Deps {
		if dep.Path == path {
			return strings.TrimPrefix(dep.Version, "v"), nil
		}
	}
	return "", fmt.Errorf("module %s is not part of the build", path)
}
