// Package lipsync has the pages of documentation, which the service shows to people.
package lipsync

import "embed"

// Pages has the pages and their pictures, by their paths in the repository.
//
//go:embed README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs/*.md docs/measurements/*.txt docs/pictures
//go:embed infra/README.md infra/alarms.md monitoring/README.md internal/sound/speech/training/README.md
var Pages embed.FS
