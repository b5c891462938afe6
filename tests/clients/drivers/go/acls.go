package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// acl is an ACL or, with null and ANY, a filter for ACLs.
type acl struct {
	ResourceType string  `json:"resource_type"`
	Name         *string `json:"name"`
	PatternType  string  `json:"pattern_type"`
	Principal    *string `json:"principal"`
	Host         *string `json:"host"`
	Operation    string  `json:"operation"`
	Permission   string  `json:"permission"`
}

// builder translates an ACL or a filter for kadm. A filter for both permissions becomes two filters,
// since kadm has none that matches either permission.
func (one acl) builder() (*kadm.ACLBuilder, error) {
	pattern, err := kmsg.ParseACLResourcePatternType(one.PatternType)
	if err != nil {
		return nil, err
	}
	operation, err := kmsg.ParseACLOperation(one.Operation)
	if err != nil {
		return nil, err
	}
	built := kadm.NewACLs().ResourcePatternType(pattern).Operations(operation)
	if one.Permission != "DENY" {
		built.Allow(given(one.Principal)...).AllowHosts(given(one.Host)...)
	}
	if one.Permission != "ALLOW" {
		built.Deny(given(one.Principal)...).DenyHosts(given(one.Host)...)
	}
	switch one.ResourceType {
	case "ANY":
		built.AnyResource(given(one.Name)...)
	case "TOPIC":
		built.Topics(given(one.Name)...)
	case "GROUP":
		built.Groups(given(one.Name)...)
	case "TRANSACTIONAL_ID":
		built.TransactionalIDs(given(one.Name)...)
	case "CLUSTER":
		built.Clusters()
	default:
		return nil, fmt.Errorf("kadm cannot ask for %s", one.ResourceType)
	}
	return built, nil
}

func given(text *string) []string {
	if text == nil {
		return nil
	}
	return []string{*text}
}

func plainAcl(
	kind kmsg.ACLResourceType, name string, pattern kadm.ACLPattern, principal, host string,
	operation kadm.ACLOperation, permission kmsg.ACLPermissionType,
) acl {
	return acl{
		kind.String(), &name, pattern.String(), &principal, &host, operation.String(), permission.String(),
	}
}

func createAcls(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	codes := []int16{}
	for _, one := range args.Acls {
		built, err := one.builder()
		if err != nil {
			return nil, err
		}
		results, err := admin.CreateACLs(ctx, built)
		if err != nil {
			return nil, err
		}
		for _, result := range results {
			var known *kerr.Error
			if errors.As(result.Err, &known) {
				codes = append(codes, known.Code)
			}
		}
	}
	return codes, nil
}

func listAcls(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	built, err := args.Filter.builder()
	if err != nil {
		return nil, err
	}
	results, err := admin.DescribeACLs(ctx, built)
	if err != nil {
		return nil, err
	}
	found := []acl{}
	for _, result := range results {
		if result.Err != nil {
			return nil, result.Err
		}
		for _, d := range result.Described {
			found = append(found, plainAcl(
				d.Type, d.Name, d.Pattern, d.Principal, d.Host, d.Operation, d.Permission,
			))
		}
	}
	return found, nil
}

func deleteAcls(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	all := [][]acl{}
	for _, filter := range args.Filters {
		built, err := filter.builder()
		if err != nil {
			return nil, err
		}
		results, err := admin.DeleteACLs(ctx, built)
		if err != nil {
			return nil, err
		}
		deleted := []acl{}
		for _, result := range results {
			if result.Err != nil {
				return nil, result.Err
			}
			for _, d := range result.Deleted {
				deleted = append(deleted, plainAcl(
					d.Type, d.Name, d.Pattern, d.Principal, d.Host, d.Operation, d.Permission,
				))
			}
		}
		all = append(all, deleted)
	}
	return all, nil
}
