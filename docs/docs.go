// Package docs has the pages of documentation that the service serves.
package docs

import _ "embed"

// API is the API guide, as Markdown.
//
//go:embed api.md
var API string
