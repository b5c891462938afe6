package orders

import (
	"context"
	"testing"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/kafka-shim/kafka-shim/packages/go/testcontainers"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
)

func publish(ctx context.Context, address, user, password string) error {
	writer := &kafka.Writer{
		Addr: kafka.TCP(address), Topic: "orders", MaxAttempts: 1, RequiredAcks: kafka.RequireAll,
		Transport: &kafka.Transport{SASL: plain.Mechanism{Username: user, Password: password}},
	}
	defer writer.Close()
	return writer.WriteMessages(ctx, kafka.Message{Value: []byte("order-1")})
}

func TestAliceMayPublishAndBobMayNot(t *testing.T) {
	ctx := context.Background()
	broker := testcontainers.Start(ctx, t, "kafka-shim",
		kafkashim.KafkaVersion("3.9"),
		kafkashim.User("alice", "alice-secret"),
		kafkashim.User("bob", "bob-secret"),
		kafkashim.Topic("orders", 1),
		kafkashim.ACL{Principal: "User:alice", Allow: []string{"Write"}, Topic: "orders"},
		kafkashim.ACL{Principal: "User:bob", Allow: []string{"Describe"}, Topic: "orders"},
	)
	address := broker.Servers("SASL_PLAINTEXT")[0]
	if err := publish(ctx, address, "alice", "alice-secret"); err != nil {
		t.Fatal(err)
	}
	if err := publish(ctx, address, "bob", "bob-secret"); err == nil {
		t.Error("bob may publish")
	}
	if denials := broker.Denials(); len(denials) != 1 || denials[0].Principal != "User:bob" {
		t.Errorf("the denials are %v", denials)
	}
}
