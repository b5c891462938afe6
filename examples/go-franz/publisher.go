// Package orders is what is tested: a small publisher of orders.
package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const Topic = "orders"

// ErrNotAllowed says that the service lacks permission; a retry does not help.
var ErrNotAllowed = errors.New("this service may not write to " + Topic)

type Publisher struct{ client *kgo.Client }

func NewPublisher(options ...kgo.Opt) (*Publisher, error) {
	client, err := kgo.NewClient(options...)
	return &Publisher{client}, err
}

// Publish returns once the order is stored.
func (p *Publisher) Publish(ctx context.Context, order string) error {
	record := &kgo.Record{Topic: Topic, Value: []byte(order)}
	err := p.client.ProduceSync(ctx, record).FirstErr()
	if errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.ClusterAuthorizationFailed) {
		return fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	return err
}

// PublishAll publishes until permission is missing, and gives the orders that are left.
func (p *Publisher) PublishAll(ctx context.Context, orders []string) ([]string, error) {
	for at, order := range orders {
		if err := p.Publish(ctx, order); errors.Is(err, ErrNotAllowed) {
			return orders[at:], nil
		} else if err != nil {
			return orders[at:], err
		}
	}
	return nil, nil
}

func (p *Publisher) Close() { p.client.Close() }
