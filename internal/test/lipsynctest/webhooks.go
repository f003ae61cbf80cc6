package lipsynctest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// putWebhooks stores webhooks of the account "a".
func putWebhooks(t *testing.T, store lipsync.Store, list ...lipsync.Webhook) lipsync.AccountWebhooks {
	t.Helper()
	a, err := store.Webhooks.Of(t.Context(), "a")
	must(t, err)
	a.List = list
	must(t, store.Webhooks.Put(t.Context(), a))
	a, err = store.Webhooks.Of(t.Context(), "a")
	must(t, err)
	return a
}

func newWebhook(id string, events ...lipsync.EventType) lipsync.Webhook {
	return lipsync.Webhook{ID: id, URL: "https://example.com/" + id, Events: events, CreatedAt: Start(), Secret: "whsec_" + id}
}

func testWebhooks(t *testing.T, store lipsync.Store) {
	none, err := store.Webhooks.Of(t.Context(), "a")
	must(t, err)
	want(t, "before", fmt.Sprint(none), fmt.Sprint(lipsync.AccountWebhooks{Account: "a"}))
	w := newWebhook("w", lipsync.RequestFailed)
	w.OldSecret, w.OldUntil, w.DisabledAt, w.FailingSince = "whsec_old", at(5), at(6), at(4)
	silent := newWebhook("silent")
	silent.Events = []lipsync.EventType{} // not nil, which would be all
	a := putWebhooks(t, store, w, silent)
	want(t, "stored", fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", lipsync.AccountWebhooks{Account: "a", List: []lipsync.Webhook{w, silent}, Version: 1}))
	if a.List[1].Events == nil {
		t.Error("a webhook for no events became one for all")
	}
	for _, old := range []int64{0, 2} {
		stale := a
		stale.Version = old
		wantCode(t, store.Webhooks.Put(t.Context(), stale), failure.Conflict)
	}
	codes := together(8, func(int) error { return store.Webhooks.Put(t.Context(), a) })
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 7})
	must(t, store.Webhooks.Put(t.Context(), lipsync.AccountWebhooks{Account: "b", List: []lipsync.Webhook{w}}))
	must(t, store.Webhooks.Put(t.Context(), lipsync.AccountWebhooks{Account: "b", Version: 1})) // it has none any more
	all, err := store.Webhooks.All(t.Context())
	must(t, err)
	want(t, "accounts with webhooks", len(all), 1)
	want(t, "all", fmt.Sprint(all[0].Account, " ", all[0].Version, len(all[0].List)), "a 2 2")
	a.Version, a.Full = 2, true
	must(t, store.Webhooks.Put(t.Context(), a))
	a, err = store.Webhooks.Of(t.Context(), "a")
	must(t, err)
	want(t, "full", a.Full, true)
}

func newDelivery(webhook string, n int) lipsync.Delivery {
	return lipsync.Delivery{
		ID: fmt.Sprintf("msg_%04d", n), Webhook: webhook, Account: "a", Type: lipsync.TestEvent, CreatedAt: at(n),
		State: lipsync.DeliveryWaiting, Due: at(n), Version: 1,
	}
}

func testDeliveries(t *testing.T, store lipsync.Store) {
	_, err := store.Webhooks.Delivery(t.Context(), "w", "msg_0001")
	wantCode(t, err, failure.NotFound)
	_, err = store.Webhooks.Delivery(t.Context(), "w", "")
	wantCode(t, err, failure.NotFound)
	d := newDelivery("w", 1)
	d.Request, d.After, d.URL = "r", "msg_0000", "https://example.com/?a=1"
	must(t, store.Webhooks.Add(t.Context(), d))
	again := d
	again.Attempts = 5
	must(t, store.Webhooks.Add(t.Context(), again))
	wantDelivery(t, store, d)
	d.State, d.Due, d.Attempts, d.After = lipsync.DeliverySending, at(60), 1, ""
	d.AttemptedAt, d.Status, d.Problem = at(2), 500, "answered with status 500"
	must(t, store.Webhooks.Swap(t.Context(), d))
	d.Version = 2
	wantDelivery(t, store, d)
	codes := together(8, func(int) error { return store.Webhooks.Swap(t.Context(), d) })
	wantCodes(t, codes, map[failure.Code]int{"": 1, failure.Conflict: 7})
	d.Version = 3
	d.State, d.Due, d.Status, d.Problem = lipsync.DeliveryDelivered, time.Time{}, 200, ""
	must(t, store.Webhooks.Swap(t.Context(), d))
	d.Version = 4
	wantDelivery(t, store, d)
	wantDue(t, store, "w", 1000, 10)
	must(t, store.Webhooks.Drop(t.Context(), d))
	must(t, store.Webhooks.Drop(t.Context(), d))
	_, err = store.Webhooks.Delivery(t.Context(), "w", d.ID)
	wantCode(t, err, failure.NotFound)
	wantCode(t, store.Webhooks.Swap(t.Context(), d), failure.Conflict)
}

func wantDelivery(t *testing.T, store lipsync.Store, d lipsync.Delivery) {
	t.Helper()
	got, err := store.Webhooks.Delivery(t.Context(), d.Webhook, d.ID)
	must(t, err)
	want(t, "delivery", got, d)
}

// wantDue checks the ids of the deliveries that are due at a second.
func wantDue(t *testing.T, store lipsync.Store, webhook string, second, limit int, ids ...string) {
	t.Helper()
	due, err := store.Webhooks.Due(t.Context(), webhook, at(second), limit)
	must(t, err)
	want(t, fmt.Sprint("due at ", second), idsOf(due), strings.Join(ids, " "))
}

func idsOf(all []lipsync.Delivery) string {
	var ids []string
	for _, d := range all {
		ids = append(ids, d.ID)
	}
	return strings.Join(ids, " ")
}

// testForgetDeliveries has due and later deliveries to webhooks, of which one is forgotten.
func testForgetDeliveries(t *testing.T, store lipsync.Store) {
	hooks := lipsync.AccountWebhooks{Account: "a"}
	for _, id := range []string{"idle", "later", "v", "w"} {
		hooks.List = append(hooks.List, lipsync.Webhook{ID: id, URL: "https://example.com/" + id})
	}
	must(t, store.Webhooks.Put(t.Context(), hooks))
	wantWithDue := func(second int, ids ...string) {
		t.Helper()
		found, err := store.Webhooks.WithDue(t.Context(), at(second))
		must(t, err)
		slices.Sort(found)
		want(t, fmt.Sprint("webhooks with due deliveries at ", second), found, ids)
	}
	wantWithDue(100)
	for n := range 3 {
		must(t, store.Webhooks.Add(t.Context(), newDelivery("v", n)))
		must(t, store.Webhooks.Add(t.Context(), newDelivery("w", n)))
	}
	must(t, store.Webhooks.Add(t.Context(), newDelivery("later", 50)))
	wantWithDue(-1)
	wantWithDue(10, "v", "w")
	wantWithDue(50, "later", "v", "w")
	must(t, store.Webhooks.Forget(t.Context(), "w"))
	wantDue(t, store, "v", 10, 9, newDelivery("v", 0).ID, newDelivery("v", 1).ID, newDelivery("v", 2).ID)
	wantDue(t, store, "later", 50, 9, newDelivery("later", 50).ID)
}

// testUndelivered has deliveries in all states to two webhooks.
func testUndelivered(t *testing.T, store lipsync.Store) {
	var failed []string
	for n, state := range []lipsync.DeliveryState{
		lipsync.DeliveryFailed, lipsync.DeliveryWaiting, lipsync.DeliveryDelivered, lipsync.DeliveryFailed, lipsync.DeliverySending, lipsync.DeliveryFailed,
	} {
		for _, webhook := range []string{"w", "other"} {
			d := newDelivery(webhook, n)
			must(t, store.Webhooks.Add(t.Context(), d))
			if d.State = state; state == lipsync.DeliveryFailed && webhook == "w" {
				failed = append(failed, d.ID)
			}
			must(t, store.Webhooks.Swap(t.Context(), d))
		}
	}
	wantUndelivered := func(limit int, ids ...string) {
		t.Helper()
		got, err := store.Webhooks.Undelivered(t.Context(), "w", limit)
		must(t, err)
		want(t, "undelivered", idsOf(got), strings.Join(ids, " "))
	}
	wantUndelivered(10, failed...)
	wantUndelivered(2, failed[:2]...)
	again := newDelivery("w", 3)
	again.Version++
	must(t, store.Webhooks.Swap(t.Context(), again))
	wantUndelivered(10, failed[0], failed[2])
	none, err := store.Webhooks.Undelivered(t.Context(), "idle", 10)
	must(t, err)
	want(t, "of an idle webhook", len(none), 0)
}

func testDeliveryLists(t *testing.T, store lipsync.Store) {
	var ids []string
	for n := range 30 {
		d := newDelivery("w", n)
		ids = append(ids, d.ID)
		must(t, store.Webhooks.Add(t.Context(), d))
		must(t, store.Webhooks.Add(t.Context(), newDelivery("other", n)))
	}
	wantDue(t, store, "w", -1, 10)
	wantDue(t, store, "w", 2, 10, ids[:3]...)
	wantDue(t, store, "w", 20, 5, ids[:5]...)
	for limit, n := range map[int]int{7: 7, 30: 30, 100: 30} {
		pending, err := store.Webhooks.Pending(t.Context(), "w", limit)
		must(t, err)
		want(t, fmt.Sprint("pending, at most ", limit), pending, n)
	}
	last := newDelivery("w", 0)
	last.Due = at(50)
	must(t, store.Webhooks.Swap(t.Context(), last))
	wantDue(t, store, "w", 60, 100, append(slices.Clone(ids[1:]), ids[0])...)
	slices.Reverse(ids)
	for _, c := range []struct {
		before string
		limit  int
		want   []string
	}{
		{"", 3, ids[:3]}, {ids[2], 4, ids[3:7]}, {ids[27], 10, ids[28:]}, {ids[29], 10, nil}, {"x", 2, ids[:2]}, {"a", 2, nil},
	} {
		page, err := store.Webhooks.Deliveries(t.Context(), "w", c.before, c.limit)
		must(t, err)
		want(t, "before "+c.before, idsOf(page), strings.Join(c.want, " "))
	}
	must(t, store.Webhooks.Expire(t.Context(), at(10)))
	if _, err := store.Webhooks.Delivery(t.Context(), "w", ids[0]); err != nil {
		t.Errorf("a young delivery was deleted: %v", err)
	}
}

// testEvents follows requests, with webhooks for different events.
func testEvents(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	before := add(t, store, "") // made before the webhooks, so it has no events
	putWebhooks(t, store, newWebhook("all"), newWebhook("ends", lipsync.RequestCompleted, lipsync.RequestCanceled))
	r := add(t, store, "")
	for _, id := range []string{before.ID, r.ID} {
		_, err := claim(t, store, id, "w", 0)
		must(t, err)
	}
	must(t, Release(t.Context(), store.Leases, r.ID, "w"))
	_, err := claim(t, store, r.ID, "w", 100) // a second claim makes no event
	must(t, err)
	started := wantEvents(t, store, "all", lipsync.RequestProcessing)[0]
	wantEvents(t, store, "ends")
	must(t, Finish(t.Context(), store.Leases, r.ID, "w", at(101), lipsync.Outcome{Output: "o"}))
	must(t, Finish(t.Context(), store.Leases, before.ID, "w", at(101), lipsync.Outcome{Output: "o"}))
	wantCode(t, Finish(t.Context(), store.Leases, r.ID, "w", at(102), lipsync.Outcome{Output: "o"}), failure.Conflict)
	completed := wantEvents(t, store, "all", lipsync.RequestCompleted, lipsync.RequestProcessing)[0]
	want(t, "it comes after", completed.After, started.ID)
	want(t, "completed", completed, lipsync.Delivery{
		ID: completed.ID, Webhook: "all", Account: "a", Type: lipsync.RequestCompleted, Request: r.ID, After: started.ID,
		CreatedAt: at(101), State: lipsync.DeliveryWaiting, Due: at(101), Version: 1,
	})
	only := wantEvents(t, store, "ends", lipsync.RequestCompleted)[0]
	want(t, "its id", only.ID, completed.ID)
	want(t, "it comes after nothing", only.After, "")

	waits, held, bad := add(t, store, ""), add(t, store, ""), add(t, store, "")
	for _, id := range []string{held.ID, bad.ID} {
		_, err := claim(t, store, id, "w", 200)
		must(t, err)
	}
	for i, id := range []string{waits.ID, held.ID} {
		_, err = Cancel(t.Context(), store.Leases, id, at(300+i))
		must(t, err)
	}
	_, err = Cancel(t.Context(), store.Leases, waits.ID, at(303))
	wantCode(t, err, failure.Conflict)
	must(t, Finish(t.Context(), store.Leases, bad.ID, "w", at(304), lipsync.Outcome{Failure: noFace()}))
	ends := wantEvents(t, store, "ends", lipsync.RequestCanceled, lipsync.RequestCanceled, lipsync.RequestCompleted)
	want(t, "canceled", ends[0].Request+ends[1].Request, held.ID+waits.ID)
	all := wantEvents(t, store, "all", lipsync.RequestFailed, lipsync.RequestCanceled, lipsync.RequestCanceled,
		lipsync.RequestProcessing, lipsync.RequestProcessing, lipsync.RequestCompleted, lipsync.RequestProcessing)
	want(t, "canceled while it waited", all[2].After, "")
	if all[1].After == "" || all[0].After == "" {
		t.Errorf("got %+v and %+v, want both after their requests began", all[0], all[1])
	}
}

// wantEvents checks the types of all deliveries to a webhook, newest first, and returns them.
func wantEvents(t *testing.T, store lipsync.Store, webhook string, types ...lipsync.EventType) []lipsync.Delivery {
	t.Helper()
	all, err := store.Webhooks.Deliveries(t.Context(), webhook, "", 100)
	must(t, err)
	var got []lipsync.EventType
	for _, d := range all {
		got = append(got, d.Type)
	}
	if !slices.Equal(got, types) {
		t.Fatalf("events of %s: got %v, want %v", webhook, got, types)
	}
	return all
}

// testTargets makes requests that name a webhook by its URL.
func testTargets(t *testing.T, store lipsync.Store) {
	addKey(t, store, "a", 0)
	quiet := newWebhook("quiet")
	quiet.Events = []lipsync.EventType{}
	dead := newWebhook("dead")
	dead.DisabledAt = Start()
	a := putWebhooks(t, store, quiet, dead, newWebhook("fails", lipsync.RequestFailed))
	create := func(account, url string, idem *lipsync.Idempotency) (lipsync.Request, error) {
		r := newRequest(account, "")
		r.KeyID, r.Targets = "", lipsync.NewTargets(url)
		r, _, err := store.Requests.Create(t.Context(), r, nil, idem, lipsync.Limits{})
		return r, err
	}
	for account, url := range map[string]string{"a": "https://example.com/quiet/x", "b": quiet.URL} {
		_, err := create(account, url, nil)
		wantCode(t, err, failure.NotFound)
	}
	_, err := create("a", dead.URL, nil)
	wantCode(t, err, failure.Finished)
	idem := &lipsync.Idempotency{Key: "once", ExpiresAt: at(1000)}
	r, err := create("a", quiet.URL+"?job=1", idem)
	must(t, err)
	stored, err := store.Requests.ByID(t.Context(), r.ID)
	must(t, err)
	want(t, "stored", stored, r)
	want(t, "webhook_url", r.Targets.URL(), quiet.URL+"?job=1")
	plain, err := create("a", "", nil)
	must(t, err)
	other, err := create("b", "", nil)
	must(t, err)
	want(t, "targets without webhooks", other.Targets, nil)
	a.Full = true
	must(t, store.Webhooks.Put(t.Context(), a))
	_, err = create("a", "", nil)
	wantCode(t, err, failure.EventLimit)
	replayed, err := create("a", quiet.URL+"?job=1", idem)
	must(t, err)
	want(t, "replayed", replayed.ID, r.ID)
	for _, id := range []string{r.ID, plain.ID, other.ID} {
		_, err := claim(t, store, id, "w", 0)
		must(t, err)
	}
	sent := wantEvents(t, store, "quiet", lipsync.RequestProcessing)[0]
	want(t, "URL", sent.URL, quiet.URL+"?job=1")
	want(t, "request", sent.Request, r.ID)
	wantEvents(t, store, "dead")
	wantEvents(t, store, "fails")
	putWebhooks(t, store) // the account deletes them
	_, err = create("a", "", nil)
	must(t, err)
	id := uuid.NewString()
	_, err = store.Webhooks.Delivery(t.Context(), id, id)
	wantCode(t, err, failure.NotFound)
}
