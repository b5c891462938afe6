package main

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(3, "orders"))
	if err != nil {
		panic(err)
	}
	defer cluster.Close()
	key, fn := int16(0), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, nil, false }
	cluster.ControlKey(key, fn)
	if err := cluster.MoveTopicPartition("orders", 0, 1); err != nil {
		panic(err)
	}
	fmt.Println(len(cluster.ListenAddrs()))
}

func options() []kfake.Opt {
	return []kfake.Opt{
		kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "pw"),
		kfake.MaxVersions(kversion.V3_9_0()),
	}
}
