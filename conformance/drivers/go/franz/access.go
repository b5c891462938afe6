package main

import (
	"context"

	"drivers/loop"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// builder translates an ACL or a filter for kadm. A filter for both permissions becomes two filters,
// since kadm has none that matches either permission.
func builder(acl loop.Acl) (*kadm.ACLBuilder, error) {
	pattern, err := kmsg.ParseACLResourcePatternType(acl.PatternType)
	if err != nil {
		return nil, loop.ErrUnsupported
	}
	operation, err := kmsg.ParseACLOperation(acl.Operation)
	if err != nil {
		return nil, loop.ErrUnsupported
	}
	built := kadm.NewACLs().ResourcePatternType(pattern).Operations(operation)
	if acl.Permission != "DENY" {
		built.Allow(given(acl.Principal)...).AllowHosts(given(acl.Host)...)
	}
	if acl.Permission != "ALLOW" {
		built.Deny(given(acl.Principal)...).DenyHosts(given(acl.Host)...)
	}
	switch acl.ResourceType {
	case "ANY":
		built.AnyResource(given(acl.Name)...)
	case "TOPIC":
		built.Topics(given(acl.Name)...)
	case "GROUP":
		built.Groups(given(acl.Name)...)
	case "TRANSACTIONAL_ID":
		built.TransactionalIDs(given(acl.Name)...)
	case "DELEGATION_TOKEN":
		built.DelegationTokens(given(acl.Name)...)
	case "CLUSTER":
		built.Clusters()
	default:
		return nil, loop.ErrUnsupported
	}
	return built, nil
}

func given(text *string) []string {
	if text == nil {
		return nil
	}
	return []string{*text}
}

func shownAcl(
	kind kmsg.ACLResourceType, name string, pattern kadm.ACLPattern, principal, host string,
	operation kadm.ACLOperation, permission kmsg.ACLPermissionType,
) loop.Acl {
	return loop.Acl{
		ResourceType: kind.String(), Name: &name, PatternType: pattern.String(), Principal: &principal,
		Host: &host, Operation: operation.String(), Permission: permission.String(),
	}
}

// one calls kadm with a single ACL or filter, since kadm's calls combine all values of a builder.
func one(acls []loop.Acl, do func(*kadm.ACLBuilder) (loop.Ok, error)) (loop.Ok, error) {
	if len(acls) > 1 {
		return nil, loop.ErrUnsupported
	}
	return driver.Items([]string{"0"}, func(string) (loop.Ok, error) {
		built, err := builder(acls[0])
		if err != nil {
			return nil, err
		}
		return do(built)
	})
}

func createAcls(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	return one(asked.Acls, func(built *kadm.ACLBuilder) (loop.Ok, error) {
		done, err := to.CreateACLs(ctx, built)
		if err != nil {
			return nil, err
		}
		return nil, done[0].Err
	})
}

func describeAcls(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	built, err := builder(asked.Filter)
	if err != nil {
		return nil, err
	}
	results, err := to.DescribeACLs(ctx, built)
	if err != nil {
		return nil, err
	}
	found := []loop.Acl{}
	for _, result := range results {
		if result.Err != nil {
			return nil, result.Err
		}
		for _, d := range result.Described {
			found = append(found, shownAcl(d.Type, d.Name, d.Pattern, d.Principal, d.Host, d.Operation, d.Permission))
		}
	}
	return loop.Ok{"acls": found}, nil
}

func deleteAcls(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	return one(asked.Filters, func(built *kadm.ACLBuilder) (loop.Ok, error) {
		results, err := to.DeleteACLs(ctx, built)
		if err != nil {
			return nil, err
		}
		deleted := []loop.Acl{}
		for _, result := range results {
			if result.Err != nil {
				return nil, result.Err
			}
			for _, d := range result.Deleted {
				deleted = append(deleted, shownAcl(d.Type, d.Name, d.Pattern, d.Principal, d.Host, d.Operation, d.Permission))
			}
		}
		return loop.Ok{"acls": deleted}, nil
	})
}

func listGroups(ctx context.Context, to *kadm.Client, _ loop.Fields) (loop.Ok, error) {
	found, err := to.ListGroups(ctx)
	return loop.Ok{"groups": append([]string{}, found.Groups()...)}, err
}

// describeGroups describes classic groups; kadm has another call for groups of the new protocol.
func describeGroups(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.DescribeGroups(ctx, asked.Names...)
	missing, err := partial(err)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		group, isTold := found[name]
		if !isTold {
			return loop.Ok{"operations": nil}, missing
		}
		if group.Err == kerr.GroupIDNotFound {
			return describeConsumerGroup(ctx, to, name, asked.Operations)
		}
		shown := loop.Ok{"operations": operations(group.AuthorizedOperations, asked.Operations)}
		shown["members"] = len(group.Members)
		return shown, group.Err
	})
}

func describeConsumerGroup(ctx context.Context, to *kadm.Client, name string, isAsked bool) (loop.Ok, error) {
	found, err := to.DescribeConsumerGroups(ctx, name)
	if err != nil {
		return nil, err
	}
	group := found[name]
	shown := loop.Ok{"operations": operations(group.AuthorizedOperations, isAsked)}
	shown["members"] = len(group.Members)
	return shown, group.Err
}

func deleteGroups(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.DeleteGroups(ctx, asked.Names...)
	missing, err := partial(err)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		if group, isTold := done[name]; isTold {
			return nil, group.Err
		}
		return nil, missing
	})
}

// groupOffsets fetches all committed offsets of a group, since kadm has no call for some of them.
func groupOffsets(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.FetchOffsets(ctx, asked.Group)
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		offset, known := found.Lookup(place.Topic, place.Partition)
		if !known || offset.At < 0 {
			return loop.Ok{"offset": nil}, offset.Err
		}
		return loop.Ok{"offset": offset.At}, offset.Err
	})
}

func committed(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
	to, err := c.admin()
	if err != nil {
		return nil, err
	}
	asked.Group = c.settings["group.id"]
	return groupOffsets(ctx, to, asked)
}

func alterGroupOffsets(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	return nil, to.CommitAllOffsets(ctx, asked.Group, offsets(asked.Topic, asked.Partition, asked.Offset))
}

func deleteGroupOffsets(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	places := kadm.TopicsSet{}
	for _, name := range asked.Partitions {
		place := loop.Partition(name)
		places.Add(place.Topic, place.Partition)
	}
	done, err := to.DeleteOffsets(ctx, asked.Group, places)
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		err, _ := done.Lookup(place.Topic, place.Partition)
		return nil, err
	})
}
