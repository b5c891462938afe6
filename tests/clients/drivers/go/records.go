package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

func produce(ctx context.Context, where connection, args arguments) (any, error) {
	var options []kgo.Opt
	if args.Idempotent != nil && !*args.Idempotent {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	client, err := where.client(options...)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var records []*kgo.Record
	for _, value := range args.Values {
		records = append(records, &kgo.Record{Topic: *args.Topic, Value: []byte(value)})
	}
	results := client.ProduceSync(ctx, records...)
	if err := results.FirstErr(); err != nil {
		return nil, err
	}
	offsets := make([]int64, len(records))
	for i, record := range records {
		offsets[i] = record.Offset
	}
	return offsets, nil
}

func produceTransaction(ctx context.Context, where connection, args arguments) (any, error) {
	client, err := where.client(kgo.TransactionalID(args.TransactionalID))
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		return nil, err
	}
	for _, value := range args.Values {
		client.Produce(ctx, &kgo.Record{Topic: *args.Topic, Value: []byte(value)}, nil)
	}
	if err := client.Flush(ctx); err != nil {
		return nil, err
	}
	return nil, client.EndTransaction(ctx, kgo.TryCommit)
}

func consume(ctx context.Context, where connection, args arguments) (any, error) {
	client, err := where.client(
		kgo.ConsumerGroup(args.Group),
		kgo.ConsumeTopics(*args.Topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	polling, cancel := context.WithTimeout(ctx, time.Duration(args.Seconds*float64(time.Second)))
	defer cancel()
	values := []string{}
	for len(values) < args.Count {
		fetches := client.PollFetches(polling)
		if polling.Err() != nil {
			return nil, fmt.Errorf("%d of %d values in time", len(values), args.Count)
		}
		if err := fetches.Err(); err != nil {
			return nil, err
		}
		fetches.EachRecord(func(record *kgo.Record) {
			values = append(values, string(record.Value))
		})
	}
	return values, commitConsumed(polling, client)
}

// commitConsumed retries where the client does not: franz-go asks random brokers for the coordinator,
// and a commit fails if two of them in a row are stopped.
func commitConsumed(ctx context.Context, client *kgo.Client) error {
	for {
		err := client.CommitUncommittedOffsets(ctx)
		var refused *net.OpError
		if !errors.As(err, &refused) || refused.Op != "dial" || ctx.Err() != nil {
			return err
		}
	}
}

func commitOffset(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	offsets := kadm.Offsets{}
	offsets.AddOffset(*args.Topic, 0, args.Offset, -1)
	return nil, admin.CommitAllOffsets(ctx, args.Group, offsets)
}

func offsetFetch(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	var told kadm.OffsetResponses
	if args.Topic == nil {
		told, err = admin.FetchOffsets(ctx, args.Group)
	} else {
		told, err = admin.FetchOffsetsForTopics(ctx, args.Group, *args.Topic)
	}
	if err != nil {
		return nil, err
	}
	found := map[string]any{}
	told.Each(func(one kadm.OffsetResponse) {
		key := fmt.Sprintf("%s-%d", one.Topic, one.Partition)
		if one.Err != nil {
			found[key] = failureOf(one.Err)
		} else {
			found[key] = one.At
		}
	})
	return found, nil
}
