package dynamodb

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/lipsync"
)

// requests implements lipsync.Requests.
type requests struct{ *Store }

// stored is a request as the table stores it: one partition of up to three items.
//   - The request. It is in the index by its status.
//   - Its lease with the progress, while a worker holds it. This item is in no index, so that a
//     renewal or a report is one write of a small item.
//   - Its queue entry, which claims read in the index. See entryItem.
type stored struct {
	lipsync.Request
	version                 int64  // grows with every change, except changes of the lease
	bucket, referenceBucket int64  // its lists have it in these buckets or later ones; bucket is inOlder if an older version listed it
	details                 string // of Failure, as text
	options                 string // Options, as text
	tracks                  string // Tracks, as text
	sync                    string // Sync, as text
	targets                 string // Targets, as text
	sentence                string // of Failure, for versions of the service that don't know codes

	// These are written by older versions only.
	seq, referenceSeq int64 // places in the lists
	heldByOlder       bool  // the lease consists of attributes of the request
	openPartition     string

	queued bool // whether the queue entry says that the request waits
}

// fields returns the fields of the request's own item: all except holder and leaseUntil.
func (r *stored) fields() []field {
	return []field{
		{"id", &r.ID}, {"account", &r.Account}, {"keyID", &r.KeyID}, {"referenceID", &r.ReferenceID},
		{"status", (*string)(&r.Status)}, {"version", &r.version}, {"bucket", &r.bucket}, {"referenceBucket", &r.referenceBucket},
		{"videoURL", &r.Video.URL}, {"videoObject", &r.Video.Object}, {"videoName", &r.Video.Name}, {"audioName", &r.Audio.Name},
		{"audioURL", &r.Audio.URL}, {"audioObject", &r.Audio.Object}, {"tracks", &r.tracks}, {"largestFace", &r.LargestFace}, {"engine", &r.Engine}, {"options", &r.options}, {"targets", &r.targets},
		{"createdAt", &r.CreatedAt}, {"startedAt", &r.StartedAt}, {"finishedAt", &r.FinishedAt},
		{"output", &r.Output}, {"poster", &r.Poster}, {"length", &r.Length}, {"size", &r.Size}, {"mediaDeletedAt", &r.MediaDeletedAt},
		{"frames", &r.Frames.Total}, {"syncedFrames", &r.Frames.Synced}, {"warnings", (*string)(&r.Warnings)}, {"sync", &r.sync},
		{"failure", (*string)(&r.Failure.Code)}, {"failureDetails", &r.details}, {"error", &r.sentence},
		{"claims", &r.Claims}, {"attempts", &r.Attempts}, {"delays", &r.Delays}, {"missingSince", &r.MissingSince},
		{"delayedSince", &r.UnreachableSince}, // the name under which older versions stored the first delay of any kind
		{"failingSince", &r.FailingSince}, {"fetching", &r.Fetching},
		{"videoLength", &r.VideoLength}, {"audioLength", &r.AudioLength}, {videoSum, &r.VideoSum},
	}
}

// videoSum is the name of the attribute with the SHA-256 of a request's video.
const videoSum = "videoSum"

// progress returns the fields of the lease that a report of progress sets.
func (r *stored) progress() []field {
	p := &r.Progress
	return []field{{"stage", (*string)(&p.Stage)}, {"percent", &p.Percent}, {"ends", &p.Ends}}
}

// ofRequest is the sort key of a request's own item.
const ofRequest = "request"

func requestKey(id string) item { return key("request/"+id, ofRequest) }
func leaseKey(id string) item   { return key("request/"+id, "lease") }
func entryKey(id string) item   { return key("request/"+id, "turn") }

// neverForOlder is the end of a lease in the request's own item. Older versions read it there, since
// they don't know the lease's own item. So they never take the lease for ended.
var neverForOlder = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// withStatus returns the partition of the index with the requests of one status of an account or
// reference id.
func withStatus(account, referenceID string, status lipsync.Status) string {
	return list(account, referenceID) + "/" + string(status)
}

// age returns the request's place among the requests of one status. Places sort by time of
// creation.
func (r *stored) age() string { return padded(r.CreatedAt.UnixMicro()) + "/" + r.ID }

// item returns the request's own item.
func (r stored) item() item {
	r.details, r.sentence, r.sync = r.Failure.Text(), r.Failure.Sentence(), r.Sync.Text()
	r.options, r.tracks, r.targets = r.Options.Text(), string(r.Tracks), string(r.Targets)
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

// leaseItem returns the item of the lease, or nil if nobody holds the request.
func (r *stored) leaseItem() item {
	if r.Lease == "" {
		return nil
	}
	i := encode([]field{{"token", &r.Lease}, {"until", &r.LeaseUntil}})
	return with(with(i, encode(r.progress())), leaseKey(r.ID))
}

// decodeRequest decodes a request's own item, and its lease if there is one.
func decodeRequest(i, lease item) (r stored, err error) {
	if err := decode(i, r.fields()); err != nil {
		return stored{}, err
	}
	if r.Options, err = lipsync.ParseOptions(r.options); err != nil {
		return stored{}, err
	}
	if r.Tracks, err = lipsync.ParseTracks(r.tracks); err != nil {
		return stored{}, err
	}
	if r.Sync, err = lipsync.ParseSyncScore(r.sync); err != nil {
		return stored{}, err
	}
	if r.Targets, err = lipsync.ParseTargets(r.targets); err != nil {
		return stored{}, err
	}
	r.Failure.Details, err = lipsync.ParseDetails(r.details)
	if r.Failure.Code == "" && r.sentence != "" { // written before codes existed
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

// decodeLease sets the lease and its end, from the lease's item or from the attributes that older
// versions wrote.
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

// inOlder stands for the bucket of a request that an older version listed.
const inOlder = -1

// older reports whether the request is stored in the layout of older versions.
func (r *stored) older() bool {
	return r.seq > 0 || r.heldByOlder || r.openPartition == olderOpen || r.openPartition == olderHeld
}

// onlyEngine is the engine of requests that were made before clients could choose one.
const onlyEngine = "warp"

// maxReads is the most times that a request is read. It is read again if its items do not belong
// together, because it was being changed.
const maxReads = 5

// request returns the request with its lease.
func (s *Store) request(ctx context.Context, id string) (r stored, err error) {
	for range maxReads {
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
		// The items were read at different times: the lease began or ended in between.
	}
	return r, nil
}

// ByID implements lipsync.Requests.
func (s requests) ByID(ctx context.Context, id string) (lipsync.Request, error) {
	r, err := s.request(ctx, id)
	return r.Request, err
}
