package gateway_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lipsync/internal/aws/gateway"
	"lipsync/internal/http/rest"
)

// FuzzEvent handles any event. It must give a call or an error, and must not crash the function.
func FuzzEvent(f *testing.F) {
	for _, event := range []string{
		`{"resource":"/v1/lipsync/generate","path":"/v1/lipsync/generate","httpMethod":"POST","body":"e30=","isBase64Encoded":true,"headers":{"Content-Type":"application/json"}}`,
		`{"resource":"/v1/lipsync/requests/{id}","path":"/v1/lipsync/requests/%zz","httpMethod":"GET","multiValueQueryStringParameters":{"a":["b","\u0000"]}}`,
		`{"resource":"/{x+}","path":"//..","httpMethod":"GET","body":"=","isBase64Encoded":true}`,
		`{"httpMethod":"\n","path":"","multiValueHeaders":{"":[""],"Host":["a b"]}}`, `{}`,
	} {
		f.Add([]byte(event))
	}
	h := gateway.Handler(rest.Base, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	f.Fuzz(func(t *testing.T, text []byte) {
		var e events.APIGatewayProxyRequest
		if json.Unmarshal(text, &e) != nil {
			return
		}
		if answer, err := h(t.Context(), e); err == nil && answer.StatusCode != http.StatusNoContent {
			t.Errorf("%s: got %d", text, answer.StatusCode)
		}
	})
}
