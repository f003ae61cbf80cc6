// Package media gives programs on AWS the bucket. Only those link the SDK's client of S3
// that import it.
package media

import (
	"lipsync/internal/cloud"
	"lipsync/internal/s3"
	"lipsync/internal/settings"
)

// Kept is where objects are kept, for programs that hand out no URL of theirs.
func Kept(d *cloud.Deployment) { keep(d, s3.Signer{}) }

// Signed is Kept, with signed URLs that last as long as they say.
func Signed(d *cloud.Deployment) {
	keep(d, s3.Signer{Role: settings.SignerRole.In(d.Settings), Pool: settings.SignerPool.In(d.Settings)})
}

// keep keeps objects in the bucket.
func keep(d *cloud.Deployment, signer s3.Signer) {
	d.Service.Objects = s3.New(d.Config, settings.Bucket.In(d.Settings), signer)
}
