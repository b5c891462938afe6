package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"drivers/loop"

	"github.com/IBM/sarama"
)

func wait(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	return c.inbox.Wait(asked, failure)
}

func (c *client) sender() (sarama.SyncProducer, error) {
	var err error
	if c.producer == nil {
		c.producer, err = sarama.NewSyncProducer(c.servers, c.config)
	}
	return c.producer, err
}

func produce(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	producer, err := c.sender()
	if err != nil {
		c.producer = nil
		return nil, err
	}
	var messages []*sarama.ProducerMessage
	for _, value := range asked.Values {
		message := &sarama.ProducerMessage{Topic: asked.Topic, Value: sarama.StringEncoder(value)}
		if asked.Partition != nil {
			message.Partition = *asked.Partition
		}
		messages = append(messages, message)
	}
	if err := producer.SendMessages(messages); err != nil {
		return nil, err
	}
	offsets := []int64{}
	for _, message := range messages {
		offsets = append(offsets, message.Offset)
	}
	return loop.Ok{"offsets": offsets}, nil
}

func begin(c *client, _ context.Context, _ loop.Fields) (loop.Ok, error) {
	producer, err := c.sender() // creating the producer initialises it
	if err != nil {
		c.producer = nil
		return nil, err
	}
	return nil, producer.BeginTxn()
}

func sendOffsets(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	offset := &sarama.PartitionOffsetMetadata{Partition: *asked.Partition, Offset: asked.Offset}
	offsets := map[string][]*sarama.PartitionOffsetMetadata{asked.Topic: {offset}}
	return nil, c.producer.AddOffsetsToTxn(offsets, asked.Group)
}

// member is the handler of a group member: it reads the partitions that it is assigned.
type member struct {
	inbox   *loop.Inbox
	mutex   sync.Mutex
	session sarama.ConsumerGroupSession
}

func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.session = session
	m.inbox.Events.Add("assigned")
	return nil
}

func (m *member) Cleanup(sarama.ConsumerGroupSession) error {
	m.inbox.Events.Add("revoked")
	return nil
}

func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		m.inbox.Read(message.Value)
	}
	return nil
}

func consume(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	topics := asked.TopicNames()
	if c.reading != fmt.Sprint(topics) {
		if err := c.join(topics); err != nil {
			return nil, err
		}
	}
	return c.inbox.Take(asked)
}

func (c *client) join(topics []string) error {
	if c.group != nil {
		c.stop()
		c.group.Close()
	}
	group, err := sarama.NewConsumerGroup(c.servers, c.settings["group.id"], c.config)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	c.group, c.stop, c.reading = group, stop, fmt.Sprint(topics)
	c.member = &member{inbox: &c.inbox}
	go func() {
		for err := range group.Errors() {
			c.inbox.Failed(err)
		}
	}()
	go func() { // Consume must be called again after each session
		for ctx.Err() == nil {
			if err := group.Consume(ctx, topics, c.member); err != nil {
				c.inbox.Failed(err)
				time.Sleep(c.settings.Millis("retry.backoff.ms", time.Second))
			}
		}
	}()
	return nil
}

func consumeAssigned(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	if c.reading == fmt.Sprint(asked.Partitions) {
		return c.inbox.Take(asked)
	}
	consumer, err := sarama.NewConsumer(c.servers, c.config)
	if err != nil {
		return nil, err
	}
	c.consumer, c.reading = consumer, fmt.Sprint(asked.Partitions)
	for _, name := range asked.Partitions {
		place := loop.Partition(name)
		reader, err := consumer.ConsumePartition(place.Topic, place.Partition, c.config.Consumer.Offsets.Initial)
		if err != nil {
			c.reading = ""
			return nil, err
		}
		go func() {
			for message := range reader.Messages() {
				c.inbox.Read(message.Value)
			}
		}()
		go func() {
			for err := range reader.Errors() {
				c.inbox.Failed(err)
			}
		}()
	}
	return c.inbox.Take(asked)
}

// commitOffsets commits the marked offsets; sarama reports a failure as an error of the group.
func commitOffsets(c *client, _ context.Context, _ loop.Fields) (loop.Ok, error) {
	c.member.mutex.Lock()
	defer c.member.mutex.Unlock()
	c.member.session.Commit()
	time.Sleep(100 * time.Millisecond) // the error comes through a channel
	return nil, c.inbox.TakeError()
}
