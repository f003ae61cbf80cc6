package smoke

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"lipsync/infra/account"
)

// instances are those of a stack on AWS, with their logs.
type instances struct {
	config aws.Config
	stack  string
}

func (i instances) account() *account.Account { return &account.Account{Config: i.config} }

// reclaim terminates all.
func (i instances) reclaim(t *testing.T, _ string) {
	all := i.all(t)
	if len(all) == 0 {
		t.Fatal("no instance runs")
	}
	if err := i.account().Terminate(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	t.Logf("terminated %v", all)
}

func (i instances) all(t *testing.T) []account.Instance {
	t.Helper()
	all, err := i.account().Instances(t.Context(), i.physical(t, "AWS::EC2::SecurityGroup", ""))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// log reads a log group.
func (i instances) log(t *testing.T, group string, since time.Time, word string) []string {
	t.Helper()
	lines, err := i.account().Logged(t.Context(), i.physical(t, "AWS::Logs::LogGroup", group), `"`+word+`"`, since)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func (i instances) Running(t *testing.T) (images []string) {
	t.Helper()
	for _, one := range i.all(t) {
		images = append(images, one.Image)
	}
	return images
}

// images is the path of the parameters with Amazon's machine images for ECS.
const images = "/aws/service/ecs/optimized-ami/amazon-linux-2023"

func (i instances) Other(t *testing.T) (image string, arguments []string) {
	t.Helper()
	found, err := cloudformation.NewFromConfig(i.config).DescribeStacks(t.Context(), &cloudformation.DescribeStacksInput{StackName: &i.stack})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Stacks[0].Parameters {
		if aws.ToString(p.ParameterValue) == images+"/recommended/image_id" {
			name, id, err := i.former(t.Context(), images, aws.ToString(p.ResolvedValue))
			if err != nil {
				t.Fatal(err)
			}
			return id, []string{"--parameters", aws.ToString(p.ParameterKey) + "=" + name}
		}
	}
	t.Fatal("the stack has no parameter with a machine image")
	return "", nil
}

// version is the name of a version of the machine image, with its day.
var version = regexp.MustCompile(`^al2023-ami-ecs-hvm-[\d.]+-kernel-[\d.]+-x86_64$`)

// former returns the newest machine image below a path that isn't the one with the id, and the name of the parameter with its id.
func (i instances) former(ctx context.Context, below, now string) (name, id string, err error) {
	pages := ssm.NewGetParametersByPathPaginator(ssm.NewFromConfig(i.config), &ssm.GetParametersByPathInput{Path: &below})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", "", err
		}
		for _, p := range page.Parameters {
			other := aws.ToString(p.Name)
			if !version.MatchString(path.Base(other)) || other < name {
				continue
			}
			var image struct {
				ID string `json:"image_id"`
			}
			if err := json.Unmarshal([]byte(aws.ToString(p.Value)), &image); err != nil {
				return "", "", err
			}
			if image.ID != now {
				name, id = other, image.ID
			}
		}
	}
	if name == "" {
		return "", "", errors.New("no other machine image")
	}
	return name + "/image_id", id, nil
}

// physical returns the id of the stack's only resource of a type whose name in the template begins with the prefix.
func (i instances) physical(t *testing.T, kind, prefix string) string {
	t.Helper()
	pages := cloudformation.NewListStackResourcesPaginator(cloudformation.NewFromConfig(i.config), &cloudformation.ListStackResourcesInput{StackName: &i.stack})
	for pages.HasMorePages() { // the stack has more parts than DescribeStackResources gives
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page.StackResourceSummaries {
			if aws.ToString(r.ResourceType) == kind && strings.HasPrefix(aws.ToString(r.LogicalResourceId), prefix) {
				return aws.ToString(r.PhysicalResourceId)
			}
		}
	}
	t.Fatalf("%s has no %s", i.stack, kind)
	return ""
}
