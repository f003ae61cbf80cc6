package dynamodb

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/lipsync"
)

// inPartition asks for all of a partition of the index.
func inPartition(partition string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		IndexName:                 aws.String(OpenIndex),
		KeyConditionExpression:    aws.String("#open = :open"),
		ExpressionAttributeValues: item{":open": text(partition)},
	}
}

// found is an item of the index: its place there, and the id that it has.
type found struct{ sort, id string }

// collect returns what a query of the index finds.
func (s *Store) collect(ctx context.Context, limit int, in *dynamodb.QueryInput) (all []found, err error) {
	for i, err := range s.query(ctx, limit, in) {
		var f found
		if err == nil {
			err = decode(i, []field{{OpenSort, &f.sort}, {"id", &f.id}})
		}
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// ByStatus implements lipsync.Requests. The index has them by time of creation; behind
// those it has what older versions made, by place in the list.
func (s *Store) ByStatus(ctx context.Context, q lipsync.StatusQuery, limit int) ([]lipsync.Request, error) {
	from := "~" // is behind all digits
	if q.Before != "" {
		r, err := s.request(ctx, q.Before)
		if lipsync.CodeOf(err) == lipsync.NotFound || err == nil && r.Account != q.Account {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if from = r.age(); r.seq > 0 {
			from = padded(r.seq)
		}
	}
	var page []lipsync.Request
	for skip := q.Offset; ; {
		most := skip + limit
		found, err := s.foundBefore(ctx, statusQueries(q.Account, q.Status, q.ReferenceID), from, most)
		if err != nil {
			return nil, err
		}
		var ids []string
		for _, f := range found {
			known := func(r lipsync.Request) bool { return r.ID == f.id }
			if from = f.sort; !slices.Contains(ids, f.id) && !slices.ContainsFunc(page, known) {
				ids = append(ids, f.id)
			}
		}
		skipped := min(skip, len(ids))
		skip -= skipped
		list, err := s.requests(ctx, ids[skipped:])
		if err != nil {
			return nil, err
		}
		page = append(page, slices.DeleteFunc(list, func(r lipsync.Request) bool { return r.Status != q.Status })...)
		if len(found) < most || len(page) >= limit { // else the index lags: some have another status by now
			return page[:min(len(page), limit)], nil
		}
	}
}

// foundBefore returns the last of what is before a place, of what all queries find: limit at
// most, the last one first.
func (s *Store) foundBefore(ctx context.Context, queries []*dynamodb.QueryInput, from string, limit int) ([]found, error) {
	pages := make([][]found, len(queries))
	err := together(len(queries), func(i int) (err error) {
		in := queries[i]
		in.KeyConditionExpression = aws.String("#open = :open AND #openAt < :from")
		in.ExpressionAttributeValues[":from"], in.ScanIndexForward = text(from), aws.Bool(false)
		pages[i], err = s.collect(ctx, limit, in)
		return err
	})
	all := slices.Concat(pages...)
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.sort, a.sort) })
	return all[:min(len(all), limit)], err
}

// statusQueries ask for the account's requests of one status. What is final is also in a
// partition of its reference id, and what is open is not, except for what older versions made.
func statusQueries(account string, status lipsync.Status, referenceID string) (all []*dynamodb.QueryInput) {
	if referenceID != "" {
		all = append(all, inPartition(withStatus(account, referenceID, status)))
	}
	if referenceID != "" && status.Final() {
		return all
	}
	for n := range statusShards {
		in := inPartition(shard(withStatus(account, "", status), n))
		if referenceID != "" {
			in.FilterExpression = aws.String("#referenceID = :reference")
			in.ExpressionAttributeValues[":reference"] = text(referenceID)
		}
		all = append(all, in)
	}
	return all
}

// openQueries ask for the account's open requests.
func openQueries(account string) []*dynamodb.QueryInput {
	return append(statusQueries(account, lipsync.Queued, ""), statusQueries(account, lipsync.Processing, "")...)
}

// CountByStatus implements lipsync.Requests.
func (s *Store) CountByStatus(ctx context.Context, q lipsync.StatusQuery, limit int) (int, error) {
	n, err := s.countAll(ctx, statusQueries(q.Account, q.Status, q.ReferenceID), limit)
	return int(min(n, int64(limit))), err
}

// countAll returns how many items the queries of the index find, each up to a number.
func (s *Store) countAll(ctx context.Context, queries []*dynamodb.QueryInput, most int) (n int64, err error) {
	counts := make([]int64, len(queries))
	err = together(len(queries), func(i int) error {
		in := queries[i]
		in.TableName, in.Select, in.Limit = &s.table, types.SelectCount, aws.Int32(int32(most))
		in.ExpressionAttributeNames = names(*in.KeyConditionExpression, aws.ToString(in.FilterExpression))
		for pages := dynamodb.NewQueryPaginator(s.client, in); pages.HasMorePages() && counts[i] < int64(most); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return s.explain(err)
			}
			counts[i] += int64(page.Count)
		}
		return nil
	})
	for _, c := range counts {
		n += c
	}
	return n, err
}

// Uses implements lipsync.Requests.
func (s *Store) Uses(ctx context.Context, account, object string) (bool, error) {
	queries := openQueries(account)
	uses := make([]bool, len(queries))
	err := together(len(queries), func(i int) error {
		in := queries[i]
		in.FilterExpression = aws.String("#videoObject = :object OR #audioObject = :object")
		in.ExpressionAttributeValues[":object"] = text(object)
		for _, err := range s.query(ctx, 1, in) {
			uses[i] = err == nil
			return err
		}
		return nil
	})
	return slices.Contains(uses, true), err
}
