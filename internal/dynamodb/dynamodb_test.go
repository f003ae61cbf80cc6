package dynamodb_test

import (
	"testing"
	"time"

	"lipsync/internal/awstest"
	"lipsync/internal/disk"
	"lipsync/internal/dynamodb"
	"lipsync/internal/lipsync"
	"lipsync/internal/lipsynctest"
)

func open(t testing.TB) *dynamodb.Store {
	t.Helper()
	e := awstest.Shared(t)
	return dynamodb.New(e.Config(), e.Table(t))
}

func TestStore(t *testing.T) {
	lipsynctest.TestStore(t, func(t *testing.T) lipsync.Store { return open(t) })
}

func TestSessions(t *testing.T) {
	e := awstest.Shared(t)
	table := e.Table(t)
	lipsynctest.TestSessions(t, func() lipsynctest.Sessions { return dynamodb.New(e.Config(), table) })
}

func TestCrashes(t *testing.T) {
	lipsynctest.TestCrashes(t, ports)
}

func TestClocks(t *testing.T) {
	lipsynctest.TestClocks(t, ports)
}

// ports are the store, and objects beside it.
func ports(t *testing.T) (lipsync.Store, lipsync.Objects) {
	objects, err := disk.Open(t.TempDir(), time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t), objects
}
