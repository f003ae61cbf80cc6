package lipsynctest

import (
	"slices"
	"testing"

	"lipsync/internal/domain/lipsync"
)

// TestStore checks an implementation of the ports in lipsync.Store. open returns an empty store.
func TestStore(t *testing.T, open func(t *testing.T) lipsync.Store) {
	slices.Concat(few, many).run(t, open)
}

// TestStoreOfFew is TestStore without what TestStoreOfMany checks.
func TestStoreOfFew(t *testing.T, open func(t *testing.T) lipsync.Store) { few.run(t, open) }

// TestStoreOfMany checks what a store does with 60 to some hundreds of records, which a slow store writes in minutes.
func TestStoreOfMany(t *testing.T, open func(t *testing.T) lipsync.Store) { many.run(t, open) }

// few has the tests that write few records.
var few = slices.Concat(
	creating, listing, creatingOnce, claiming, leasing, limiting,
	canceling, keeping, erasing, telling, batching,
)

// The parts of the suite.
var (
	// many has the tests that write many records.
	many = suite[lipsync.Store]{
		{"100 creates at once", testConcurrentCreates},
		{"walk from place to place", testWalk},
		{"places in the queue", testPlaces},
		{"one of a class behind many large ones", testBehindManyLarge},
		{"one of a class behind many small ones", testBehindManySmall},
		{"one of a class behind many neural ones", testBehindManyNeural},
		{"speeds are those of recent requests", testRecentSpeeds},
		{"calls", testCalls},
	}
	// creating has the tests of making requests.
	creating = suite[lipsync.Store]{
		{"create and read back", testCreate},
		{"create without a key", testCreateWithoutKey},
	}
	// listing has the tests of lists, usage and accounts.
	listing = suite[lipsync.Store]{
		{"page at any offset", testPages},
		{"page by reference id", testReferencePages},
		{"latest by reference id", testLatest},
		{"by status", testByStatus},
		{"usage", testUsage},
		{"usage in summer time", testUsageInSummerTime},
		{"usage at once", testConcurrentUsage},
		{"accounts are apart", testAccounts},
	}
	// creatingOnce has the tests of the limits of keys, and of calls that come again.
	creatingOnce = suite[lipsync.Store]{
		{"token limit", testTokenLimit},
		{"token limit at once", testConcurrentTokenLimit},
		{"replay", testReplay},
		{"replay on a spent key", testReplaySpent},
		{"replay at once", testConcurrentReplay},
		{"idempotency key expires", testIdempotencyExpires},
		{"idempotency keys of other accounts", testIdempotencyAccounts},
		{"refused creates leave nothing", testRefusedCreate},
	}
	// claiming has the tests of claims, and of whose turn it is.
	claiming = suite[lipsync.Store]{
		{"claim", testClaim},
		{"claim the oldest", testClaimOldest},
		{"claim fairly", testClaimFairly},
		{"claim in turn", testClaimInTurn},
		{"ended leases don't run", testEndedLeasesDoNotRun},
		{"postponed requests do not run", testPostponedDoesNotRun},
		{"claims at once", testConcurrentClaims},
		{"claim one by id at once", testConcurrentClaimByID},
		{"numbers of a contest have a limit", testContestLimit},
		{"claims except those of accounts", testClaimExcept},
		{"classes", testClasses},
		{"contest of a class", testContestApart},
		{"fair by duty", testFairByDuty},
		{"enlarge", testEnlarge},
		{"dead neural", testDeadNeural},
		{"postponed large ones", testPostponedLarge},
		{"kinds of requests", testKinds},
		{"limits of each kind", testLimitsOfKinds},
		{"turns of each kind", testTurnsOfKinds},
		{"largest requests", testLargest},
		{"speeds", testSpeeds},
		{"speeds at once", testConcurrentSpeeds},
	}
	// leasing has the tests of leases and of what ends them.
	leasing = suite[lipsync.Store]{
		{"lease ends", testLeaseEnds},
		{"renew", testRenew},
		{"release", testRelease},
		{"postpone", testPostpone},
		{"postpone one of many", testPostponeOne},
		{"cancel what is postponed", testPostponeOrCancel},
		{"postponed", testPostponed},
		{"end a pause", testEndPause},
		{"another end ends delays", testDelaysEnd},
		{"finish", testFinish},
		{"free failures", testFreeFailures},
		{"free failures at once", testConcurrentFree},
		{"loser can't change anything", testLoser},
		{"final never changes", testFinal},
	}
	// limiting has the tests of what an account may have, and of what is reported.
	limiting = suite[lipsync.Store]{
		{"open requests", testOpen},
		{"limit on open requests", testOpenLimit},
		{"limit on open requests at once", testConcurrentOpenLimit},
		{"limit on stored bytes", testStorageLimit},
		{"limit on stored bytes that stay for less", testRetention},
		{"report", testReport},
		{"note of a video", testNoteVideo},
		{"progress ends with its lease", testProgressEnds},
	}
	// canceling has the tests of cancels.
	canceling = suite[lipsync.Store]{
		{"cancel what waits", testCancelQueued},
		{"cancel what is processed", testCancelProcessing},
		{"cancel what is final", testCancelFinal},
		{"cancels at once", testConcurrentCancels},
		{"cancel or finish", testCancelOrFinish},
		{"cancel or claim", testCancelOrClaim},
	}
	// keeping has the tests of keys, uploads and media.
	keeping = suite[lipsync.Store]{
		{"keys", testKeys},
		{"key by hash", testKeyByHash},
		{"touch key", testTouchKey},
		{"revoke key", testRevokeKey},
		{"uploads", testUploads},
		{"expired uploads", testExpiredUploads},
		{"create uses uploads", testCreateUsesUploads},
		{"drop an upload", testDropUpload},
		{"drop an upload or use it", testDropOrUse},
		{"uses of an object", testUses},
		{"replayed", testReplayed},
		{"forget media", testForgetMedia},
		{"forget media of what is open", testForgetOpen},
		{"forget media at once", testConcurrentForget},
	}
	// erasing has the tests of records that count and are erased.
	erasing = suite[lipsync.Store]{
		{"records count", testRecordsCount},
		{"erase", testErase},
		{"erase what has a reference id", testEraseReference},
		{"erase at once", testConcurrentErase},
		{"erase a batch", testEraseBatch},
		{"batches that count", testBatchesCount},
		{"final requests", testFinalRequests},
	}
	// telling has the tests of webhooks, deliveries and events.
	telling = suite[lipsync.Store]{
		{"webhooks", testWebhooks},
		{"deliveries", testDeliveries},
		{"lists of deliveries", testDeliveryLists},
		{"undelivered", testUndelivered},
		{"forget deliveries", testForgetDeliveries},
		{"events", testEvents},
		{"targets", testTargets},
	}
	// batching has the tests of batches, rates and calls.
	batching = suite[lipsync.Store]{
		{"batches", testBatches},
		{"lists of batches", testBatchLists},
		{"limit on batches", testBatchLimit},
		{"several requests", testSeveral},
		{"rate", testRate},
		{"rate at once", testConcurrentRate},
		{"rates are apart", testRatesApart},
	}
)
