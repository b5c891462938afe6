package main

import (
	"context"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func createTopic(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	_, err = admin.CreateTopic(ctx, 1, 1, nil, *args.Topic)
	return nil, err
}

func deleteTopic(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	_, err = admin.DeleteTopic(ctx, *args.Topic)
	return nil, err
}

func listTopics(ctx context.Context, where connection, _ arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	topics, err := admin.ListTopics(ctx)
	return topics.Names(), err
}

// clusterOperations sends DescribeCluster itself: kadm reads these operations from Metadata, which
// no longer has them since version 11.
func clusterOperations(ctx context.Context, where connection, _ arguments) (any, error) {
	client, err := where.client()
	if err != nil {
		return nil, err
	}
	defer client.Close()
	asked := kmsg.NewPtrDescribeClusterRequest()
	asked.IncludeClusterAuthorizedOperations = true
	told, err := asked.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if err := kerr.ErrorForCode(told.ErrorCode); err != nil {
		return nil, err
	}
	return names(kadm.DecodeACLOperations(told.ClusterAuthorizedOperations)), nil
}

func topicOperations(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	described, err := admin.Metadata(kadm.WithAuthorizedOps(ctx), *args.Topic)
	if err != nil {
		return nil, err
	}
	topic := described.Topics[*args.Topic]
	return names(topic.AuthorizedOperations), topic.Err
}

func groupOperations(ctx context.Context, where connection, args arguments) (any, error) {
	admin, err := where.admin()
	if err != nil {
		return nil, err
	}
	described, err := admin.DescribeGroups(ctx, args.Group)
	if err != nil {
		return nil, err
	}
	group := described[args.Group]
	return names(group.AuthorizedOperations), group.Err
}

func names(operations []kadm.ACLOperation) []string {
	found := []string{}
	for _, operation := range operations {
		found = append(found, operation.String())
	}
	return found
}
