// kfake, franz-go's broker for tests, as a process that can be measured.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9092", "where to listen")
	data := flag.String("data", "", "a data directory; in memory without it")
	sync := flag.Bool("sync", false, "sync what is written")
	flag.Parse()
	_, port, err := net.SplitHostPort(*listen)
	if err == nil {
		var number int
		if number, err = strconv.Atoi(port); err == nil {
			err = run(number, *data, *sync)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(port int, data string, sync bool) error {
	settings := []kfake.Opt{kfake.Ports(port), kfake.NumBrokers(1)}
	if data != "" {
		settings = append(settings, kfake.DataDir(data))
		if sync {
			settings = append(settings, kfake.SyncWrites())
		}
	}
	cluster, err := kfake.NewCluster(settings...)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	fmt.Println("ready", cluster.ListenAddrs()[0])
	<-signals
	cluster.Close()
	return nil
}
