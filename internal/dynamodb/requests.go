package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/lipsync"
)

// requests implements lipsync.Requests.
type requests struct{ *Store }

// stored is a request as the table keeps it. It is one partition of up to three items:
//   - the request, which is in the index by its status
//   - its lease with the progress, while somebody holds it; that is in no index, so that a
//     renewal or a report is one write of a small item
//   - its turn, which is in the index where claims look: see turn
type stored struct {
	lipsync.Request
	version                 int64  // grows with every change, except of the lease
	bucket, referenceBucket int64  // of its lists, where it is or behind which; the first is inOlder if an older version listed it
	details                 string // of Failure, as encode and decode have them
	sentence                string // of Failure, for versions of the service that know no codes

	// What older versions wrote, and only they.
	seq, referenceSeq int64 // places in the lists
	heldByOlder       bool  // the lease is an attribute of the request
	openPartition     string

	queued bool // the turn is in the queue
}

// fields are those that the request's own item has, except holder and leaseUntil.
func (r *stored) fields() []field {
	return []field{
		{"id", &r.ID}, {"account", &r.Account}, {"keyID", &r.KeyID}, {"referenceID", &r.ReferenceID},
		{"status", (*string)(&r.Status)}, {"version", &r.version}, {"bucket", &r.bucket}, {"referenceBucket", &r.referenceBucket},
		{"videoURL", &r.Video.URL}, {"videoObject", &r.Video.Object}, {"videoName", &r.Video.Name}, {"audioName", &r.Audio.Name},
		{"audioURL", &r.Audio.URL}, {"audioObject", &r.Audio.Object}, {"largestFace", &r.LargestFace}, {"engine", &r.Engine},
		{"createdAt", &r.CreatedAt}, {"startedAt", &r.StartedAt}, {"finishedAt", &r.FinishedAt},
		{"output", &r.Output}, {"length", &r.Length}, {"size", &r.Size}, {"mediaDeletedAt", &r.MediaDeletedAt},
		{"failure", (*string)(&r.Failure.Code)}, {"failureDetails", &r.details}, {"error", &r.sentence},
		{"claims", &r.Claims}, {"attempts", &r.Attempts}, {"delays", &r.Delays}, {"missingSince", &r.MissingSince},
		{"delayedSince", &r.UnreachableSince}, // by this name older versions kept the first delay of any kind
		{"failingSince", &r.FailingSince}, {"fetching", &r.Fetching},
		{"videoLength", &r.VideoLength}, {"audioLength", &r.AudioLength},
	}
}

// progress are the fields of the lease that a report sets.
func (r *stored) progress() []field {
	p := &r.Progress
	return []field{{"stage", (*string)(&p.Stage)}, {"percent", &p.Percent}, {"ends", &p.Ends}}
}

func requestKey(id string) item { return key("request/"+id, "request") }
func leaseKey(id string) item   { return key("request/"+id, "lease") }
func turnKey(id string) item    { return key("request/"+id, "turn") }

// neverForOlder is the end of a lease for older versions, which don't know of its item.
var neverForOlder = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// withStatus is the partition of the index that has what is of one status in the
// list of an account or reference id.
func withStatus(account, referenceID string, status lipsync.Status) string {
	return list(account, referenceID) + "/" + string(status)
}

// age is the place of the request among those of one status: by time of creation.
func (r *stored) age() string { return padded(r.CreatedAt.UnixMicro()) + "/" + r.ID }

// item returns the request's own item.
func (r stored) item() item {
	r.details, r.sentence = r.Failure.Text(), r.Failure.Sentence()
	i := with(encode(r.fields()), requestKey(r.ID))
	until := r.LeaseUntil
	if r.Lease != "" {
		i["holder"], until = text(r.Lease), neverForOlder
	}
	if !until.IsZero() {
		i["leaseUntil"] = micros(until)
	}
	i[OpenPartition] = text(shard(withStatus(r.Account, "", r.Status), shardOf(r.ID, statusShards)))
	i[OpenSort] = text(r.age())
	return i
}

// leaseItem returns the item of the lease, nil if nobody holds the request.
func (r *stored) leaseItem() item {
	if r.Lease == "" {
		return nil
	}
	i := encode([]field{{"token", &r.Lease}, {"until", &r.LeaseUntil}})
	return with(with(i, encode(r.progress())), leaseKey(r.ID))
}

// decodeRequest reads a request's own item, and its lease if there is one.
func decodeRequest(i, lease item) (r stored, err error) {
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
	if err == nil {
		err = r.decodeLease(i, lease)
	}
	if err == nil {
		err = decode(i, []field{{"seq", &r.seq}, {"referenceSeq", &r.referenceSeq}, {OpenPartition, &r.openPartition}})
	}
	return r, err
}

// decodeLease reads who holds the request, and until when nobody else may.
func (r *stored) decodeLease(i, lease item) error {
	var holder, token string
	err := decode(i, []field{{"holder", &holder}, {"lease", &r.Lease}, {"leaseUntil", &r.LeaseUntil}})
	if err != nil || holder == "" || r.Lease != "" {
		if r.heldByOlder = r.Lease != ""; r.heldByOlder && err == nil {
			err = decode(i, r.progress())
		}
		return err
	}
	r.Lease, r.LeaseUntil = holder, time.Time{}
	if err := decode(lease, []field{{"token", &token}}); err != nil || token != holder {
		return err
	}
	return decode(lease, append(r.progress(), field{"until", &r.LeaseUntil}))
}

// inOlder is the bucket of a request that an older version put into its lists.
const inOlder = -1

// older reports whether the request is kept as older versions did.
func (r *stored) older() bool {
	return r.seq > 0 || r.heldByOlder || r.openPartition == olderOpen || r.openPartition == olderHeld
}

// onlyEngine is the engine of requests from before there was a choice.
const onlyEngine = "warp"

// torn is how often a request is read that seems to have been changed meanwhile.
const torn = 5

// request returns the request with its lease.
func (s *Store) request(ctx context.Context, id string) (r stored, err error) {
	for range torn {
		items := make(map[string]item)
		for i, err := range s.query(ctx, maxBatch, &dynamodb.QueryInput{
			KeyConditionExpression:    aws.String("#pk = :request"),
			ExpressionAttributeValues: item{":request": requestKey(id)[PartitionKey]},
			ConsistentRead:            aws.Bool(true),
		}) {
			var sort string
			if err == nil {
				err = decode(i, []field{{SortKey, &sort}})
			}
			if err != nil {
				return stored{}, err
			}
			items[sort] = i
		}
		if items["request"] == nil {
			return stored{}, notFound()
		}
		r, err = decodeRequest(items["request"], items["lease"])
		r.queued = isQueued(items["turn"])
		if err != nil || r.Lease == "" || !r.LeaseUntil.IsZero() {
			return r, err
		}
		// The items are of different times: its lease ended, or began, between them.
	}
	return r, nil
}

// ByID implements lipsync.Requests.
func (s requests) ByID(ctx context.Context, id string) (lipsync.Request, error) {
	r, err := s.request(ctx, id)
	return r.Request, err
}
