package rest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/service"
	"lipsync/internal/http/rest"
)

// Only endpoints that need a key use the service's ports, such as its store.
func ExampleNew() {
	service, err := service.New(base.Config{}, base.Ports{})
	if err != nil {
		panic(err)
	}
	api := rest.New(service, rest.Options{Log: slog.New(slog.DiscardHandler)})
	for _, path := range []string{"/api/health", "/api/v1/users/me", "/api/nothing"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	// Output:
	// 200 {"status":"ok"}
	// 401 {"error":"missing authorization header"}
	// 404 {"error":"not found: the paths of the API begin with /api/v1; /api/openapi.yaml describes them, and /api/guide.md explains them"}
}
