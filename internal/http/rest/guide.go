package rest

import (
	_ "embed"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"

	"lipsync/docs"
)

//go:embed llms.txt
var overview string

// llms answers with the overview for language models, in the form of llmstxt.org.
func llms(_ *api, w *answer, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(w, overview)
	return err
}

var link = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)

// guidePage returns the API guide. It has only the words of links to files of the repository, which the service does not serve.
var guidePage = sync.OnceValue(func() string {
	return link.ReplaceAllStringFunc(docs.API, func(found string) string {
		parts := link.FindStringSubmatch(found)
		if strings.HasPrefix(parts[2], "#") || strings.Contains(parts[2], "://") {
			return found
		}
		return parts[1]
	})
})

func guide(_ *api, w *answer, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	_, err := io.WriteString(w, guidePage())
	return err
}
