package orders

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

var mayWrite = Object{"principal": "User:shop", "allow": []string{"Write"}, "topic": Topic}

// Shop is a publisher that logs in, and a broker of the test's own.
type Shop struct {
	*Publisher
	broker *Broker
	ctx    context.Context
}

// openShop lets the test run in parallel with others.
func openShop(t *testing.T, release string) *Shop {
	t.Parallel()
	broker := NewBroker(t, Object{
		"kafka_version": release,
		"users":         Object{"shop": "secret"},
		"topics":        []string{Topic},
	})
	publisher, err := NewPublisher(
		kgo.SeedBrokers(broker.Servers["SASL_PLAINTEXT"]),
		kgo.SASL(plain.Auth{User: "shop", Pass: "secret"}.AsMechanism()),
	)
	check(t, err)
	t.Cleanup(publisher.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return &Shop{publisher, broker, ctx}
}

func (s *Shop) allow(t *testing.T) {
	s.broker.Post(t, "/acls", Object{"acls": []Object{mayWrite}}, nil)
}

// expectStored compares how many orders the broker has.
func (s *Shop) expectStored(t *testing.T, wanted int) {
	t.Helper()
	var found struct {
		Topics []struct {
			EndOffsets []int `json:"end_offsets"`
		} `json:"topics"`
	}
	s.broker.Get(t, "/topics", &found)
	if stored := found.Topics[0].EndOffsets[0]; stored != wanted {
		t.Errorf("%d orders are stored, expected %d", stored, wanted)
	}
}

func TestAnOrderIsPublished(t *testing.T) {
	shop := openShop(t, "4.0")
	shop.allow(t)
	check(t, shop.Publish(shop.ctx, "order-1"))
	shop.expectStored(t, 1)
}

func TestWithoutPermissionThePublisherSaysSo(t *testing.T) {
	shop := openShop(t, "4.0")
	if err := shop.Publish(shop.ctx, "order-1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("told %v", err)
	}
	var denied struct {
		Decisions []struct{ Principal string } `json:"decisions"`
	}
	shop.broker.Get(t, "/decisions?allowed=false&logged=true", &denied)
	if len(denied.Decisions) == 0 || denied.Decisions[0].Principal != "User:shop" {
		t.Errorf("denied were %v", denied)
	}
	shop.expectStored(t, 0)
}

func TestAGrantThatIsLostInMidStreamLosesNoOrder(t *testing.T) {
	shop := openShop(t, "4.0")
	shop.allow(t)
	shop.broker.Post(t, "/faults", Object{
		"action":  Object{"revoke": []Object{mayWrite}},
		"match":   Object{"api": "Produce"},
		"trigger": Object{"on_call": 3},
	}, nil)
	left, err := shop.PublishAll(shop.ctx, []string{"order-1", "order-2", "order-3", "order-4"})
	check(t, err)
	if !slices.Equal(left, []string{"order-3", "order-4"}) {
		t.Errorf("left are %v", left)
	}
	shop.expectStored(t, 2)
}

func TestAnAnswerThatIsLostStoresNoOrderTwice(t *testing.T) {
	shop := openShop(t, "4.0")
	shop.allow(t)
	shop.broker.Post(t, "/faults", Object{
		"action": Object{"disconnect": "after"},
		"match":  Object{"api": "Produce"},
	}, nil)
	check(t, shop.Publish(shop.ctx, "order-1"))
	shop.expectStored(t, 1)
}

func TestBeforeKIP679AnIdempotentWriterNeedsMoreThanWrite(t *testing.T) {
	shop := openShop(t, "2.7")
	shop.allow(t)
	if err := shop.Publish(shop.ctx, "order-1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("told %v", err)
	}
	shop.expectStored(t, 0)
}
