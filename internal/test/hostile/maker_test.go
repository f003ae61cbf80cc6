package hostile_test

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"image"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lipsync/internal/domain/failure"
	"lipsync/internal/test/facetest"
	"lipsync/internal/test/ffmpegtest"
)

// maker makes hostile media from valid ones.
type maker struct {
	*rand.Rand        // for the medium that is being made
	n          int    // index of the medium in its class
	dir        string // folder for the medium's file
	end        string // the beginning of the one right result of the medium; "" if several are right
	secret     string // path of a valid video that no job names
	address    string // host and port that no job may call

	good map[string][]byte // by the name of a base
	face string            // path of the video from which all are made
}

func newMaker(t *testing.T) *maker {
	t.Helper()
	m := &maker{good: map[string][]byte{}, face: talker(t), secret: filepath.Join(t.TempDir(), "secret.mp4")}
	if err := os.WriteFile(m.secret, m.base(t, "mp4"), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// make makes the n-th medium of a class.
func (m *maker) make(t *testing.T, c class, n int) medium {
	t.Helper()
	name := fnv.New64()
	fmt.Fprint(name, c.name, n)
	m.Rand, m.n, m.dir, m.end = rand.New(rand.NewPCG(*seed, name.Sum64())), n, t.TempDir(), ""
	kind, content, how := c.make(t, m)
	path := filepath.Join(m.dir, "input")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if to := os.Getenv("LIPSYNC_HOSTILE"); to != "" {
		_ = os.WriteFile(filepath.Join(to, strings.ReplaceAll(t.Name(), "/", "_")), content, 0o600)
	}
	return medium{kind, path, how, n%2 == 1, m.end}
}

// talker makes a video of a drawn head whose mouth moves, with sound.
func talker(t *testing.T) string {
	t.Helper()
	const side, frames = 192, 20
	var raw bytes.Buffer
	for n := range frames {
		f := facetest.Frame(side, side, facetest.Head{X: side / 2, Y: side * .4, Eyes: side / 4, Open: .1 * float64(n%5)})
		for _, plane := range [][]byte{f.Y, f.Cb, f.Cr} {
			raw.Write(plane)
		}
		if f.YStride != side || f.SubsampleRatio != image.YCbCrSubsampleRatio420 {
			t.Fatal("the frame has another layout")
		}
	}
	path := filepath.Join(t.TempDir(), "face.mkv")
	cmd := exec.Command("ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", fmt.Sprintf("%dx%[1]d", side), "-r", "25", "-i", "pipe:0",
		"-f", "lavfi", "-i", "sine=f=300:d=0.8:r=16000", "-c:v", "ffv1", "-c:a", "pcm_s16le", "file:"+path)
	cmd.Stdin = &raw
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// voice makes the speech for hostile videos, of a length in seconds.
func voice(t *testing.T, length string) string {
	t.Helper()
	return ffmpegtest.Make(t, "voice.wav", "-f", "lavfi", "-i", "sine=f=300:d="+length, "-ar", "16000")
}

// bases has ffmpeg's arguments for valid files, by names that begin with the format's.
var bases = map[string]string{
	"mp4":          "-c:v libx264 -g 5 -bf 2 -c:a aac -movflags +faststart",
	"mp4 parts":    "-c:v libx264 -g 5 -c:a aac -movflags +frag_keyframe+empty_moov+default_base_moof",
	"mov":          "-c:v png -c:a pcm_s16le",
	"matroska":     "-c:v libx264 -g 5 -c:a aac",
	"webm":         "-c:v libvpx -b:v 500k -deadline realtime -cpu-used 8 -c:a libopus -ar 48000",
	"avi":          "-c:v mpeg4 -c:a mp3",
	"avi jpeg":     "-c:v mjpeg -c:a pcm_s16le",
	"wav":          "-vn -c:a pcm_s16le",
	"wav adpcm":    "-vn -c:a adpcm_ms",
	"mp3":          "-vn -c:a libmp3lame -metadata title=t",
	"adts":         "-vn -c:a aac",
	"flac":         "-vn -c:a flac -frame_size 1024",
	"ogg":          "-vn -c:a libvorbis",
	"ogg opus":     "-vn -c:a libopus -ar 48000",
	"mp4 sound":    "-vn -c:a aac",
	"mpegts":       "-c:v libx264 -c:a aac",
	"flv":          "-c:v flv1 -c:a pcm_s16le -ar 44100",
	"asf":          "-c:v wmv2 -c:a wmav2 -ar 44100",
	"mpeg":         "-c:v mpeg1video -c:a mp2",
	"nut":          "-c:v ffv1 -c:a pcm_s16le",
	"gif":          "-an",
	"apng":         "-an",
	"mxf":          "-c:v mpeg2video -c:a pcm_s16le -ar 48000",
	"h264":         "-an -c:v libx264",
	"yuv4mpegpipe": "-pix_fmt yuv420p -an -strict -1",
	"aiff":         "-vn -c:a pcm_s16be",
	"au":           "-vn -c:a pcm_s16be -f au",
}

// base returns the content of a valid file.
func (m *maker) base(t *testing.T, name string) []byte {
	t.Helper()
	if m.good[name] == nil {
		format, _, _ := strings.Cut(name, " ")
		args := append([]string{"-i", m.face, "-shortest"}, strings.Fields(bases[name])...)
		if !strings.Contains(bases[name], "-f ") {
			args = append(args, "-f", format)
		}
		m.good[name] = m.ffmpeg(t, args...)
	}
	return bytes.Clone(m.good[name])
}

// ffmpeg returns the content of a file that ffmpeg makes.
func (m *maker) ffmpeg(t *testing.T, args ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(ffmpegtest.Make(t, "made", args...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// pick returns one of the names, in turn by the number of the medium.
func (m *maker) pick(names ...string) string { return names[m.n%len(names)] }

// kindOf returns the kind of input that a base is.
func kindOf(base string) failure.MediaKind {
	if strings.Contains(bases[base], "-vn") {
		return failure.Audio
	}
	return failure.Video
}

// taken returns one of the bases in supported formats.
func (m *maker) taken() string {
	return m.pick("mp4", "matroska", "wav", "avi", "ogg", "webm", "mp3", "mov", "flac", "mp4 parts", "adts", "avi jpeg", "mp4 sound", "ogg opus", "wav adpcm", "mpegts", "flv", "asf", "gif", "apng", "aiff")
}
