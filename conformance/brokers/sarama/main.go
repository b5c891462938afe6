// Sarama's mock broker for `kafka-shim vectors run`, with the versions that it lists by default.
package main

import (
	"log"
	"os"
	"os/signal"

	"github.com/IBM/sarama"
)

type reporter struct{ *log.Logger }

func (r reporter) Error(values ...any)                 { r.Println(values...) }
func (r reporter) Errorf(format string, values ...any) { r.Printf(format, values...) }
func (reporter) Helper()                               {}

func main() {
	test := reporter{log.Default()}
	broker := sarama.NewMockBrokerAddr(test, 1, "127.0.0.1:"+os.Args[1])
	defer broker.Close()
	broker.SetHandlerByMap(map[string]sarama.MockResponse{
		"ApiVersionsRequest":      sarama.NewMockApiVersionsResponse(test),
		"MetadataRequest":         sarama.NewMockMetadataResponse(test).SetBroker(broker.Addr(), 1),
		"SaslHandshakeRequest":    sarama.NewMockSaslHandshakeResponse(test).SetEnabledMechanisms([]string{"PLAIN"}),
		"SaslAuthenticateRequest": sarama.NewMockSaslAuthenticateResponse(test),
	})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	<-stop
}
