// The driver of franz-go: reads calls and writes answers, one line of JSON each, as driver.py of the
// tests describes.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const deadline = 20 * time.Second

type request struct {
	Call      string          `json:"call"`
	Servers   string          `json:"servers"`
	Login     *login          `json:"login"`
	Arguments json.RawMessage `json:"arguments"`
}

// arguments has the arguments of all calls; each call reads its own.
type arguments struct {
	Topic           *string  `json:"topic"`
	TransactionalID string   `json:"transactional_id"`
	Group           string   `json:"group"`
	Values          []string `json:"values"`
	Idempotent      *bool    `json:"idempotent"`
	Count           int      `json:"count"`
	Seconds         float64  `json:"seconds"`
	Offset          int64    `json:"offset"`
	Acls            []acl    `json:"acls"`
	Filter          acl      `json:"filter"`
	Filters         []acl    `json:"filters"`
}

type failure struct {
	Code *int16 `json:"code"`
	Name string `json:"name"`
	Text string `json:"text"`
}

// connection is the address and the log-in of a call; without a log-in the client is anonymous.
type connection struct {
	servers string
	login   login
}

type call func(context.Context, connection, arguments) (any, error)

var calls = map[string]call{
	"create_topic":        createTopic,
	"delete_topic":        deleteTopic,
	"list_topics":         listTopics,
	"create_acls":         createAcls,
	"list_acls":           listAcls,
	"delete_acls":         deleteAcls,
	"cluster_operations":  clusterOperations,
	"topic_operations":    topicOperations,
	"group_operations":    groupOperations,
	"produce":             produce,
	"produce_transaction": produceTransaction,
	"consume":             consume,
	"commit_offset":       commitOffset,
	"offset_fetch":        offsetFetch,
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		result, err := answer(lines.Bytes())
		if err != nil {
			answers.Encode(map[string]any{"error": failureOf(err)})
		} else {
			answers.Encode(map[string]any{"result": result})
		}
	}
}

func answer(line []byte) (any, error) {
	var asked request
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	var args arguments
	if err := json.Unmarshal(asked.Arguments, &args); err != nil {
		return nil, err
	}
	do, known := calls[asked.Call]
	if !known {
		return nil, fmt.Errorf("no call is named %s", asked.Call)
	}
	where := connection{servers: asked.Servers}
	if asked.Login != nil {
		where.login = *asked.Login
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	return do(ctx, where, args)
}

// failureOf returns the Kafka error code that an error of the client wraps, at any depth.
func failureOf(err error) failure {
	var known *kerr.Error
	if errors.As(err, &known) {
		return failure{&known.Code, known.Message, err.Error()}
	}
	return failure{nil, fmt.Sprintf("%T", err), err.Error()}
}

func (where connection) client(more ...kgo.Opt) (*kgo.Client, error) {
	options, err := where.login.options()
	if err != nil {
		return nil, err
	}
	options = append(options, kgo.SeedBrokers(strings.Split(where.servers, ",")...))
	return kgo.NewClient(append(options, more...)...)
}

var admins = map[connection]*kadm.Client{}

func (where connection) admin() (*kadm.Client, error) {
	if found, ok := admins[where]; ok {
		return found, nil
	}
	client, err := where.client()
	if err != nil {
		return nil, err
	}
	admins[where] = kadm.NewClient(client)
	return admins[where], nil
}
