package main

import (
	"context"
	"errors"
	"time"

	"drivers/loop"

	"github.com/twmb/franz-go/pkg/kgo"
)

func wait(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	return c.events.Wait(asked, func(moment time.Duration) error {
		if c.consumers == nil {
			time.Sleep(moment)
			return nil
		}
		return c.poll(moment)
	}, failure)
}

func produce(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
	producer, err := c.producer()
	if err != nil {
		return nil, err
	}
	var records []*kgo.Record
	for _, value := range asked.Values {
		record := &kgo.Record{Topic: asked.Topic, Value: []byte(value)}
		if asked.Partition != nil {
			record.Partition = *asked.Partition
		}
		records = append(records, record)
	}
	if err := producer.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return nil, err
	}
	offsets := []int64{}
	for _, record := range records {
		offsets = append(offsets, record.Offset)
	}
	return loop.Ok{"offsets": offsets}, nil
}

func begin(c *client, ctx context.Context, _ loop.Fields) (loop.Ok, error) {
	producer, err := c.producer()
	if err != nil {
		return nil, err
	}
	if _, _, err := producer.ProducerID(ctx); err != nil { // otherwise done by the first record
		return nil, err
	}
	return nil, producer.BeginTransaction()
}

func end(c *client, ctx context.Context, how kgo.TransactionEndTry) (loop.Ok, error) {
	if how == kgo.TryAbort {
		if err := c.producers.AbortBufferedRecords(ctx); err != nil {
			return nil, err
		}
	}
	return nil, c.producers.EndTransaction(ctx, how)
}

func consume(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	return c.read(asked, append(c.member(), kgo.ConsumeTopics(asked.TopicNames()...)))
}

func consumeAssigned(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	start := kgo.NewOffset().AtEnd()
	if c.settings["auto.offset.reset"] == "earliest" {
		start = kgo.NewOffset().AtStart()
	}
	partitions := map[string]map[int32]kgo.Offset{}
	for _, name := range asked.Partitions {
		place := loop.Partition(name)
		if partitions[place.Topic] == nil {
			partitions[place.Topic] = map[int32]kgo.Offset{}
		}
		partitions[place.Topic][place.Partition] = start
	}
	return c.read(asked, []kgo.Opt{kgo.ConsumePartitions(partitions)})
}

func consumeShare(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
	kind := []kgo.Opt{kgo.ShareGroup(c.settings["group.id"]), kgo.ConsumeTopics(asked.TopicNames()...)}
	found, err := c.read(asked, kind)
	if err != nil {
		return nil, err
	}
	c.consumers.MarkAcks(kgo.AckAccept)
	return found, c.consumers.FlushAcks(ctx)
}

func (c *client) read(asked loop.Fields, kind []kgo.Opt) (loop.Ok, error) {
	if _, err := c.consumer(kind...); err != nil {
		return nil, err
	}
	ends := time.Now().Add(asked.Duration())
	for len(c.unread) < asked.Count && time.Now().Before(ends) {
		if err := c.poll(time.Until(ends)); err != nil {
			return nil, err
		}
	}
	count := min(asked.Count, len(c.unread))
	values := append([]string{}, c.unread[:count]...)
	c.unread = c.unread[count:]
	return loop.Ok{"values": values}, nil
}

func (c *client) poll(atMost time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), atMost)
	defer cancel()
	fetches := c.consumers.PollFetches(ctx)
	for _, failed := range fetches.Errors() {
		if !errors.Is(failed.Err, context.DeadlineExceeded) {
			return failed.Err
		}
	}
	fetches.EachRecord(func(record *kgo.Record) { c.unread = append(c.unread, string(record.Value)) })
	return nil
}

func commitOffsets(c *client, ctx context.Context, _ loop.Fields) (loop.Ok, error) {
	return nil, c.consumers.CommitUncommittedOffsets(ctx)
}
