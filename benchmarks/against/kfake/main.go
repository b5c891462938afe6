// kfake with users and ACLs, until it is killed; prints its address. With the argument "suites",
// it prints the addresses of two: one without users, and one with users who log in by SCRAM.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "suites" {
		open := started(kfake.AllowAutoTopicCreation(), kfake.DefaultNumPartitions(4))
		login := started(
			kfake.EnableSASL(),
			kfake.Superuser("SCRAM-SHA-256", "admin", "admin-secret"),
			kfake.Superuser("SCRAM-SHA-256", "testuser", "testpass"),
		)
		serve(open, login)
	}
	serve(started(
		kfake.EnableSASL(),
		kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "admin-secret"),
		kfake.User("PLAIN", "alice", "alice-secret"),
	))
}

func started(options ...kfake.Opt) string {
	cluster, err := kfake.NewCluster(append(options, kfake.NumBrokers(1))...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return cluster.ListenAddrs()[0]
}

func serve(addresses ...string) {
	fmt.Println(strings.Join(addresses, " "))
	select {}
}
