// librdkafka, through confluent-kafka-go, produces, or consumes in a group and commits.
package main

import (
	"os"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
)

func check(err error) {
	if err != nil {
		println("Traceback:", err.Error())
		os.Exit(1)
	}
}

var topic = "orders"

func main() {
	settings := kafka.ConfigMap{
		"bootstrap.servers":  os.Getenv("KAFKA_BOOTSTRAP_SERVERS"),
		"security.protocol":  "SASL_PLAINTEXT",
		"sasl.mechanism":     "PLAIN",
		"sasl.username":      os.Getenv("KAFKA_USER"),
		"sasl.password":      os.Getenv("KAFKA_PASSWORD"),
		"message.timeout.ms": 20000,
	}
	switch os.Args[1] {
	case "producer":
		produce(&settings)
	case "transactions":
		check(settings.SetKey("transactional.id", "billing-tx"))
		produce(&settings)
	default:
		consume(&settings)
	}
}

func produce(settings *kafka.ConfigMap) {
	check(settings.SetKey("enable.idempotence", true))
	producer, err := kafka.NewProducer(settings)
	check(err)
	isTransactional := os.Args[1] == "transactions"
	if isTransactional {
		check(producer.InitTransactions(nil))
		check(producer.BeginTransaction())
	}
	delivered := make(chan kafka.Event, 1)
	partition := kafka.TopicPartition{Topic: &topic, Partition: kafka.PartitionAny}
	check(producer.Produce(&kafka.Message{TopicPartition: partition, Value: []byte("one")}, delivered))
	check((<-delivered).(*kafka.Message).TopicPartition.Error)
	if isTransactional {
		check(producer.CommitTransaction(nil))
	}
	producer.Close()
}

func consume(settings *kafka.ConfigMap) {
	delete(*settings, "message.timeout.ms")
	check(settings.SetKey("group.id", "billing"))
	check(settings.SetKey("auto.offset.reset", "earliest"))
	check(settings.SetKey("enable.auto.commit", false))
	consumer, err := kafka.NewConsumer(settings)
	check(err)
	check(consumer.Subscribe(topic, nil))
	for count := 1; count < 5; count++ { // the group has committed the first record
		_, err := consumer.ReadMessage(20 * time.Second)
		check(err)
	}
	_, err = consumer.Commit()
	check(err)
	check(consumer.Close())
}
