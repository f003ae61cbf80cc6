package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/settings"
)

// How many days objects stay. Inputs and uploads are deleted once they have no
// more use, so theirs is for what was left behind. For an input it only has to be
// longer than a request can wait; an upload lives on each time that it is used, for
// 30 days at most.
const (
	inputDays   = 7
	usedDays    = 30
	partDays    = 1 // of an upload in parts that nobody finished
	versionDays = 1 // of an object that was deleted or replaced
)

// addBucket adds the one bucket, for media.
func (s *service) addBucket() {
	s.bucket = awss3.NewBucket(s.stack, jsii.String("Media"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		LifecycleRules: &[]*awss3.LifecycleRule{
			expire("inputs", inputDays),
			expire("uploads", usedDays+days(settings.KeepInputs.In(s.Values))),
			expire("outputs", days(settings.KeepOutputs.In(s.Values))+1), // its last URL holds for an hour more
			{Id: jsii.String("parts"), AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(partDays))},
			// The bucket has no versions. Where an operator turns them on, what was deleted is to go all the same.
			{
				Id: jsii.String("versions"), ExpiredObjectDeleteMarker: jsii.Bool(true),
				NoncurrentVersionExpiration: awscdk.Duration_Days(jsii.Number(versionDays)),
			},
		},
		Cors: &[]*awss3.CorsRule{{
			AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_GET, awss3.HttpMethods_HEAD, awss3.HttpMethods_PUT},
			AllowedOrigins: jsii.Strings(append(settings.CORSOrigins.In(s.Values), s.host())...), // the dashboard sends uploads too
			AllowedHeaders: jsii.Strings("*"),
			MaxAge:         jsii.Number(3600), // seconds
		}},
		RemovalPolicy: s.dataRemoval(),
	})
}

// days are whole ones, rounded up.
func days(d time.Duration) int {
	const day = 24 * time.Hour
	return int((d + day - 1) / day)
}

func expire(prefix string, days int) *awss3.LifecycleRule {
	return &awss3.LifecycleRule{
		Id:         jsii.String(prefix),
		Prefix:     jsii.String(prefix + "/"),
		Expiration: awscdk.Duration_Days(jsii.Number(days)),
	}
}

// useObjects allows actions on the objects under a prefix.
func (s *service) useObjects(prefix string, actions ...string) awsiam.PolicyStatement {
	for i, action := range actions {
		actions[i] = "s3:" + action
	}
	return allow(actions, s.bucket.ArnForObjects(jsii.String(prefix+"/*")))
}

// listParts allows to learn which uploads in parts nobody finished.
func (s *service) listParts() awsiam.PolicyStatement {
	return allow([]string{"s3:ListBucketMultipartUploads"}, s.bucket.BucketArn())
}

// missObjects allows to learn that an object isn't there. S3 tells that only
// to those who may list the bucket, and a condition on the prefix doesn't help: to
// read an object names none.
func (s *service) missObjects() awsiam.PolicyStatement {
	return allow([]string{"s3:ListBucket"}, s.bucket.BucketArn())
}
