// Compare a broker with test vectors: go run . FILE PLAINTEXT_ADDRESS SASL_ADDRESS.
//
// This needs franz-go, and compares three APIs whose responses have one error code.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"reflect"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// the API's key, and the first and last version whose responses have one error code
var apis = map[string][3]int16{"FindCoordinator": {10, 1, 3}, "InitProducerId": {22, 0, 5}, "DescribeAcls": {29, 0, 3}}

type group struct {
	Given   struct{ Acls []acl }
	Vectors []struct {
		ID         string
		When, Then struct {
			User, API, Outcome string
			Version            int16
			Body               []byte
			Takes              map[string]string
			ErrorCodes         []int64
		}
	}
}

type acl struct {
	kmsg.CreateACLsRequestCreation
	PatternType kmsg.ACLResourcePatternType
}

func send(user string, request kmsg.Request) kmsg.Response {
	versions, address, options := kversion.Stable(), os.Args[2], []kgo.Opt{}
	versions.SetMaxKeyVersion(request.Key(), request.GetVersion())
	if user != "anonymous" {
		address, options = os.Args[3], []kgo.Opt{kgo.SASL(plain.Auth{User: user, Pass: user + "-secret"}.AsMechanism())}
	}
	client := must(kgo.NewClient(append(options, kgo.SeedBrokers(address), kgo.MaxVersions(versions))...))
	defer client.Close()
	return must(client.SeedBrokers()[0].Request(context.Background(), request))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	var file struct{ Groups []group }
	must(0, json.Unmarshal(must(os.ReadFile(os.Args[1])), &file))
	any, equal, different := kmsg.DeleteACLsRequestFilter{ResourceType: 1, ResourcePatternType: 1, Operation: 1, PermissionType: 1}, 0, 0
	for _, group := range file.Groups {
		create := &kmsg.CreateACLsRequest{Version: 1}
		for _, acl := range group.Given.Acls {
			acl.ResourcePatternType = max(acl.PatternType, kmsg.ACLResourcePatternTypeLiteral)
			create.Creations = append(create.Creations, acl.CreateACLsRequestCreation)
		}
		send("anonymous", &kmsg.DeleteACLsRequest{Version: 1, Filters: []kmsg.DeleteACLsRequestFilter{any}})
		send("anonymous", create)
		for _, vector := range group.Vectors {
			when, then := vector.When, vector.Then
			api := apis[when.API]
			if api[0] == 0 || when.Version < api[1] || when.Version > api[2] || when.Takes != nil || then.Outcome != "" {
				continue
			}
			request := kmsg.RequestForKey(api[0])
			request.SetVersion(when.Version)
			must(0, request.ReadFrom(when.Body))
			code := reflect.ValueOf(send(when.User, request)).Elem().FieldByName("ErrorCode").Int()
			if code == append(then.ErrorCodes, 0)[0] {
				equal++
			} else {
				different++
				fmt.Printf("%s: expected %v, got %d\n", vector.ID, then.ErrorCodes, code)
			}
		}
	}
	fmt.Printf("%d equal, %d different\n", equal, different)
	os.Exit(min(different, 1))
}
