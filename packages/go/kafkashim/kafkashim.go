// Package kafkashim starts Kafka brokers for tests, which decide permissions exactly as Apache Kafka does.
package kafkashim

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// Broker is a broker of a test's own. Its methods fail the test if a call fails, so call them in the goroutine of the
// test; TryCall is for all goroutines.
type Broker struct {
	ID   string `json:"id"`
	Path string `json:"path"` // base path of its control API
	// Listeners has "host:port,..." by name: PLAINTEXT, SASL_PLAINTEXT.
	Listeners map[string]string `json:"bootstrap_servers"`

	t         testing.TB
	control   ControlAPI
	passwords map[string]string
}

// Denial is a denial that Kafka's audit log has; Count is how often it was repeated.
type Denial struct {
	API, Principal, Operation, Because string

	Count int

	ResourceType string `json:"resource_type"`
	ResourceName string `json:"resource_name"`
}

// TopicState is a topic; the lists have an entry for each partition.
type TopicState struct {
	Name         string
	Leaders      []int
	StartOffsets []int64 `json:"start_offsets"`
	EndOffsets   []int64 `json:"end_offsets"`
}

// Record is a stored record.
type Record struct {
	Offset     int64
	Key, Value string
}

// Start starts a broker, which is stopped when the test ends. It takes milliseconds: all brokers of a
// test binary share one kafka-shim process.
func Start(t testing.TB, options ...Option) *Broker {
	t.Helper()
	control, err := sharedProcess()
	if err != nil {
		t.Fatal(err)
	}
	return StartAt(t, control, options...)
}

// StartAt starts a broker in another kafka-shim process, such as in a container.
func StartAt(t testing.TB, control ControlAPI, options ...Option) *Broker {
	t.Helper()
	settings := newSettings(options)
	broker := &Broker{t: t, control: control, passwords: settings["users"].(map[string]string)}
	if err := control.call("POST", "/brokers", settings, broker); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(broker.report())
		}
		broker.Call("DELETE", "", nil, nil)
	})
	return broker
}

// BootstrapServers returns the addresses of the listener PLAINTEXT.
func (b *Broker) BootstrapServers() []string { return b.Servers("PLAINTEXT") }

// Servers returns the addresses of a listener.
func (b *Broker) Servers(listener string) []string {
	b.t.Helper()
	servers, ok := b.Listeners[listener]
	if !ok {
		b.t.Fatalf("the broker has no listener %s, only %v", listener, b.Listeners)
	}
	return strings.Split(servers, ",")
}

// Config returns settings of librdkafka for a user; for the user "" those of BootstrapServers.
func (b *Broker) Config(user string) map[string]string {
	b.t.Helper()
	if user == "" {
		return map[string]string{"bootstrap.servers": strings.Join(b.BootstrapServers(), ",")}
	}
	password, ok := b.passwords[user]
	if !ok {
		b.t.Fatalf("unknown user %s: start the broker with kafkashim.User, or call AddUser", user)
	}
	return map[string]string{
		"bootstrap.servers": strings.Join(b.Servers("SASL_PLAINTEXT"), ","),
		"security.protocol": "SASL_PLAINTEXT",
		"sasl.mechanism":    "PLAIN",
		"sasl.username":     user,
		"sasl.password":     password,
	}
}

// AddUser adds a user, or changes the password.
func (b *Broker) AddUser(name, password string) {
	b.t.Helper()
	b.Call("POST", "/users", map[string]string{"name": name, "password": password}, nil)
	b.passwords[name] = password
}

// AddACLs adds ACLs.
func (b *Broker) AddACLs(acls ...ACL) {
	b.t.Helper()
	b.Call("POST", "/acls", map[string]any{"acls": acls}, nil)
}

// RemoveACLs removes exactly these ACLs.
func (b *Broker) RemoveACLs(acls ...ACL) {
	b.t.Helper()
	b.Call("POST", "/acls/remove", map[string]any{"acls": acls}, nil)
}

// AddFault adds a fault and returns its id.
func (b *Broker) AddFault(fault Fault) int {
	b.t.Helper()
	var added struct{ ID int }
	b.Call("POST", "/faults", fault, &added)
	return added.ID
}

// FaultsFired returns how often a fault was applied.
func (b *Broker) FaultsFired(id int) int {
	b.t.Helper()
	var fault struct{ Fired int }
	b.Call("GET", fmt.Sprintf("/faults/%d", id), nil, &fault)
	return fault.Fired
}

// CreateTopic creates a topic.
func (b *Broker) CreateTopic(name string, partitions int) {
	b.t.Helper()
	b.Call("POST", "/topics", map[string]any{"name": name, "partitions": partitions}, nil)
}

// Topics returns all topics.
func (b *Broker) Topics() []TopicState {
	b.t.Helper()
	var found struct{ Topics []TopicState }
	b.Call("GET", "/topics", nil, &found)
	return found.Topics
}

// Records returns the newest records of a partition, oldest first.
func (b *Broker) Records(topic string, partition int) []Record {
	b.t.Helper()
	var found struct{ Records []Record }
	b.Call("GET", fmt.Sprintf("/topics/%s/records?partition=%d", url.PathEscape(topic), partition), nil, &found)
	return found.Records
}

// Denials returns the denials so far, oldest first. Clients repeat denied requests: equal denials are one.
func (b *Broker) Denials() []Denial {
	b.t.Helper()
	var found struct{ Denials []Denial }
	b.Call("GET", "/denials", nil, &found)
	return found.Denials
}

// AssertDenied fails the test unless the principal was denied this: AssertDenied("alice", "Write", "topic:orders").
// Denials that Kafka does not log count, too. The resource of the cluster is "cluster".
func (b *Broker) AssertDenied(principal, operation, resource string) {
	b.t.Helper()
	query := url.Values{"principal": {principal}, "operation": {operation}, "resource": {resource}}
	var check struct {
		Denied bool
		Text   string
	}
	if b.Call("GET", "/denials/check?"+query.Encode(), nil, &check); !check.Denied {
		b.t.Fatal(check.Text)
	}
}

// report returns the denials and the refused authentications, and what would allow each.
func (b *Broker) report() string {
	var found struct {
		Report []struct{ Title, Text string }
	}
	if err := b.TryCall("GET", "/denials", nil, &found); err != nil {
		return fmt.Sprintf("the denials are unknown: %v", err)
	}
	if len(found.Report) == 0 {
		return "the Kafka broker denied nothing"
	}
	sections := []string{}
	for _, section := range found.Report {
		sections = append(sections, section.Title+":\n"+section.Text)
	}
	return strings.Join(sections, "\n")
}

// Reset returns the broker to the state in which it was started.
func (b *Broker) Reset() {
	b.t.Helper()
	b.Call("POST", "/reset", nil, nil)
}

// Call calls the control API of this broker and decodes the response into result, unless that is nil:
// Call("POST", "/nodes/1/stop", nil, nil).
func (b *Broker) Call(method, path string, body, result any) {
	b.t.Helper()
	if err := b.TryCall(method, path, body, result); err != nil {
		b.t.Fatal(err)
	}
}

// TryCall is Call, but returns the error. It can be used in any goroutine.
func (b *Broker) TryCall(method, path string, body, result any) error {
	return b.control.call(method, b.Path+path, body, result)
}
