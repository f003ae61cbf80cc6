package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSync(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "it's an \"output\".mp4")
	if err := os.WriteFile(out, []byte("what was there before"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, said, status := command(t, "sync", fixtures.video, fixtures.speech, "-o", out)
	if status != ok || stdout != "" || strings.Count(said, "rendering\n") != 1 || strings.ContainsAny(said, "\r\x1b") {
		t.Fatalf("got status %d, %q, %q, want plain lines of progress", status, stdout, said)
	}
	wantVideo(t, out, "480,270,25/1,15")
	if !strings.HasSuffix(said, "The output is "+out+"\n") {
		t.Errorf("got %q, want the output named at the end", said)
	}
	wantFiles(t, dir, filepath.Base(out))
}

// TestSyncOutputs sends the output to a program, and has a quiet run say nothing.
func TestSyncOutputs(t *testing.T) {
	dir := t.TempDir()
	stdout, said, status := command(t, "sync", fixtures.video, fixtures.speech, "--quiet", "-o", "-")
	if status != ok || said != "" {
		t.Fatalf("got status %d, %q, want no word", status, said)
	}
	out := filepath.Join(dir, "out.mp4")
	if err := os.WriteFile(out, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	wantVideo(t, out, "480,270,25/1,15")
}

// TestSyncOptions renders by options, and has the program tell which frames stayed as they are.
func TestSyncOptions(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.mp4")
	silence := func(seconds string) string {
		path := filepath.Join(t.TempDir(), "silence.wav")
		if err := runFFmpeg("-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", seconds, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, said, status := command(t, "sync", fixtures.video, silence("1"), "-o", out, "--sync-mode", "cut_off", "--silence", "keep", "--no-face", "fail")
	if end := "The output is " + out + "\nSynced 0 of 15 frames\nThe rest is as in the video, as asked.\nnobody speaks in the audio\n"; status != ok || !strings.HasSuffix(said, end) {
		t.Errorf("got status %d, %q, want %q at the end", status, said, end)
	}
	wantVideo(t, out, "480,270,25/1,15")
	_, said, status = command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--original-gain", "1", "--voice-gain", "0.5", "--duck")
	if status != ok || !strings.HasSuffix(said, "video has no usable sound\n") {
		t.Errorf("got status %d, %q, want a warning at the end", status, said)
	}
	for factor, loud := range map[string]bool{"0": false, "2": true} {
		if _, said, status = command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--voice-gain", factor); status != ok {
			t.Errorf("got status %d, %q", status, said)
		}
		samples := filepath.Join(t.TempDir(), "samples.raw")
		if err := runFFmpeg("-i", out, "-map", "0:a", "-f", "u8", "-c:a", "pcm_u8", samples); err != nil {
			t.Fatal(err)
		}
		if b := read(t, samples); (slices.Max(b) > 140) != loud { // 128 is silence
			t.Errorf("voice gain %s: got samples up to %d", factor, slices.Max(b))
		}
	}
	if _, said, status = command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--preview", "0.2,0.32", "--mask", "0.5,1.2"); status != ok {
		t.Errorf("got status %d, %q", status, said)
	}
	wantVideo(t, out, "480,270,25/1,8")
	if _, said, status = command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--face", "0,240,135"); status != ok {
		t.Errorf("got status %d, %q", status, said)
	}
	boxes := filepath.Join(t.TempDir(), "boxes.json")
	if err := os.WriteFile(boxes, []byte("[null,[0,0,480,270],[0,0,480,270]]"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, said, status = command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--boxes", boxes)
	if end := "Synced 2 of 15 frames\nThe rest is as in the video, as asked.\n"; status != ok || !strings.HasSuffix(said, end) {
		t.Errorf("got status %d, %q, want %q at the end", status, said, end)
	}
	_, said, status = command(t, "sync", fixtures.video, silence("0.2"), "-o", out, "--sync-mode", "remap")
	if status == ok || !strings.Contains(said, "3 times as fast: --sync-mode remap allows a factor of 2\n") {
		t.Errorf("got status %d, %q, want a refusal", status, said)
	}
}

// TestSyncSegments gives two parts of a video of 15 frames speech of their own, and refuses segments that can't be used.
func TestSyncSegments(t *testing.T) {
	dir := t.TempDir()
	out, file := filepath.Join(dir, "out.mp4"), filepath.Join(dir, "segments.json")
	sync := func(segments string, flags ...string) (said string, code int) {
		t.Helper()
		if err := os.WriteFile(file, []byte(segments), 0o600); err != nil {
			t.Fatal(err)
		}
		_, said, code = command(t, append([]string{"sync", fixtures.video, fixtures.speech, "-o", out, "--segments", file}, flags...)...)
		return said, code
	}
	const two = `[{"start": 0.4, "end": 0.5, "audio": {"ref": "anna", "start": 0.1, "end": 0.3}}, {"start": 0.08, "end": 0.32, "options": {"silence": "rest"}}]`
	said, code := sync(two, "--ref", "anna="+fixtures.speech)
	if code != ok || !strings.HasSuffix(said, "Synced 9 of 15 frames\nThe rest is as in the video, as asked.\n") {
		t.Errorf("got status %d, %q, want 9 synced frames", code, said)
	}
	wantVideo(t, out, "480,270,25/1,15")
	for _, c := range []struct {
		segments string
		flags    []string
		want     string
	}{
		{two, nil, `segment has the audio "anna"; there is only AUDIO`},
		{two, []string{"--ref", "ben=" + fixtures.speech}, `segment has the audio "anna"; there is: ben`},
		{two, []string{"--ref", "anna=nowhere.wav"}, "audio nowhere.wav not found"},
		{two, []string{"--ref", "=" + fixtures.speech}, "--ref needs a name: NAME=FILE"},
		{two, []string{"--ref", "anna=" + fixtures.speech, "--duck"}, "with segments the options of the whole request can be: no_face, preview, mask"},
		{two, []string{"--ref", "anna=" + fixtures.speech, "--disable-active-speaker-detection"}, "exclude each other"},
		{`{}`, nil, "segments must be a list of 1 to 100 segments"},
		{`[{"start": 1, "end": 2}]`, nil, "video ends before 1 seconds, where a segment begins"},
	} {
		if said, code := sync(c.segments, c.flags...); code == ok || !strings.Contains(said, c.want) {
			t.Errorf("%s %q: got status %d, %q, want %q", c.segments, c.flags, code, said, c.want)
		}
	}
	if _, said, code := command(t, "sync", fixtures.video, fixtures.speech, "-o", out, "--ref", "anna="+fixtures.speech); code == ok || !strings.Contains(said, "--ref gives speech to segments") {
		t.Errorf("without segments: got status %d, %q", code, said)
	}
}

// TestSyncFormats makes files of other formats, codecs, rates and sizes.
func TestSyncFormats(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		flags []string
		want  string // codec, size, rate and number of frames
	}{
		{"a.mp4", []string{"--codec", "hevc", "--quality", "low", "--width", "240"}, "hevc,240,136,25/1,15"},
		{"a.MOV", []string{"--codec", "prores", "--fps", "50"}, "prores,480,270,50/1,30"},
		{"a.webm", []string{"--fps", "12.5"}, "vp9,480,270,25/2,8"},
		{"-", []string{"--format", "webm", "--fps", "source", "--quiet"}, "vp9,480,270,25/1,15"},
	} {
		path := filepath.Join(dir, c.name)
		args := append([]string{"sync", fixtures.video, fixtures.speech, "-o", path}, c.flags...)
		if c.name == "-" {
			args[4] = c.name
		}
		stdout, said, status := command(t, args...)
		if status != ok {
			t.Errorf("%s: got status %d, %q", c.name, status, said)
			continue
		}
		if c.name == "-" {
			if err := os.WriteFile(path, []byte(stdout), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		probed, err := exec.Command("ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-of", "csv=p=0",
			"-show_entries", "stream=codec_name,width,height,r_frame_rate,nb_read_frames", path).Output()
		if got := strings.TrimSpace(string(probed)); got != c.want {
			t.Errorf("%s: got %s (%v), want %s", c.name, got, err, c.want)
		}
	}
}

// TestSyncPicture lets a photo speak.
func TestSyncPicture(t *testing.T) {
	dir := t.TempDir()
	photo, out := filepath.Join(dir, "photo.jpg"), filepath.Join(dir, "out.mp4")
	if err := runFFmpeg("-i", fixtures.video, "-frames:v", "1", photo); err != nil {
		t.Fatal(err)
	}
	_, said, status := command(t, "sync", photo, fixtures.speech, "-o", out)
	if end := "The output is " + out + "\n"; status != ok || !strings.HasSuffix(said, end) {
		t.Errorf("got status %d, %q, want %q at the end", status, said, end)
	}
	wantVideo(t, out, "480,270,25/1,15")
}

func TestSyncNames(t *testing.T) {
	dir := t.TempDir()
	for source, name := range map[string]string{fixtures.video: "-a video.mp4", fixtures.speech: "-i.wav"} {
		if err := os.WriteFile(filepath.Join(dir, name), read(t, source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := exec.CommandContext(t.Context(), fixtures.program, "sync", "-o", "out.mp4", "--", "-a video.mp4", "-i.wav")
	c.Dir = dir
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	wantVideo(t, filepath.Join(dir, "out.mp4"), "480,270,25/1,15")
}

func TestSyncRefusals(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.mp4")
	if err := os.WriteFile(text, []byte("no video"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.mp4")
	if err := os.Symlink(text, link); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out.mp4")
	tests := []struct {
		args   []string
		status int
		said   string
	}{
		{[]string{fixtures.video, fixtures.speech, "-o", "-", "--json"}, usage, "--json and the output go to standard output"},
		{nil, usage, "<video>"},
		{[]string{fixtures.video, fixtures.speech, "-o", filepath.Join(dir, "out.mkv")}, usage, "the output is an MP4, MOV or WebM file: name it " + out + "\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", filepath.Join(dir, "out.mov"), "--format", "mp4"}, usage, "the output is of the format mp4: name it " + out + "\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--codec", "prores"}, usage, "--codec must be one of those of format mp4: h264, hevc, vp9\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", "-", "--format", "webm", "--codec", "h264"}, usage, "--codec must be one of those of format webm: vp9\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--fps", "0"}, usage, "--fps must be a number from 1 to 120, or source\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--width", "4"}, usage, "--width must be a whole number from 16 to 4096\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--width", "640"}, failed, "lipsync: output is wider than the video: 640 pixels instead of at most 480\n"},
		{[]string{fixtures.video, "https://example.com/a.wav", "-o", out}, failed, "lipsync: sync takes local files; download https://example.com/a.wav first\n"},
		{[]string{fixtures.video, "-o", out}, usage, "<audio>"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--engine", "magic"}, usage, "--engine"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--sync-mode", "magic"}, usage, "--sync-mode must be one of: bounce, loop, cut_off, silence, remap\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--voice-gain", "3"}, usage, "--voice-gain must be a number from 0 to 2\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--preview", "3"}, usage, "--preview must be START,SECONDS, not \"3\""},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--mask", "1,2"}, usage, "--mask must be FEATHER,EXPAND, not \"1,2\": see --help\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--face", "3"}, usage, "--face must be FRAME,X,Y, not \"3\": see --help\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--face", "https://example.com/boxes"}, usage, "give the file of boxes to --boxes\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--face", "0,1,1", "--boxes", text}, usage, "exclude each other\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--face", "0,1,1", "--disable-active-speaker-detection"}, usage, "exclude each other\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--boxes", filepath.Join(dir, "missing")}, failed, "lipsync: boxes file " + filepath.Join(dir, "missing") + " not found\n"},
		{[]string{fixtures.video, fixtures.speech, "-o", text, "--boxes", text}, failed, "would be overwritten"},
		{[]string{fixtures.video, fixtures.speech, "-o", out, "--fast"}, usage, "--fast"},
		{[]string{filepath.Join(dir, "missing"), fixtures.speech, "-o", out}, failed, "lipsync: video " + filepath.Join(dir, "missing") + " not found\n"},
		{[]string{dir, fixtures.speech, "-o", out}, failed, "is not a file"},
		{[]string{text, fixtures.speech, "-o", text}, failed, "would be overwritten"},
		{[]string{text, fixtures.speech, "-o", link}, failed, "would be overwritten"},
		{[]string{fixtures.video, text, "-o", text}, failed, "would be overwritten"},
		{[]string{fixtures.video, fixtures.speech, "-o", dir}, failed, "is not a file"},
		{[]string{fixtures.video, fixtures.speech, "-o", filepath.Join(dir, "no", "out.mp4")}, failed, "the output folder " + filepath.Join(dir, "no") + " does not exist"},
		{[]string{text, fixtures.speech, "-o", out}, failed, "lipsync: " + text + ": video is not a supported format (video is a text)\n"},
		{[]string{fixtures.video, text, "-o", out}, failed, "lipsync: " + text + ": audio is not a supported format (audio is a text)\n"},
		{[]string{fixtures.speech, fixtures.speech, "-o", out}, failed, "lipsync: video has no picture\n"},
	}
	for _, test := range tests {
		stdout, said, status := command(t, append([]string{"sync"}, test.args...)...)
		if status != test.status || stdout != "" || !strings.Contains(said, test.said) {
			t.Errorf("%q: got status %d, %q, want %d, %q", test.args, status, said, test.status, test.said)
		}
	}
	wantFiles(t, dir, "link.mp4", "text.mp4")
}

// TestSyncInterrupted ends the program in the middle, by Ctrl-C and by kill.
func TestSyncInterrupted(t *testing.T) {
	long := filepath.Join(t.TempDir(), "long.wav")
	if err := runFFmpeg("-f", "lavfi", "-i", "sine=duration=300", long); err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		dir := t.TempDir()
		c := exec.CommandContext(t.Context(), fixtures.program, "sync", fixtures.video, long, "-o", filepath.Join(dir, "out.mp4"))
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for len(files(t, dir)) == 0 { // it has not begun
			time.Sleep(10 * time.Millisecond)
		}
		if err := c.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
		if got := c.ProcessState.ExitCode(); got != failed {
			t.Errorf("%s: got status %d, want %d", signal, got, failed)
		}
		wantFiles(t, dir)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// wantFiles checks that a folder holds these files and no others.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := files(t, dir); strings.Join(got, ", ") != strings.Join(want, ", ") {
		t.Errorf("files: got %q, want %q", got, want)
	}
}

// TestSyncNamesOutputs has the program name its outputs: of one speech track, which replaces no file, and of a folder.
func TestSyncNamesOutputs(t *testing.T) {
	dir := t.TempDir()
	speeches := filepath.Join(dir, "speeches")
	if err := os.Mkdir(speeches, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.wav": read(t, fixtures.speech), "b.wav": []byte("no sound"), "notes.txt": []byte("hello")} {
		if err := os.WriteFile(filepath.Join(speeches, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sync := func(args ...string) (stdout, said string, status int) {
		c := exec.CommandContext(t.Context(), fixtures.program, append([]string{"sync"}, args...)...)
		var out, told strings.Builder
		c.Dir, c.Stdout, c.Stderr = dir, &out, &told
		if err := c.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return out.String(), told.String(), c.ProcessState.ExitCode()
	}
	stdout, said, status := sync(fixtures.video, fixtures.speech, "--json")
	var result struct {
		Output string
		Frames int
		Sync   string
	}
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != ok || result.Output != "video-lipsync.mp4" || result.Frames != 15 {
		t.Errorf("got status %d, %q, %q (%v), want the output video-lipsync.mp4 of 15 frames", status, stdout, said, err)
	}
	if _, said, status := sync(fixtures.video, fixtures.speech); status != failed || !strings.Contains(said, "video-lipsync.mp4 exists: to replace it, name it with -o") {
		t.Errorf("got status %d, %q, want no file replaced", status, said)
	}
	_, said, status = sync(fixtures.video, speeches, "--format", "mov")
	for _, want := range []string{"notes.txt is no audio: left out\n", "lipsync: " + speeches + "/b.wav: audio is not a supported format", "1 of 2 speech tracks failed\n"} {
		if status != failed || !strings.Contains(said, want) {
			t.Errorf("got status %d, %q, want %q", status, said, want)
		}
	}
	wantFiles(t, dir, "speeches", "video-lipsync", "video-lipsync.mp4")
	wantFiles(t, filepath.Join(dir, "video-lipsync"), "a.mov")
}
