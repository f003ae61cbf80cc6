package account_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lipsync/infra/account"
	"lipsync/internal/test/awstest"
)

// TestRoles creates the roles that an account lacks, and leaves existing ones alone.
func TestRoles(t *testing.T) {
	a := account.Account{Config: awstest.Own(t).Config()}
	for range 2 {
		if err := a.MakeServiceRoles(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []bool{true, false} {
		if made, err := a.MakeLogRole(t.Context()); err != nil || made != want {
			t.Errorf("made a role of logs: got %t (%v), want %t", made, err, want)
		}
	}
}

// TestError checks that errors have the service's own code and message.
func TestError(t *testing.T) {
	a := account.Account{Config: awstest.Shared(t).Config()}
	if found, err := a.Instances(t.Context(), "sg-none"); err != nil || found != nil { // the emulator has none
		t.Errorf("no instances: got %v (%v)", found, err)
	}
	_, err := a.Offered(t.Context(), []string{"m6i.xlarge"}) // an action that the emulator doesn't know
	if e, ok := errors.AsType[*account.Error](err); !ok || e.Code != "InvalidAction" {
		t.Errorf("got %v, want an unknown action", err)
	}
}

// TestInstances reads and terminates two instances, which AWS answers in the reservations in which they were started.
func TestInstances(t *testing.T) {
	var terminated []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch action := r.FormValue("Action") + " " + r.FormValue("Filter.1.Value.1"); action {
		case "DescribeInstances sg-1":
			fmt.Fprint(w, `<x><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId><imageId>ami-1</imageId></item></instancesSet></item>`+
				`<item><instancesSet><item><instanceId>i-2</instanceId><imageId>ami-2</imageId></item></instancesSet></item></reservationSet></x>`)
		case "TerminateInstances ":
			terminated = append(terminated, r.FormValue("InstanceId.1"), r.FormValue("InstanceId.2"))
		default:
			http.Error(w, "<Response><Errors><Error><Code>InvalidAction</Code><Message>"+action+"</Message></Error></Errors></Response>", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	a := account.Account{Config: aws.Config{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}}
	found, err := a.Instances(t.Context(), "sg-1")
	if want := []account.Instance{{ID: "i-1", Image: "ami-1"}, {ID: "i-2", Image: "ami-2"}}; err != nil || !slices.Equal(found, want) {
		t.Fatalf("got %v (%v), want %v", found, err, want)
	}
	if err := a.Terminate(t.Context(), found); err != nil || !slices.Equal(terminated, []string{"i-1", "i-2"}) {
		t.Errorf("terminated %q (%v), want both", terminated, err)
	}
}
