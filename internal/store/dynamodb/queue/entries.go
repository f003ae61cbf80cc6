package queue

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// These are the partitions of the index that claims read. The first has the entries of waiting
// requests: those of small ones, behind them those of large ones, and then those of neural ones, each by account and kind, and then by time of creation. So one call reaches the next account or
// kind, no matter how many requests wait before it. The second has the entries of held requests by id,
// and after them those of postponed requests by the time when they are due.
const (
	waiting   = "queue"
	held      = "held/by"
	postponed = "until/" // sorts after the entries of held requests
	isHeld    = "held/"
)

// beginOf begins the places of the requests of each class: those of small ones begin with a digest, which sorts before a tilde. The places of a class
// end where those of the next one begin.
var beginOf = map[lipsync.Class]string{lipsync.Small: "", lipsync.Large: "~", lipsync.Neural: "~~"}

// endOf returns a place after all those of the class, and before those of the next one.
func endOf(c lipsync.Class) string { return beginOf[c] + "~" }

// Entry returns the queue entry of a request, the item that has its place in the index. An open
// request has its place in a partition that claims read. A final one has none.
func Entry(r lipsync.Request) table.Item {
	i := table.With(table.Encode(table.Fields{"id": &r.ID, "account": &r.Account, "kind": (*string)(&r.Kind), "class": (*string)(&r.Class), "createdAt": &r.CreatedAt}), EntryKey(r.ID))
	switch {
	case r.Status.Final():
		return i
	case r.Lease != "":
		i["until"] = table.Micros(r.LeaseUntil) // the lease may end later, since a renewal does not change the entry
		return at(i, heldOf(r.ID), isHeld+r.ID)
	case !r.LeaseUntil.IsZero():
		return at(i, heldOf(r.ID), postponed+table.Place(r.LeaseUntil, r.ID))
	default:
		return entry{id: r.ID, owner: OwnerOf(r), class: r.Class, created: r.CreatedAt}.inQueue(i)
	}
}

func at(i table.Item, partition, sort string) table.Item {
	i[table.OpenPartition], i[table.OpenSort] = table.Text(partition), table.Text(sort)
	return i
}

// heldOf returns the partition of the index that has the request's entry while it is held or postponed.
func heldOf(id string) string { return table.Shard(held, table.ShardOf(id, queueShards)) }

// inQueue adds the place of a waiting request to its queue entry.
func (e entry) inQueue(i table.Item) table.Item {
	return at(i, table.Shard(waiting, table.ShardOf(e.id, queueShards)), prefixOf(e.owner, e.class)+e.age())
}

// prefixOf begins the places of an owner's waiting requests of the class.
func prefixOf(of Owner, class lipsync.Class) string {
	return beginOf[class] + of.Digest() + "/"
}

// behind returns a place after all waiting requests of the entry's owner and class.
func behind(e entry) string {
	prefix := prefixOf(e.owner, e.class)
	return prefix[:len(prefix)-1] + "0" // the next character after /
}

// entry is a queue entry as the index has it.
type entry struct {
	id      string
	owner   Owner
	class   lipsync.Class
	created time.Time
	until   time.Time // for a held request: its lease ends then or later
	place   string
}

// readEntries returns up to limit entries that a query of the index finds.
func (q *Queue) readEntries(ctx context.Context, limit int, in *dynamodb.QueryInput) (all []entry, err error) {
	var e entry
	fields := table.Fields{"id": &e.id, "account": &e.owner.Account, "kind": (*string)(&e.owner.Kind), "class": (*string)(&e.class), "createdAt": &e.created, "until": &e.until, table.OpenSort: &e.place}
	for i, err := range q.table.Query(ctx, limit, in) {
		e = entry{}
		if err == nil {
			err = table.Decode(i, fields)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// inQueue returns the query for the entries of a shard's waiting requests between two places.
func inQueue(n int, from, to string) *dynamodb.QueryInput {
	return table.InIndex(table.Shard(waiting, n), "BETWEEN :from AND :to", table.Item{":from": table.Text(from + " "), ":to": table.Text(to)}) // no attribute of a key may be ""
}

// heldAt returns the query for the entries of a shard's postponed requests that are due at now, and
// after them those of held requests.
func heldAt(n int, now time.Time) *dynamodb.QueryInput {
	in := table.InIndex(table.Shard(held, n), "< :later", table.Item{":later": later(now)})
	in.ScanIndexForward = aws.Bool(false)
	return in
}

// heldIn returns the query for the entries of a shard's held requests.
func heldIn(n int) *dynamodb.QueryInput {
	return table.InIndex(table.Shard(held, n), "< :off", table.Item{":off": table.Text(postponed)})
}

// dueAt returns the query for the entries of a shard's postponed requests that are due at now.
func dueAt(n int, now time.Time) *dynamodb.QueryInput {
	in := table.InIndex(table.Shard(held, n), "BETWEEN :off AND :later", table.Item{":off": table.Text(postponed), ":later": later(now)})
	in.ScanIndexForward = aws.Bool(false)
	return in
}

// later returns a place behind the postponed requests that are due at now.
func later(now time.Time) types.AttributeValue {
	return table.Text(postponed + table.Padded(now.UnixMicro()+1))
}

// leases returns the ends of the requests' leases, by request id. Requests without a lease are left
// out.
func (q *Queue) leases(ctx context.Context, all []entry) (map[string]time.Time, error) {
	items, err := q.table.GetAll(ctx, table.KeysOf(all, func(e entry) table.Item { return LeaseKey(e.id) }))
	if err != nil {
		return nil, err
	}
	ends := make(map[string]time.Time)
	for n, i := range items {
		var until time.Time
		if err := table.Decode(i, table.Fields{"until": &until}); err != nil {
			return nil, err
		}
		if i != nil {
			ends[all[n].id] = until
		}
	}
	return ends, nil
}

// IsQueued reports whether an entry is in the queue, so that its request waits.
func IsQueued(i table.Item) bool {
	var partition string
	_ = table.Decode(i, table.Fields{table.OpenPartition: &partition}) // a string in every item
	return strings.HasPrefix(partition, waiting)
}
