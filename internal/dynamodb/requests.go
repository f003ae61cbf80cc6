package dynamodb

import (
	"context"
	"iter"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

// stored is a request as the table keeps it: once by its id, and in the list of
// its account, and of its account and reference id if it has one, without the
// lease. Beside it is its turn. So a list takes only a Query, and a renewed lease one write.
type stored struct {
	lipsync.Request
	referenceSeq int64  // 1, 2, … within account and reference id; 0 without one
	version      int64  // grows with every change
	details      string // of Failure, as encode and decode have them
	sentence     string // of Failure, for versions of the service that know no codes
}

// listed are the fields that the lists have too.
func (r *stored) listed() []field {
	return []field{
		{"id", &r.ID}, {"account", &r.Account}, {"keyID", &r.KeyID}, {"referenceID", &r.ReferenceID},
		{"seq", &r.Seq}, {"status", (*string)(&r.Status)},
		{"videoURL", &r.Video.URL}, {"videoObject", &r.Video.Object},
		{"audioURL", &r.Audio.URL}, {"audioObject", &r.Audio.Object}, {"largestFace", &r.LargestFace}, {"engine", &r.Engine},
		{"createdAt", &r.CreatedAt}, {"startedAt", &r.StartedAt}, {"finishedAt", &r.FinishedAt},
		{"output", &r.Output}, {"length", &r.Length}, {"size", &r.Size}, {"mediaDeletedAt", &r.MediaDeletedAt},
		{"failure", (*string)(&r.Failure.Code)}, {"failureDetails", &r.details}, {"error", &r.sentence},
	}
}

// progress are the fields that a report sets.
func (r *stored) progress() []field {
	p := &r.Progress
	return []field{{"stage", (*string)(&p.Stage)}, {"percent", &p.Percent}, {"ends", &p.Ends}}
}

func (r *stored) fields() []field {
	return append(append(r.listed(), r.progress()...),
		field{"referenceSeq", &r.referenceSeq}, field{"version", &r.version},
		field{"claims", &r.Claims}, field{"attempts", &r.Attempts},
		field{"delays", &r.Delays}, field{"missingSince", &r.MissingSince},
		field{"delayedSince", &r.UnreachableSince}, // by this name older versions kept the first delay of any kind
		field{"failingSince", &r.FailingSince}, field{"fetching", &r.Fetching},
		field{"videoLength", &r.VideoLength}, field{"audioLength", &r.AudioLength},
		field{"lease", &r.Lease}, field{"leaseUntil", &r.LeaseUntil})
}

func requestKey(id string) item { return key("request/"+id, "request") }

// list is the partition of an account's list, or for a reference id of that
// one's. It has an entry by each sequence number, and how many there are.
func list(account, referenceID string) string {
	if referenceID == "" {
		return "account/" + digest(account)
	}
	return "account/" + digest(account) + "/reference/" + digest(referenceID)
}

func counterKey(account, referenceID string) item { return key(list(account, referenceID), "total") }

// The partitions of the index that have what is not final: what may be claimed at once, by
// time of creation; and what has a LeaseUntil. There what somebody holds or held comes first,
// by time of creation, and then what was put off, by the time from which it may be claimed.
// The oldest versions kept all in the first one; later ones had no such time for what was
// put off.
const (
	openRequests = "request"
	heldRequests = "held"
	putOff       = "until/" // is before the time; what is held begins with a digit
)

// withStatus is the partition of the index that has what is of one status in the
// list of an account or reference id.
func withStatus(account, referenceID string, status lipsync.Status) string {
	return list(account, referenceID) + "/" + string(status)
}

// items returns the request by its id, its turn, and then the request as the lists have it.
func (r stored) items() []item {
	r.details, r.sentence = r.Failure.Text(), r.Failure.Sentence()
	byID := with(encode(r.fields()), requestKey(r.ID))
	if !r.Status.Final() {
		partition, sort := openRequests, padded(r.CreatedAt.UnixMicro())
		switch {
		case r.Lease != "":
			partition = heldRequests
		case !r.LeaseUntil.IsZero():
			partition, sort = heldRequests, putOff+padded(r.LeaseUntil.UnixMicro())
		}
		byID[OpenPartition], byID[OpenSort] = text(partition), text(sort+"/"+r.ID)
	}
	all := []item{byID, r.turn(), r.entry("", r.Seq)}
	if r.ReferenceID != "" {
		all = append(all, r.entry(r.ReferenceID, r.referenceSeq))
	}
	return all
}

// entry returns the request as it is at the place in a list.
func (r *stored) entry(referenceID string, place int64) item {
	i := with(encode(r.listed()), key(list(r.Account, referenceID), padded(place)))
	i[OpenPartition], i[OpenSort] = text(withStatus(r.Account, referenceID, r.Status)), text(padded(r.Seq))
	return i
}

func decodeRequest(i item) (r stored, err error) {
	if err := decode(i, r.fields()); err != nil {
		return stored{}, err
	}
	r.Failure.Details, err = lipsync.ParseDetails(r.details)
	if r.Failure.Code == "" && r.sentence != "" { // from before there were codes
		r.Failure = lipsync.ParseFailure(r.sentence)
	}
	if r.Engine == "" {
		r.Engine = onlyEngine
	}
	return r, err
}

// onlyEngine is the engine of requests from before there was a choice.
const onlyEngine = "warp"

func (s *Store) request(ctx context.Context, id string) (stored, error) {
	i, err := s.get(ctx, requestKey(id))
	if err != nil {
		return stored{}, err
	}
	return decodeRequest(i)
}

// Get implements lipsync.Requests.
func (s *Store) Get(ctx context.Context, id string) (lipsync.Request, error) {
	r, err := s.request(ctx, id)
	return r.Request, err
}

// Latest implements lipsync.Requests.
func (s *Store) Latest(ctx context.Context, account, referenceID string) (lipsync.Request, error) {
	if referenceID == "" {
		return lipsync.Request{}, notFound()
	}
	newest, err := s.page(ctx, list(account, referenceID), 1, math.MaxInt64, 1)
	if err != nil {
		return lipsync.Request{}, err
	}
	if len(newest) == 0 {
		return lipsync.Request{}, notFound()
	}
	return newest[0], nil
}

// List implements lipsync.Requests. The total tells which sequence numbers are
// on the page.
func (s *Store) List(ctx context.Context, account, referenceID string, offset int64, limit int) ([]lipsync.Request, int64, error) {
	i, err := s.get(ctx, counterKey(account, referenceID))
	if lipsync.CodeOf(err) == lipsync.NotFound {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	var total int64
	if err := decode(i, []field{{"total", &total}}); err != nil || offset >= total {
		return nil, total, err
	}
	last := total - offset
	page, err := s.page(ctx, list(account, referenceID), max(1, last-int64(limit)+1), last, limit)
	return page, total, err
}

// ByStatus implements lipsync.Requests.
func (s *Store) ByStatus(ctx context.Context, account string, status lipsync.Status, referenceID string, before int64, limit int) ([]lipsync.Request, error) {
	return decodeRequests(s.query(ctx, limit, &dynamodb.QueryInput{
		IndexName:              aws.String(OpenIndex),
		KeyConditionExpression: aws.String("#open = :list AND #openAt < :before"),
		ExpressionAttributeValues: item{
			":list": text(withStatus(account, referenceID, status)), ":before": text(padded(before)),
		},
		ScanIndexForward: aws.Bool(false),
	}))
}

// page returns a list's entries with sequence numbers from first to last, newest
// first, at most limit of them.
func (s *Store) page(ctx context.Context, list string, first, last int64, limit int) ([]lipsync.Request, error) {
	return decodeRequests(s.query(ctx, limit, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("#pk = :list AND #sk BETWEEN :first AND :last"),
		ExpressionAttributeValues: item{
			":list": text(list), ":first": text(padded(first)), ":last": text(padded(last)),
		},
		ConsistentRead: aws.Bool(true), ScanIndexForward: aws.Bool(false),
	}))
}

func decodeRequests(items iter.Seq2[item, error]) ([]lipsync.Request, error) {
	var all []lipsync.Request
	for i, err := range items {
		if err != nil {
			return nil, err
		}
		r, err := decodeRequest(i)
		if err != nil {
			return nil, err
		}
		all = append(all, r.Request)
	}
	return all, nil
}
