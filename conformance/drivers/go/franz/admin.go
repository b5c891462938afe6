package main

import (
	"context"
	"errors"
	"strconv"

	"drivers/loop"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

type work = func(context.Context, *kadm.Client, loop.Fields) (loop.Ok, error)

var adminCommands = map[string]command{
	"create_topics": admin(createTopics), "delete_topics": admin(deleteTopics),
	"create_partitions": admin(createPartitions), "list_topics": admin(listTopics),
	"describe_topics": admin(describeTopics), "describe_cluster": admin(describeCluster),
	"describe_configs": admin(describeConfigs), "alter_configs": admin(alterConfigs),
	"list_offsets": admin(listOffsets), "delete_records": admin(deleteRecords),
	"create_acls": admin(createAcls), "describe_acls": admin(describeAcls), "delete_acls": admin(deleteAcls),
	"create_token": admin(createToken), "renew_token": admin(renewToken), "expire_token": admin(expireToken),
	"describe_tokens": admin(describeTokens), "describe_scram_users": admin(describeScramUsers),
	"alter_scram_users": admin(alterScramUsers), "list_groups": admin(listGroups),
	"describe_groups": admin(describeGroups), "delete_groups": admin(deleteGroups),
	"group_offsets": admin(groupOffsets), "alter_group_offsets": admin(alterGroupOffsets),
	"delete_group_offsets": admin(deleteGroupOffsets),
}

func admin(do work) command {
	return func(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
		made, err := c.admin()
		if err != nil {
			return nil, err
		}
		if asked.Operations {
			ctx = kadm.WithAuthorizedOps(ctx)
		}
		return do(ctx, made, asked)
	}
}

// createTopics sends one request for each number of partitions, as kadm's call requires.
func createTopics(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	configs := map[string]*string{}
	for name, value := range asked.Configs {
		configs[name] = &value
	}
	found := kadm.CreateTopicResponses{}
	names, byCount := byCount(asked.TopicCounts())
	for count, topics := range byCount {
		done, err := to.CreateTopics(ctx, count, 1, configs, topics...)
		if err != nil {
			return nil, err
		}
		for name, topic := range done {
			found[name] = topic
		}
	}
	return driver.Items(names, func(name string) (loop.Ok, error) { return nil, found[name].Err })
}

func byCount(counts map[string]int32) (names []string, byCount map[int32][]string) {
	byCount = map[int32][]string{}
	for name, count := range counts {
		names = append(names, name)
		byCount[count] = append(byCount[count], name)
	}
	return names, byCount
}

// partial splits an error: of is the error of some brokers only, whole that of all of them.
func partial(err error) (of error, whole error) {
	var shards *kadm.ShardErrors
	if errors.As(err, &shards) && !shards.AllFailed {
		return shards.Errs[0].Err, nil
	}
	return nil, err
}

func deleteTopics(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.DeleteTopics(ctx, asked.Names...)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) { return nil, done[name].Err })
}

func createPartitions(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found := kadm.CreatePartitionsResponses{}
	names, byCount := byCount(asked.TopicCounts())
	for count, topics := range byCount {
		done, err := to.UpdatePartitions(ctx, int(count), topics...)
		if err != nil {
			return nil, err
		}
		for name, topic := range done {
			found[name] = topic
		}
	}
	return driver.Items(names, func(name string) (loop.Ok, error) { return nil, found[name].Err })
}

func listTopics(ctx context.Context, to *kadm.Client, _ loop.Fields) (loop.Ok, error) {
	found, err := to.ListTopics(ctx)
	return loop.Ok{"topics": append([]string{}, found.Names()...)}, err
}

func describeTopics(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.ListTopicsWithInternal(ctx, asked.Names...)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		topic := found[name]
		shown := loop.Ok{"operations": operations(topic.AuthorizedOperations, asked.Operations)}
		shown["partitions"] = len(topic.Partitions)
		return shown, topic.Err
	})
}

func operations(found []kadm.ACLOperation, isAsked bool) any {
	if !isAsked || found == nil {
		return nil
	}
	names := []string{}
	for _, operation := range found {
		names = append(names, operation.String())
	}
	return names
}

func describeCluster(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.BrokerMetadata(ctx)
	if err != nil {
		return nil, err
	}
	return loop.Ok{
		"operations": operations(found.AuthorizedOperations, asked.Operations),
		"brokers":    found.Brokers.NodeIDs(),
	}, nil
}

func brokers(names []string) (ids []int32) {
	for _, name := range names {
		id, _ := strconv.Atoi(name)
		ids = append(ids, int32(id))
	}
	return ids
}

func describeConfigs(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	var found kadm.ResourceConfigs
	var err error
	switch asked.Type {
	case "topic":
		found, err = to.DescribeTopicConfigs(ctx, asked.Names...)
	case "broker":
		found, err = to.DescribeBrokerConfigs(ctx, brokers(asked.Names)...)
	default:
		return nil, loop.ErrUnsupported
	}
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		resource, err := found.On(name, nil)
		if err != nil {
			return nil, err
		}
		settings := map[string]*string{}
		for _, config := range resource.Configs {
			settings[config.Key] = config.Value
		}
		return loop.Ok{"settings": settings}, resource.Err
	})
}

func alterConfigs(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: asked.Setting, Value: &asked.Value}}
	var done kadm.AlterConfigsResponses
	var err error
	switch asked.Type {
	case "topic":
		done, err = to.AlterTopicConfigs(ctx, change, asked.Names...)
	case "broker":
		done, err = to.AlterBrokerConfigs(ctx, change, brokers(asked.Names)...)
	default:
		return nil, loop.ErrUnsupported
	}
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		resource, err := done.On(name, nil)
		if err != nil {
			return nil, err
		}
		return nil, resource.Err
	})
}

func listOffsets(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	topics := kadm.TopicsSet{}
	for _, name := range asked.Partitions {
		topics.Add(loop.Partition(name).Topic)
	}
	found, err := to.ListEndOffsets(ctx, topics.Topics()...)
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		if whole, failed := found.Lookup(place.Topic, -1); failed {
			return nil, whole.Err
		}
		offset, known := found.Lookup(place.Topic, place.Partition)
		if !known {
			return nil, kerr.UnknownTopicOrPartition
		}
		return loop.Ok{"offset": offset.Offset}, offset.Err
	})
}

func offsets(topic string, partition *int32, offset int64) kadm.Offsets {
	found := kadm.Offsets{}
	found.AddOffset(topic, *partition, offset, -1)
	return found
}

func deleteRecords(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.DeleteRecords(ctx, offsets(asked.Topic, asked.Partition, asked.Before))
	if err != nil {
		return nil, err
	}
	return nil, done.Error()
}
