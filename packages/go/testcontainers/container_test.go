package testcontainers

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
)

// image is the one under test in the variable KAFKA_SHIM_IMAGE, or that of this version.
func image() string {
	if name := os.Getenv("KAFKA_SHIM_IMAGE"); name != "" {
		return name
	}
	return Image
}

func publish(ctx context.Context, address string, transport *kafka.Transport) error {
	writer := &kafka.Writer{
		Addr: kafka.TCP(address), Topic: "orders", Transport: transport,
		MaxAttempts: 1, RequiredAcks: kafka.RequireAll,
	}
	defer writer.Close()
	return writer.WriteMessages(ctx, kafka.Message{Value: []byte("order-1")})
}

func TestAUserMayPublishAndAnotherMayNot(t *testing.T) {
	for _, release := range []string{"3.9", "4.3"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			broker := Start(ctx, t, image(),
				kafkashim.KafkaVersion(release),
				kafkashim.User("alice", "a"),
				kafkashim.User("bob", "b"),
				kafkashim.Topic("orders", 1),
				kafkashim.ACL{Principal: "User:alice", Allow: []string{"Write"}, Topic: "orders"},
				kafkashim.ACL{Principal: "User:bob", Allow: []string{"Describe"}, Topic: "orders"},
			)
			for user, wanted := range map[string]string{"alice": "", "bob": "Topic Authorization Failed"} {
				config := broker.Config(user)
				mechanism := plain.Mechanism{Username: user, Password: config["sasl.password"]}
				err := publish(ctx, config["bootstrap.servers"], &kafka.Transport{SASL: mechanism})
				if (err == nil) != (wanted == "") || err != nil && !strings.Contains(err.Error(), wanted) {
					t.Errorf("%s: the error is %v", user, err)
				}
			}
			if err := publish(ctx, broker.BootstrapServers()[0], &kafka.Transport{}); err != nil {
				t.Error(err)
			}
			if records := broker.Records("orders", 0); len(records) != 2 {
				t.Errorf("the records are %v", records)
			}
			var state struct{ Release string }
			if broker.Call("GET", "/state", nil, &state); state.Release != release {
				t.Errorf("the release is %s", state.Release)
			}
		})
	}
}
