package main

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"

	"drivers/loop"

	"github.com/segmentio/kafka-go"
)

const iterations = 4096

// entry translates an ACL or filter of the contract; kafka-go has names without underscores, and ""
// in place of null.
func entry(acl loop.Acl) (kafka.ACLEntry, error) {
	found := kafka.ACLEntry{ResourceName: given(acl.Name), Principal: given(acl.Principal), Host: given(acl.Host)}
	return found, acl.ParseWords(
		&found.ResourceType, &found.ResourcePatternType, &found.Operation, &found.PermissionType,
	)
}

func given(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func shown(acl kafka.ACLEntry) loop.Acl {
	return loop.Acl{
		ResourceType: loop.Word(acl.ResourceType), Name: &acl.ResourceName,
		PatternType: loop.Word(acl.ResourcePatternType), Principal: &acl.Principal, Host: &acl.Host,
		Operation: loop.Word(acl.Operation), Permission: loop.Word(acl.PermissionType),
	}
}

func entries(acls []loop.Acl) (found []kafka.ACLEntry, err error) {
	for _, acl := range acls {
		read, err := entry(acl)
		if err != nil {
			return nil, err
		}
		found = append(found, read)
	}
	return found, nil
}

func createAcls(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	wanted, err := entries(asked.Acls)
	if err != nil {
		return nil, err
	}
	done, err := to.CreateACLs(ctx, &kafka.CreateACLsRequest{ACLs: wanted})
	return driver.ItemsAfter(err, loop.Numbers(len(wanted)), func(name string) (loop.Ok, error) {
		return nil, loop.Numbered(done.Errors, name)
	})
}

func describeAcls(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	wanted, err := entry(asked.Filter)
	if err != nil {
		return nil, err
	}
	found, err := to.DescribeACLs(ctx, &kafka.DescribeACLsRequest{Filter: kafka.ACLFilter{
		ResourceTypeFilter: wanted.ResourceType, ResourceNameFilter: wanted.ResourceName,
		ResourcePatternTypeFilter: wanted.ResourcePatternType, PrincipalFilter: wanted.Principal,
		HostFilter: wanted.Host, Operation: wanted.Operation, PermissionType: wanted.PermissionType,
	}})
	if err != nil {
		return nil, err
	}
	acls := []loop.Acl{}
	for _, at := range found.Resources {
		for _, acl := range at.ACLs {
			acls = append(acls, shown(kafka.ACLEntry{
				ResourceType: at.ResourceType, ResourceName: at.ResourceName, ResourcePatternType: at.PatternType,
				Principal: acl.Principal, Host: acl.Host, Operation: acl.Operation, PermissionType: acl.PermissionType,
			}))
		}
	}
	return loop.Ok{"acls": acls}, found.Error
}

func deleteAcls(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	wanted, err := entries(asked.Filters)
	if err != nil {
		return nil, err
	}
	var filters []kafka.DeleteACLsFilter
	for _, filter := range wanted {
		filters = append(filters, kafka.DeleteACLsFilter{
			ResourceTypeFilter: filter.ResourceType, ResourceNameFilter: filter.ResourceName,
			ResourcePatternTypeFilter: filter.ResourcePatternType, PrincipalFilter: filter.Principal,
			HostFilter: filter.Host, Operation: filter.Operation, PermissionType: filter.PermissionType,
		})
	}
	done, err := to.DeleteACLs(ctx, &kafka.DeleteACLsRequest{Filters: filters})
	return driver.ItemsAfter(err, loop.Numbers(len(wanted)), func(name string) (loop.Ok, error) {
		result := loop.Numbered(done.Results, name)
		acls := []loop.Acl{}
		for _, match := range result.MatchingACLs {
			acls = append(acls, shown(kafka.ACLEntry{
				ResourceType: match.ResourceType, ResourceName: match.ResourceName,
				ResourcePatternType: match.ResourcePatternType, Principal: match.Principal, Host: match.Host,
				Operation: match.Operation, PermissionType: match.PermissionType,
			}))
		}
		return loop.Ok{"acls": acls}, result.Error
	})
}

func mechanismOf(name string) kafka.ScramMechanism {
	if name == "SCRAM-SHA-512" {
		return kafka.ScramMechanismSha512
	}
	return kafka.ScramMechanismSha256
}

func describeScramUsers(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	var users []kafka.UserScramCredentialsUser
	for _, name := range asked.Users {
		users = append(users, kafka.UserScramCredentialsUser{Name: name})
	}
	found, err := to.DescribeUserScramCredentials(ctx, &kafka.DescribeUserScramCredentialsRequest{Users: users})
	if err == nil {
		err = found.Error
	}
	return driver.ItemsAfter(err, asked.Users, func(user string) (loop.Ok, error) {
		for _, result := range found.Results {
			if result.User == user {
				mechanisms := []string{}
				for _, info := range result.CredentialInfos {
					name := map[bool]string{true: "SCRAM-SHA-512", false: "SCRAM-SHA-256"}
					mechanisms = append(mechanisms, name[info.Mechanism == kafka.ScramMechanismSha512])
				}
				return loop.Ok{"mechanisms": mechanisms}, result.Error
			}
		}
		return nil, loop.Missing(user)
	})
}

// salted computes the salted password that the broker stores, which kafka-go leaves to its users.
func salted(password string, mechanism kafka.ScramMechanism, salt []byte) ([]byte, error) {
	if mechanism == kafka.ScramMechanismSha512 {
		return pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	}
	return pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
}

func alterScramUsers(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	request := &kafka.AlterUserScramCredentialsRequest{}
	mechanism, salt := mechanismOf(asked.Mechanism), []byte("salt of a test")
	var users []string
	for user, password := range asked.Passwords {
		users = append(users, user)
		if password == nil {
			request.Deletions = append(request.Deletions, kafka.UserScramCredentialsDeletion{Name: user, Mechanism: mechanism})
			continue
		}
		kept, err := salted(*password, mechanism, salt)
		if err != nil {
			return nil, err
		}
		request.Upsertions = append(request.Upsertions, kafka.UserScramCredentialsUpsertion{
			Name: user, Mechanism: mechanism, Iterations: iterations, Salt: salt, SaltedPassword: kept,
		})
	}
	done, err := to.AlterUserScramCredentials(ctx, request)
	if err != nil {
		return nil, err
	}
	errors := map[string]error{}
	for _, result := range done.Results {
		errors[result.User] = result.Error
	}
	return each(users, errors, nil)
}
