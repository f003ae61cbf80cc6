package broker

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// policy has the rights of a session: actions of S3, by the patterns of keys on which they are allowed.
type policy []right

type right struct {
	actions []string
	keys    string // in which a star stands for any characters
}

var (
	reads    = []string{"GetObject"}
	writes   = []string{"PutObject", "AbortMultipartUpload"}
	replaces = []string{"PutObject", "AbortMultipartUpload", "DeleteObject"}
)

// scope returns the name of the rights that the object with the key belongs to: a session for one object of a scope serves all of them.
func scope(key string) string {
	switch {
	case strings.HasPrefix(key, lipsync.OutputKeys), strings.HasPrefix(key, lipsync.PieceKeys):
		return "output"
	case strings.HasPrefix(key, lipsync.FindingsKeys):
		return path.Dir(key)
	default:
		return key
	}
}

// rights returns what the holder of a claimed request may do with the object with the key and the others of its scope. It returns Conflict if that
// is nothing. Each input has a scope of its own, because a policy with the keys of eleven may be larger than AWS takes.
func rights(r lipsync.Request, key string) (policy, error) {
	output := r.OutputKey(r.Claims)
	switch {
	case key != "" && slices.ContainsFunc(r.Inputs(), func(in lipsync.Input) bool { return in.Object == key }): // an input by a URL has no object
		return policy{{reads, key}}, nil
	case strings.HasPrefix(key, path.Dir(output)+"/"), strings.HasPrefix(key, r.Pieces()):
		return policy{
			{replaces, strings.TrimSuffix(output, path.Ext(output)) + ".*"},
			{reads, r.Pieces() + "*"},
			{writes, fmt.Sprintf("%s%d/*", r.Pieces(), r.Claims)},
		}, nil
	case strings.HasPrefix(key, lipsync.FindingsOf(r.Account, r.VideoSum)):
		return policy{{append(slices.Clone(reads), replaces...), lipsync.FindingsOf(r.Account, r.VideoSum) + "*"}}, nil
	default:
		return nil, failure.New(failure.Conflict, "the request has no such object")
	}
}

// json returns the policy as AWS reads it, for the objects of a bucket with the ARN.
func (p policy) json(bucket string) string {
	type statement struct {
		Effect   string
		Action   []string
		Resource string
	}
	var document struct {
		Version   string
		Statement []statement
	}
	document.Version = "2012-10-17"
	for _, r := range p {
		s := statement{Effect: "Allow", Resource: bucket + "/" + r.keys}
		for _, action := range r.actions {
			s.Action = append(s.Action, "s3:"+action)
		}
		document.Statement = append(document.Statement, s)
	}
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // can't happen: strings always encode
	}
	return string(text)
}

// open opens a session for the holder of a claimed request.
func (f *function) open(ctx context.Context, r lipsync.Request, key string) (*credentials, error) {
	if strings.ContainsAny(key, "*?$") { // which have a meaning in policies; no key of the service has them
		return nil, invalid("the key %q", key)
	}
	if video, ok := videoOf(r, key); ok {
		// The record has room for one video, so a request reaches the findings about one.
		if err := f.records.NoteVideo(ctx, r, video); err != nil {
			return nil, err
		}
		r.VideoSum = video
	}
	p, err := rights(r, key)
	if err != nil {
		return nil, err
	}
	return f.sessions.Open(ctx, "request-"+r.ID, p)
}

// videoOf returns the SHA-256 of the video that findings of the request's account with the key are about. ok is false for another key.
func videoOf(r lipsync.Request, key string) (video [32]byte, ok bool) {
	rest, own := strings.CutPrefix(path.Dir(key), lipsync.OwnFindings(r.Account))
	if n, err := hex.Decode(video[:], []byte(rest[:min(len(rest), 2*len(video))])); !own || err != nil || n != len(video) {
		return video, false
	}
	return video, true
}
