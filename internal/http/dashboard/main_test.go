package dashboard

import (
	"os"
	"testing"

	"lipsync/internal/test/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }
