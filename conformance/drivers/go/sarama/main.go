// The driver of sarama.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drivers/loop"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// client is a client of the contract: an admin, a producer and a consumer, each created on first use.
type client struct {
	servers  []string
	settings loop.Settings
	config   *sarama.Config
	login    *loop.Login
	admin    sarama.ClusterAdmin
	producer sarama.SyncProducer
	consumer sarama.Consumer
	group    sarama.ConsumerGroup
	member   *member
	reading  string // the subscribed topics or assigned partitions
	stop     context.CancelFunc
	inbox    loop.Inbox
}

var driver = loop.Driver[*client]{
	Name:   "sarama",
	Module: "github.com/IBM/sarama",
	Capabilities: []string{
		"plain", "scram", "oauthbearer", "tls", "reauthentication", "idempotence", "transactions",
		"classic-groups", "static-members", "prefixed-acls",
	},
	Open:    open,
	Failure: failure,
}

type command = func(*client, context.Context, loop.Fields) (loop.Ok, error)

func main() {
	driver.Commands = adminCommands
	for name, do := range map[string]command{
		"set_login": setLogin, "wait": wait, "produce": produce, "begin": begin, "send_offsets": sendOffsets,
		"commit":  func(c *client, _ context.Context, _ loop.Fields) (loop.Ok, error) { return nil, c.producer.CommitTxn() },
		"abort":   func(c *client, _ context.Context, _ loop.Fields) (loop.Ok, error) { return nil, c.producer.AbortTxn() },
		"consume": consume, "consume_assigned": consumeAssigned, "commit_offsets": commitOffsets,
	} {
		driver.Commands[name] = do
	}
	driver.Serve()
}

// highestCode is above all codes of Kafka's errors.
const highestCode = 200

// failure reports an error with the code of the Kafka error that it wraps, at any depth.
func failure(err error) loop.Failure {
	var several sarama.ProducerErrors
	if errors.As(err, &several) && len(several) > 0 {
		err = several[0].Err
	}
	if code := kafkaCode(err); code != nil {
		return loop.Failure{Class: "KError", Code: code, Text: err.Error()}
	}
	return loop.Failure{Class: fmt.Sprintf("%T", err), Text: err.Error()}
}

// kafkaCode returns the code of the Kafka error that an error wraps, or nil. Errors that sarama.Wrap made
// show it to errors.Is only: their Unwrap leaves it out.
func kafkaCode(err error) *int16 {
	var known sarama.KError
	if errors.As(err, &known) {
		code := int16(known)
		return &code
	}
	for code := int16(1); code <= highestCode; code++ {
		if errors.Is(err, sarama.KError(code)) {
			return &code
		}
	}
	return nil
}

func open(asked loop.Fields) (*client, error) {
	s := asked.Settings
	if s["group.protocol"] == "consumer" || asked.Login != nil && asked.Login.IsDelegationToken {
		return nil, loop.ErrUnsupported
	}
	config := sarama.NewConfig()
	config.Version = sarama.MaxVersion // sarama uses older versions if the broker requires them
	config.ClientID = cmp.Or(s["client.id"], config.ClientID)
	timeout := s.Millis("request.timeout.ms", 30*time.Second)
	config.Net.DialTimeout, config.Net.ReadTimeout, config.Net.WriteTimeout = timeout, timeout, timeout
	config.Admin.Timeout = timeout
	config.Metadata.RefreshFrequency = s.Millis("metadata.max.age.ms", 10*time.Minute)
	config.Metadata.Timeout = s.Millis("default.api.timeout.ms", 0)
	config.Metadata.AllowAutoTopicCreation = s["allow.auto.create.topics"] != "false"
	configureProducer(config, s)
	configureConsumer(config, s)
	c := &client{servers: strings.Split(asked.Servers, ","), settings: s, config: config, login: asked.Login}
	if asked.TLS != nil {
		dialed, err := asked.TLS.Config()
		if err != nil {
			return c, err
		}
		config.Net.TLS.Enable, config.Net.TLS.Config = true, dialed
	}
	if asked.Login != nil {
		c.logIn()
	}
	return c, nil
}

func configureProducer(config *sarama.Config, s loop.Settings) {
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.MaxMessageBytes = s.Number("max.request.size", config.Producer.MaxMessageBytes)
	config.Producer.Timeout = s.Millis("request.timeout.ms", 10*time.Second)
	config.Producer.RequiredAcks = sarama.WaitForAll
	switch s["acks"] {
	case "0":
		config.Producer.RequiredAcks = sarama.NoResponse
	case "1":
		config.Producer.RequiredAcks = sarama.WaitForLocal
	}
	config.Producer.Compression.UnmarshalText([]byte(cmp.Or(s["compression.type"], "none")))
	if s["enable.idempotence"] == "true" || s["transactional.id"] != "" {
		config.Producer.Idempotent, config.Net.MaxOpenRequests = true, 1
	}
	if id := s["transactional.id"]; id != "" {
		config.Producer.Transaction.ID = id
		config.Producer.Transaction.Timeout = s.Millis("transaction.timeout.ms", time.Minute)
	}
}

func configureConsumer(config *sarama.Config, s loop.Settings) {
	config.Consumer.Return.Errors = true
	if s["auto.offset.reset"] == "earliest" {
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
	}
	config.Consumer.Fetch.Default = int32(s.Number("max.partition.fetch.bytes", 1<<20))
	config.Consumer.Offsets.AutoCommit.Enable = s["enable.auto.commit"] != "false"
	if s["isolation.level"] == "read_committed" {
		config.Consumer.IsolationLevel = sarama.ReadCommitted
	}
	config.Consumer.Group.Session.Timeout = s.Millis("session.timeout.ms", 10*time.Second)
	config.Consumer.Group.Heartbeat.Interval = s.Millis("heartbeat.interval.ms", 3*time.Second)
	config.Consumer.Group.InstanceId = s["group.instance.id"]
}

func (c *client) logIn() {
	sasl := &c.config.Net.SASL
	sasl.Enable, sasl.Handshake = true, true
	sasl.Mechanism = sarama.SASLMechanism(c.login.Mechanism)
	sasl.User, sasl.Password = c.login.User, c.login.Password
	sasl.TokenProvider = c
	hash := scram.SHA256
	if c.login.Mechanism == sarama.SASLTypeSCRAMSHA512 {
		hash = scram.SHA512
	}
	sasl.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &conversation{hash: hash} }
}

// Token returns the token of the latest credentials to sarama.
func (c *client) Token() (*sarama.AccessToken, error) {
	return &sarama.AccessToken{Token: c.login.Token}, nil
}

// conversation implements SCRAM by another package, as sarama requires.
type conversation struct {
	hash scram.HashGeneratorFcn
	*scram.ClientConversation
}

func (c *conversation) Begin(user, password, authority string) error {
	made, err := c.hash.NewClient(user, password, authority)
	if err == nil {
		c.ClientConversation = made.NewConversation()
	}
	return err
}

func setLogin(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
	if asked.Login.Mechanism != sarama.SASLTypeOAuth {
		return nil, loop.ErrUnsupported // sarama cannot change the password of a client
	}
	*c.login = *asked.Login
	return nil, nil
}

// Close closes all clients that were created.
func (c *client) Close() {
	if c.group != nil {
		c.stop()
		c.group.Close()
	}
	if c.consumer != nil {
		c.consumer.Close()
	}
	if c.producer != nil {
		c.producer.Close()
	}
	if c.admin != nil {
		c.admin.Close()
	}
}
