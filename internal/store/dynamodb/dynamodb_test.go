package dynamodb_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/disk"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/dynamodbtest"
	"lipsync/internal/test/lipsynctest"
	simulated "lipsync/internal/test/simulate/table"
)

// tables has each table in memory by its host name.
var tables sync.Map

// inMemory returns a client configuration for a new, empty table in memory.
func inMemory() aws.Config {
	t := &dynamodbtest.Table{
		Keys:  dynamodbtest.Keys{Partition: table.PartitionKey, Sort: table.SortKey},
		Index: dynamodbtest.Keys{Partition: table.OpenPartition, Sort: table.OpenSort},
	}
	cfg := t.Config()
	_, host, _ := strings.Cut(*cfg.BaseEndpoint, "//")
	tables.Store(host, t)
	return cfg
}

// open returns a store that calls a new table in memory directly, without the SDK's client.
func open(testing.TB) *dynamodb.Store { return dynamodb.On(simulated.New(simulated.Limits{}), "t") }

func TestStore(t *testing.T) {
	lipsynctest.TestStore(t, func(t *testing.T) lipsync.Store { return open(t).Store })
}

// emulated returns a store on a new table of an emulator of DynamoDB, whose authors are not those of the table in memory.
func emulated(t *testing.T) *dynamodb.Store {
	e := awstest.Shared(t)
	return dynamodb.New(e.Config(), e.Table(t))
}

func TestStoreOnEmulator(t *testing.T) {
	lipsynctest.TestStoreOfFew(t, func(t *testing.T) lipsync.Store { return emulated(t).Store })
}

func TestManyOnEmulator_long(t *testing.T) {
	lipsynctest.TestStoreOfMany(t, func(t *testing.T) lipsync.Store { return emulated(t).Store })
	lipsynctest.TestDemandOfMany(t, func(t *testing.T) lipsynctest.DemandStore { return withDemand(emulated(t)) })
}

func withDemand(s *dynamodb.Store) lipsynctest.DemandStore {
	return lipsynctest.DemandStore{Store: s.Store, Demand: s.Queue}
}

func TestDemand(t *testing.T) {
	lipsynctest.TestDemand(t, func(t *testing.T) lipsynctest.DemandStore { return withDemand(open(t)) })
}

func TestDemandOnEmulator(t *testing.T) {
	lipsynctest.TestDemandOfFew(t, func(t *testing.T) lipsynctest.DemandStore { return withDemand(emulated(t)) })
}

func TestSessions(t *testing.T) {
	s := open(t)
	lipsynctest.TestSessions(t, func() lipsynctest.Sessions { return s.Sessions })
}

func TestCrashes(t *testing.T) {
	lipsynctest.TestCrashes(t, ports)
}

func TestClocks(t *testing.T) {
	lipsynctest.TestClocks(t, ports)
}

// ports returns the store and some objects for it.
func ports(t *testing.T) (lipsync.Store, lipsync.Objects) {
	objects, err := disk.Open(t.TempDir(), time.Now, nil)
	if err != nil {
		t.Fatal(err)
	}
	return open(t).Store, objects
}
