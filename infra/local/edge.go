package main

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// What API Gateway does to calls, and the emulator does not.
const (
	gatewayBody = 10 << 20 // bytes of a body, at most
	lambdaBody  = 6 << 20  // bytes of an event, in which the body is base64
	remapped    = "X-Amzn-Remapped-"
)

// edge gives the API of the emulator the address that it has on AWS: the stage
// at the root of a host. The emulator itself has it deep in a path, and decodes
// that path before it looks for a route, so that %2F in an id would part it. AWS
// passes the path on as it came. So it is escaped once more here.
//
// Like API Gateway it refuses large bodies in words of its own, which no setting of the
// stack changes, and gives WWW-Authenticate another name.
func edge(endpoint *url.URL, api string, log *slog.Logger) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			escaped := strings.TrimPrefix(r.In.URL.EscapedPath(), "/"+stage)
			r.Out.URL = &url.URL{
				Scheme: endpoint.Scheme, Host: endpoint.Host,
				Path:     "/restapis/" + api + "/" + stage + "/_user_request_" + escaped,
				RawQuery: r.In.URL.RawQuery, // also where it is malformed
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

// stage is the name of the API's one stage.
const stage = "api"
