// franz-go produces, or consumes in a group and commits.
package main

import (
	"context"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func check(err error) {
	if err != nil {
		println("Traceback:", err.Error())
		os.Exit(1)
	}
}

func main() {
	login := plain.Auth{User: os.Getenv("KAFKA_USER"), Pass: os.Getenv("KAFKA_PASSWORD")}
	options := []kgo.Opt{
		kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS")),
		kgo.SASL(login.AsMechanism()),
	}
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	if os.Args[1] == "producer" {
		client, err := kgo.NewClient(options...)
		check(err)
		check(client.ProduceSync(ctx, &kgo.Record{Topic: "orders", Value: []byte("one")}).FirstErr())
		client.Close()
		return
	}
	client, err := kgo.NewClient(append(options,
		kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit())...)
	check(err)
	for count := 1; count < 5; { // the group has committed the first record
		fetches := client.PollFetches(ctx)
		check(fetches.Err())
		count += fetches.NumRecords()
	}
	check(client.CommitUncommittedOffsets(ctx))
	client.Close()
}
