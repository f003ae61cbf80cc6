package lipsynctest

import (
	"testing"

	"lipsync/internal/lipsync"
)

// TestStore holds a store to its port. open returns an empty one.
func TestStore(t *testing.T, open func(t *testing.T) lipsync.Store) {
	suite[lipsync.Store]{
		{"create and read back", testCreate},
		{"create without a key", testCreateWithoutKey},
		{"100 creates at once", testConcurrentCreates},
		{"page at any offset", testPages},
		{"page by reference id", testReferencePages},
		{"latest by reference id", testLatest},
		{"by status", testByStatus},
		{"usage", testUsage},
		{"usage in summer time", testUsageInSummerTime},
		{"usage at once", testConcurrentUsage},
		{"accounts are apart", testAccounts},
		{"token limit", testTokenLimit},
		{"token limit at once", testConcurrentTokenLimit},
		{"replay", testReplay},
		{"replay on a spent key", testReplaySpent},
		{"replay at once", testConcurrentReplay},
		{"idempotency key expires", testIdempotencyExpires},
		{"idempotency keys of other accounts", testIdempotencyAccounts},
		{"refused creates leave nothing", testRefusedCreate},
		{"claim", testClaim},
		{"claim the oldest", testClaimOldest},
		{"claims at once", testConcurrentClaims},
		{"claim one by id at once", testConcurrentClaimByID},
		{"lease ends", testLeaseEnds},
		{"renew", testRenew},
		{"release", testRelease},
		{"postpone", testPostpone},
		{"postpone one of many", testPostponeOne},
		{"cancel what is postponed", testPostponeOrCancel},
		{"finish", testFinish},
		{"free failures", testFreeFailures},
		{"free failures at once", testConcurrentFree},
		{"loser can't change anything", testLoser},
		{"final never changes", testFinal},
		{"open requests", testOpen},
		{"report", testReport},
		{"progress ends with its lease", testProgressEnds},
		{"cancel what waits", testCancelQueued},
		{"cancel what is processed", testCancelProcessing},
		{"cancel what is final", testCancelFinal},
		{"cancels at once", testConcurrentCancels},
		{"cancel or finish", testCancelOrFinish},
		{"cancel or claim", testCancelOrClaim},
		{"keys", testKeys},
		{"key by hash", testKeyByHash},
		{"touch key", testTouchKey},
		{"revoke key", testRevokeKey},
		{"uploads", testUploads},
		{"expired uploads", testExpiredUploads},
		{"create uses uploads", testCreateUsesUploads},
		{"rate", testRate},
		{"rate at once", testConcurrentRate},
		{"rates are apart", testRatesApart},
	}.run(t, open)
}
