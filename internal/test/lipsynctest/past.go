package lipsynctest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/domain/requests"
	"lipsync/internal/domain/service"
)

// pastAccount is the account of a Past.
const pastAccount = "default"

// Past is a service at the time at which the stored data in folders named testdata were made. The
// program of each version made its data. Ids are numbers in order, and the bytes of keys are
// constant.
type Past struct {
	*service.Service
	now time.Time
	ids int
}

// NewPast returns a service with empty ports.
func NewPast(t testing.TB, store lipsync.Store, objects lipsync.Objects) *Past {
	p := &Past{now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)}
	p.Service = NewService(t, base.Config{Engines: []string{"warp"}}, base.Ports{
		Store:   store,
		Objects: objects,
		Hints:   faultyQueue{&faults{}},
		Now:     func() time.Time { return p.now },
		NewID:   func() string { p.ids++; return pastID(p.ids) },
		Random:  bytes.NewReader(slices.Concat(bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{8}, 32))),
	})
	return p
}

// Numbers of the ids in the data, in the order of creation.
const (
	laptopKey = 1 + iota
	revokedKey
	completedID
	_ // lease
	failedID
	_
	processingID
	_
	uploadID
	queuedID
	unusedUploadID
	lastPastID = unusedUploadID
)

func pastID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// PastToken is the token of the valid key: 32 bytes of 7. The token of the revoked key has bytes of
// 8.
const (
	PastToken    = "lipsync_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"
	revokedToken = "lipsync_CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
)

func (p *Past) caller() lipsync.Caller {
	return lipsync.Caller{Account: pastAccount, KeyID: pastID(laptopKey), KeyName: "laptop"}
}

// film returns the request that came as a form, with an idempotency key.
func (p *Past) film(ctx context.Context, id string) (requests.Params, error) {
	video, err := p.StoreMedia(ctx, id, failure.Video, strings.NewReader("video"))
	if err != nil {
		return requests.Params{}, err
	}
	audio, err := p.StoreMedia(ctx, id, failure.Audio, strings.NewReader("audio"))
	return requests.Params{ID: id, Video: video, Audios: []requests.Track{{Source: audio}}, Order: order.Order{ReferenceID: new("film")},
		IdempotencyKey: new("once")}, err
}

// Live makes the data: two keys, one of them revoked; four requests, which are completed, failed,
// held by a killed worker, and queued; an upload that the queued request uses, and an upload that
// was never sent.
func (p *Past) Live(ctx context.Context) error {
	for _, name := range []string{"laptop", "lost"} {
		if _, _, err := p.CreateKey(ctx, pastAccount, name, 10); err != nil {
			return err
		}
	}
	if err := p.RevokeKey(ctx, "", pastID(revokedKey)); err != nil {
		return err
	}
	n, err := p.film(ctx, p.NewRequestID())
	if err != nil {
		return err
	}
	if _, err := p.Generate(ctx, p.caller(), n); err != nil {
		return err
	}
	r, err := p.Claim(ctx, "")
	if err != nil {
		return err
	}
	if err := p.Complete(ctx, r, strings.NewReader("output"), 6); err != nil {
		return err
	}
	p.now = p.now.Add(time.Hour)
	web := requests.Params{Video: requests.Source{URL: "https://video.invalid/"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://audio.invalid/"}}},
		Order: order.Order{LargestFace: true, ReferenceID: new("film")}}
	for _, fail := range []bool{true, false} {
		if _, err := p.Generate(ctx, p.caller(), web); err != nil {
			return err
		}
		r, err := p.Claim(ctx, "")
		if err != nil {
			return err
		}
		if fail {
			err = p.Fail(ctx, r, failure.Failure{Code: failure.NoFace})
		}
		if err != nil {
			return err
		}
	}
	u, err := p.CreateUpload(ctx, p.caller(), requests.UploadParams{Kind: failure.Video, Size: 5, ContentType: "video/mp4"})
	if err != nil {
		return err
	}
	if err := p.Objects.Put(ctx, u.Object, strings.NewReader("video"), 5); err != nil {
		return err
	}
	web.Video.URL, web.ReferenceID = u.Source, nil
	if _, err := p.Generate(ctx, p.caller(), web); err != nil {
		return err
	}
	_, err = p.CreateUpload(ctx, p.caller(), requests.UploadParams{Kind: failure.Audio, Size: 5})
	return err
}

// PastObjects returns the objects that the data name, by their keys.
func PastObjects() map[string]string {
	return map[string]string{
		"outputs/" + pastID(completedID) + "/1.mp4": "output",
		"uploads/" + pastID(uploadID):               "video",
	}
}
