package orders

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

var mayWrite = kafkashim.ACL{Principal: "User:shop", Allow: []string{"Write"}, Topic: Topic}

// Shop is a publisher that logs in, and a broker of the test's own.
type Shop struct {
	*Publisher
	broker *kafkashim.Broker
	ctx    context.Context
}

// openShop lets the test run in parallel with others.
func openShop(t *testing.T, options ...kafkashim.Option) *Shop {
	t.Parallel()
	options = append(options, kafkashim.User("shop", "secret"), kafkashim.Topic(Topic, 1))
	broker := kafkashim.Start(t, options...)
	publisher, err := NewPublisher(
		kgo.SeedBrokers(broker.Servers("SASL_PLAINTEXT")...),
		kgo.SASL(plain.Auth{User: "shop", Pass: "secret"}.AsMechanism()),
	)
	check(t, err)
	t.Cleanup(publisher.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return &Shop{publisher, broker, ctx}
}

// expectStored compares how many orders the broker has.
func (s *Shop) expectStored(t *testing.T, wanted int64) {
	t.Helper()
	if stored := s.broker.Topics()[0].EndOffsets[0]; stored != wanted {
		t.Errorf("%d orders are stored, expected %d", stored, wanted)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAnOrderIsPublished(t *testing.T) {
	shop := openShop(t, mayWrite)
	check(t, shop.Publish(shop.ctx, "order-1"))
	shop.expectStored(t, 1)
}

func TestWithoutPermissionThePublisherSaysSo(t *testing.T) {
	shop := openShop(t)
	if err := shop.Publish(shop.ctx, "order-1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("the error is %v", err)
	}
	denials := shop.broker.Denials()
	if len(denials) == 0 || denials[0].Principal != "User:shop" {
		t.Errorf("the denials are %v", denials)
	}
	shop.expectStored(t, 0)
}

func TestAGrantThatIsLostInMidStreamLosesNoOrder(t *testing.T) {
	shop := openShop(t, mayWrite, kafkashim.Fault{
		Action:  kafkashim.Action{Revoke: []kafkashim.ACL{mayWrite}},
		Match:   kafkashim.Match{API: "Produce"},
		Trigger: kafkashim.Trigger{OnCall: 3},
	})
	left, err := shop.PublishAll(shop.ctx, []string{"order-1", "order-2", "order-3", "order-4"})
	check(t, err)
	if !slices.Equal(left, []string{"order-3", "order-4"}) {
		t.Errorf("left are %v", left)
	}
	shop.expectStored(t, 2)
}

func TestAnAnswerThatIsLostStoresNoOrderTwice(t *testing.T) {
	shop := openShop(t, mayWrite)
	fault := shop.broker.AddFault(kafkashim.Fault{
		Action: kafkashim.Action{Disconnect: "after"},
		Match:  kafkashim.Match{API: "Produce"},
	})
	check(t, shop.Publish(shop.ctx, "order-1"))
	if fired := shop.broker.FaultsFired(fault); fired != 1 {
		t.Errorf("the fault was applied %d times", fired)
	}
	shop.expectStored(t, 1)
}

func TestBeforeKIP679AnIdempotentWriterNeedsMoreThanWrite(t *testing.T) {
	shop := openShop(t, kafkashim.KafkaVersion("2.7"), mayWrite)
	if err := shop.Publish(shop.ctx, "order-1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("the error is %v", err)
	}
	shop.expectStored(t, 0)
}
