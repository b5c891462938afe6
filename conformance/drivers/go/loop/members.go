package loop

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"sync"
	"time"
)

// TLS has paths of PEM files.
type TLS struct {
	CA          string `json:"ca"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// Config is what a client dials with.
func (t TLS) Config() (*tls.Config, error) {
	config := &tls.Config{}
	if t.CA != "" {
		authority, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(authority)
	}
	if t.Certificate != "" {
		identity, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{identity}
	}
	return config, nil
}

// Events are what happened to a group member and was not waited for yet.
type Events struct {
	mutex sync.Mutex
	names []string
}

// Add tells that something happened.
func (e *Events) Add(name string) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.names = append(e.names, name)
}

func (e *Events) take(wanted []string) (string, bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	for at, name := range e.names {
		if slices.Contains(wanted, name) {
			e.names = e.names[at+1:]
			return name, true
		}
	}
	return "", false
}

// Wait lets the client run for moments until one of the wanted events has happened.
func (e *Events) Wait(asked Fields, run func(time.Duration) error, failure func(error) Failure) (Ok, error) {
	ends := time.Now().Add(asked.Duration())
	for {
		if name, found := e.take(asked.Events); found {
			return Ok{"event": name}, nil
		}
		if !time.Now().Before(ends) {
			return Ok{"event": nil}, nil
		}
		if err := run(100 * time.Millisecond); err != nil {
			return Ok{"event": "error", "error": failure(err)}, nil
		}
	}
}
