// Package cors lets pages of other sites call the API, as their browsers ask.
package cors

import (
	"net/http"
	"slices"
)

// These are the methods and headers that pages of other sites may send and read, in addition to
// those that browsers always allow.
const (
	allowedMethods = "GET, POST, PUT, DELETE"
	allowedHeaders = "Authorization, X-Api-Key, Content-Type, Idempotency-Key, If-None-Match, Prefer, Range"
	exposedHeaders = "ETag, Retry-After, RateLimit, RateLimit-Policy, Idempotent-Replayed, X-Request-Id, Content-Range, Lipsync-Version, Lipsync-Error-Code, Lipsync-Error-Detail"
)

// Allow lets pages of the origins, such as https://example.com, call a handler; * stands for
// all origins. Use it only for handlers that need a key or a signed URL. Never use it for pages that
// use cookies.
func Allow(origins []string, next http.Handler) http.Handler {
	all := slices.Contains(origins, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		if !all {
			w.Header().Add("Vary", "Origin")
		}
		if origin == "" || !all && !slices.Contains(origins, origin) {
			next.ServeHTTP(w, r)
			return
		}
		if all {
			origin = "*"
		}
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", origin)
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", allowedMethods)
			h.Set("Access-Control-Allow-Headers", allowedHeaders)
			h.Set("Access-Control-Max-Age", "3600") // seconds
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", exposedHeaders)
		next.ServeHTTP(w, r)
	})
}
