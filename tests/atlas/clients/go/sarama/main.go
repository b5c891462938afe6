// Sarama produces, or consumes in a group and commits.
package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/IBM/sarama"
)

func check(err error) {
	if err != nil {
		println("Traceback:", err.Error())
		os.Exit(1)
	}
}

type handler struct{ done context.CancelFunc }

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	count := 1 // the group has committed the first record
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		if count++; count == 5 {
			session.Commit()
			h.done()
			return nil
		}
	}
	return nil
}

func main() {
	config := sarama.NewConfig()
	config.Version = sarama.V3_6_0_0
	config.Net.SASL.Enable = true
	config.Net.SASL.User = os.Getenv("KAFKA_USER")
	config.Net.SASL.Password = os.Getenv("KAFKA_PASSWORD")
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	servers := strings.Split(os.Getenv("KAFKA_BOOTSTRAP_SERVERS"), ",")
	if os.Args[1] == "producer" {
		producer, err := sarama.NewSyncProducer(servers, config)
		check(err)
		_, _, err = producer.SendMessage(&sarama.ProducerMessage{Topic: "orders", Value: sarama.StringEncoder("one")})
		check(err)
		check(producer.Close())
		return
	}
	group, err := sarama.NewConsumerGroup(servers, "billing", config)
	check(err)
	timeout, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	defer cancel()
	ctx, done := context.WithCancel(timeout)
	defer done()
	check(group.Consume(ctx, []string{"orders"}, handler{done}))
	check(timeout.Err())
	check(group.Close())
}
