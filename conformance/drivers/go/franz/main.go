// The driver of franz-go: kgo for records, kadm for administration.
package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drivers/loop"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// client is a client of the contract: an admin, a producer and a consumer, each created on first use.
type client struct {
	settings  loop.Settings
	shared    []kgo.Opt
	login     *loop.Login
	admins    *kadm.Client
	producers *kgo.Client
	consumers *kgo.Client
	events    loop.Events
	unread    []string
}

var driver = loop.Driver[*client]{
	Name:   "franz-go",
	Module: "github.com/twmb/franz-go",
	Capabilities: []string{
		"plain", "scram", "oauthbearer", "delegation-tokens", "tls", "reauthentication",
		"idempotence", "transactions", "classic-groups", "consumer-groups", "static-members",
		"share-groups", "authorized-operations", "prefixed-acls", "rebootstrap",
	},
	Open:    open,
	Failure: failure,
}

type command = func(*client, context.Context, loop.Fields) (loop.Ok, error)

func main() {
	driver.Commands = adminCommands
	for name, do := range map[string]command{
		"set_login": setLogin, "wait": wait, "produce": produce, "begin": begin,
		"commit": func(c *client, ctx context.Context, _ loop.Fields) (loop.Ok, error) {
			return end(c, ctx, kgo.TryCommit)
		},
		"abort":   func(c *client, ctx context.Context, _ loop.Fields) (loop.Ok, error) { return end(c, ctx, kgo.TryAbort) },
		"consume": consume, "consume_assigned": consumeAssigned, "consume_share": consumeShare,
		"commit_offsets": commitOffsets, "committed": committed,
	} {
		driver.Commands[name] = do
	}
	driver.Serve()
}

// failure reports an error with the code of the Kafka error that it wraps, at any depth.
func failure(err error) loop.Failure {
	var known *kerr.Error
	if errors.As(err, &known) {
		return loop.Failure{Class: known.Message, Code: &known.Code, Text: err.Error(), Retriable: &known.Retriable}
	}
	return loop.Failure{Class: fmt.Sprintf("%T", err), Text: err.Error()}
}

func open(asked loop.Fields) (*client, error) {
	c := &client{settings: asked.Settings, login: asked.Login}
	age := c.settings.Millis("metadata.max.age.ms", 5*time.Minute)
	c.shared = []kgo.Opt{
		kgo.SeedBrokers(strings.Split(asked.Servers, ",")...),
		kgo.RequestTimeoutOverhead(c.settings.Millis("request.timeout.ms", 10*time.Second)),
		kgo.RetryTimeout(c.settings.Millis("default.api.timeout.ms", 40*time.Second)),
		kgo.MetadataMaxAge(age),
		kgo.MetadataMinAge(min(age/4, 5*time.Second)),
	}
	if id := c.settings["client.id"]; id != "" {
		c.shared = append(c.shared, kgo.ClientID(id))
	}
	if c.settings["allow.auto.create.topics"] == "true" {
		c.shared = append(c.shared, kgo.AllowAutoTopicCreation())
	}
	if asked.TLS != nil {
		config, err := asked.TLS.Config()
		if err != nil {
			return c, err
		}
		c.shared = append(c.shared, kgo.DialTLSConfig(config))
	}
	if c.login != nil {
		c.shared = append(c.shared, kgo.SASL(c.mechanism()))
	}
	return c, nil
}

// mechanism reads the credentials for each connection, so that a command can change it.
func (c *client) mechanism() sasl.Mechanism {
	scrammed := func(context.Context) (scram.Auth, error) {
		return scram.Auth{User: c.login.User, Pass: c.login.Password, IsToken: c.login.IsDelegationToken}, nil
	}
	switch c.login.Mechanism {
	case "SCRAM-SHA-256":
		return scram.Sha256(scrammed)
	case "SCRAM-SHA-512":
		return scram.Sha512(scrammed)
	case "OAUTHBEARER":
		return oauth.Oauth(func(context.Context) (oauth.Auth, error) { return oauth.Auth{Token: c.login.Token}, nil })
	}
	return plain.Plain(func(context.Context) (plain.Auth, error) {
		return plain.Auth{User: c.login.User, Pass: c.login.Password}, nil
	})
}

func setLogin(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	*c.login = *asked.Login
	return nil, nil
}

func (c *client) admin() (*kadm.Client, error) {
	if c.admins == nil {
		made, err := kgo.NewClient(c.shared...)
		if err != nil {
			return nil, err
		}
		c.admins = kadm.NewClient(made)
		c.admins.SetTimeoutMillis(int32(c.settings.Millis("request.timeout.ms", 10*time.Second).Milliseconds()))
	}
	return c.admins, nil
}

func (c *client) producer() (*kgo.Client, error) {
	if c.producers != nil {
		return c.producers, nil
	}
	options := []kgo.Opt{
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.RecordDeliveryTimeout(c.settings.Millis("delivery.timeout.ms", 2*time.Minute)),
		kgo.ProducerBatchMaxBytes(int32(c.settings.Number("max.request.size", 1_000_000))),
		kgo.ProduceRequestTimeout(c.settings.Millis("request.timeout.ms", 10*time.Second)),
	}
	if c.settings["enable.idempotence"] == "false" {
		options = append(options, kgo.DisableIdempotentWrite())
	}
	switch c.settings["acks"] {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()))
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()))
	}
	codecs := map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
		"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	}
	if codec, known := codecs[c.settings["compression.type"]]; known {
		options = append(options, kgo.ProducerBatchCompression(codec))
	}
	if id := c.settings["transactional.id"]; id != "" {
		options = append(options, kgo.TransactionalID(id),
			kgo.TransactionTimeout(c.settings.Millis("transaction.timeout.ms", 40*time.Second)))
	}
	var err error
	c.producers, err = kgo.NewClient(append(options, c.shared...)...)
	return c.producers, err
}

func (c *client) consumer(kind ...kgo.Opt) (*kgo.Client, error) {
	if c.consumers != nil {
		return c.consumers, nil
	}
	options := append(kind, c.shared...)
	options = append(options, kgo.FetchMaxBytes(int32(c.settings.Number("fetch.max.bytes", 50<<20))),
		kgo.FetchMaxPartitionBytes(int32(c.settings.Number("max.partition.fetch.bytes", 1<<20))))
	if c.settings["auto.offset.reset"] == "earliest" {
		options = append(options, kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	}
	if c.settings["isolation.level"] == "read_committed" {
		options = append(options, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	}
	var err error
	c.consumers, err = kgo.NewClient(options...)
	return c.consumers, err
}

// member returns the options of a group member, for either group protocol.
func (c *client) member() []kgo.Opt {
	told := func(event string) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			if event == "assigned" || len(partitions) > 0 {
				c.events.Add(event)
			}
		}
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(c.settings["group.id"]),
		kgo.SessionTimeout(c.settings.Millis("session.timeout.ms", 45*time.Second)),
		kgo.HeartbeatInterval(c.settings.Millis("heartbeat.interval.ms", 3*time.Second)),
		kgo.OnPartitionsAssigned(told("assigned")),
		kgo.OnPartitionsRevoked(told("revoked")),
		kgo.OnPartitionsLost(told("lost")),
	}
	if id := c.settings["group.instance.id"]; id != "" {
		options = append(options, kgo.InstanceID(id))
	}
	if c.settings["group.protocol"] == "consumer" {
		options = append(options, kgo.ServerSideBalancer(), kgo.Balancers(kgo.RangeBalancer()))
	}
	if c.settings["enable.auto.commit"] == "false" {
		options = append(options, kgo.DisableAutoCommit())
	}
	return options
}

// Close closes the connections; records that are not yet acknowledged are lost.
func (c *client) Close() {
	if c.consumers != nil {
		c.consumers.Close()
	}
	if c.producers != nil {
		c.producers.Close()
	}
	if c.admins != nil {
		c.admins.Close()
	}
}
