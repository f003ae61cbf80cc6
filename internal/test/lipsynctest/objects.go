package lipsynctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// ObjectsFixture is an empty adapter of Objects, with the data that a client needs to use its signed
// URLs.
type ObjectsFixture struct {
	lipsync.Objects
	Base  string           // resolves signed URLs that are relative, such as "http://127.0.0.1:1234"
	Now   func() time.Time // the clock by which signed URLs expire
	Sleep func(time.Duration)
	// Lax reports whether an emulator accepts the query of a signed URL that the real service
	// refuses. Such URLs are not tried. Lax may be nil.
	Lax func(query url.Values) bool
}

// TestObjects checks an implementation of lipsync.Objects.
func TestObjects(t *testing.T, open func(t *testing.T) ObjectsFixture) {
	suite[ObjectsFixture]{
		{"put and open", testPut},
		{"parts", testParts},
		{"versions", testVersions},
		{"put replaces", testPutReplaces},
		{"broken put leaves nothing", testPutBroken},
		{"broken put keeps the old", testPutBrokenReplace},
		{"canceled put", testPutCanceled},
		{"puts at once", testConcurrentPuts},
		{"missing objects", testMissing},
		{"delete", testDelete},
		{"delete all", testDeleteAll},
		{"puts and deletes at once", testPutDelete},
		{"list", testList},
		{"list and delete", testListDelete},
		{"signed get", testSignedGet},
		{"signed get, type", testSignedGetType},
		{"signed get of a range", testSignedRange},
		{"signed get expires", testSignedGetExpires},
		{"signed get of nothing", testSignedGetMissing},
		{"tampered get", testTamperedGet},
		{"signed put", testSignedPut},
		{"signed put of any type", testSignedPutAnyType},
		{"signed put of another size", testSignedPutSize},
		{"signed put of another type", testSignedPutType},
		{"signed put expires", testSignedPutExpires},
		{"signed put breaks off", testSignedPutBreaks},
		{"tampered put", testTamperedPut},
	}.run(t, open)
}

// put stores a text.
func put(t *testing.T, o lipsync.Objects, key, text string) {
	t.Helper()
	must(t, o.Put(t.Context(), key, strings.NewReader(text), int64(len(text))))
}

// wantObject checks that the object holds the text.
func wantObject(t *testing.T, o lipsync.Objects, key, text string) {
	t.Helper()
	r, size, err := o.Open(t.Context(), key)
	must(t, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	must(t, err)
	want(t, key, string(got), text)
	want(t, "size by Open", size, int64(len(text)))
	size, err = o.Size(t.Context(), key)
	must(t, err)
	want(t, "size", size, int64(len(text)))
}

// wantKeys checks that exactly the objects with the keys exist under the prefix.
func wantKeys(t *testing.T, o lipsync.Objects, prefix string, keys ...string) {
	t.Helper()
	got := []string{}
	must(t, o.List(t.Context(), prefix, func(key string, _ time.Time) error {
		got = append(got, key)
		return nil
	}))
	slices.Sort(got)
	want(t, "objects below "+prefix, fmt.Sprint(got), fmt.Sprint(keys))
}

func testPut(t *testing.T, o ObjectsFixture) {
	for i, text := range []string{"", "x", strings.Repeat("0123456789", 500_000)} {
		key := fmt.Sprintf("inputs/%d/video", i)
		put(t, o, key, text)
		wantObject(t, o, key, text)
		must(t, o.Put(t.Context(), key+"2", iotest.OneByteReader(strings.NewReader("any size")), -1))
		wantObject(t, o, key+"2", "any size")
	}
}

func testPutReplaces(t *testing.T, o ObjectsFixture) {
	put(t, o, "outputs/a.mp4", "a long old text")
	put(t, o, "outputs/a.mp4", "new")
	wantObject(t, o, "outputs/a.mp4", "new")
	wantKeys(t, o, "", "outputs/a.mp4")
}

// brokenPuts makes calls of Put that must fail.
func brokenPuts(t *testing.T, o lipsync.Objects, key string) {
	t.Helper()
	broken := errors.New("broken")
	for _, size := range []int64{-1, 10} {
		r := io.MultiReader(strings.NewReader("half "), iotest.ErrReader(broken))
		if err := o.Put(t.Context(), key, r, size); !errors.Is(err, broken) {
			t.Errorf("size %d: got error %v, want the reader's in its chain", size, err)
		}
	}
	for _, size := range []int64{4, 6} {
		if err := o.Put(t.Context(), key, strings.NewReader("fives"), size); err == nil {
			t.Errorf("5 bytes were taken for %d", size)
		}
	}
}

func testPutBroken(t *testing.T, o ObjectsFixture) {
	brokenPuts(t, o, "inputs/a/video")
	wantKeys(t, o, "")
	_, err := o.Size(t.Context(), "inputs/a/video")
	wantCode(t, err, failure.NotFound)
}

func testPutBrokenReplace(t *testing.T, o ObjectsFixture) {
	put(t, o, "inputs/a/video", "old")
	brokenPuts(t, o, "inputs/a/video")
	wantObject(t, o, "inputs/a/video", "old")
}

// endless reads zeros. It calls first before the first of them.
type endless struct {
	first func()
	n     int64
}

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		e.first()
	}
	clear(p)
	e.n += int64(len(p))
	return len(p), nil
}

// testPutCanceled cancels Put of a small object, and of an object too large to be read before the
// cancel.
func testPutCanceled(t *testing.T, o ObjectsFixture) {
	const small, large = 10, 256 << 20 // bytes
	for _, size := range []int64{small, large} {
		ctx, cancel := context.WithCancel(t.Context())
		r := &endless{first: cancel}
		if err := o.Put(ctx, "outputs/a.mp4", io.LimitReader(r, size), size); !errors.Is(err, context.Canceled) {
			t.Errorf("%d bytes: got %v, want canceled", size, err)
		}
		if r.n == large {
			t.Errorf("all %d bytes were read", size)
		}
		wantKeys(t, o, "")
	}
}

func testConcurrentPuts(t *testing.T, o ObjectsFixture) {
	const size = 100_000
	codes := together(16, func(i int) error {
		return o.Put(t.Context(), "outputs/a", bytes.NewReader(bytes.Repeat([]byte{byte(i)}, size)), size)
	})
	wantCodes(t, codes, map[failure.Code]int{"": 16})
	r, _, err := o.Open(t.Context(), "outputs/a")
	must(t, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	must(t, err)
	want(t, "whole object of one put", bytes.Count(got, got[:1]), size)
}

func testParts(t *testing.T, o ObjectsFixture) {
	put(t, o, "models/m", "0123456789")
	version, size, err := o.Version(t.Context(), "models/m")
	must(t, err)
	want(t, "size", size, 10)
	for _, part := range []struct {
		offset, size int64
		text         string
	}{{0, 10, "0123456789"}, {0, 1, "0"}, {3, 4, "3456"}, {9, 1, "9"}} {
		r, err := o.OpenPart(t.Context(), "models/m", version, part.offset, part.size)
		must(t, err)
		got, err := io.ReadAll(r)
		must(t, errors.Join(err, r.Close()))
		want(t, "part", string(got), part.text)
	}
}

func testVersions(t *testing.T, o ObjectsFixture) {
	var versions []string
	for _, text := range []string{"first", "other", "third"} { // as long as each other
		put(t, o, "models/m", text)
		for _, former := range versions {
			_, err := o.OpenPart(t.Context(), "models/m", former, 0, 1)
			wantCode(t, err, failure.Conflict)
		}
		version, _, err := o.Version(t.Context(), "models/m")
		must(t, err)
		versions = append(versions, version)
	}
}

func testMissing(t *testing.T, o ObjectsFixture) {
	put(t, o, "inputs/a/video", "x")
	for _, key := range []string{"never", "inputs/a", "inputs/a/audio", "inputs/a/video/more"} {
		_, err := o.Size(t.Context(), key)
		wantCode(t, err, failure.NotFound)
		_, _, err = o.Open(t.Context(), key)
		wantCode(t, err, failure.NotFound)
		_, _, err = o.Version(t.Context(), key)
		wantCode(t, err, failure.NotFound)
		_, err = o.OpenPart(t.Context(), key, `"version"`, 0, 1)
		wantCode(t, err, failure.NotFound)
		must(t, o.Delete(t.Context(), "inputs/a/video/more"))
	}
}

func testDelete(t *testing.T, o ObjectsFixture) {
	put(t, o, "inputs/a/video", "x")
	put(t, o, "inputs/a/audio", "y")
	for range 2 {
		must(t, o.Delete(t.Context(), "inputs/a/video"))
		wantKeys(t, o, "", "inputs/a/audio")
	}
	must(t, o.Delete(t.Context(), "inputs/a/audio"))
	must(t, o.Delete(t.Context(), "inputs/never/audio"))
	wantKeys(t, o, "")
	put(t, o, "inputs/a/video", "again")
	wantObject(t, o, "inputs/a/video", "again")
}

func testDeleteAll(t *testing.T, o ObjectsFixture) {
	for _, key := range []string{"outputs/a/1.mp4", "outputs/a/2.mp4", "outputs/ab/1.mp4", "outputs/a.mp4", "inputs/a/video"} {
		put(t, o, key, "x")
	}
	for range 2 {
		must(t, o.DeleteAll(t.Context(), "outputs/a/"))
		wantKeys(t, o, "", "inputs/a/video", "outputs/a.mp4", "outputs/ab/1.mp4")
	}
	must(t, o.DeleteAll(t.Context(), "outputs/never/"))
	must(t, o.DeleteAll(t.Context(), "outputs/a.mp4/")) // an object, not a folder
	wantKeys(t, o, "", "inputs/a/video", "outputs/a.mp4", "outputs/ab/1.mp4")
	put(t, o, "outputs/a/3.mp4", "again")
	wantObject(t, o, "outputs/a/3.mp4", "again")
}

// testPutDelete deletes the last other object of a folder while Put stores a new one.
func testPutDelete(t *testing.T, o ObjectsFixture) {
	codes := together(40, func(i int) error {
		key := fmt.Sprintf("inputs/a/%d", i)
		for range 5 {
			if err := o.Put(t.Context(), key, strings.NewReader("x"), 1); err != nil {
				return err
			}
			if err := o.Delete(t.Context(), key); err != nil {
				return err
			}
		}
		return nil
	})
	wantCodes(t, codes, map[failure.Code]int{"": 40})
	wantKeys(t, o, "")
}

func testList(t *testing.T, o ObjectsFixture) {
	for _, key := range []string{"inputs/a/video", "inputs/a/audio", "inputs/ab/video", "outputs/a/1.mp4"} {
		put(t, o, key, "x")
	}
	wantKeys(t, o, "inputs/", "inputs/a/audio", "inputs/a/video", "inputs/ab/video")
	wantKeys(t, o, "inputs/a/", "inputs/a/audio", "inputs/a/video")
	wantKeys(t, o, "inputs/a", "inputs/a/audio", "inputs/a/video", "inputs/ab/video")
	wantKeys(t, o, "never/")
	stop, calls := errors.New("stop"), 0
	err := o.List(t.Context(), "inputs/", func(string, time.Time) error { calls++; return stop })
	want(t, "stopped", errors.Is(err, stop), true)
	want(t, "calls", calls, 1)
	must(t, o.List(t.Context(), "", func(_ string, modified time.Time) error {
		// The adapter's storage uses the real clock.
		want(t, "modified lately", time.Since(modified).Abs() < time.Hour, true)
		return nil
	}))
}

func testListDelete(t *testing.T, o ObjectsFixture) {
	for i := range 9 {
		put(t, o, fmt.Sprintf("inputs/%d/video", i), "x")
		put(t, o, fmt.Sprintf("inputs/%d/audio", i), "x")
	}
	put(t, o, "outputs/a", "x")
	must(t, o.List(t.Context(), "inputs/", func(key string, _ time.Time) error {
		return o.Delete(context.WithoutCancel(t.Context()), key)
	}))
	wantKeys(t, o, "", "outputs/a")
}
