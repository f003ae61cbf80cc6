// Package media gives programs on AWS the bucket. Only programs that import it link the SDK's
// client of S3.
package media

import (
	"lipsync/internal/aws/cloud"
	"lipsync/internal/domain/settings"
	"lipsync/internal/store/s3"
)

// Kept adds the objects, for programs that sign no URLs.
func Kept(d *cloud.Deployment) { keep(d, s3.Signer{}) }

// Signed adds the objects, for programs that sign URLs. A role signs the URLs, so that they stay
// valid until their time even if the function's own credentials end before.
func Signed(d *cloud.Deployment) {
	keep(d, s3.Signer{Role: settings.SignerRole.In(d.Settings), Pool: settings.SignerPool.In(d.Settings)})
}

// keep adds the objects in the bucket, with the signer of their URLs.
func keep(d *cloud.Deployment, signer s3.Signer) {
	d.Ports.Objects = s3.New(d.Config, settings.Bucket.In(d.Settings), signer)
}
