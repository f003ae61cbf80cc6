package dynamodb

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// found is an item of the index: its sort key and its id.
type found struct{ sort, id string }

// collect returns what a query of the index finds.
func (s *Store) collect(ctx context.Context, limit int, in *dynamodb.QueryInput) ([]found, error) {
	in.ProjectionExpression = aws.String("#" + table.OpenSort + ", #id")
	return table.Many(ctx, s.table, limit, in, table.Decoder(func(f *found) table.Fields { return table.Fields{table.OpenSort: &f.sort, "id": &f.id} }))
}

// ListByStatus reads the index from the newest request to the oldest.
func (s requests) ListByStatus(ctx context.Context, q lipsync.StatusQuery) (page []lipsync.Request, total int, err error) {
	if q.Count == 0 {
		return nil, 0, nil
	}
	all, err := s.newest(ctx, statusQueries(queue.Owner{Account: q.Account, Kind: q.Kind}, q.Status, q.ReferenceID), behindAll, q.Count)
	if err != nil {
		return nil, 0, err
	}
	page, err = s.firstOf(ctx, all[min(q.Offset, len(all)):], q.Status, q.Limit)
	return page, len(all), err
}

// statusFrom is ListFrom for requests with one status. A place is the sort key of the last item of the index that was read.
func (s requests) statusFrom(ctx context.Context, q lipsync.PlaceQuery) (page []lipsync.Request, next string, err error) {
	if q.Place != "" && !isAge(q.Place) {
		return nil, "", failure.New(failure.Invalid, "no place of a list")
	}
	for next = cmp.Or(q.Place, behindAll); len(page) < q.Limit; {
		most := q.Limit - len(page)
		all, err := s.newest(ctx, statusQueries(queue.Owner{Account: q.Account, Kind: q.Kind}, q.Status, q.ReferenceID), next, most+1)
		if err != nil {
			return nil, "", err
		}
		more, err := s.firstOf(ctx, all[:min(most, len(all))], q.Status, most)
		if err != nil {
			return nil, "", err
		}
		page = append(page, more...)
		if len(all) <= most {
			return page, "", nil
		}
		next = all[most-1].sort
	}
	return page, next, nil
}

// firstOf returns the first requests, limit at most, of those that the index has and that still
// have the status.
func (s requests) firstOf(ctx context.Context, all []found, status lipsync.Status, limit int) (page []lipsync.Request, err error) {
	for len(all) > 0 && len(page) < limit {
		var ids []string
		for _, f := range all[:min(limit-len(page), len(all))] {
			ids = append(ids, f.id)
		}
		list, err := s.requests(ctx, ids)
		if err != nil {
			return nil, err
		}
		page = append(page, slices.DeleteFunc(list, func(r lipsync.Request) bool { return r.State() != status })...)
		all = all[len(ids):]
	}
	return page, nil
}

const (
	// behindAll sorts after all places, since these begin with digits.
	behindAll = "~"
	// spread is the number of items that a query reads beyond its share. Of the newest 1000
	// requests a shard has 250 on average, with a standard deviation of 14, since ids are random.
	spread = 25
)

// newest returns the newest of all items that the queries find before a place, newest first, but no
// more than most. In each round, a query reads an equal share of the items that are still missing,
// and spread more, but never more than are missing.
func (s *Store) newest(ctx context.Context, queries []*dynamodb.QueryInput, from string, most int) (all []found, err error) {
	for _, in := range queries {
		in.KeyConditionExpression = aws.String("#open = :open AND #openAt < :from")
		in.ExpressionAttributeValues[":from"], in.ScanIndexForward = table.Text(from), aws.Bool(false)
	}
	for read := []found(nil); ; {
		rest := most - len(all)
		pages, ask := make([][]found, len(queries)), min(rest, rest/len(queries)+spread)
		if err := table.Together(len(queries), func(i int) (err error) {
			pages[i], err = s.collect(ctx, ask, queries[i])
			return err
		}); err != nil {
			return nil, err
		}
		read = append(read, slices.Concat(pages...)...)
		slices.SortFunc(read, func(a, b found) int { return cmp.Compare(b.sort, a.sort) })
		known := "" // all places down to this one are known
		var more []*dynamodb.QueryInput
		for i, page := range pages {
			if len(page) == ask {
				last := page[ask-1].sort
				queries[i].ExpressionAttributeValues[":from"] = table.Text(last)
				known, more = max(known, last), append(more, queries[i])
			}
		}
		for len(read) > 0 && read[0].sort >= known && len(all) < most {
			all, read = append(all, read[0]), read[1:]
		}
		if queries = more; len(queries) == 0 || len(all) == most {
			return all, nil
		}
	}
}

// statusQueries returns the queries for the owner's requests with one status. Final requests are
// also in a partition of their reference id; open ones are not.
func statusQueries(of queue.Owner, status lipsync.Status, referenceID string) (all []*dynamodb.QueryInput) {
	if referenceID != "" && status.Final() {
		return []*dynamodb.QueryInput{table.InPartition(withStatus(of, referenceID, status))}
	}
	for n := range statusShards {
		in := table.InPartition(table.Shard(withStatus(of, "", status), n))
		if referenceID != "" {
			in.FilterExpression = aws.String("#referenceID = :reference")
			in.ExpressionAttributeValues[":reference"] = table.Text(referenceID)
		}
		all = append(all, in)
	}
	return all
}

// openQueries returns the queries for the owner's open requests.
func openQueries(of queue.Owner) []*dynamodb.QueryInput {
	return append(statusQueries(of, lipsync.Queued, ""), statusQueries(of, lipsync.Processing, "")...)
}

func (s requests) Uses(ctx context.Context, account, object string) (bool, error) {
	var queries []*dynamodb.QueryInput
	for _, kind := range lipsync.Kinds() {
		queries = append(queries, openQueries(queue.Owner{Account: account, Kind: kind})...)
	}
	uses := make([]bool, len(queries))
	err := table.Together(len(queries), func(i int) error {
		in := queries[i]
		in.FilterExpression = aws.String("#videoObject = :object OR #audioObject = :object OR contains(#tracks, :track)")
		in.ExpressionAttributeValues[":object"], in.ExpressionAttributeValues[":track"] = table.Text(object), table.Text(`"object":"`+object+`"`)
		for _, err := range s.table.Query(ctx, 1, in) {
			uses[i] = err == nil
			return err
		}
		return nil
	})
	return slices.Contains(uses, true), err
}
