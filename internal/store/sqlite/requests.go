package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
)

type requests struct{ *Store }

// column is a column of a record: its name, and a place from which it is written and to which it is read.
type column struct {
	name  string
	place any
}

// requestFields returns the columns of a request.
func requestFields(r *lipsync.Request) []column {
	return []column{
		{"id", &r.ID}, {"account", &r.Account}, {"kind", &r.Kind}, {"key_id", &r.KeyID}, {"call_id", &r.CallID}, {"reference_id", &r.ReferenceID}, {"status", &r.Status}, {"class", &r.Class},
		{"video_url", &r.Video.URL}, {"video_object", &r.Video.Object}, {"video_name", &r.Video.Name},
		{"audio_url", &r.Audio.URL}, {"audio_object", &r.Audio.Object}, {"audio_name", &r.Audio.Name},
		{"tracks", asText(&r.Tracks, lipsync.ParseTracks)}, {"largest_face", &r.LargestFace}, {"engine", &r.Engine}, {"options", asText(&r.Options, order.ParseOptions)},
		{"file_name", &r.Options.Output.FileName}, {"targets", asText(&r.Targets, lipsync.ParseTargets)},
		{"created_at", instant{&r.CreatedAt}}, {"started_at", instant{&r.StartedAt}}, {"finished_at", instant{&r.FinishedAt}},
		{"output", &r.Output}, {"poster", &r.Poster}, {"length", span{&r.Length}}, {"size", &r.Size},
		{"frames", &r.Frames.Total}, {"synced_frames", &r.Frames.Synced}, {"unsynced", asText(&r.Unsynced, order.ParseUnsynced)}, {"warnings", &r.Warnings}, {"sync", asText(&r.Sync, order.ParseSyncScore)},
		{"video_length", span{&r.VideoLength}}, {"audio_length", span{&r.AudioLength}}, {"video_sum", digest{&r.VideoSum}},
		{"media_deleted_at", instant{&r.MediaDeletedAt}}, {"failure", &r.Failure.Code}, {"failure_details", asText(&r.Failure.Details, failure.ParseDetails)},
		{"claims", &r.Claims}, {"attempts", &r.Attempts}, {"delays", &r.Delays}, {"missing_since", instant{&r.MissingSince}},
		{"unreachable_since", instant{&r.UnreachableSince}}, {"failing_since", instant{&r.FailingSince}}, {"fetching", span{&r.Fetching}},
		{"lease", &r.Lease}, {"lease_until", instant{&r.LeaseUntil}},
		{"stage", &r.Progress.Stage}, {"percent", &r.Progress.Percent}, {"ends", instant{&r.Progress.Ends}},
	}
}

// listedFields returns the columns of a request that is Listed.
func listedFields(r *lipsync.Request) []column {
	return slices.DeleteFunc(requestFields(r), func(c column) bool {
		return slices.Contains([]string{"tracks", "options", "targets", "unsynced"}, c.name)
	})
}

// requestColumns and listedColumns have the names of the columns of a request, with commas between.
var (
	requestColumns = columnNames(requestFields(new(lipsync.Request)))
	listedColumns  = columnNames(listedFields(new(lipsync.Request)))
)

func columnNames(all []column) string {
	var names []string
	for _, c := range all {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// toRender selects the requests ToRender.
const toRender = "kind = ''"

func scanRequest(row row) (r lipsync.Request, err error) {
	err = row.Scan(places(requestFields(&r))...)
	return r, err
}

func scanListed(row row) (r lipsync.Request, err error) {
	err = row.Scan(places(listedFields(&r))...)
	return r, err
}

// places returns the places of the columns.
func places(columns []column) (all []any) {
	for _, c := range columns {
		all = append(all, c.place)
	}
	return all
}

func (s requests) Create(ctx context.Context, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, limits lipsync.Limits) (created lipsync.Request, replayed bool, err error) {
	err = s.update(ctx, "create", func(ctx context.Context, tx *sql.Tx) error {
		if idem != nil {
			earlier, err := replay(ctx, tx, r.Account, *idem, r.CreatedAt)
			if err != nil || earlier != "" {
				created.ID, replayed = earlier, true
				return err
			}
		}
		if err := checkLimits(ctx, tx, r, limits); err != nil {
			return err
		}
		a, err := webhooksOf(ctx, tx, r.Account)
		if err != nil {
			return err
		}
		if created, err = r.Created(a); err != nil {
			return err
		}
		return insert(ctx, tx, created, uploads, idem, limits.Keep)
	})
	if err != nil {
		return lipsync.Request{}, false, err
	}
	if replayed {
		earlier, readErr := s.ByID(ctx, created.ID)
		if err = failure.Unless(failure.NotFound, readErr); readErr == nil { // otherwise it was erased
			created = earlier
		}
	}
	return created, replayed, err
}

func (s requests) Replayed(ctx context.Context, account string, idem lipsync.Idempotency, now time.Time) (id string, err error) {
	defer s.observe(ctx, "replayed", time.Now(), &err)
	id, err = replay(ctx, s.read, account, idem, now)
	if err == nil && id == "" {
		err = failure.New(failure.NotFound, "not found")
	}
	return id, explain(err)
}

// replay returns the id of the request that the idempotency key made, or "".
func replay(ctx context.Context, db querier, account string, idem lipsync.Idempotency, now time.Time) (id string, err error) {
	var fingerprint []byte
	err = db.QueryRowContext(ctx, `SELECT request_id, fingerprint FROM idempotency
		WHERE account = ? AND key = ? AND expires_at > ?`,
		account, idem.Key, micros(now)).Scan(&id, &fingerprint)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", err
	case !bytes.Equal(fingerprint, idem.Fingerprint[:]):
		return "", failure.New(failure.Reused, "idempotency key reused")
	}
	return id, nil
}

// insert writes the rows of a new request.
func insert(ctx context.Context, tx *sql.Tx, r lipsync.Request, uploads []string, idem *lipsync.Idempotency, keep lipsync.Retention) error {
	if err := useKey(ctx, tx, r.KeyID); err != nil {
		return err
	}
	if err := useUploads(ctx, tx, r, uploads, keep.InputLife()); err != nil {
		return err
	}
	if err := insertIdempotency(ctx, tx, r, idem); err != nil {
		return err
	}
	seq, err := count(ctx, tx, r, "")
	if err != nil {
		return err
	}
	var referenceSeq int64
	if r.ReferenceID != "" {
		if referenceSeq, err = count(ctx, tx, r, r.ReferenceID); err != nil {
			return err
		}
	}
	all := append([]any{seq, referenceSeq}, places(requestFields(&r))...)
	_, err = tx.ExecContext(ctx, "INSERT INTO requests (seq, reference_seq, "+requestColumns+") VALUES (?"+strings.Repeat(", ?", len(all)-1)+")", all...)
	if err != nil {
		return err
	}
	return countRecord(ctx, tx, r.Account, r.Kind, r.CreatedAt, r.RecordSize())
}

func useKey(ctx context.Context, tx *sql.Tx, id string) error {
	if id == "" {
		return nil
	}
	var used int64
	err := tx.QueryRowContext(ctx, `UPDATE keys SET used = used + 1
		WHERE id = ? AND (max_uses = 0 OR used < max_uses) RETURNING used`, id).Scan(&used)
	if errors.Is(err, sql.ErrNoRows) {
		return failure.New(failure.TokenLimit, "token limit reached")
	}
	return err
}

func useUploads(ctx context.Context, tx *sql.Tx, r lipsync.Request, ids []string, life time.Duration) error {
	for _, id := range ids {
		var got string
		err := tx.QueryRowContext(ctx, `UPDATE uploads SET request_id = ?, expires_at = ? WHERE id = ? AND NOT dropped RETURNING id`,
			r.ID, micros(r.CreatedAt.Add(life)), id).Scan(&got)
		if errors.Is(err, sql.ErrNoRows) {
			return failure.New(failure.Invalid, "upload is gone")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// insertIdempotency writes the record, and deletes a few records that have expired: more than one, so
// that their number does not grow.
func insertIdempotency(ctx context.Context, tx *sql.Tx, r lipsync.Request, idem *lipsync.Idempotency) error {
	if idem == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM idempotency WHERE (account, key) IN
		(SELECT account, key FROM idempotency WHERE expires_at <= ? LIMIT 4)`, micros(r.CreatedAt))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO idempotency (account, key, fingerprint, request_id, expires_at)
		VALUES (?, ?, ?, ?, ?)`, r.Account, idem.Key, idem.Fingerprint[:], r.ID, micros(idem.ExpiresAt))
	return err
}

// count adds one to a counter and returns it.
func count(ctx context.Context, tx *sql.Tx, r lipsync.Request, referenceID string) (total int64, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO counters (account, kind, reference_id, total) VALUES (?, ?, ?, 1)
		ON CONFLICT DO UPDATE SET total = total + 1 RETURNING total`, r.Account, r.Kind, referenceID).Scan(&total)
	return total, err
}

func (s requests) ByID(ctx context.Context, id string) (lipsync.Request, error) {
	return one(ctx, s.Store, "get", scanRequest, "SELECT "+requestColumns+" FROM requests WHERE id = ?", id)
}

func (s requests) ByReference(ctx context.Context, account, referenceID string) (lipsync.Request, error) {
	return one(ctx, s.Store, "latest", scanRequest, "SELECT "+requestColumns+` FROM requests
		WHERE account = ? AND `+toRender+` AND reference_id = ? AND reference_id <> ''
		ORDER BY reference_seq DESC LIMIT 1`, account, referenceID)
}

// List lists a page. The sequence numbers on the page follow from the last one, so List
// reads no rows before the page. Its total counts no requests before the oldest that is left.
func (s requests) List(ctx context.Context, account, referenceID string, offset int64, limit int) ([]lipsync.Request, int64, error) {
	clauses, number := "WHERE account = ?1 AND "+toRender, "seq"
	if referenceID != "" {
		clauses, number = clauses+" AND reference_id = ?2 AND reference_id <> ''", "reference_seq"
	}
	type ends struct{ first, last int64 } // first is 0 if there are none
	e, err := one(ctx, s.Store, "list", func(columns row) (e ends, err error) {
		err = columns.Scan(&e.first, &e.last)
		return e, err
	}, "SELECT ifnull((SELECT min("+number+") FROM requests "+clauses+"), 0), ifnull((SELECT total FROM counters WHERE account = ?1 AND "+toRender+" AND reference_id = ?2), 0)",
		account, referenceID)
	if err != nil || e.first == 0 {
		return nil, 0, err
	}
	total := e.last - e.first + 1
	if offset >= total {
		return nil, total, nil
	}
	last := e.last - offset
	list, err := s.selectListed(ctx, "list", clauses+" AND "+number+" BETWEEN ?3 AND ?4 ORDER BY "+number+" DESC", account, referenceID, last-int64(limit)+1, last)
	return list, total, err
}

func (s requests) ListByStatus(ctx context.Context, q lipsync.StatusQuery) (page []lipsync.Request, total int, err error) {
	clauses, args := statusClauses(q)
	total, err = one(ctx, s.Store, "by_status", scanValue[int], "SELECT count(*) FROM (SELECT 1 FROM requests "+clauses+" LIMIT ?)",
		append(slices.Clone(args), q.Count)...)
	if q.Limit = min(q.Limit, total-q.Offset); err != nil || q.Limit <= 0 {
		return nil, total, err
	}
	page, err = s.selectListed(ctx, "by_status", clauses+inStatus, append(args, q.Limit, q.Offset)...)
	return page, total, err
}

func (s requests) ListFrom(ctx context.Context, q lipsync.PlaceQuery) (page []lipsync.Request, next string, err error) {
	if err := q.Check(); err != nil {
		return nil, "", err
	}
	place := int64(math.MaxInt64)
	if q.Place != "" {
		if place, err = strconv.ParseInt(q.Place, 10, 64); err != nil {
			return nil, "", failure.New(failure.Invalid, "no place of a list")
		}
	}
	clauses, number, args := "WHERE account = ? AND "+toRender, "seq", []any{q.Account}
	switch {
	case q.Status != "":
		clauses, args = statusClauses(lipsync.StatusQuery{Account: q.Account, Kind: q.Kind, Status: q.Status, ReferenceID: q.ReferenceID})
	case q.ReferenceID != "":
		clauses, number, args = clauses+" AND reference_id = ? AND reference_id <> ''", "reference_seq", append(args, q.ReferenceID)
	}
	numbers, err := many(ctx, s.Store, "walk", scanValue[int64], walk(clauses, number),
		append(slices.Clone(args), place, q.Limit+1)...)
	if err != nil || min(len(numbers), q.Limit) == 0 {
		return nil, "", err
	}
	if len(numbers) > q.Limit {
		numbers = numbers[:q.Limit]
		next = strconv.FormatInt(numbers[q.Limit-1], 10)
	}
	page, err = s.selectListed(ctx, "walk", clauses+" AND "+number+" BETWEEN ? AND ? ORDER BY "+number+" DESC", append(args, numbers[len(numbers)-1], numbers[0])...)
	return page, next, err
}

// state is the State of a request, as the indexes have it.
const state = "iif(failure = 'canceled', failure, status)"

// statusClauses returns the clauses that select the requests of the query's account, kind, state and reference id.
func statusClauses(q lipsync.StatusQuery) (clauses string, args []any) {
	if q.ReferenceID == "" {
		return withState, []any{q.Account, q.Kind, q.Status}
	}
	return withReferenceAndState, []any{q.Account, q.Kind, q.ReferenceID, q.Status}
}

// walk selects the numbers of the requests with the clauses from a place on.
func walk(clauses, number string) string {
	return "SELECT " + number + " FROM requests " + clauses + " AND " + number + " < ? ORDER BY " + number + " DESC LIMIT ?"
}

const withState = "WHERE account = ? AND kind = ? AND " + state + " = ?"

// withReferenceAndState names its index. SQLite might otherwise choose another one and read every
// request with the state.
const withReferenceAndState = `INDEXED BY requests_by_reference_state
	WHERE account = ? AND kind = ? AND reference_id = ? AND reference_id <> '' AND ` + state + " = ?"

// inStatus selects a page of the requests with one state.
const inStatus = " ORDER BY seq DESC LIMIT ? OFFSET ?"

func (s requests) Usage(ctx context.Context, account string, now time.Time, days int) ([]lipsync.Day, error) {
	last := now.Unix() / secondsOfDay
	first := last - int64(days) + 1
	type dated struct {
		day int64
		lipsync.Day
	}
	found, err := many(ctx, s.Store, "usage", func(columns row) (d dated, err error) {
		err = columns.Scan(&d.day, &d.Requests, &d.Failed, span{&d.Output})
		return d, err
	}, `SELECT day, requests, failed, length FROM days
		WHERE account = ? AND `+toRender+` AND day BETWEEN ? AND ?`, account, first, last)
	all := make([]lipsync.Day, days)
	for _, d := range found {
		all[d.day-first] = d.Day
	}
	return all, err
}

const secondsOfDay = 24 * 60 * 60
