package flags

import (
	"slices"
	"testing"
)

func TestUnknown(t *testing.T) {
	got := Unknown([]string{"LIPSYNC_MAX_VIDO=1", "LIPSYNC_MAX_VIDEO=1", "HOME=/", "LIPSYNC_ADRR=:1", "LIPSYNC_AXE=1", "LIPSYNC_SOMETHING_ELSE=1", "LIPSYNC_TABLE=t"})
	want := []string{
		"LIPSYNC_ADRR is no setting: did you mean LIPSYNC_ADDR?", "LIPSYNC_AXE is no setting", "LIPSYNC_MAX_VIDO is no setting: did you mean LIPSYNC_MAX_VIDEO?",
		"LIPSYNC_SOMETHING_ELSE is no setting",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWords(t *testing.T) {
	for sentence, want := range map[string]string{
		"codec must be one of those of format mp4: h264":                                 "--codec must be one of those of format mp4: h264",
		"video would have to play 3 times as fast: sync_mode remap allows a factor of 2": "video would have to play 3 times as fast: --sync-mode remap allows a factor of 2",
		"video shows no face at 1 seconds: no_face fail requires one in each frame":      "video shows no face at 1 seconds: --no-face fail requires one in each frame",
		"no face found in the video":                                                     "no face found in the video",
		"video shows no face at the point of frame 3":                                    "video shows no face at the point of frame 3",
	} {
		if got := Words(sentence); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
