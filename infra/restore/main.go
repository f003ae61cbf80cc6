// Command restore makes items of the service's table what they were in another table, which AWS has restored from an earlier time: see docs/backup.md. It says what
// differs, and with -write changes it.
//
// usage: restore [-write] -only PREFIX[,PREFIX...]|-all FROM TABLE
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/store/dynamodb/table"
)

func main() {
	write := flag.Bool("write", false, "change the table")
	only := flag.String("only", "", "beginnings of the partition keys to restore, such as request/ID or key/, between commas")
	all := flag.Bool("all", false, "restore the whole table, while nobody uses it")
	flag.Parse()
	prefixes := strings.Split(*only, ",")
	if flag.NArg() != 2 || *all != (*only == "") || !*all && slices.Contains(prefixes, "") { // every key begins with ""
		fmt.Fprintln(os.Stderr, "usage: restore [-write] -only PREFIX[,PREFIX...]|-all FROM TABLE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	configured, err := config.LoadDefaultConfig(ctx)
	if err == nil {
		r := restorer{tables: client.NewFromConfig(configured), from: flag.Arg(0), into: flag.Arg(1), prefixes: prefixes, write: *write, now: time.Now()}
		err = r.restore(ctx)
		fmt.Printf("%d items to put, %d to delete, %d the same.\n", r.put, r.deleted, r.same)
		if err == nil && !*write && r.put+r.deleted > 0 {
			fmt.Println("Nothing was changed: -write does it.")
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "restore:", err)
		os.Exit(1)
	}
}

type item = map[string]types.AttributeValue

// restorer restores items of the table into, as they are in the table from.
type restorer struct {
	tables     *client.Client
	from, into string
	prefixes   []string // of partition keys
	write      bool
	now        time.Time

	put, deleted, same int // numbers of items
}

// restore makes the items with the prefixes the same in both tables. Items whose time to live is over stay away. Ended halfway, it can be called again.
func (r *restorer) restore(ctx context.Context) error {
	if r.from == r.into {
		return errors.New("both tables are the same")
	}
	err := r.compare(ctx, r.from, r.into, func(i, there item) *types.WriteRequest {
		switch {
		case reflect.DeepEqual(i, there):
			r.same++
			return nil
		case r.expired(i):
			return nil
		default:
			r.put++
			return &types.WriteRequest{PutRequest: &types.PutRequest{Item: i}}
		}
	})
	if err != nil {
		return err
	}
	return r.compare(ctx, r.into, r.from, func(i, there item) *types.WriteRequest {
		if there != nil {
			return nil
		}
		r.deleted++
		return &types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: keyOf(i)}}
	})
}

// most is the largest number of items in a call that gets them.
const most = 100

// compare calls change with each item of a table and the same key's item in another table, which may be nil. It does the writes that change returns.
func (r *restorer) compare(ctx context.Context, one, other string, change func(i, there item) *types.WriteRequest) error {
	pages := client.NewScanPaginator(r.tables, &client.ScanInput{TableName: &one, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		chosen := slices.DeleteFunc(page.Items, func(i item) bool {
			return !slices.ContainsFunc(r.prefixes, func(prefix string) bool { return strings.HasPrefix(text(i, table.PartitionKey), prefix) })
		})
		for some := range slices.Chunk(chosen, most) {
			there, err := r.get(ctx, other, some)
			if err != nil {
				return err
			}
			var writes []types.WriteRequest
			for _, i := range some {
				if w := change(i, there[nameOf(i)]); w != nil {
					writes = append(writes, *w)
				}
			}
			if err := r.do(ctx, writes); err != nil {
				return err
			}
		}
	}
	return nil
}

// get returns a table's items with the keys of the given ones, by their names.
func (r *restorer) get(ctx context.Context, table string, of []item) (map[string]item, error) {
	var keys []item
	for _, i := range of {
		keys = append(keys, keyOf(i))
	}
	found := map[string]item{}
	for asked := map[string]types.KeysAndAttributes{table: {Keys: keys, ConsistentRead: aws.Bool(true)}}; len(asked) > 0; {
		out, err := r.tables.BatchGetItem(ctx, &client.BatchGetItemInput{RequestItems: asked})
		if err != nil {
			return nil, err
		}
		for _, i := range out.Responses[table] {
			found[nameOf(i)] = i
		}
		asked = out.UnprocessedKeys
	}
	return found, nil
}

// mostWrites is the largest number of items in a call that writes them.
const mostWrites = 25

// do does the writes, if the operator wants that.
func (r *restorer) do(ctx context.Context, writes []types.WriteRequest) error {
	if !r.write {
		return nil
	}
	for some := range slices.Chunk(writes, mostWrites) {
		for left := map[string][]types.WriteRequest{r.into: some}; len(left) > 0; {
			out, err := r.tables.BatchWriteItem(ctx, &client.BatchWriteItemInput{RequestItems: left})
			if err != nil {
				return err
			}
			left = out.UnprocessedItems
		}
	}
	return nil
}

// expired reports whether the item's time to live is over, so that AWS deletes it.
func (r *restorer) expired(i item) bool {
	end, ok := i[table.TimeToLive].(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	seconds, err := strconv.ParseInt(end.Value, 10, 64)
	return err == nil && seconds < r.now.Unix()
}

func keyOf(i item) item {
	return item{table.PartitionKey: i[table.PartitionKey], table.SortKey: i[table.SortKey]}
}

// nameOf returns a text that only the item with this key has.
func nameOf(i item) string {
	return strconv.Quote(text(i, table.PartitionKey)) + text(i, table.SortKey)
}

func text(i item, name string) string {
	value, _ := i[name].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}
