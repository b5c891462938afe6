// kafka-go produces, or consumes in a group and commits.
package main

import (
	"context"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
)

func check(err error) {
	if err != nil {
		println("Traceback:", err.Error())
		os.Exit(1)
	}
}

func main() {
	login := plain.Mechanism{
		Username: os.Getenv("KAFKA_USER"),
		Password: os.Getenv("KAFKA_PASSWORD"),
	}
	address := os.Getenv("KAFKA_BOOTSTRAP_SERVERS")
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	if os.Args[1] == "producer" {
		writer := &kafka.Writer{
			Addr:         kafka.TCP(address),
			Topic:        "orders",
			RequiredAcks: kafka.RequireAll,
			Transport:    &kafka.Transport{SASL: login},
		}
		check(writer.WriteMessages(ctx, kafka.Message{Value: []byte("one")}))
		check(writer.Close())
		return
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{address},
		GroupID: "billing",
		Topic:   "orders",
		Dialer:  &kafka.Dialer{Timeout: 10 * time.Second, SASLMechanism: login},
	})
	for count := 1; count < 5; count++ { // the group has committed the first record
		_, err := reader.ReadMessage(ctx) // commits
		check(err)
	}
	check(reader.Close())
}
