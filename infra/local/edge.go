package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// These are limits of API Gateway that the emulator does not have.
const (
	gatewayBody = 10 << 20 // most bytes of a body
	lambdaBody  = 6 << 20  // most bytes of an event, in which the body is base64
	remapped    = "X-Amzn-Remapped-"
)

// edge serves the emulator's API at the address that it has on AWS: with the stage at the root of
// a host. The emulator serves it deep in a path, and decodes that path before routing, so %2F in
// an id would split it. AWS passes the path on unchanged. Therefore edge escapes it once more.
//
// Like API Gateway, it refuses large bodies with messages that the stack's settings can't change,
// and renames WWW-Authenticate.
func edge(endpoint *url.URL, api string, log *slog.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			escaped := strings.TrimPrefix(r.In.URL.EscapedPath(), "/"+stage)
			r.Out.URL = &url.URL{
				Scheme: endpoint.Scheme, Host: endpoint.Host,
				Path:     "/restapis/" + api + "/" + stage + "/_user_request_" + escaped,
				RawQuery: r.In.URL.RawQuery, // also if it is malformed
			}
		},
		ModifyResponse: func(r *http.Response) error {
			if values, ok := r.Header["Www-Authenticate"]; ok {
				r.Header[http.CanonicalHeaderKey(remapped+"WWW-Authenticate")] = values
				r.Header.Del("WWW-Authenticate")
			}
			return nil
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch size := r.ContentLength; {
		case size > gatewayBody:
			tooLarge(w, "HTTP content length exceeded 10485760 bytes.")
		case size > lambdaBody/4*3:
			tooLarge(w, "Request Too Long")
		default:
			proxy.ServeHTTP(w, r)
		}
	})
}

func tooLarge(w http.ResponseWriter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusRequestEntityTooLarge)
	_, _ = io.WriteString(w, `{"message":"`+message+`"}`) // fails only if the client is gone
}

// stage is the name of the API's only stage.
const stage = "api"
