package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// login is a client's log-in; fields that its mechanism does not need are empty.
type login struct {
	Protocol  string `json:"protocol"`
	Mechanism string `json:"mechanism"`
	Username  string `json:"username"`
	Password  string `json:"password"`
	IsToken   bool   `json:"is_token"`
	Token     string `json:"token"`
	Authority string `json:"authority"`
	Identity  string `json:"identity"`
}

func (who login) options() ([]kgo.Opt, error) {
	switch who.Protocol {
	case "":
		return nil, nil
	case "SSL":
		config, err := who.tls()
		return []kgo.Opt{kgo.DialTLSConfig(config)}, err
	}
	mechanism, err := who.mechanism()
	return []kgo.Opt{kgo.SASL(mechanism)}, err
}

func (who login) mechanism() (sasl.Mechanism, error) {
	scrammed := scram.Auth{User: who.Username, Pass: who.Password, IsToken: who.IsToken}
	switch who.Mechanism {
	case "PLAIN":
		return plain.Auth{User: who.Username, Pass: who.Password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scrammed.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return scrammed.AsSha512Mechanism(), nil
	case "OAUTHBEARER":
		return oauth.Auth{Token: who.Token}.AsMechanism(), nil
	}
	return nil, fmt.Errorf("no mechanism is named %s", who.Mechanism)
}

func (who login) tls() (*tls.Config, error) {
	authority, err := os.ReadFile(who.Authority)
	if err != nil {
		return nil, err
	}
	identity, err := tls.LoadX509KeyPair(who.Identity, who.Identity)
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	return &tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{identity}}, nil
}
