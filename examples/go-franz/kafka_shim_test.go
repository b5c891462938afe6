package orders

// Brokers for tests: one kafka-shim process for a run, and a broker of its own for each test. Copy this
// file. It uses the process of `kafka-shim run`, if there is one, or else starts one with the command in
// KAFKA_SHIM (default: kafka-shim on the PATH), which ends with this process.

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// Object is JSON for the control API.
type Object map[string]any

// Broker is a broker of a test's own.
type Broker struct {
	ID      string            `json:"id"`
	Path    string            `json:"path"`
	Servers map[string]string `json:"bootstrap_servers"` // "host:port,..." by listener: PLAINTEXT, SASL_PLAINTEXT
}

// NewBroker creates a broker, which is removed after the test. The settings are the body of POST /brokers:
// users, topics, acls and so on.
func NewBroker(t *testing.T, settings Object) *Broker {
	t.Helper()
	broker := &Broker{}
	ask(t, "POST", "/brokers", settings, broker)
	t.Cleanup(func() { ask(t, "DELETE", broker.Path, nil, nil) })
	return broker
}

// Get calls the control API of this broker: Get(t, "/topics", &topics).
func (b *Broker) Get(t *testing.T, path string, answer any) {
	t.Helper()
	ask(t, "GET", b.Path+path, nil, answer)
}

// Post sends a body: Post(t, "/reset", nil, nil) resets the broker to the state in which it was created.
func (b *Broker) Post(t *testing.T, path string, body, answer any) {
	t.Helper()
	ask(t, "POST", b.Path+path, body, answer)
}

func ask(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	url, err := control()
	check(t, err)
	payload, err := json.Marshal(body)
	check(t, err)
	request, err := http.NewRequest(method, url+path, bytes.NewReader(payload))
	check(t, err)
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s", method, path, text)
	}
	if answer != nil {
		check(t, json.Unmarshal(text, answer))
	}
}

// control returns the URL of the control API.
var control = sync.OnceValues(func() (string, error) {
	if url := os.Getenv("KAFKA_SHIM_CONTROL_URL"); url != "" {
		return url, nil
	}
	return start(cmp.Or(os.Getenv("KAFKA_SHIM"), "kafka-shim"))
})

// process is kept so that its standard input stays open: when that is closed, it stops.
var process *exec.Cmd

// start starts a process and waits until it is ready.
func start(command string) (string, error) {
	process = exec.Command(command, "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
		"--control", "127.0.0.1:0", "--log-level", "warn", "--stop-with-stdin")
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		return "", err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := process.Start(); err != nil {
		return "", fmt.Errorf("cannot start %s: %w", command, err)
	}
	url := ""
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if found, ok := strings.CutPrefix(lines.Text(), "control on "); ok {
			url = found
		}
		if strings.HasPrefix(lines.Text(), "[KafkaServer") {
			return url, nil
		}
	}
	return "", fmt.Errorf("%s ended: %v", command, process.Wait())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
