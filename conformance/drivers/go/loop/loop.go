// Package loop is the loop of the Go drivers: it reads commands and writes answers, one JSON line each.
package loop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime/debug"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Deadline limits the time of commands without a field `seconds`.
const Deadline = 8 * time.Second

// ErrUnsupported is returned by commands that the client does not support.
var ErrUnsupported = errors.New("unsupported")

// Acl is an ACL or, with null and ANY, a filter for ACLs.
type Acl struct {
	ResourceType string  `json:"resource_type"`
	Name         *string `json:"name"`
	PatternType  string  `json:"pattern_type"`
	Principal    *string `json:"principal"`
	Host         *string `json:"host"`
	Operation    string  `json:"operation"`
	Permission   string  `json:"permission"`
}

// Login has the credentials of a client.
type Login struct {
	Mechanism         string `json:"mechanism"`
	User              string `json:"user"`
	Password          string `json:"password"`
	Token             string `json:"token"`
	IsDelegationToken bool   `json:"is_delegation_token"`
}

// Fields has the fields of all commands; each command reads its own.
type Fields struct {
	ID           int64              `json:"id"`
	Command      string             `json:"command"`
	Client       string             `json:"client"`
	Servers      string             `json:"servers"`
	Login        *Login             `json:"login"`
	TLS          *TLS               `json:"tls"`
	Settings     Settings           `json:"settings"`
	Events       []string           `json:"events"`
	Seconds      float64            `json:"seconds"`
	Topics       json.RawMessage    `json:"topics"`
	Configs      map[string]string  `json:"configs"`
	Names        []string           `json:"names"`
	Operations   bool               `json:"operations"`
	Type         string             `json:"type"`
	Setting      string             `json:"setting"`
	Value        string             `json:"value"`
	Partitions   []string           `json:"partitions"`
	Topic        string             `json:"topic"`
	Partition    *int32             `json:"partition"`
	Offset       int64              `json:"offset"`
	Before       int64              `json:"before"`
	Acls         []Acl              `json:"acls"`
	Filter       Acl                `json:"filter"`
	Filters      []Acl              `json:"filters"`
	Renewers     []string           `json:"renewers"`
	Owner        *string            `json:"owner"`
	Hmac         []byte             `json:"hmac"`
	Milliseconds int64              `json:"milliseconds"`
	Users        []string           `json:"users"`
	Passwords    map[string]*string `json:"passwords"`
	Mechanism    string             `json:"mechanism"`
	Group        string             `json:"group"`
	Values       []string           `json:"values"`
	Count        int                `json:"count"`
}

// TopicNames returns the field `topics` as names.
func (f Fields) TopicNames() (names []string) {
	json.Unmarshal(f.Topics, &names)
	return names
}

// TopicCounts returns the field `topics` as numbers of partitions by topic.
func (f Fields) TopicCounts() (counts map[string]int32) {
	json.Unmarshal(f.Topics, &counts)
	return counts
}

// Duration returns the field `seconds`.
func (f Fields) Duration() time.Duration { return time.Duration(f.Seconds * float64(time.Second)) }

// Settings are client settings by Kafka's names.
type Settings map[string]string

// Millis returns a setting in milliseconds, or otherwise if it is not set.
func (s Settings) Millis(name string, otherwise time.Duration) time.Duration {
	if number, err := strconv.Atoi(s[name]); err == nil {
		return time.Duration(number) * time.Millisecond
	}
	return otherwise
}

// Number returns a setting that is a number, or otherwise if it is not set.
func (s Settings) Number(name string, otherwise int) int {
	if number, err := strconv.Atoi(s[name]); err == nil {
		return number
	}
	return otherwise
}

// Place is a partition of a topic.
type Place struct {
	Topic     string
	Partition int32
}

// Partition parses `topic-partition`.
func Partition(text string) Place {
	at := strings.LastIndex(text, "-")
	number, _ := strconv.Atoi(text[at+1:])
	return Place{text[:at], int32(number)}
}

// Failure is the `error` of an answer.
type Failure struct {
	Class     string `json:"class"`
	Code      *int16 `json:"code"`
	Text      string `json:"text"`
	Retriable *bool  `json:"retriable,omitempty"`
}

// Ok is the `ok` of an answer.
type Ok map[string]any

// Driver is the name of a client library, its capabilities and its commands.
type Driver[C interface{ Close() }] struct {
	Name         string
	Module       string
	Capabilities []string
	Open         func(Fields) (C, error)
	Commands     map[string]func(C, context.Context, Fields) (Ok, error)
	Failure      func(error) Failure

	clients map[string]C
}

// Serve answers commands until standard input ends.
func (d *Driver[C]) Serve() {
	d.clients = map[string]C{}
	lines := bufio.NewReader(os.Stdin)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked Fields
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		answer := Ok{"id": asked.ID}
		found, err := d.run(asked)
		switch {
		case errors.Is(err, ErrUnsupported):
			answer["unsupported"] = true
		case err != nil:
			answer["error"] = d.Failure(err)
		case found == nil:
			answer["ok"] = Ok{}
		default:
			answer["ok"] = found
		}
		answers.Encode(answer)
	}
}

func (d *Driver[C]) run(asked Fields) (Ok, error) {
	ctx, cancel := context.WithTimeout(context.Background(), Deadline+asked.Duration())
	defer cancel()
	switch asked.Command {
	case "hello":
		return d.hello(), nil
	case "open":
		client, err := d.Open(asked)
		d.clients[asked.Client] = client
		return nil, err
	case "close":
		d.clients[asked.Client].Close()
		delete(d.clients, asked.Client)
		return nil, nil
	}
	command, known := d.Commands[asked.Command]
	if !known {
		return nil, ErrUnsupported
	}
	return command(d.clients[asked.Client], ctx, asked)
}

func (d *Driver[C]) hello() Ok {
	commands := []string{"open", "close"}
	for name := range d.Commands {
		commands = append(commands, name)
	}
	sort.Strings(commands)
	version := ""
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == d.Module {
			version = strings.TrimPrefix(module.Version, "v")
		}
	}
	return Ok{
		"name": d.Name, "version": version, "commands": commands, "capabilities": d.Capabilities,
	}
}

// ItemsAfter returns the error of a call or, without one, the items of its result.
func (d *Driver[C]) ItemsAfter(err error, names []string, outcome func(string) (Ok, error)) (Ok, error) {
	if err != nil {
		return nil, err
	}
	return d.Items(names, outcome)
}

// Items returns the outcome for each name, an object or an error, as the `items` of an answer.
func (d *Driver[C]) Items(names []string, outcome func(string) (Ok, error)) (Ok, error) {
	found := Ok{}
	for _, name := range names {
		told, err := outcome(name)
		switch {
		case errors.Is(err, ErrUnsupported):
			return nil, err
		case err != nil:
			found[name] = d.Failure(err)
		case told == nil:
			found[name] = Ok{}
		default:
			found[name] = told
		}
	}
	return Ok{"items": found}, nil
}
