package lipsync

import (
	"fmt"

	"lipsync/internal/domain/failure"
)

// MostRecord is the largest size of what a client may put into one record, in bytes as stores keep it. It has room for four of the longest URLs
// and a hundred segments. An item of DynamoDB may have 400 KB.
const MostRecord = 64 << 10

// restOfRecord bounds what a record takes beside the client's part, in bytes: times, the result with its parts that aren't synced, indexes, and its
// places in lists.
const restOfRecord = 5 << 10

// RecordSize returns the number of bytes with which the request's record counts among those that its account stores.
func (r Request) RecordSize() int64 { return int64(r.clientSize()) + restOfRecord }

// RecordSize returns the number of bytes with which the batch's record counts, as that of a request does.
func (b Batch) RecordSize() int64 { return int64(len(b.Lines)+len(b.Targets.Text())) + restOfRecord }

// CheckSize returns an error, which is Invalid, if the client's part of the request is larger than MostRecord.
func (r Request) CheckSize() error {
	return checkSize("request", "URLs, names or segments", r.clientSize())
}

// clientSize returns the size of the client's part of the record, in bytes.
func (r Request) clientSize() int {
	size := len(r.ReferenceID) + len(r.Engine) + len(r.Tracks.Text()) + len(r.Options.Text()) + len(r.Targets.Text())
	for _, in := range []Input{r.Video, r.Audio} {
		size += len(in.URL) + len(in.Object) + len(in.Name)
	}
	return size
}

// CheckSize returns an error, which is Invalid, if the webhooks of the account are together larger than MostRecord.
func (a AccountWebhooks) CheckSize() error {
	return checkSize("list of the account's webhooks", "URLs", len(a.Text()))
}

func checkSize(what, of string, size int) error {
	if size <= MostRecord {
		return nil
	}
	return failure.New(failure.Invalid, fmt.Sprintf("%s takes %d bytes, and may take %d: it has too many or too long %s", what, size, MostRecord, of))
}
