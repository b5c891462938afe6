package main

import (
	"context"
	"errors"

	"drivers/loop"

	"github.com/IBM/sarama"
)

type work = func(sarama.ClusterAdmin, loop.Fields) (loop.Ok, error)

var adminCommands = map[string]command{
	"create_topics": admin(createTopics), "delete_topics": admin(deleteTopics),
	"create_partitions": admin(createPartitions), "list_topics": admin(listTopics),
	"describe_topics": admin(describeTopics), "describe_cluster": admin(describeCluster),
	"describe_configs": admin(describeConfigs), "alter_configs": admin(alterConfigs),
	"list_offsets": admin(listOffsets), "delete_records": admin(deleteRecords),
	"create_acls": admin(createAcls), "describe_acls": admin(describeAcls), "delete_acls": admin(deleteAcls),
	"describe_scram_users": admin(describeScramUsers), "alter_scram_users": admin(alterScramUsers),
	"list_groups": admin(listGroups), "describe_groups": admin(describeGroups),
	"delete_groups": admin(deleteGroups), "group_offsets": admin(groupOffsets),
	"alter_group_offsets": admin(alterGroupOffsets), "delete_group_offsets": admin(deleteGroupOffsets),
}

func admin(do work) command {
	return func(c *client, _ context.Context, asked loop.Fields) (loop.Ok, error) {
		if c.admin == nil {
			made, err := sarama.NewClusterAdmin(c.servers, c.config)
			if err != nil {
				return nil, err
			}
			c.admin = made
		}
		return do(c.admin, asked)
	}
}

// each calls do for each name, since sarama's calls accept a single topic or group.
func each(names []string, do func(string) error) (loop.Ok, error) {
	return driver.Items(names, func(name string) (loop.Ok, error) { return nil, do(name) })
}

func names[T any](counts map[string]T) (found []string) {
	for name := range counts {
		found = append(found, name)
	}
	return found
}

func known(code sarama.KError) error {
	if code == sarama.ErrNoError {
		return nil
	}
	return code
}

func createTopics(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	configs := map[string]*string{}
	for name, value := range asked.Configs {
		configs[name] = &value
	}
	counts := asked.TopicCounts()
	return each(names(counts), func(name string) error {
		detail := sarama.TopicDetail{NumPartitions: counts[name], ReplicationFactor: 1, ConfigEntries: configs}
		return to.CreateTopic(name, &detail, false)
	})
}

func deleteTopics(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return each(asked.Names, to.DeleteTopic)
}

func createPartitions(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	counts := asked.TopicCounts()
	return each(names(counts), func(name string) error {
		return to.CreatePartitions(name, counts[name], nil, false)
	})
}

func listTopics(to sarama.ClusterAdmin, _ loop.Fields) (loop.Ok, error) {
	found, err := to.ListTopics()
	return loop.Ok{"topics": append([]string{}, names(found)...)}, err
}

func describeTopics(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	found, err := to.DescribeTopics(asked.Names)
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		for _, topic := range found {
			if topic.Name == name {
				return loop.Ok{"operations": nil, "partitions": len(topic.Partitions)}, known(topic.Err)
			}
		}
		return nil, loop.Missing(name)
	})
}

func describeCluster(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	brokers, _, err := to.DescribeCluster()
	ids := []int32{}
	for _, broker := range brokers {
		ids = append(ids, broker.ID())
	}
	return loop.Ok{"operations": nil, "brokers": ids}, err
}

var resourceTypes = map[string]sarama.ConfigResourceType{
	"topic": sarama.TopicResource, "broker": sarama.BrokerResource,
}

func describeConfigs(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return driver.Items(asked.Names, func(name string) (loop.Ok, error) {
		kind, known := resourceTypes[asked.Type]
		if !known {
			return nil, loop.ErrUnsupported
		}
		entries, err := to.DescribeConfig(sarama.ConfigResource{Type: kind, Name: name})
		settings := map[string]string{}
		for _, entry := range entries {
			settings[entry.Name] = entry.Value
		}
		return loop.Ok{"settings": settings}, err
	})
}

func alterConfigs(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return each(asked.Names, func(name string) error {
		kind, known := resourceTypes[asked.Type]
		if !known {
			return loop.ErrUnsupported
		}
		set := sarama.IncrementalAlterConfigsEntry{Operation: sarama.IncrementalAlterConfigsOperationSet, Value: &asked.Value}
		entries := map[string]sarama.IncrementalAlterConfigsEntry{asked.Setting: set}
		return to.IncrementalAlterConfig(kind, name, entries, false)
	})
}

func partitions(texts []string) map[string][]int32 {
	found := map[string][]int32{}
	for _, text := range texts {
		place := loop.Partition(text)
		found[place.Topic] = append(found[place.Topic], place.Partition)
	}
	return found
}

func listOffsets(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	latest := map[string]map[int32]int64{}
	for _, text := range asked.Partitions {
		place := loop.Partition(text)
		if latest[place.Topic] == nil {
			latest[place.Topic] = map[int32]int64{}
		}
		latest[place.Topic][place.Partition] = sarama.OffsetNewest
	}
	found, err := to.ListOffsets(latest, nil)
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		result := found[place.Topic][place.Partition]
		if result == nil {
			return nil, loop.Missing(name)
		}
		if errors.Is(result.Err, sarama.ErrNoError) { // sarama returns it as a non-nil error
			return loop.Ok{"offset": result.Offset}, nil
		}
		return loop.Ok{"offset": result.Offset}, result.Err
	})
}

func deleteRecords(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	return nil, to.DeleteRecords(asked.Topic, map[int32]int64{*asked.Partition: asked.Before})
}

func mechanism(name string) sarama.ScramMechanismType {
	if name == sarama.SASLTypeSCRAMSHA512 {
		return sarama.SCRAM_MECHANISM_SHA_512
	}
	return sarama.SCRAM_MECHANISM_SHA_256
}

func describeScramUsers(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	found, err := to.DescribeUserScramCredentials(asked.Users)
	return driver.ItemsAfter(err, asked.Users, func(user string) (loop.Ok, error) {
		for _, result := range found {
			if result.User == user {
				mechanisms := []string{}
				for _, info := range result.CredentialInfos {
					mechanisms = append(mechanisms, info.Mechanism.String())
				}
				return loop.Ok{"mechanisms": mechanisms}, known(result.ErrorCode)
			}
		}
		return nil, loop.Missing(user)
	})
}

func alterScramUsers(to sarama.ClusterAdmin, asked loop.Fields) (loop.Ok, error) {
	kind := mechanism(asked.Mechanism)
	return each(names(asked.Passwords), func(user string) error {
		var done []*sarama.AlterUserScramCredentialsResult
		var err error
		if password := asked.Passwords[user]; password == nil {
			deletion := sarama.AlterUserScramCredentialsDelete{Name: user, Mechanism: kind}
			done, err = to.DeleteUserScramCredentials([]sarama.AlterUserScramCredentialsDelete{deletion})
		} else {
			upsert := sarama.AlterUserScramCredentialsUpsert{
				Name: user, Mechanism: kind, Iterations: 4096, Salt: []byte("salt of a test"), Password: []byte(*password),
			}
			done, err = to.UpsertUserScramCredentials([]sarama.AlterUserScramCredentialsUpsert{upsert})
		}
		if err != nil {
			return err
		}
		return known(done[0].ErrorCode)
	})
}
