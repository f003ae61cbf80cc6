package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"go.yaml.in/yaml/v3"

	"lipsync/internal/test/check"
)

func loadDocument(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openapi)
	if err != nil {
		t.Fatal(err)
	}
	// This also checks every example against its schema.
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func mustParse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func validate(t testing.TB, doc *openapi3.T, schema string, body []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Errorf("%s: %v", body, err)
		return
	}
	err := doc.Components.Schemas[schema].Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.EnableFormatValidation())
	if err != nil {
		t.Errorf("%s is no %s: %v", body, schema, err)
	}
}

// TestDocumentedEndpoints checks that the document has exactly the endpoints of the table.
func TestDocumentedEndpoints(t *testing.T) {
	var documented, served []string
	for path, item := range loadDocument(t).Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, e := range Endpoints() {
		served = append(served, e.Method+" "+e.Path)
	}
	check.Names(t, "documented endpoints", documented, served)
}

// TestDescribed checks that each property and parameter of the document has a description.
func TestDescribed(t *testing.T) {
	doc := loadDocument(t)
	described := func(s *openapi3.SchemaRef) bool {
		return s.Value.Description != "" || slices.ContainsFunc(s.Value.OneOf, func(o *openapi3.SchemaRef) bool { return o.Value.Description != "" })
	}
	for name, schema := range doc.Components.Schemas {
		for field, s := range schema.Value.Properties {
			if !described(s) {
				t.Errorf("%s of %s is not described", field, name)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for _, op := range item.Operations() {
			for _, p := range op.Parameters {
				if p.Value.Description == "" {
					t.Errorf("%s of %s is not described", p.Value.Name, path)
				}
			}
		}
	}
}

// TestLinted checks what linters of OpenAPI ask for: a contact, texts of tags and operations, and the items of each list.
func TestLinted(t *testing.T) {
	doc := loadDocument(t)
	if doc.Info.Contact == nil {
		t.Error("there is no contact")
	}
	for _, tag := range doc.Tags {
		if tag.Description == "" {
			t.Errorf("the tag %s is not described", tag.Name)
		}
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Description == "" {
				t.Errorf("%s %s is not described", method, path)
			}
		}
	}
	var all any
	if err := yaml.Unmarshal(openapi, &all); err != nil {
		t.Fatal(err)
	}
	var visit func(at string, v any)
	visit = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if v["type"] == "array" && v["items"] == nil {
				t.Errorf("%s is a list without items", at)
			}
			for name, inner := range v {
				visit(at+"/"+name, inner)
			}
		case []any:
			for _, inner := range v {
				visit(at, inner)
			}
		}
	}
	visit("", all)
}

// TestDocumentJSON checks that the service serves the same document as JSON.
func TestDocumentJSON(t *testing.T) {
	r, _ := http.NewRequest(http.MethodGet, "/api/openapi.json", nil)
	got := newFixture(t).call(r, "")
	doc, err := openapi3.NewLoader().LoadFromData(got.Body.Bytes())
	if err != nil || got.Body.Bytes()[0] != '{' {
		t.Fatalf("got %.40q: %v", got.Body, err)
	}
	want, _ := json.Marshal(loadDocument(t))
	if have, _ := json.Marshal(doc); !bytes.Equal(have, want) {
		t.Error("it is not the document that openapi.yaml is")
	}
}

// TestProtection checks that the document says for each route whether it needs a key.
func TestProtection(t *testing.T) {
	f := newFixture(t)
	for path, item := range loadDocument(t).Paths.Map() {
		for method, op := range item.Operations() {
			r, _ := http.NewRequest(method, "/api"+strings.NewReplacer("{id}", "x", "{delivery}", "x").Replace(path), nil)
			open := op.Security != nil && len(*op.Security) == 0
			if got := f.call(r, "").Code == http.StatusUnauthorized; got == open {
				t.Errorf("%s %s: needs a key: %t, but open in the document: %t", method, path, got, open)
			}
		}
	}
}

// checkedTransport checks each answer by the document.
type checkedTransport struct {
	t    *testing.T
	doc  *openapi3.T
	next http.RoundTripper
	seen map[string]bool // "METHOD path status"
}

// times matches the values of fields such as created_at.
var times = regexp.MustCompile(`_at":"([^"]*)"`)

func (c *checkedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil || !strings.HasPrefix(r.URL.Path, "/api/") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil {
		c.check(r, resp, body)
	}
	return resp, err
}

// TestMain lets the checks of answers read Markdown.
func TestMain(m *testing.M) {
	openapi3filter.RegisterBodyDecoder("text/markdown", openapi3filter.PlainBodyDecoder)
	os.Exit(m.Run())
}

func (c *checkedTransport) check(r *http.Request, resp *http.Response, body []byte) {
	if r.Method == http.MethodOptions && resp.StatusCode == http.StatusNoContent {
		return // only its headers count
	}
	for name, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
		if got := resp.Header.Get(name); got != want {
			c.t.Errorf("%s %s: got %s %q, want %q", r.Method, r.URL, name, got, want)
		}
	}
	if r.Method == http.MethodHead {
		return // it has no body, and the document describes only its GET
	}
	route := c.route(r)
	if route == nil {
		validate(c.t, c.doc, "Error", body)
		return
	}
	c.seen[fmt.Sprintf("%s %s %d", route.Method, route.Path, resp.StatusCode)] = true
	for _, time := range times.FindAllSubmatch(body, -1) {
		if !bytes.HasSuffix(time[1], []byte("Z")) {
			c.t.Errorf("%s %s: got the time %s, want one in UTC with Z", r.Method, r.URL, time[1])
		}
	}
	if err := openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, Route: route},
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{
			IncludeResponseStatus:   true,
			SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.EnableFormatValidation()},
		},
	}); err != nil {
		c.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
}

// route returns the documented operation of a call, or nil.
func (c *checkedTransport) route(r *http.Request) *routers.Route {
	doc := *c.doc
	doc.Servers = openapi3.Servers{{URL: "/api"}}
	router, err := gorillamux.NewRouter(&doc)
	if err != nil {
		c.t.Fatal(err)
	}
	route, _, err := router.FindRoute(r)
	if err != nil {
		return nil
	}
	return route
}

// provokeFaults calls each protected operation of a broken service.
func (c *checkedTransport) provokeFaults(base string) {
	client := &http.Client{Transport: c}
	for path, item := range c.doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Responses.Status(http.StatusInternalServerError) == nil {
				continue
			}
			r, err := http.NewRequest(method, base+"/api"+strings.NewReplacer("{id}", "x", "{delivery}", "x").Replace(path), nil)
			if err != nil {
				c.t.Fatal(err)
			}
			r.Header.Set("x-api-key", "any")
			resp, err := client.Do(r)
			if err != nil {
				c.t.Fatal(err)
			}
			resp.Body.Close()
		}
	}
}

// compareStatuses checks that the answers had every status in the document, except that of API Gateway for strangers. Call it after the whole
// suite.
func (c *checkedTransport) compareStatuses() {
	for path, item := range c.doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status, response := range op.Responses.Map() {
				if want := method + " " + path + " " + status; !c.seen[want] && response.Ref != "#/components/responses/Throttled" {
					c.t.Errorf("documented but never seen: %s", want)
				}
			}
		}
	}
}
