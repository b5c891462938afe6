package kafkashim

import (
	"fmt"
	"io"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestOptionsAreTheStateOfTheBroker(t *testing.T) {
	t.Parallel()
	broker := Start(t,
		KafkaVersion("3.9"),
		Brokers(2),
		User("alice", "alice-secret"),
		Topic("orders", 3),
		ACL{Principal: "User:alice", Allow: []string{"Write"}, Topic: "orders"},
		Property("num.partitions", "7"),
		Fault{Action: Action{DelayMs: 1}, Match: Match{API: "Produce"}, Trigger: Trigger{OnCall: 3}},
	)
	var state struct {
		Release string
		Supers  []string `json:"super_users"`
		Users   []string
		ACLs    []struct{ Operation string }
	}
	broker.Call("GET", "/state", nil, &state)
	if state.Release != "3.9" || !reflect.DeepEqual(state.Users, []string{"alice"}) {
		t.Errorf("the state is %+v", state)
	}
	if !reflect.DeepEqual(state.Supers, []string{"User:ANONYMOUS"}) {
		t.Errorf("super users are %v", state.Supers)
	}
	if len(state.ACLs) != 1 || state.ACLs[0].Operation != "WRITE" {
		t.Errorf("ACLs are %+v", state.ACLs)
	}
	if servers := broker.BootstrapServers(); len(servers) != 2 {
		t.Errorf("servers are %v", servers)
	}
	topics := broker.Topics()
	if len(topics) != 1 || len(topics[0].EndOffsets) != 3 {
		t.Errorf("topics are %+v", topics)
	}
	var faults struct{ Faults []Fault }
	broker.Call("GET", "/faults", nil, &faults)
	if faults.Faults[0].Trigger.OnCall != 3 {
		t.Errorf("faults are %+v", faults)
	}
}

func TestEveryOptionOfTheAPICanBeSet(t *testing.T) {
	t.Parallel()
	broker := Start(t, Setting("first_broker_id", 7), Setting("racks", []string{"east"}))
	var rows struct {
		Nodes []struct {
			NodeID int `json:"node_id"`
		}
	}
	broker.Call("GET", "/nodes", nil, &rows)
	if len(rows.Nodes) != 1 || rows.Nodes[0].NodeID != 7 {
		t.Errorf("nodes are %+v", rows)
	}
}

func TestAResetReturnsToTheStateAtTheStart(t *testing.T) {
	t.Parallel()
	broker := Start(t, Topic("orders", 1))
	broker.CreateTopic("payments", 2)
	if count := len(broker.Topics()); count != 2 {
		t.Errorf("%d topics", count)
	}
	broker.Reset()
	if count := len(broker.Topics()); count != 1 {
		t.Errorf("%d topics after the reset", count)
	}
}

func TestClientSettingsHaveTheUsersPassword(t *testing.T) {
	t.Parallel()
	broker := Start(t, User("alice", "alice-secret"))
	broker.AddUser("bob", "bob-secret")
	config := broker.Config("bob")
	if config["sasl.password"] != "bob-secret" || config["bootstrap.servers"] != broker.Listeners["SASL_PLAINTEXT"] {
		t.Errorf("settings are %v", config)
	}
}

func TestABrokerIsStoppedAfterItsTest(t *testing.T) {
	var stopped *Broker
	t.Run("test", func(t *testing.T) { stopped = Start(t) })
	err := stopped.control.call("GET", stopped.Path+"/topics", nil, nil)
	if err == nil || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("the error is %v", err)
	}
}

// output returns what a function prints on standard error, and the error of its last call.
func output(t *testing.T, run func(broker *Broker) error, options ...Option) (string, error) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = writer
	var last error
	t.Run("test", func(t *testing.T) { last = run(Start(t, options...)) })
	os.Stderr = stderr
	writer.Close()
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), last
}

func TestWhatHasNoEffectIsPrinted(t *testing.T) {
	acl := ACL{Principal: "User:alice", Allow: []string{"Write"}, Topic: "orders"}
	unknown := ACL{Principal: "User:dora", Allow: []string{"Write"}, Topic: "orders"}
	denied := ACL{Principal: "User:ANONYMOUS", Deny: []string{"Write"}, Topic: "orders"}
	printed, _ := output(t, func(broker *Broker) error {
		broker.RemoveACLs(acl)
		broker.AddACLs(denied)
		return nil
	}, unknown, Fault{Action: Action{DelayMs: 1}, Match: Match{API: "Produce"}})
	for _, expected := range []string{
		"was not removed", "User:ANONYMOUS is a super user", "`User:dora` for Write", "never fired",
	} {
		if !strings.Contains(printed, expected) {
			t.Errorf("%q is not in %s", expected, printed)
		}
	}
}

func TestAFaultThatMustFireIsAnError(t *testing.T) {
	_, err := output(t, func(broker *Broker) error {
		broker.AddFault(Fault{Action: Action{DelayMs: 1}, Match: Match{API: "Produce"}, MustFire: true})
		return broker.control.call("DELETE", broker.Path+"/faults", nil, nil)
	})
	if err == nil || !strings.Contains(err.Error(), "never fired") {
		t.Errorf("the error is %v", err)
	}
}

// recorder is a test whose failures are recorded instead.
type recorder struct {
	testing.TB
	failed  bool
	log     []string
	cleanup []func()
}

func (r *recorder) Helper()           {}
func (r *recorder) Failed() bool      { return r.failed }
func (r *recorder) Cleanup(f func())  { r.cleanup = append(r.cleanup, f) }
func (r *recorder) Log(args ...any)   { r.log = append(r.log, fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.failed = true; r.Log(args...) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.failed = true
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

// ended returns what a test has logged when it has ended.
func (r *recorder) ended() string {
	for _, f := range r.cleanup {
		f()
	}
	return strings.Join(r.log, "\n")
}

// deny lets the broker deny DescribeAcls, by an old client without authentication.
func deny(t *testing.T, broker *Broker) {
	t.Helper()
	connection, err := net.Dial("tcp", broker.BootstrapServers()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	// length, DescribeAcls v0, correlation id 1, no client id; any resource, principal, host, operation, permission
	request := []byte{0, 0, 0, 19, 0, 29, 0, 0, 0, 0, 0, 1, 255, 255, 1, 255, 255, 255, 255, 255, 255, 1, 1}
	if _, err := connection.Write(request); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
}

const denied = "User:ANONYMOUS was denied DESCRIBE on CLUSTER kafka-cluster (DescribeAcls v0, 2 times)"

func TestAFailedTestReportsDenials(t *testing.T) {
	t.Parallel()
	for _, failed := range []bool{false, true} {
		test := &recorder{TB: t, failed: failed}
		broker := Start(test, Setting("super_users", []string{}), KafkaVersion("3.9"))
		deny(t, broker)
		deny(t, broker)
		if denials := broker.Denials(); len(denials) != 1 || denials[0].Count != 2 {
			t.Errorf("the denials are %+v", denials)
		}
		if printed := test.ended(); strings.Contains(printed, denied) != failed {
			t.Errorf("the log of a test that failed (%v) is %q", failed, printed)
		}
	}
}

func TestDenialsAreAsserted(t *testing.T) {
	t.Parallel()
	test := &recorder{TB: t}
	broker := Start(test, Setting("super_users", []string{}), KafkaVersion("3.9"))
	deny(t, broker)
	deny(t, broker)
	broker.AssertDenied("ANONYMOUS", "Describe", "cluster")
	broker.AssertDenied("User:ANONYMOUS", "Describe", "cluster")
	if test.failed {
		t.Error(test.ended())
	}
	broker.AssertDenied("ANONYMOUS", "Describe", "topic:orders")
	if printed := test.ended(); !strings.Contains(printed, "not denied DESCRIBE on TOPIC orders") ||
		!strings.Contains(printed, denied) {
		t.Errorf("the failure is %q", printed)
	}
}

func TestErrorsOfOtherGoroutinesAreReturned(t *testing.T) {
	t.Parallel()
	broker := Start(t)
	result := make(chan error)
	go func() { result <- broker.TryCall("DELETE", "/topics/ordres", nil, nil) }()
	if err := <-result; err == nil || !strings.Contains(err.Error(), "ordres") {
		t.Errorf("the error is %v", err)
	}
}

func TestAMissingBinaryIsAnErrorThatSaysWhatToDo(t *testing.T) {
	_, _, err := startProcess("/missing/kafka-shim")
	if err == nil || !strings.Contains(err.Error(), "set KAFKA_SHIM_BINARY to its path") {
		t.Errorf("the error is %v", err)
	}
}
