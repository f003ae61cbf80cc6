// Command page writes docs/errors.md from the codes of errors and of failures.
//
//	page ROOT
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: page ROOT")
	}
	text, err := page(os.Args[1])
	if err == nil {
		err = os.WriteFile(filepath.Join(os.Args[1], "docs", "errors.md"), []byte(text), 0o644)
	}
	if err != nil {
		log.Fatal(err)
	}
}

const introduction = `# Errors

<!-- Code generated from internal/domain/failure by go generate; DO NOT EDIT. -->

## Of calls

The sentence is in the field ` + "`error`, the code in the header `Lipsync-Error-Code`; `Lipsync-Error-Detail`" + ` may say more. Codes don't change; new ones may come.

| Code | Status | Meaning | What to do |
|---|---|---|---|
`

const ofRequests = `
## Of requests

The sentence is the request's ` + "`error_message`" + `; its [details](api.md#read-the-result) have the code as ` + "`failure_code`" + ` and what else is known as ` + "`reason`" + `. Neither code nor sentence changes.

The fault is of the *input* or the call; or of the *service*, or *elsewhere*, of a server, the network or the machine: then the request doesn't count towards its key's limit. *Tried again*: for a time, before the request fails.

| Code | Sentence | Fault of | What to do |
|---|---|---|---|
`

// todo has what to do about the codes that calls may get.
var todo = map[failure.Code]string{
	failure.Invalid:      "correct the call: the sentence names the field",
	failure.Unauthorized: "use a key that is neither revoked nor expired",
	failure.ReadOnlyKey:  "use a key that may do more",
	failure.NotFound:     "compare the id with your list",
	failure.Finished:     "nothing: it has ended; enable a webhook first",
	failure.Unfinished:   "wait for its end, or cancel it first",
	failure.Reused:       "take a new key for another body",
	failure.TokenLimit:   "ask the operator for another key",
	failure.TooLarge:     "send less; a large file goes as an [upload](api.md#send-media)",
	failure.RateLimited:  "wait for `Retry-After`; `RateLimit` tells it before",
	failure.OpenLimit:    "wait for the end of requests, or `Retry-After`",
	failure.BatchLimit:   "wait for the end of a batch, or `Retry-After`",
	failure.StorageLimit: "delete media, or ask the operator for more room",
	failure.KeyLimit:     "revoke a key",
	failure.WebhookLimit: "delete a webhook",
	failure.SameWebhook:  "use that webhook",
	failure.EventLimit:   "let a receiver answer, or delete its webhook",
	failure.NoSpace:      "wait for `Retry-After`; the operator has to make room",
	failure.Internal:     "try again later; tell the operator the answer's `X-Request-Id`",
}

// page returns the page, by the source below the folder root.
func page(root string) (string, error) {
	codes, err := constants(filepath.Join(root, "internal/domain/failure/error.go"))
	if err != nil {
		return "", err
	}
	reasons, err := constants(filepath.Join(root, "internal/domain/failure/failure.go"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(introduction)
	for _, c := range codes {
		code := failure.Code(c.value)
		if todo[code] == "" {
			continue // clients of calls don't get it
		}
		fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", c.value, code.Status(), meaning(c.comment), todo[code])
	}
	b.WriteString(ofRequests)
	for _, c := range reasons {
		code := failure.Reason(c.value)
		if slices.Contains([]failure.Class{failure.OfInput, failure.OfOurs, failure.Transient}, failure.Class(c.value)) {
			continue
		}
		by := map[failure.Class]string{failure.OfInput: "input", failure.OfOurs: "service", failure.Transient: "elsewhere"}[code.Class()]
		if example(code).Free() && code.Class() == failure.OfInput {
			by = "service"
		}
		if code.Postpones() {
			by += ", tried again"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", c.value, example(code).Sentence(), by, order.Advice(code))
	}
	return b.String(), nil
}

// meaning returns a comment of the source without what concerns only programmers.
func meaning(comment string) string {
	comment, _, _ = strings.Cut(comment, "; see ")
	return strings.TrimSpace(comment)
}

// example returns a failure with the code, and details for its sentence.
func example(code failure.Reason) failure.Failure {
	d := failure.Details{Kind: failure.Video, Model: "wav2lip", Codec: "hevc"}
	d.Limit = failure.Quantity{Bytes: 5 << 30, Seconds: 7200, FPS: 120, Width: 4096, Height: 4096, Speed: 2, Tracks: 2, Gigapixels: 300}
	d.Value = failure.Quantity{Bytes: 6 << 30, Seconds: 8000, FPS: 240, Width: 7680, Height: 4320, Speed: 3, Frame: 12, Tracks: 3, Gigapixels: 400}
	switch code {
	case failure.MediaTruncated:
		d.Value, d.Stated = failure.Quantity{Seconds: 3.2}, failure.Quantity{Seconds: 8}
	case failure.FaceMissing, failure.SegmentAfterEnd:
		d.Value = failure.Quantity{Seconds: 4.5}
	case failure.UploadRefused:
		d.Status = 403
	}
	return failure.Failure{Code: code, Details: d}
}

// named is a constant of the source.
type named struct{ value, comment string }

// constants returns the texts that a file has as constants, with the comments at their ends, in their order.
func constants(file string) (all []named, err error) {
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, d := range source.Decls {
		list, ok := d.(*ast.GenDecl)
		if !ok || list.Tok != token.CONST {
			continue
		}
		for _, spec := range list.Specs {
			v := spec.(*ast.ValueSpec)
			literal, ok := v.Values[0].(*ast.BasicLit)
			if !ok {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				return nil, err
			}
			all = append(all, named{text, v.Comment.Text()})
		}
	}
	return all, nil
}
