package main

import (
	"drivers/loop"

	"github.com/IBM/sarama"
)

// filter translates an ACL or filter of the contract; sarama has names without underscores.
func filter(acl loop.Acl) (sarama.AclFilter, error) {
	found := sarama.AclFilter{ResourceName: acl.Name, Principal: acl.Principal, Host: acl.Host, Version: 1}
	return found, acl.ParseWords(
		&found.ResourceType, &found.ResourcePatternTypeFilter, &found.Operation, &found.PermissionType,
	)
}

func shown(at sarama.Resource, acl sarama.Acl) loop.Acl {
	return loop.Acl{
		ResourceType: loop.Word(&at.ResourceType), Name: &at.ResourceName,
		PatternType: loop.Word(&at.ResourcePatternType), Principal: &acl.Principal, Host: &acl.Host,
		Operation: loop.Word(&acl.Operation), Permission: loop.Word(&acl.PermissionType),
	}
}

// createAcls creates all ACLs in one request; sarama does not return which of them failed.
func createAcls(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	var wanted []*sarama.ResourceAcls
	for _, acl := range asked.Acls {
		asked, err := filter(acl)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, &sarama.ResourceAcls{
			Resource: sarama.Resource{
				ResourceType: asked.ResourceType, ResourceName: *acl.Name, ResourcePatternType: asked.ResourcePatternTypeFilter,
			},
			Acls: []*sarama.Acl{{
				Principal: *acl.Principal, Host: *acl.Host, Operation: asked.Operation, PermissionType: asked.PermissionType,
			}},
		})
	}
	if err := to.CreateACLs(wanted); err != nil {
		return nil, err
	}
	return each(loop.Numbers(len(wanted)), func(string) error { return nil })
}

func describeAcls(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	wanted, err := filter(asked.Filter)
	if err != nil {
		return nil, err
	}
	resources, err := to.ListAcls(wanted)
	found := []loop.Acl{}
	for _, resource := range resources {
		for _, acl := range resource.Acls {
			found = append(found, shown(resource.Resource, *acl))
		}
	}
	return loop.Ok{"acls": found}, err
}

func deleteAcls(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	if len(asked.Filters) > 1 {
		return nil, loop.ErrUnsupported // sarama accepts one filter only
	}
	return driver.Items(loop.Numbers(len(asked.Filters)), func(name string) (loop.Ok, error) {
		wanted, err := filter(loop.Numbered(asked.Filters, name))
		if err != nil {
			return nil, err
		}
		matching, err := to.DeleteACL(wanted, false)
		if err != nil {
			return nil, err
		}
		deleted := []loop.Acl{}
		for _, match := range matching {
			if match.Err != sarama.ErrNoError {
				return nil, match.Err
			}
			deleted = append(deleted, shown(match.Resource, match.Acl))
		}
		return loop.Ok{"acls": deleted}, nil
	})
}

func listGroups(to sarama.ClusterAdmin, _ loop.Fields) (loop.Ok, error) {
	found, err := to.ListConsumerGroups()
	return loop.Ok{"groups": append([]string{}, names(found)...)}, err
}

func describeGroups(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	found, err := to.DescribeConsumerGroups(asked.Names)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		for _, group := range found {
			if group.GroupId == name {
				return loop.Ok{"operations": nil, "members": len(group.Members)}, known(group.Err)
			}
		}
		return nil, loop.Missing(name)
	})
}

func deleteGroups(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return each(asked.Names, to.DeleteConsumerGroup)
}

func groupOffsets(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	found, err := to.ListConsumerGroupOffsets(asked.Group, partitions(asked.Partitions))
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		block := found.GetBlock(place.Topic, place.Partition)
		if block == nil || block.Offset < 0 && block.Err == sarama.ErrNoError {
			return loop.Ok{"offset": nil}, nil
		}
		return loop.Ok{"offset": block.Offset}, known(block.Err)
	})
}

func alterGroupOffsets(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	offset := sarama.OffsetAndMetadata{Offset: asked.Offset, LeaderEpoch: -1}
	offsets := map[string]map[int32]sarama.OffsetAndMetadata{asked.Topic: {*asked.Partition: offset}}
	done, err := to.AlterConsumerGroupOffsets(asked.Group, offsets, nil)
	if err != nil {
		return nil, err
	}
	return nil, known(done.Errors[asked.Topic][*asked.Partition])
}

func deleteGroupOffsets(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return each(asked.Partitions, func(name string) error {
		place := loop.Partition(name)
		return to.DeleteConsumerGroupOffset(asked.Group, place.Topic, place.Partition)
	})
}
