package stack

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"lipsync/internal/domain/settings"
)

// Numbers of days after which S3 deletes objects. The service itself deletes unused inputs and
// uploads, so S3 deletes only those that it missed. An input and the pieces of an output must stay for
// longer than a request can wait. Each use of an upload prolongs its life, for 30 days at most.
const (
	inputDays   = 7
	usedDays    = 30
	partDays    = 1 // for an unfinished upload in parts
	versionDays = 1 // for a deleted or replaced object
)

// addBucket adds the bucket for media.
func (s *service) addBucket() {
	s.bucket = awss3.NewBucket(s.stack, jsii.String("Media"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		LifecycleRules: &[]*awss3.LifecycleRule{
			expire("inputs", inputDays),
			expire("pieces", inputDays),
			expire("batches", usedDays), // the service deletes them when all requests are made and ended
			expire("uploads", usedDays+days(settings.KeepInputs.In(s.Values))),
			expire("outputs", days(settings.KeepOutputs.In(s.Values))+1), // its last URL is valid for an hour more
			expire("findings", max(1, days(settings.KeepFindings.In(s.Values)))),
			{Id: jsii.String("parts"), AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(partDays))},
			// The bucket has no versions. If an operator turns them on, this rule still removes
			// deleted objects.
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

// days returns a duration in whole days, rounded up.
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

// listParts allows to list the unfinished uploads in parts.
func (s *service) listParts() awsiam.PolicyStatement {
	return allow([]string{"s3:ListBucketMultipartUploads"}, s.bucket.BucketArn())
}

// missObjects allows to learn that an object does not exist. S3 says so only to roles that may list
// the bucket. A condition on the prefix can't be used, because a read of an object has no prefix.
func (s *service) missObjects() awsiam.PolicyStatement {
	return allow([]string{"s3:ListBucket"}, s.bucket.BucketArn())
}
