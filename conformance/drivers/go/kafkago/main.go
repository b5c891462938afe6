// The driver of segmentio/kafka-go: its Client for administration, Writer and Reader for records.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"drivers/loop"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// client is a client of the contract; its writer and reader are created on first use.
type client struct {
	servers  []string
	settings loop.Settings
	dialer   *kafka.Dialer
	admin    *kafka.Client
	writer   *kafka.Writer
	written  []kafka.Message
	reader   *kafka.Reader
	reading  string // the subscribed topics or the assigned partition
	unread   []kafka.Message
	last     map[loop.Place]kafka.Message
}

var driver = loop.Driver[*client]{
	Name:         "kafka-go",
	Module:       "github.com/segmentio/kafka-go",
	Capabilities: []string{"plain", "scram", "tls", "classic-groups", "prefixed-acls"},
	Open:         open,
	Failure:      failure,
}

type command = func(*client, context.Context, loop.Fields) (loop.Ok, error)

func main() {
	driver.Commands = adminCommands
	for name, do := range map[string]command{
		"produce": produce, "consume": consume, "consume_assigned": consumeAssigned,
		"commit_offsets": commitOffsets, "committed": committed,
	} {
		driver.Commands[name] = do
	}
	driver.Serve()
}

// failure reports an error with the code of the Kafka error that it wraps, at any depth.
func failure(err error) loop.Failure {
	var several kafka.WriteErrors
	if errors.As(err, &several) {
		err = cmp.Or(several...)
	}
	var known kafka.Error
	if errors.As(err, &known) {
		code, retriable := int16(known), known.Temporary()
		return loop.Failure{Class: known.Title(), Code: &code, Text: err.Error(), Retriable: &retriable}
	}
	return loop.Failure{Class: fmt.Sprintf("%T", err), Text: err.Error()}
}

func open(asked loop.Fields) (*client, error) {
	s := asked.Settings
	for _, name := range []string{"transactional.id", "group.instance.id"} {
		if s[name] != "" {
			return nil, loop.ErrUnsupported
		}
	}
	if s["enable.idempotence"] == "true" || s["group.protocol"] == "consumer" {
		return nil, loop.ErrUnsupported
	}
	c := &client{servers: strings.Split(asked.Servers, ","), settings: s, last: map[loop.Place]kafka.Message{}}
	timeout := s.Millis("request.timeout.ms", 10*time.Second)
	c.dialer = &kafka.Dialer{ClientID: s["client.id"], Timeout: timeout, DualStack: true}
	transport := &kafka.Transport{
		ClientID: s["client.id"], DialTimeout: timeout, MetadataTTL: s.Millis("metadata.max.age.ms", 6*time.Second),
	}
	if asked.TLS != nil {
		config, err := asked.TLS.Config()
		if err != nil {
			return c, err
		}
		c.dialer.TLS, transport.TLS = config, config
	}
	if asked.Login != nil {
		mechanism, err := mechanism(*asked.Login)
		if err != nil {
			return c, err
		}
		c.dialer.SASLMechanism, transport.SASL = mechanism, mechanism
	}
	c.admin = &kafka.Client{Addr: kafka.TCP(c.servers...), Timeout: timeout, Transport: transport}
	c.writer = &kafka.Writer{
		Addr:                   c.admin.Addr,
		Transport:              transport,
		Balancer:               &kafka.RoundRobin{},
		ReadTimeout:            timeout,
		WriteTimeout:           timeout,
		BatchBytes:             int64(s.Number("max.request.size", 1<<20)),
		BatchTimeout:           10 * time.Millisecond,
		RequiredAcks:           kafka.RequireAll,
		AllowAutoTopicCreation: s["allow.auto.create.topics"] == "true",
		Completion:             func(messages []kafka.Message, _ error) { c.written = append(c.written, messages...) },
	}
	return c, c.configureWriter()
}

func (c *client) configureWriter() error {
	if acks := c.settings["acks"]; acks != "" {
		if err := c.writer.RequiredAcks.UnmarshalText([]byte(acks)); err != nil {
			return err
		}
	}
	if codec := c.settings["compression.type"]; codec != "" && codec != "none" {
		return c.writer.Compression.UnmarshalText([]byte(codec))
	}
	return nil
}

func mechanism(login loop.Login) (sasl.Mechanism, error) {
	if login.IsDelegationToken {
		return nil, loop.ErrUnsupported
	}
	switch login.Mechanism {
	case "PLAIN":
		return plain.Mechanism{Username: login.User, Password: login.Password}, nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, login.User, login.Password)
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, login.User, login.Password)
	}
	return nil, loop.ErrUnsupported
}

// Close closes the connections.
func (c *client) Close() {
	if c.reader != nil {
		c.reader.Close()
	}
	c.writer.Close()
	c.admin.Transport.(*kafka.Transport).CloseIdleConnections()
}

func produce(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
	c.written = nil
	if asked.Partition != nil {
		wanted := int(*asked.Partition)
		c.writer.Balancer = kafka.BalancerFunc(func(kafka.Message, ...int) int { return wanted })
	}
	var messages []kafka.Message
	for _, value := range asked.Values {
		messages = append(messages, kafka.Message{Topic: asked.Topic, Value: []byte(value)})
	}
	if err := c.writer.WriteMessages(ctx, messages...); err != nil {
		return nil, err
	}
	offsets := []int64{}
	for _, message := range c.written {
		offsets = append(offsets, message.Offset)
	}
	slices.Sort(offsets)
	return loop.Ok{"offsets": offsets}, nil
}

func (c *client) start(reading string, config kafka.ReaderConfig) error {
	if c.reading == reading {
		return nil
	}
	if c.reader != nil {
		c.reader.Close()
	}
	config.Brokers, config.Dialer = c.servers, c.dialer
	config.MaxBytes = c.settings.Number("max.partition.fetch.bytes", 1_000_000)
	config.MaxWait = 500 * time.Millisecond
	config.StartOffset = kafka.LastOffset
	if c.settings["auto.offset.reset"] == "earliest" {
		config.StartOffset = kafka.FirstOffset
	}
	if c.settings["isolation.level"] == "read_committed" {
		config.IsolationLevel = kafka.ReadCommitted
	}
	if err := config.Validate(); err != nil {
		return err
	}
	c.reader, c.reading = kafka.NewReader(config), reading
	return nil
}

func consume(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	topics := asked.TopicNames()
	err := c.start(fmt.Sprint(topics), kafka.ReaderConfig{
		GroupID: c.settings["group.id"], GroupTopics: topics,
		SessionTimeout:    c.settings.Millis("session.timeout.ms", 30*time.Second),
		HeartbeatInterval: c.settings.Millis("heartbeat.interval.ms", 3*time.Second),
	})
	if err != nil {
		return nil, err
	}
	return c.read(asked)
}

// consumeAssigned reads a single partition, since a Reader supports only one.
func consumeAssigned(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	if len(asked.Partitions) != 1 {
		return nil, loop.ErrUnsupported
	}
	place := loop.Partition(asked.Partitions[0])
	err := c.start(asked.Partitions[0], kafka.ReaderConfig{Topic: place.Topic, Partition: int(place.Partition)})
	if err != nil {
		return nil, err
	}
	if c.settings["auto.offset.reset"] != "earliest" && c.last[place].Topic == "" {
		if err := c.reader.SetOffset(kafka.LastOffset); err != nil {
			return nil, err
		}
	}
	return c.read(asked)
}

// read continues for a while after an error, since a Reader recovers by itself.
func (c *client) read(asked loop.Fields) (loop.Ok, error) {
	ctx, cancel := context.WithTimeout(context.Background(), asked.Duration())
	defer cancel()
	values := []string{}
	var failed error
	for len(values) < asked.Count {
		message, err := c.reader.FetchMessage(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			break
		}
		if err != nil {
			if failed == nil {
				ctx, cancel = context.WithTimeout(ctx, loop.Recovery)
				defer cancel()
			}
			failed = err
			continue
		}
		c.last[loop.Place{Topic: message.Topic, Partition: int32(message.Partition)}] = message
		values = append(values, string(message.Value))
	}
	if len(values) == 0 && failed != nil {
		return nil, failed
	}
	return loop.Ok{"values": values}, nil
}

func commitOffsets(c *client, ctx context.Context, _ loop.Fields) (loop.Ok, error) {
	var messages []kafka.Message
	for _, message := range c.last {
		messages = append(messages, message)
	}
	return nil, c.reader.CommitMessages(ctx, messages...)
}
