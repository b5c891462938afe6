package main

import (
	"context"
	"strings"
	"time"

	"drivers/loop"

	"github.com/twmb/franz-go/pkg/kadm"
)

func principal(text string) kadm.Principal {
	kind, name, _ := strings.Cut(text, ":")
	return kadm.Principal{Type: kind, Name: name}
}

func createToken(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	wanted := kadm.CreateDelegationToken{MaxLifetime: -time.Millisecond}
	for _, name := range asked.Renewers {
		wanted.Renewers = append(wanted.Renewers, principal(name))
	}
	if asked.Owner != nil {
		owner := principal(*asked.Owner)
		wanted.Owner = &owner
	}
	made, err := to.CreateDelegationToken(ctx, wanted)
	return shownToken(made), err
}

func shownToken(token kadm.DelegationToken) loop.Ok {
	owner := token.Owner.Type + ":" + token.Owner.Name
	return loop.Ok{"token_id": token.TokenID, "hmac": token.HMAC, "owner": owner}
}

func renewToken(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	_, err := to.RenewDelegationToken(ctx, asked.Hmac, time.Duration(asked.Milliseconds)*time.Millisecond)
	return nil, err
}

func expireToken(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	_, err := to.ExpireDelegationToken(ctx, asked.Hmac, time.Duration(asked.Milliseconds)*time.Millisecond)
	return nil, err
}

func describeTokens(ctx context.Context, to *kadm.Client, _ loop.Fields) (loop.Ok, error) {
	found, err := to.DescribeDelegationTokens(ctx)
	tokens := []loop.Ok{}
	for _, token := range found {
		tokens = append(tokens, shownToken(token))
	}
	return loop.Ok{"tokens": tokens}, err
}

func describeScramUsers(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	found, err := to.DescribeUserSCRAMs(ctx, asked.Users...)
	return driver.ItemsAfter(err, asked.Users, func(user string) (loop.Ok, error) {
		mechanisms := []string{}
		for _, info := range found[user].CredInfos {
			mechanisms = append(mechanisms, info.Mechanism.String())
		}
		return loop.Ok{"mechanisms": mechanisms}, found[user].Err
	})
}

func alterScramUsers(ctx context.Context, to *kadm.Client, asked loop.Fields) (loop.Ok, error) {
	mechanism := kadm.ScramSha256
	if asked.Mechanism == "SCRAM-SHA-512" {
		mechanism = kadm.ScramSha512
	}
	var deleted []kadm.DeleteSCRAM
	var upserted []kadm.UpsertSCRAM
	var users []string
	for user, password := range asked.Passwords {
		users = append(users, user)
		if password == nil {
			deleted = append(deleted, kadm.DeleteSCRAM{User: user, Mechanism: mechanism})
		} else {
			upserted = append(upserted, kadm.UpsertSCRAM{User: user, Mechanism: mechanism, Password: *password})
		}
	}
	done, err := to.AlterUserSCRAMs(ctx, deleted, upserted)
	return driver.ItemsAfter(err, users, func(user string) (loop.Ok, error) { return nil, done[user].Err })
}
