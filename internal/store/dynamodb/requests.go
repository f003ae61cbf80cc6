package dynamodb

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

type requests struct{ *Store }

// stored is a request as the table stores it: one partition of up to three items.
//   - The request. It is in the index by its status.
//   - Its lease with the progress, while a worker holds it. This item is in no index, so that a
//     renewal or a report is one write of a small item.
//   - Its queue entry, which claims read in the index. See entryItem.
type stored struct {
	lipsync.Request
	keep                    time.Duration // for which the record is kept after the end of the request
	version                 int64         // grows with every change, except changes of the lease
	bucket, referenceBucket int64         // its lists have it in these buckets or later ones
	details                 string        // of Failure, as text
	options                 string        // Options, as text
	tracks                  string        // Tracks, as text
	sync                    string        // Sync, as text
	unsynced                string        // Unsynced, as text
	targets                 string        // Targets, as text
	queued                  bool          // whether the queue entry says that the request waits
}

// fields returns the fields of the request's own item: all except holder and leaseUntil.
func (r *stored) fields() table.Fields {
	return table.Fields{
		"id": &r.ID, "account": &r.Account, "kind": (*string)(&r.Kind), "keyID": &r.KeyID, "callID": &r.CallID, "referenceID": &r.ReferenceID,
		"status": (*string)(&r.Status), "class": (*string)(&r.Class), "version": &r.version, "bucket": &r.bucket, "referenceBucket": &r.referenceBucket,
		"videoURL": &r.Video.URL, "videoObject": &r.Video.Object, "videoName": &r.Video.Name, "audioName": &r.Audio.Name,
		"audioURL": &r.Audio.URL, "audioObject": &r.Audio.Object, "tracks": &r.tracks, "largestFace": &r.LargestFace, "engine": &r.Engine,
		"options": &r.options, "fileName": (*string)(&r.Options.Output.FileName), "targets": &r.targets,
		"createdAt": &r.CreatedAt, "startedAt": &r.StartedAt, "finishedAt": &r.FinishedAt,
		"output": &r.Output, "poster": &r.Poster, "length": &r.Length, "size": &r.Size, "mediaDeletedAt": &r.MediaDeletedAt,
		"frames": &r.Frames.Total, "syncedFrames": &r.Frames.Synced, "unsynced": &r.unsynced, "warnings": (*string)(&r.Warnings), "sync": &r.sync,
		"failure": (*string)(&r.Failure.Code), "failureDetails": &r.details,
		"claims": &r.Claims, "attempts": &r.Attempts, "delays": &r.Delays, "missingSince": &r.MissingSince,
		"unreachableSince": &r.UnreachableSince, "failingSince": &r.FailingSince, "fetching": &r.Fetching,
		"videoLength": &r.VideoLength, "audioLength": &r.AudioLength, videoSum: &r.VideoSum, "keep": &r.keep,
	}
}

// videoSum is the name of the attribute with the SHA-256 of a request's video.
const videoSum = "videoSum"

// progress returns the fields of the lease that a report of progress sets.
func (r *stored) progress() table.Fields {
	p := &r.Progress
	return table.Fields{"stage": (*string)(&p.Stage), "percent": &p.Percent, "ends": &p.Ends}
}

// ofRequest is the sort key of a request's own item.
const ofRequest = "request"

func requestKey(id string) table.Item { return table.Key("request/"+id, ofRequest) }

// withStatus returns the partition of the index with the requests of one status of an owner or
// reference id.
func withStatus(of queue.Owner, referenceID string, status lipsync.Status) string {
	return list(of, referenceID) + "/" + string(status)
}

// age returns the request's place among the requests of one status. Places sort by time of
// creation.
func (r *stored) age() string { return table.Place(r.CreatedAt, r.ID) }

// isAge reports whether age may have made the text.
func isAge(text string) bool {
	at, id, _ := strings.Cut(text, "/")
	micros, err := strconv.ParseInt(at, 10, 64)
	_, ok := lipsync.ParseID(id)
	return err == nil && table.Padded(micros) == at && ok
}

// item returns the request's own item.
func (r stored) item() table.Item {
	r.details, r.sync, r.unsynced = r.Failure.Text(), r.Sync.Text(), r.Unsynced.Text()
	r.tracks, r.targets = r.Tracks.Text(), r.Targets.Text()
	if r.Options.Unread == nil { // otherwise the text stays as a newer version stored it
		r.options = r.Options.Text()
	}
	i := table.With(table.Encode(r.fields()), requestKey(r.ID))
	if r.Lease != "" {
		i["holder"] = table.Text(r.Lease)
	} else if !r.LeaseUntil.IsZero() {
		i["leaseUntil"] = table.Micros(r.LeaseUntil)
	}
	r.limitLife(i)
	i[table.OpenPartition] = table.Text(table.Shard(withStatus(queue.OwnerOf(r.Request), "", r.State()), table.ShardOf(r.ID, statusShards)))
	i[table.OpenSort] = table.Text(r.age())
	return i
}

// limitLife gives an item of a final request the end of the record as its TimeToLive.
func (r *stored) limitLife(i table.Item) {
	if r.Status.Final() && r.keep > 0 {
		i[table.TimeToLive] = table.Expiry(r.FinishedAt.Add(r.keep))
	}
}

// entryItem returns the queue entry, the item that has the request's place in the index. A final request has it among the requests of
// its reference id; without a reference id, entryItem returns nil.
func (r *stored) entryItem() table.Item {
	i := queue.Entry(r.Request)
	switch {
	case !r.Status.Final():
		return i
	case r.ReferenceID == "":
		return nil
	}
	r.limitLife(i)
	i[table.OpenPartition], i[table.OpenSort] = table.Text(withStatus(queue.OwnerOf(r.Request), r.ReferenceID, r.State())), table.Text(r.age())
	return i
}

// leaseItem returns the item of the lease, or nil if nobody holds the request.
func (r *stored) leaseItem() table.Item {
	if r.Lease == "" {
		return nil
	}
	i := table.Encode(table.Fields{"token": &r.Lease, "until": &r.LeaseUntil})
	return table.With(table.With(i, table.Encode(r.progress())), queue.LeaseKey(r.ID))
}

// decodeRequest decodes a request's own item, and its lease if there is one.
func decodeRequest(i, lease table.Item) (r stored, err error) {
	if err := table.Decode(i, r.fields()); err != nil {
		return stored{}, err
	}
	if r.options != "" { // otherwise it is Listed, or has the defaults
		if r.Options, err = order.ParseOptions(r.options); err != nil {
			return stored{}, err
		}
	}
	if r.Tracks, err = lipsync.ParseTracks(r.tracks); err != nil {
		return stored{}, err
	}
	if r.Sync, err = order.ParseSyncScore(r.sync); err != nil {
		return stored{}, err
	}
	if r.Unsynced, err = order.ParseUnsynced(r.unsynced); err != nil {
		return stored{}, err
	}
	if r.Targets, err = lipsync.ParseTargets(r.targets); err != nil {
		return stored{}, err
	}
	r.Failure.Details, err = failure.ParseDetails(r.details)
	if err == nil {
		err = r.decodeLease(i, lease)
	}
	return r, err
}

// decodeLease sets the lease and its end. If the lease's item is not that of the request's holder, LeaseUntil stays zero.
func (r *stored) decodeLease(i, lease table.Item) error {
	if err := table.Decode(i, table.Fields{"holder": &r.Lease, "leaseUntil": &r.LeaseUntil}); err != nil || r.Lease == "" {
		return err
	}
	var token string
	if err := table.Decode(lease, table.Fields{"token": &token}); err != nil || token != r.Lease {
		return err
	}
	return table.Decode(lease, table.With(r.progress(), table.Fields{"until": &r.LeaseUntil}))
}

// maxReads is the most times that a request is read. It is read again if its items do not belong
// together, because it was being changed.
const maxReads = 5

// request returns the request with its lease.
func (s *Store) request(ctx context.Context, id string) (r stored, err error) {
	for range maxReads {
		items := make(map[string]table.Item)
		for i, err := range s.table.Query(ctx, table.MaxBatch, &dynamodb.QueryInput{
			KeyConditionExpression:    aws.String("#pk = :request"),
			ExpressionAttributeValues: table.Item{":request": requestKey(id)[table.PartitionKey]},
			ConsistentRead:            aws.Bool(true),
		}) {
			var sort string
			if err == nil {
				err = table.Decode(i, table.Fields{table.SortKey: &sort})
			}
			if err != nil {
				return stored{}, err
			}
			items[sort] = i
		}
		if items["request"] == nil {
			return stored{}, table.NotFound()
		}
		r, err = decodeRequest(items["request"], items["lease"])
		r.queued = queue.IsQueued(items["turn"])
		if err != nil || r.Lease == "" || !r.LeaseUntil.IsZero() {
			return r, err
		}
		// The items were read at different times: the lease began or ended in between.
	}
	return r, nil
}

func (s requests) ByID(ctx context.Context, id string) (lipsync.Request, error) {
	r, err := s.request(ctx, id)
	return r.Request, err
}
