package main

import (
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
)

// edge gives the API of the emulator the address that it has on AWS: the stage
// at the root of a host. The emulator itself has it deep in a path, and decodes
// that path before it looks for a route, so that %2F in an id would part it. AWS
// passes the path on as it came. So it is escaped once more here.
func edge(endpoint *url.URL, api string, log *slog.Logger) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			escaped := strings.TrimPrefix(r.In.URL.EscapedPath(), "/"+stage)
			r.Out.URL = &url.URL{
				Scheme: endpoint.Scheme, Host: endpoint.Host,
				Path:     "/restapis/" + api + "/" + stage + "/_user_request_" + escaped,
				RawQuery: r.In.URL.RawQuery, // also where it is malformed
			}
		},
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
}

// stage is the name of the API's one stage.
const stage = "api"
