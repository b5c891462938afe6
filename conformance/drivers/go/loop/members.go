package loop

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"slices"
	"sync"
	"time"
)

// TLS has the paths of PEM files.
type TLS struct {
	CA          string `json:"ca"`
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// Config returns the TLS configuration of a client.
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

// Events are the events of a group member that no `wait` command has taken yet.
type Events struct {
	mutex sync.Mutex
	names []string
}

// Add adds an event.
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

// Wait lets the client run until one of the wanted events has happened or the time is up.
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

// Recovery is the time in which a consumer can recover after it has reported an error.
const Recovery = 2500 * time.Millisecond

// Inbox has the values that a consumer in the background has read, its events and its last error.
type Inbox struct {
	mutex  sync.Mutex
	values []string
	err    error
	Events Events
}

// Read keeps a value for the next Take.
func (i *Inbox) Read(value []byte) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.values = append(i.values, string(value))
}

// Failed keeps an error for the next Take or Wait.
func (i *Inbox) Failed(err error) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.err = err
}

func (i *Inbox) take(count int) ([]string, bool) {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if len(i.values) < count {
		return nil, i.err != nil && len(i.values) == 0
	}
	values := i.values[:count]
	i.values = i.values[count:]
	return values, false
}

// Take waits for values; it returns an error only without values, since a consumer may recover.
func (i *Inbox) Take(asked Fields) (Ok, error) {
	ends := time.Now().Add(asked.Duration())
	for hasFailed := false; time.Now().Before(ends); time.Sleep(10 * time.Millisecond) {
		values, fails := i.take(asked.Count)
		if values != nil {
			return Ok{"values": values}, nil
		}
		if fails && !hasFailed {
			hasFailed, ends = true, soonest(ends, time.Now().Add(Recovery))
		}
	}
	i.mutex.Lock()
	values := append([]string{}, i.values...)
	i.values = nil
	i.mutex.Unlock()
	if len(values) == 0 {
		if err := i.TakeError(); err != nil {
			return nil, err
		}
	}
	return Ok{"values": values}, nil
}

func soonest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Wait waits for an event; an error of the consumer is the event `error`.
func (i *Inbox) Wait(asked Fields, failure func(error) Failure) (Ok, error) {
	return i.Events.Wait(asked, func(moment time.Duration) error {
		time.Sleep(moment)
		if !slices.Contains(asked.Events, "error") {
			return nil
		}
		return i.TakeError()
	}, failure)
}

// TakeError returns the last error, and forgets it.
func (i *Inbox) TakeError() error {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	err := i.err
	i.err = nil
	return err
}
