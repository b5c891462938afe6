package orders

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func publish(broker *kafkashim.Broker, user, value string) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(broker.Servers("SASL_PLAINTEXT")...),
		kgo.SASL(plain.Auth{User: user, Pass: "secret"}.AsMechanism()),
	)
	if err != nil {
		return err
	}
	defer client.Close()
	record := &kgo.Record{Topic: "orders", Value: []byte(value)}
	return client.ProduceSync(context.Background(), record).FirstErr()
}

// Twenty tests at the same time: each user writes to its own broker, or is denied.
func TestOrder(t *testing.T) {
	for number := range 20 {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			user, value := fmt.Sprint("user-", number), fmt.Sprint(number)
			broker := kafkashim.Start(t, kafkashim.User(user, "secret"), kafkashim.Topic("orders", 1))
			if number%2 == 0 {
				broker.AddACLs(kafkashim.ACL{Principal: user, Allow: []string{"Write"}, Topic: "orders"})
				if err := publish(broker, user, value); err != nil {
					t.Fatal(err)
				}
				if found := broker.Records("orders", 0); len(found) != 1 || found[0].Value != value {
					t.Errorf("the records are %v", found)
				}
				return
			}
			if err := publish(broker, user, value); !errors.Is(err, kerr.TopicAuthorizationFailed) {
				t.Errorf("the error is %v", err)
			}
			broker.AssertDenied(user, "Describe", "topic:orders")
			if found := broker.Denials(); len(found) != 1 || found[0].Principal != "User:"+user {
				t.Errorf("the denials are %v", found)
			}
		})
	}
}
