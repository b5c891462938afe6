package orders

import (
	"context"
	"errors"
	"testing"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func publish(t *testing.T, broker *kafkashim.Broker, user, password string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Servers("SASL_PLAINTEXT")...),
		kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	order := &kgo.Record{Topic: "orders", Value: []byte("order-1")}
	return client.ProduceSync(context.Background(), order).FirstErr()
}

func TestAliceMayPublish(t *testing.T) {
	t.Parallel()
	broker := kafkashim.Start(t,
		kafkashim.User("alice", "alice-secret"),
		kafkashim.Topic("orders", 1),
		kafkashim.ACL{Principal: "User:alice", Allow: []string{"Write"}, Topic: "orders"},
	)
	if err := publish(t, broker, "alice", "alice-secret"); err != nil {
		t.Fatal(err)
	}
	if records := broker.Records("orders", 0); len(records) != 1 || records[0].Value != "order-1" {
		t.Errorf("the records are %v", records)
	}
}

func TestBobMayNot(t *testing.T) {
	t.Parallel()
	broker := kafkashim.Start(t, kafkashim.User("bob", "bob-secret"), kafkashim.Topic("orders", 1))
	if err := publish(t, broker, "bob", "bob-secret"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Errorf("the error is %v", err)
	}
	if denials := broker.Denials(); len(denials) == 0 || denials[0].Principal != "User:bob" {
		t.Errorf("the denials are %v", denials)
	}
}
