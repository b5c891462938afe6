// Package testcontainers starts kafka-shim's image in a container.
package testcontainers

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/kafka-shim/kafka-shim/packages/go/kafkashim"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Image is the image of this version.
const Image = "ghcr.io/kafka-shim/kafka-shim:0.1.0"

const controlPort = "8082"

var listeners = map[string]string{"PLAINTEXT": "9092", "SASL_PLAINTEXT": "9093"}

// Start starts a container with a broker; both are stopped when the test ends. The broker is created when
// the container runs, over the control API: only then are the mapped ports known, which it advertises.
func Start(ctx context.Context, t testing.TB, image string, options ...kafkashim.Option) *kafkashim.Broker {
	t.Helper()
	token := rand.Text()
	container, err := testcontainers.Run(ctx, image,
		testcontainers.WithExposedPorts(controlPort, listeners["PLAINTEXT"], listeners["SASL_PLAINTEXT"]),
		testcontainers.WithCmd("serve", "--listener", "PLAINTEXT://127.0.0.1:0",
			"--control", "0.0.0.0:"+controlPort, "--control-token", token),
		testcontainers.WithWaitStrategy(wait.ForHTTP("/health").WithPort(controlPort+"/tcp")),
	)
	testcontainers.CleanupContainer(t, container)
	if err != nil {
		t.Fatal(err)
	}
	bound, advertised := []string{}, []string{}
	for name, port := range listeners {
		bound = append(bound, name+"://0.0.0.0:"+port)
		advertised = append(advertised, name+"://"+address(ctx, t, container, port))
	}
	options = append(options, kafkashim.Setting("listeners", bound),
		kafkashim.Property("advertised.listeners", strings.Join(advertised, ",")))
	url := "http://" + address(ctx, t, container, controlPort)
	return kafkashim.StartAt(t, kafkashim.ControlAPI{URL: url, Token: token}, options...)
}

// address returns where a port of the container is reached.
func address(ctx context.Context, t testing.TB, container testcontainers.Container, port string) string {
	t.Helper()
	host, err := container.Host(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := container.MappedPort(ctx, port+"/tcp")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s:%s", host, mapped.Port())
}
