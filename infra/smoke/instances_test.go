package smoke

import (
	"crypto/rand"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/ssm/types"

	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

// TestFormer finds the newest machine image but the one in use, among those for other processors and devices.
func TestFormer(t *testing.T) {
	config, below := awstest.Shared(t).Config(), "/"+rand.Text()
	client := ssm.NewFromConfig(config)
	put := func(name, value string) {
		_, err := client.PutParameter(t.Context(), &ssm.PutParameterInput{Name: aws.String(below + name), Value: &value, Type: types.ParameterTypeString})
		check.Must(t, err)
	}
	i := instances{config: config}
	put("/recommended", `{"image_id":"ami-new"}`)
	put("/al2023-ami-ecs-hvm-2023.0.20261113-kernel-6.1-x86_64", `{"image_id":"ami-new"}`)
	if _, _, err := i.former(t.Context(), below, "ami-new"); err == nil {
		t.Error("found another image than the only one")
	}
	put("/al2023-ami-ecs-hvm-2023.0.20261030-kernel-6.1-x86_64", `{"image_id":"ami-former"}`)
	put("/al2023-ami-ecs-hvm-2023.0.20261030-kernel-6.1-x86_64/image_id", "ami-former")
	put("/al2023-ami-ecs-hvm-2023.0.20260901-kernel-6.1-x86_64", `{"image_id":"ami-old"}`)
	put("/al2023-ami-ecs-neuron-hvm-2023.0.20261112-kernel-6.1-x86_64", `{"image_id":"ami-neuron"}`)
	put("/arm64/al2023-ami-ecs-hvm-2023.0.20261112-kernel-6.1-arm64", `{"image_id":"ami-arm"}`)
	name, id, err := i.former(t.Context(), below, "ami-new")
	if want := below + "/al2023-ami-ecs-hvm-2023.0.20261030-kernel-6.1-x86_64/image_id"; err != nil || name != want || id != "ami-former" {
		t.Errorf("got %s, %s (%v), want %s", name, id, err, want)
	}
}
