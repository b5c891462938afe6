package main

import (
	"context"

	"drivers/loop"

	"github.com/segmentio/kafka-go"
)

func listGroups(ctx context.Context, to *kafka.Client, _ loop.Fields) (loop.Ok, error) {
	found, err := to.ListGroups(ctx, &kafka.ListGroupsRequest{})
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, group := range found.Groups {
		names = append(names, group.GroupID)
	}
	return loop.Ok{"groups": names}, found.Error
}

func describeGroups(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	if asked.Operations {
		return nil, loop.ErrUnsupported
	}
	found, err := to.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: asked.Names})
	return driver.ItemsAfter(err, asked.Names, func(name string) (loop.Ok, error) {
		for _, group := range found.Groups {
			if group.GroupID == name {
				return loop.Ok{"operations": nil, "members": len(group.Members)}, group.Error
			}
		}
		return nil, loop.Missing(name)
	})
}

func deleteGroups(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: asked.Names})
	if err != nil {
		return nil, err
	}
	return each(asked.Names, done.Errors, nil)
}

func committed(c *client, ctx context.Context, asked loop.Fields) (loop.Ok, error) {
	asked.Group = c.settings["group.id"]
	return groupOffsets(ctx, c.admin, asked)
}

func groupOffsets(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.OffsetFetch(ctx, &kafka.OffsetFetchRequest{
		GroupID: asked.Group, Topics: partitions(asked.Partitions),
	})
	if err == nil {
		err = found.Error
	}
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		for _, row := range found.Topics[place.Topic] {
			if row.Partition != int(place.Partition) {
				continue
			}
			if row.Error != nil || row.CommittedOffset < 0 {
				return loop.Ok{"offset": nil}, row.Error
			}
			return loop.Ok{"offset": row.CommittedOffset}, nil
		}
		return loop.Ok{"offset": nil}, nil
	})
}

func alterGroupOffsets(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	offset := kafka.OffsetCommit{Partition: int(*asked.Partition), Offset: asked.Offset}
	done, err := to.OffsetCommit(ctx, &kafka.OffsetCommitRequest{
		GroupID: asked.Group, GenerationID: -1, Topics: map[string][]kafka.OffsetCommit{asked.Topic: {offset}},
	})
	if err != nil {
		return nil, err
	}
	for _, row := range done.Topics[asked.Topic] {
		if row.Error != nil {
			return nil, row.Error
		}
	}
	return nil, nil
}

func deleteGroupOffsets(ctx context.Context, to *kafka.Client, asked loop.Fields) (loop.Ok, error) {
	done, err := to.OffsetDelete(ctx, &kafka.OffsetDeleteRequest{
		GroupID: asked.Group, Topics: partitions(asked.Partitions),
	})
	if err == nil {
		err = done.Error
	}
	return driver.ItemsAfter(err, asked.Partitions, func(name string) (loop.Ok, error) {
		place := loop.Partition(name)
		for _, row := range done.Topics[place.Topic] {
			if row.Partition == int(place.Partition) {
				return nil, row.Error
			}
		}
		return nil, loop.Missing(name)
	})
}
