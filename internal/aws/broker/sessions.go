package broker

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// sessionLife is the life of a session: the shortest that AWS gives. A runner that loses its lease keeps the session until its end.
const sessionLife = 15 * time.Minute

// renewBefore is the time before the end of a session from which on a runner asks for another one.
const renewBefore = 5 * time.Minute

// roleSessions opens sessions of a role, which may reach the media of all requests. Each session has a policy that leaves less.
type roleSessions struct {
	client *sts.Client
	role   string
	bucket string // ARN
}

// NewSessions returns sessions of the role with the ARN, for the objects in the bucket with the name.
func NewSessions(cfg aws.Config, role, bucket string) Sessions {
	partition, _, _ := strings.Cut(strings.TrimPrefix(role, "arn:"), ":")
	return &roleSessions{sts.NewFromConfig(cfg), role, "arn:" + partition + ":s3:::" + bucket}
}

func (s *roleSessions) Open(ctx context.Context, name string, p policy) (*credentials, error) {
	out, err := s.client.AssumeRole(ctx, &sts.AssumeRoleInput{
		RoleArn: &s.role, RoleSessionName: &name, Policy: aws.String(p.json(s.bucket)), DurationSeconds: aws.Int32(int32(sessionLife.Seconds())),
	})
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	c := out.Credentials
	return &credentials{*c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken, *c.Expiration}, nil
}
