package monitor

import (
	"strings"

	"lipsync/internal/lipsync"
)

// failureCode returns why a request failed, "" if it completed: one of few words,
// whatever its sentence names.
func failureCode(r lipsync.Request) string {
	sentence := r.Error
	switch {
	case r.Status != lipsync.Failed:
		return ""
	case sentence == lipsync.ProcessingFailed:
		return "internal"
	case sentence == lipsync.Canceled:
		return "canceled"
	case strings.HasSuffix(sentence, " URL is not accessible"):
		return "media_not_accessible"
	case strings.HasSuffix(sentence, " is not a supported format"):
		return "media_unsupported"
	case strings.HasPrefix(sentence, "video is larger than ") && strings.HasSuffix(sentence, " pixels"):
		return "picture_larger_than"
	case strings.Contains(sentence, " is larger than "):
		return "media_larger_than"
	case strings.Contains(sentence, " is longer than "):
		return "media_longer_than"
	case strings.HasPrefix(sentence, "video has more than "):
		return "frame_rate_above"
	case sentence == "video has no picture":
		return "no_picture"
	case sentence == "audio has no sound track":
		return "no_sound_track"
	case sentence == "no face found in the video":
		return "no_face"
	case strings.HasSuffix(sentence, " is not installed"):
		return "model_not_installed"
	default:
		return "unknown"
	}
}

// ours are the codes of failures that are no fault of the client's.
func ours() []string { return []string{"internal"} }
