package orders

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// object is JSON for the control API.
type object map[string]any

// as gives what a client needs to log in as a user of broker.yaml.
func as(user string) []kgo.Opt {
	login := plain.Auth{User: user, Pass: user + "-secret"}
	return []kgo.Opt{
		kgo.SeedBrokers(os.Getenv("KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT")),
		kgo.SASL(login.AsMechanism()),
	}
}

// ask calls the control API of the broker that `kafka-shim run` has started.
func ask(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	payload, err := json.Marshal(body)
	check(t, err)
	url := os.Getenv("KAFKA_SHIM_CONTROL_URL") + path
	request, err := http.NewRequest(method, url, bytes.NewReader(payload))
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

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
