// A kfake broker for `kafka-shim vectors run`: users log in with PLAIN, ACLs decide.
package main

import (
	"os"
	"os/signal"
	"strconv"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	port, _ := strconv.Atoi(os.Args[1])
	options := []kfake.Opt{
		kfake.NumBrokers(1), kfake.Ports(port), kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "admin-secret"),
	}
	for _, user := range []string{"alice", "bob", "carol"} {
		options = append(options, kfake.User("PLAIN", user, user+"-secret"))
	}
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
}
