package account_test

import (
	"errors"
	"testing"

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
	_, err := a.Terminate(t.Context(), "sg-none") // the emulator has no instances
	if err != nil {
		t.Errorf("no instances: got %v", err)
	}
	_, err = a.Offered(t.Context(), []string{"m6i.xlarge"}) // an action that the emulator doesn't know
	if e, ok := errors.AsType[*account.Error](err); !ok || e.Code != "InvalidAction" {
		t.Errorf("got %v, want an unknown action", err)
	}
}
