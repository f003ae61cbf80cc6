package s3_test

import (
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/s3"

	"lipsync/internal/test/check"
)

// TestDeleteAllParts deletes unfinished multipart uploads, such as a killed runner leaves.
func TestDeleteAllParts(t *testing.T) {
	f := newFixture(t)
	part := int32(1)
	for _, key := range []string{"outputs/a/1.mp4", "outputs/a/2.mp4", "outputs/b/1.mp4"} {
		begun, err := f.client.CreateMultipartUpload(t.Context(), &sdk.CreateMultipartUploadInput{Bucket: &f.bucket, Key: &key})
		check.Must(t, err)
		_, err = f.client.UploadPart(t.Context(), &sdk.UploadPartInput{
			Bucket: &f.bucket, Key: &key, UploadId: begun.UploadId, PartNumber: &part, Body: strings.NewReader("part"),
		})
		check.Must(t, err)
	}
	for range 2 {
		check.Must(t, f.DeleteAll(t.Context(), "outputs/a/"))
		left, err := f.client.ListMultipartUploads(t.Context(), &sdk.ListMultipartUploadsInput{Bucket: &f.bucket})
		check.Must(t, err)
		if len(left.Uploads) != 1 || *left.Uploads[0].Key != "outputs/b/1.mp4" {
			t.Errorf("got uploads %v, want only that of outputs/b/1.mp4", left.Uploads)
		}
	}
}
