// Package loop is what the drivers in Go share: one command a line in, one answer a line out.
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

// Deadline is how long a command may take that has no time of its own.
const Deadline = 8 * time.Second

// ErrUnsupported is for what the client cannot do.
var ErrUnsupported = errors.New("unsupported")

// Acl is an ACL, or, with null and ANY, a filter.
type Acl struct {
	ResourceType string  `json:"resource_type"`
	Name         *string `json:"name"`
	PatternType  string  `json:"pattern_type"`
	Principal    *string `json:"principal"`
	Host         *string `json:"host"`
	Operation    string  `json:"operation"`
	Permission   string  `json:"permission"`
}

// Login is how a client says who it is.
type Login struct {
	Mechanism         string `json:"mechanism"`
	User              string `json:"user"`
	Password          string `json:"password"`
	Token             string `json:"token"`
	IsDelegationToken bool   `json:"is_delegation_token"`
}

// Fields are those of all commands; a command reads its own.
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

// TopicNames are the topics of a consumer.
func (f Fields) TopicNames() (names []string) {
	json.Unmarshal(f.Topics, &names)
	return names
}

// TopicCounts are numbers of partitions by topic.
func (f Fields) TopicCounts() (counts map[string]int32) {
	json.Unmarshal(f.Topics, &counts)
	return counts
}

// Duration is how long a command is to run.
func (f Fields) Duration() time.Duration { return time.Duration(f.Seconds * float64(time.Second)) }

// Settings have Kafka's names.
type Settings map[string]string

// Millis tells a setting that is a time.
func (s Settings) Millis(name string, otherwise time.Duration) time.Duration {
	if number, err := strconv.Atoi(s[name]); err == nil {
		return time.Duration(number) * time.Millisecond
	}
	return otherwise
}

// Number reads a setting that is a number.
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

// Partition reads `topic-partition`.
func Partition(text string) Place {
	at := strings.LastIndex(text, "-")
	number, _ := strconv.Atoi(text[at+1:])
	return Place{text[:at], int32(number)}
}

// Failure is an error as the client tells it.
type Failure struct {
	Class     string `json:"class"`
	Code      *int16 `json:"code"`
	Text      string `json:"text"`
	Retriable *bool  `json:"retriable,omitempty"`
}

// Ok is the object of an answer.
type Ok map[string]any

// Driver is a client's name, and what it can do.
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

// ItemsAfter tells the error of a call, or else what came of each of the things that it was about.
func (d *Driver[C]) ItemsAfter(err error, names []string, outcome func(string) (Ok, error)) (Ok, error) {
	if err != nil {
		return nil, err
	}
	return d.Items(names, outcome)
}

// Items tells what came of each of several things: an object, or an error.
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
