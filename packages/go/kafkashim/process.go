package kafkashim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// ControlAPI is the HTTP API of a kafka-shim process; the token can be empty.
type ControlAPI struct{ URL, Token string }

// sharedProcess is the process of `kafka-shim run`, if there is one, or else one that ends with this process.
var sharedProcess = sync.OnceValues(func() (ControlAPI, error) {
	if url := os.Getenv("KAFKA_SHIM_CONTROL_URL"); url != "" {
		return ControlAPI{url, os.Getenv("KAFKA_SHIM_CONTROL_TOKEN")}, nil
	}
	url, running, err := startProcess(command())
	process = running
	return ControlAPI{URL: url}, err
})

// process is referenced so that its standard input stays open: when that is closed, it stops.
var process *exec.Cmd

// command returns the binary in KAFKA_SHIM_BINARY, else `kafka-shim` on the PATH.
func command() string {
	if path := os.Getenv("KAFKA_SHIM_BINARY"); path != "" {
		return path
	}
	return "kafka-shim"
}

// startProcess starts a process, waits until it is ready, and returns the URL of its control API.
func startProcess(command string) (string, *exec.Cmd, error) {
	process := exec.Command(command, "serve", "--listener", "PLAINTEXT://127.0.0.1:0",
		"--control", "127.0.0.1:0", "--log-level", "warn", "--stop-with-stdin")
	process.Stderr = os.Stderr
	process.Env = environmentWithoutSettings()
	if _, err := process.StdinPipe(); err != nil {
		return "", nil, err
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := process.Start(); err != nil {
		return "", nil, fmt.Errorf("cannot start %s: %w; install kafka-shim, or set KAFKA_SHIM_BINARY to its path",
			command, err)
	}
	url := ""
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if found, ok := strings.CutPrefix(lines.Text(), "control on "); ok {
			url = found
		}
		if strings.HasPrefix(lines.Text(), "[KafkaServer") {
			return url, process, nil
		}
	}
	return "", nil, fmt.Errorf("%s ended before it was ready: %v", command, process.Wait())
}

// environmentWithoutSettings leaves out settings of other brokers, such as KAFKA_NUM_PARTITIONS.
func environmentWithoutSettings() []string {
	kept := []string{} // not nil, which would mean the whole environment
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "KAFKA_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// call sends a request and decodes the response into result, unless that is nil.
func (c ControlAPI) call(method, path string, body, result any) error {
	payload, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, c.URL+path, bytes.NewReader(payload))
	if err != nil {
		return err
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s (status %d)", method, path, text, response.StatusCode)
	}
	if err := reportSetup(text); err != nil || result == nil {
		return err
	}
	return json.Unmarshal(text, result)
}

// reportSetup prints what a test has set up without effect; faults that had to fire, and did not, are an error.
func reportSetup(response []byte) error {
	var report struct{ Warnings, Failures []string }
	if json.Unmarshal(response, &report) != nil {
		return nil // not an object, such as metrics
	}
	for _, warning := range report.Warnings {
		fmt.Fprintln(os.Stderr, "kafka-shim: warning:", warning)
	}
	if len(report.Failures) > 0 {
		return errors.New(strings.Join(report.Failures, "\n"))
	}
	return nil
}
