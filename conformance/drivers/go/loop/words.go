package loop

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var words = map[string]string{
	"TRANSACTIONALID": "TRANSACTIONAL_ID", "DELEGATIONTOKEN": "DELEGATION_TOKEN",
	"CLUSTERACTION": "CLUSTER_ACTION", "DESCRIBECONFIGS": "DESCRIBE_CONFIGS",
	"ALTERCONFIGS": "ALTER_CONFIGS", "IDEMPOTENTWRITE": "IDEMPOTENT_WRITE",
}

// Word returns the contract's name of a type for which a client has a name without underscores.
func Word(name fmt.Stringer) string {
	upper := strings.ToUpper(name.String())
	return cmp.Or(words[upper], upper)
}

// ParseWords sets the types of an ACL or filter from the contract's names: resource type, pattern
// type, operation and permission of a client that has names without underscores.
func (a Acl) ParseWords(resource, pattern, operation, permission encoding.TextUnmarshaler) error {
	err := errors.Join(
		resource.UnmarshalText(plain(a.ResourceType)),
		pattern.UnmarshalText(plain(a.PatternType)),
		operation.UnmarshalText(plain(a.Operation)),
		permission.UnmarshalText(plain(a.Permission)),
	)
	if err != nil {
		return ErrUnsupported
	}
	return nil
}

func plain(word string) []byte { return []byte(strings.ToLower(strings.ReplaceAll(word, "_", ""))) }

// Numbers returns the names of numbered items: 0, 1 and so on.
func Numbers(count int) (names []string) {
	for number := range count {
		names = append(names, strconv.Itoa(number))
	}
	return names
}

// Numbered returns the row of a numbered item.
func Numbered[T any](rows []T, name string) T {
	number, _ := strconv.Atoi(name)
	return rows[number]
}

// Missing is the error for a name that a response does not contain.
func Missing(name string) error { return fmt.Errorf("the answer does not contain %s", name) }
