package kafkashim

// Option is a part of the state or the settings of a broker: User, Topic, an ACL, a Fault and so on.
type Option interface{ apply(s settings) }

// settings are the body of POST /brokers.
type settings map[string]any

func newSettings(options []Option) settings {
	s := settings{
		"users": map[string]string{}, "topics": map[string]int{}, "properties": map[string]string{},
		"acls": []ACL{}, "faults": []Fault{},
		"super_users": []string{"User:ANONYMOUS"}, // who connects to PLAINTEXT, also if there are ACLs
	}
	for _, option := range options {
		option.apply(s)
	}
	return s
}

type optionFunc func(s settings)

func (f optionFunc) apply(s settings) { f(s) }

// Setting is any key of the body of POST /brokers, such as "listeners" or "super_users".
func Setting(key string, value any) Option { return optionFunc(func(s settings) { s[key] = value }) }

// KafkaVersion is the Kafka release that the broker behaves as, such as "3.9"; by default the newest.
func KafkaVersion(release string) Option { return Setting("kafka_version", release) }

// Brokers is the number of brokers in the cluster; by default 1.
func Brokers(count int) Option { return Setting("brokers", count) }

// User can log in at the listener SASL_PLAINTEXT.
func User(name, password string) Option {
	return optionFunc(func(s settings) { s["users"].(map[string]string)[name] = password })
}

// Topic exists from the start.
func Topic(name string, partitions int) Option {
	return optionFunc(func(s settings) { s["topics"].(map[string]int)[name] = partitions })
}

// Property is a setting of the broker with Kafka's name.
func Property(name, value string) Option {
	return optionFunc(func(s settings) { s["properties"].(map[string]string)[name] = value })
}

// ACL is a rule: it allows or denies operations on one resource. It is an Option, too.
type ACL struct {
	Principal       string   `json:"principal"` // such as "User:alice"
	Allow           []string `json:"allow,omitempty"`
	Deny            []string `json:"deny,omitempty"`
	Host            string   `json:"host,omitempty"`
	Topic           string   `json:"topic,omitempty"`
	Group           string   `json:"group,omitempty"`
	TransactionalID string   `json:"transactional-id,omitempty"`
	Cluster         string   `json:"cluster,omitempty"` // "kafka-cluster"
	Pattern         string   `json:"pattern,omitempty"` // "literal" or "prefixed"
}

func (a ACL) apply(s settings) { s["acls"] = append(s["acls"].([]ACL), a) }

// Fault is what a test breaks: an effect on the requests that match. It is an Option, too.
type Fault struct {
	Action  Action  `json:"action"`
	Match   Match   `json:"match"`
	Trigger Trigger `json:"trigger"`

	MustFire bool `json:"must_fire,omitempty"` // the test fails if it never fires; otherwise that is a warning
}

func (f Fault) apply(s settings) { s["faults"] = append(s["faults"].([]Fault), f) }

// Action has the effects of a fault, which can be combined; docs/guides/faults.md says what each does.
type Action struct {
	Error          string         `json:"error,omitempty"` // such as "NOT_LEADER_OR_FOLLOWER"
	DelayMs        int            `json:"delay_ms,omitempty"`
	Disconnect     string         `json:"disconnect,omitempty"` // "before" or "after"
	BlackHole      bool           `json:"black_hole,omitempty"`
	Pause          bool           `json:"pause,omitempty"`
	ThrottleTimeMs int            `json:"throttle_time_ms,omitempty"`
	Corrupt        bool           `json:"corrupt,omitempty"`
	Set            map[string]any `json:"set,omitempty"`
	Revoke         []ACL          `json:"revoke,omitempty"`
	Grant          []ACL          `json:"grant,omitempty"`
}

// Match has the conditions of a fault; all that are set must hold.
type Match struct {
	API       string `json:"api,omitempty"` // such as "Produce"
	ClientID  string `json:"client_id,omitempty"`
	Principal string `json:"principal,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Group     string `json:"group,omitempty"`
}

// Trigger says when, among the matching requests; by default at the first one.
type Trigger struct {
	OnCall    int  `json:"on_call,omitempty"`
	Times     int  `json:"times,omitempty"`
	EveryTime bool `json:"every_time,omitempty"`
}
