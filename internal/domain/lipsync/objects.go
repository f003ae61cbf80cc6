package lipsync

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
	"time"
)

// Prefixes of object keys. The id of the record that names the object follows.
const (
	InputKeys    = "inputs/"
	UploadKeys   = "uploads/"
	OutputKeys   = "outputs/"
	PieceKeys    = "pieces/"
	FindingsKeys = "findings/" // a hash of the account follows
	BatchKeys    = "batches/"
)

// LinkLife is the time for which a signed link to an object can be read.
const LinkLife = 2 * time.Hour

// OrphanAge is the age from which an object without a record can be deleted. Every writer
// stores the record of a new object sooner than that.
const OrphanAge = 24 * time.Hour

// OutputKey returns the object key of the request's output. It contains the number of the claim, so a
// worker that lost a request can't overwrite another worker's output.
func (r Request) OutputKey(claim int) string {
	extension := r.Options.Output.Extension()
	if r.IsAnalysis() || r.IsEstimate() {
		extension = ".json"
	}
	return fmt.Sprintf("%s%s/%d%s", OutputKeys, r.ID, claim, extension)
}

// PosterOf returns the object key of the poster of the output with the key.
func PosterOf(output string) string {
	return strings.TrimSuffix(output, path.Ext(output)) + ".jpg"
}

// PosterKey returns the object key of the output's poster, or "" if there is none.
func (r Request) PosterKey() string {
	if r.Output == "" || !r.Poster {
		return ""
	}
	return PosterOf(r.Output)
}

// Pieces returns the prefix of the keys of all pieces of the request's output.
func (r Request) Pieces() string { return PieceKeys + r.ID + "/" }

// OutputName returns the file name for the request's output, with the extension of the output's key. It is
// the one that the client chose, or derived from the name of the input video, if that has one.
func (r Request) OutputName() string {
	extension := path.Ext(r.Output)
	switch {
	case r.Options.Output.FileName != "":
		return r.Options.Output.FileName.With(extension)
	case r.Video.Name == "":
		return r.ID + extension
	}
	return strings.TrimSuffix(r.Video.Name, path.Ext(r.Video.Name)) + "-lipsync" + extension
}

// OwnFindings returns the prefix of the keys of all findings of an account, that is, of what workers found out about its videos. So no
// account can use those of another, or learn that there are some. The prefix has a hash, since an account's name may have any characters.
func OwnFindings(account string) string {
	sum := sha256.Sum256([]byte(account))
	return FindingsKeys + hex.EncodeToString(sum[:16]) + "/"
}

// FindingsOf returns the prefix of the keys of the findings about one video with the SHA-256.
func FindingsOf(account string, video [sha256.Size]byte) string {
	return OwnFindings(account) + hex.EncodeToString(video[:]) + "/"
}
