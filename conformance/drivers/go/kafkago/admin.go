package main

import (
	"context"

	"drivers/loop"

	"github.com/segmentio/kafka-go"
)

type work = func(context.Context, *kafka.Client, loop.Fields) (loop.Ok, error)

var adminCommands = map[string]command{
	"create_topics": admin(createTopics), "delete_topics": admin(deleteTopics),
	"create_partitions": admin(createPartitions), "list_topics": admin(listTopics),
	"describe_topics": admin(describeTopics), "describe_cluster": admin(describeCluster),
	"describe_configs": admin(describeConfigs), "alter_configs": admin(alterConfigs),
	"list_offsets": admin(listOffsets), "create_acls": admin(createAcls),
	"describe_acls": admin(describeAcls), "delete_acls": admin(deleteAcls),
	"describe_scram_users": admin(describeScramUsers), "alter_scram_users": admin(alterScramUsers),
	"list_groups": admin(listGroups), "describe_groups": admin(describeGroups),
	"delete_groups": admin(deleteGroups), "group_offsets": admin(groupOffsets),
	"alter_group_offsets": admin(alterGroupOffsets), "delete_group_offsets": admin(deleteGroupOffsets),
}

func admin(do work) command {
	return func(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
		return do(ctx, c.admin, asked)
	}
}

// each returns items with the errors by name.
func each(names []string, errors map[string]error, err error) (loop.Ok, error) {
	return driver.ItemsAfter(err, names, func(name string) (loop.Ok, error) { return nil, errors[name] })
}

func createTopics(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	var configs []kafka.ConfigEntry
	for name, value := range asked.Configs {
		configs = append(configs, kafka.ConfigEntry{ConfigName: name, ConfigValue: value})
	}
	var names []string
	var topics []kafka.TopicConfig
	for name, count := range asked.TopicCounts() {
		names = append(names, name)
		topics = append(topics, kafka.TopicConfig{
			Topic: name, NumPartitions: int(count), ReplicationFactor: 1, ConfigEntries: configs,
		})
	}
	done, err := to.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: topics})
	if err != nil {
		return nil, err
	}
	return each(names, done.Errors, nil)
}

func deleteTopics(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: asked.Names})
	if err != nil {
		return nil, err
	}
	return each(asked.Names, done.Errors, nil)
}

func createPartitions(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	var names []string
	var topics []kafka.TopicPartitionsConfig
	for name, count := range asked.TopicCounts() {
		names = append(names, name)
		topics = append(topics, kafka.TopicPartitionsConfig{Name: name, Count: count})
	}
	done, err := to.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: topics})
	if err != nil {
		return nil, err
	}
	return each(names, done.Errors, nil)
}

func listTopics(ctx context.Context, to *kafka.Client, _ loop.Fields) (loop.Ok, error) {
	found, err := to.Metadata(ctx, &kafka.MetadataRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, topic := range found.Topics {
		names = append(names, topic.Name)
	}
	return loop.Ok{"topics": names}, nil
}

func describeTopics(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	found, err := to.Metadata(ctx, &kafka.MetadataRequest{Topics: asked.Names})
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		for _, topic := range found.Topics {
			if topic.Name == name {
				return loop.Ok{"operations": nil, "partitions": len(topic.Partitions)}, topic.Error
			}
		}
		return nil, loop.Missing(name)
	})
}

func describeCluster(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	found, err := to.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{}})
	if err != nil {
		return nil, err
	}
	ids := []int{}
	for _, broker := range found.Brokers {
		ids = append(ids, broker.ID)
	}
	return loop.Ok{"operations": nil, "brokers": ids}, nil
}

var resourceTypes = map[string]kafka.ResourceType{
	"topic": kafka.ResourceTypeTopic, "broker": kafka.ResourceTypeBroker,
}

func describeConfigs(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	kind, known := resourceTypes[asked.Type]
	if !known {
		return nil, loop.ErrUnsupported
	}
	var wanted []kafka.DescribeConfigRequestResource
	for _, name := range asked.Names {
		wanted = append(wanted, kafka.DescribeConfigRequestResource{ResourceType: kind, ResourceName: name})
	}
	found, err := to.DescribeConfigs(ctx, &kafka.DescribeConfigsRequest{Resources: wanted})
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		settings := map[string]string{}
		for _, resource := range found.Resources {
			if resource.ResourceName == name {
				for _, entry := range resource.ConfigEntries {
					settings[entry.ConfigName] = entry.ConfigValue
				}
				return loop.Ok{"settings": settings}, resource.Error
			}
		}
		return nil, loop.Missing(name)
	})
}

func alterConfigs(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	kind, known := resourceTypes[asked.Type]
	if !known {
		return nil, loop.ErrUnsupported
	}
	set := []kafka.IncrementalAlterConfigsRequestConfig{
		{Name: asked.Setting, Value: asked.Value, ConfigOperation: kafka.ConfigOperationSet},
	}
	var wanted []kafka.IncrementalAlterConfigsRequestResource
	for _, name := range asked.Names {
		wanted = append(wanted, kafka.IncrementalAlterConfigsRequestResource{
			ResourceType: kind, ResourceName: name, Configs: set,
		})
	}
	done, err := to.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{Resources: wanted})
	if err != nil {
		return nil, err
	}
	errors := map[string]error{}
	for _, resource := range done.Resources {
		errors[resource.ResourceName] = resource.Error
	}
	return each(asked.Names, errors, nil)
}

func partitions(texts []string) map[string][]int {
	found := map[string][]int{}
	for _, text := range texts {
		place := loop.Partition(text)
		found[place.Topic] = append(found[place.Topic], int(place.Partition))
	}
	return found
}

func listOffsets(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	latest := map[string][]kafka.OffsetRequest{}
	for topic, numbers := range partitions(asked.Partitions) {
		for _, number := range numbers {
			latest[topic] = append(latest[topic], kafka.LastOffsetOf(number))
		}
	}
	found, err := to.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: latest})
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		for _, row := range found.Topics[place.Topic] {
			if row.Partition == int(place.Partition) {
				return loop.Ok{"offset": row.LastOffset}, row.Error
			}
		}
		return nil, loop.Missing(name)
	})
}
