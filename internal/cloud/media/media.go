// Package media gives programs on AWS the bucket. Only those link the SDK's client of S3
// that import it.
package media

import (
	"lipsync/internal/cloud"
	"lipsync/internal/s3"
	"lipsync/internal/settings"
)

// Kept is where objects are kept, for programs that hand out no URL of theirs.
func Kept(h *cloud.Home) { keep(h, s3.Signer{}) }

// Signed is Kept, with signed URLs that last as long as they say.
func Signed(h *cloud.Home) {
	keep(h, s3.Signer{Role: settings.SignerRole.In(h.Settings), Pool: settings.SignerPool.In(h.Settings)})
}

// keep keeps objects in the bucket.
func keep(h *cloud.Home, signer s3.Signer) {
	h.Service.Objects = s3.New(h.Config, settings.Bucket.In(h.Settings), signer)
}
