package conventions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/sharedtest"
)

// TestFormats wants texts that can't be made of the lists of formats to have them.
func TestFormats(t *testing.T) {
	for _, path := range []string{"docs/api.md", "internal/http/agents/tools.go"} {
		text, err := os.ReadFile(filepath.Join(sharedtest.Root(t), path))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{order.VideoFormats, order.PictureFormats, order.SoundFormats} {
			if !strings.Contains(string(text), list) {
				t.Errorf("%s lacks %q", path, list)
			}
		}
	}
}
