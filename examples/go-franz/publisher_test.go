package orders

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

var mayWrite = object{"principal": "User:shop", "allow": []string{"Write"}, "topic": Topic}

// begin gives a publisher beside a broker as new.
func begin(t *testing.T) (*Publisher, context.Context) {
	ask(t, "POST", "/reset", nil, nil)
	publisher, err := NewPublisher(as("shop")...)
	check(t, err)
	t.Cleanup(publisher.Close)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return publisher, ctx
}

func allow(t *testing.T) {
	ask(t, "POST", "/acls", object{"acls": []object{mayWrite}}, nil)
}

// expectStored compares how many orders the broker has.
func expectStored(t *testing.T, wanted int) {
	t.Helper()
	var found struct {
		Topics []struct {
			EndOffsets []int `json:"end_offsets"`
		} `json:"topics"`
	}
	ask(t, "GET", "/topics", nil, &found)
	if stored := found.Topics[0].EndOffsets[0]; stored != wanted {
		t.Errorf("%d orders are stored, expected %d", stored, wanted)
	}
}

func TestAnOrderIsPublished(t *testing.T) {
	publisher, ctx := begin(t)
	allow(t)
	check(t, publisher.Publish(ctx, "order-1"))
	expectStored(t, 1)
}

func TestWithoutPermissionThePublisherSaysSo(t *testing.T) {
	publisher, ctx := begin(t)
	if err := publisher.Publish(ctx, "order-1"); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("told %v", err)
	}
	var denied struct {
		Decisions []struct{ Principal string } `json:"decisions"`
	}
	ask(t, "GET", "/decisions?allowed=false&logged=true", nil, &denied)
	if len(denied.Decisions) == 0 || denied.Decisions[0].Principal != "User:shop" {
		t.Errorf("denied were %v", denied)
	}
	expectStored(t, 0)
}

func TestAGrantThatIsLostInMidStreamLosesNoOrder(t *testing.T) {
	publisher, ctx := begin(t)
	allow(t)
	ask(t, "POST", "/faults", object{
		"action":  object{"revoke": []object{mayWrite}},
		"match":   object{"api": "Produce"},
		"trigger": object{"on_call": 3},
	}, nil)
	left, err := publisher.PublishAll(ctx, []string{"order-1", "order-2", "order-3", "order-4"})
	check(t, err)
	if !slices.Equal(left, []string{"order-3", "order-4"}) {
		t.Errorf("left are %v", left)
	}
	expectStored(t, 2)
}

func TestAnAnswerThatIsLostStoresNoOrderTwice(t *testing.T) {
	publisher, ctx := begin(t)
	allow(t)
	ask(t, "POST", "/faults", object{
		"action": object{"disconnect": "after"},
		"match":  object{"api": "Produce"},
	}, nil)
	check(t, publisher.Publish(ctx, "order-1"))
	expectStored(t, 1)
}
