package ffmpegtest

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lipsync/internal/media/ffmpeg"
)

// Medium is a file as people have it: frames of 160 × 96 that flash, and a sound that beeps, both for .08 s. Something changes within.
type Medium struct {
	container    string // extension of the file
	video, audio string // codecs
	change       string
	at           float64 // when it changes, in seconds
}

// The times of flashes and beeps, and the length of a medium, in seconds.
const (
	firstFlash, lastFlash = .4, 2.
	mediumSeconds         = 2.4
)

// carriers have the codecs that are tried in a container.
var carriers = []struct{ container, videos, audios string }{
	{"mp4", "libx264 mpeg4 libx265", "aac libmp3lame ac3"},
	{"mov", "libx264 prores_ks mjpeg", "aac pcm_s16le alac"},
	{"mkv", "libx264 libvpx ffv1", "aac libopus flac libvorbis pcm_s24le"},
	{"webm", "libvpx libvpx-vp9", "libopus libvorbis"},
	{"avi", "mpeg4 mjpeg msmpeg4v2", "libmp3lame pcm_s16le ac3"},
	{"ts", "libx264 mpeg2video", "aac ac3 mp2"},
	{"flv", "libx264 flv", "aac libmp3lame"},
}

// changes of media: of pictures, of sound, and of times.
var (
	pictureChanges = []string{"size", "aspect", "pixels", "range"}
	soundChanges   = []string{"rate", "channels", "both"}
	timeChanges    = []string{"none", "late sound", "late pictures", "gap", "offset", "joined", "cut", "own rate", "uneven"}
)

// Media returns media from a seed.
func Media(seed uint64, n int) (all []Medium) {
	random := rand.New(rand.NewPCG(seed, seed))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	for len(all) < n {
		c := carriers[len(all)%len(carriers)]
		m := Medium{c.container, pick(strings.Fields(c.videos)), pick(strings.Fields(c.audios)), pick(timeChanges), .5 + 1.3*random.Float64()}
		switch random.IntN(3) {
		case 0: // in formats whose pictures say what they are
			m.change = pick(pictureChanges)
			if m.container != "ts" {
				m.container, m.video = "mkv", pick([]string{"libx264", "libvpx"})
			}
		case 1: // in formats whose sound does
			m.change = pick(soundChanges)
			m.container, m.audio = "", pick([]string{"libmp3lame", "aac", "ac3", "mp2", "ts"})
		}
		if m.container == "avi" && !slices.Contains([]string{"none", "joined", "cut", "own rate"}, m.change) { // it has no times
			m.change = "none"
		}
		if m.audio == "pcm_s16le" && m.change == "gap" { // MOV keeps no gap of such sound
			m.change = "none"
		}
		if m.container == "ts" && m.change == "cut" { // it has no edit lists, and no packets before the begin
			m.change = "none"
		}
		all = append(all, m)
	}
	return all
}

// String names the medium.
func (f Medium) String() string {
	return fmt.Sprintf("%s %s %s %s %.2f", f.container, f.video, f.audio, f.change, f.at)
}

// maker makes media in a folder.
type maker struct {
	testing.TB
	dir, background string // a source of lavfi of 25 frames/s
}

// RunIn runs ffmpeg in a folder.
func RunIn(t testing.TB, dir string, args ...string) {
	t.Helper()
	maker{t, dir, ""}.ffmpeg(args...)
}

func (m maker) ffmpeg(args ...string) {
	m.Helper()
	program := "ffmpeg"
	if slices.Contains(args, "libvorbis") { // the quick ffmpeg doesn't encode it
		program = Installed(program)
	}
	cmd := exec.Command(program, append([]string{"-v", "error", "-nostdin", "-y"}, args...)...)
	cmd.Dir = m.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("%v: %v: %s", args, err, out)
	}
}

// filmed and toned are inputs by lavfi. more are filters.
func (m maker) filmed(more string) []string {
	return []string{"-f", "lavfi", "-i", fmt.Sprintf("%s,trim=end=%g,drawbox=c=white:t=fill:enable='between(t,%g,%g)+between(t,%g,%g)'%s",
		m.background, mediumSeconds, firstFlash-.01, firstFlash+.07, lastFlash-.01, lastFlash+.07, more)}
}

func toned(more string) []string {
	return []string{"-f", "lavfi", "-i", fmt.Sprintf("aevalsrc='.5*sin(2000*PI*t)*(between(t,%g,%g)+between(t,%g,%g))':s=48000:d=%g%s",
		firstFlash, firstFlash+.08, lastFlash, lastFlash+.08, mediumSeconds, more)}
}

// picturesOf returns the options of an encoder of pictures.
func picturesOf(codec string) []string {
	args := []string{"-c:v", codec}
	switch codec {
	case "libx264":
		args = append(args, "-preset", "ultrafast", "-pix_fmt", "yuv420p", "-bf", "2", "-g", "12")
	case "libx265":
		args = append(args, "-preset", "ultrafast", "-x265-params", "log-level=error")
	case "libvpx", "libvpx-vp9":
		args = append(args, "-deadline", "realtime", "-cpu-used", "8", "-b:v", "1M", "-g", "12")
	case "mjpeg":
		args = append(args, "-pix_fmt", "yuvj420p")
	}
	return args
}

// blocks is the most by which beeps come late in sound that was joined: a codec begins each part with a block or two of silence.
const blocks = .12

// frameOfAVI is the most by which sound is off in AVI that was joined. It holds no times, so the sound of a second part begins where that of the first
// ends, by whole blocks, and the pictures by whole frames.
const frameOfAVI = .04

// startOfFLV is where FLV of H.264 with two B-frames begins. A second part that is joined begins so much later, with its sound.
const startOfFLV = .08

// Write makes the medium in a folder of its own, and returns the paths of its video and of its speech, and by how many seconds beeps come after
// flashes. background is a film of 25 frames/s that is dark at .3 of its width and .7 of its height, "" for none.
func (f Medium) Write(t testing.TB, background string) (video, speech string, late float64) {
	m := maker{t, t.TempDir(), "color=0x303030:s=160x96:r=25"}
	if background != "" {
		m.background = "movie=" + background + ":loop=0,setpts=N/25/TB,scale=160:96,setsar=1,lutyuv=y=val*.6"
	}
	return m.write(f)
}

// write makes the medium as Write does.
func (m maker) write(f Medium) (video, speech string, late float64) {
	at, path := fmt.Sprintf("%.2f", math.Round(f.at*25)/25), "m."+f.container
	codecs := append(picturesOf(f.video), "-c:a", f.audio, "-ar", "48000")
	both := append(m.filmed(""), toned("")...)
	switch {
	case slices.Contains(pictureChanges, f.change):
		m.changePictures(f, at, path)
	case slices.Contains(soundChanges, f.change):
		path = m.changeSound(f, at)
		m.ffmpeg(append(append(m.filmed(""), picturesOf("libx264")...), "v.mp4")...)
		return filepath.Join(m.dir, "v.mp4"), filepath.Join(m.dir, path), blocks
	case strings.HasPrefix(f.change, "late"):
		late = m.delay(f, path)
	case f.change == "gap": // of .3 s in the times of sound
		source := toned(fmt.Sprintf(",aselect='not(between(t,%s,%s+.1))'", at, at))
		m.ffmpeg(append(append(append(m.filmed(""), source...), codecs...), path)...)
	case f.change == "offset":
		m.ffmpeg(append(append(both, codecs...), "-output_ts_offset", "7", path)...)
	case f.change == "cut": // an edit list, or packets from before the begin
		m.ffmpeg(append(append(both, codecs...), "whole."+f.container)...)
		m.ffmpeg("-ss", "0.2", "-i", "whole."+f.container, "-c", "copy", path)
	case f.change == "joined":
		m.ffmpeg(append(append(append(m.filmed(",trim=end="+at), toned(",atrim=end="+at)...), codecs...), "a."+f.container)...)
		m.ffmpeg(append(append(append(m.filmed(",trim=start="+at+",setpts=PTS-STARTPTS"), toned(",atrim=start="+at+",asetpts=PTS-STARTPTS")...), codecs...), "b."+f.container)...)
		m.join("a."+f.container, "b."+f.container, path)
	case f.change == "own rate":
		m.ffmpeg(append(append(both, codecs...), "-r", "30000/1001", path)...)
	case f.change == "uneven": // pictures are missing, but none that flashes, nor the next, nor the last
		kept := ",select='not(mod(n*n,3))+between(n,10,12)+between(n,50,52)+eq(n,59)'"
		m.ffmpeg(append(append(append(m.filmed(kept), toned("")...), codecs...), "-fps_mode", "vfr", path)...)
	default:
		m.ffmpeg(append(append(both, codecs...), path)...)
	}
	path = filepath.Join(m.dir, path)
	return path, path, late
}

// join joins two files to another one without encoding them.
func (m maker) join(first, second, path string) {
	if err := os.WriteFile(filepath.Join(m.dir, "list"), []byte("file "+first+"\nfile "+second+"\n"), 0o600); err != nil {
		m.Fatal(err)
	}
	m.ffmpeg("-f", "concat", "-i", "list", "-c", "copy", path)
}

// changePictures makes a medium whose pictures change at a time.
func (m maker) changePictures(f Medium, at, path string) {
	second := map[string]string{"size": "scale=320:128", "aspect": "setsar=2", "pixels": "format=yuv444p", "range": "scale=out_range=pc,format=yuvj420p"}[f.change]
	if f.change == "pixels" && f.video != "libx264" {
		second = "scale=96:96"
	}
	own := picturesOf(f.video)
	if f.video == "libx264" && f.change != "size" { // -pix_fmt would undo the change
		own = []string{"-c:v", "libx264", "-preset", "ultrafast", "-bsf:v", "dump_extra"}
	} else if f.video == "libx264" {
		own = append(own, "-bsf:v", "dump_extra")
	}
	a, b := "a."+f.container, "b."+f.container
	m.ffmpeg(append(append(m.filmed(",trim=end="+at), own...), a)...)
	m.ffmpeg(append(append(m.filmed(",trim=start="+at+",setpts=PTS-STARTPTS,"+second), own...), b)...)
	m.join(a, b, "p."+f.container)
	m.ffmpeg(append(append([]string{"-i", "p." + f.container}, toned("")...), "-c:v", "copy", "-c:a", f.audio, "-ar", "48000", path)...)
}

// changeSound makes a sound that changes at a time, and returns the name of its file.
func (m maker) changeSound(f Medium, at string) string {
	first, second := []string{"-ar", "44100", "-ac", "1"}, []string{"-ar", "24000", "-ac", "1"}
	if f.audio == "ac3" {
		second[1] = "32000"
	}
	if f.change != "rate" {
		second[3] = "2"
	}
	if f.change == "channels" {
		second[1] = "44100"
	}
	extension := map[string]string{"libmp3lame": "mp3", "aac": "aac", "ac3": "ac3", "mp2": "mp2", "ts": "ts"}[f.audio]
	codec := []string{"-c:a", map[bool]string{true: "aac", false: f.audio}[f.audio == "ts"]}
	if extension == "mp3" {
		codec = append(codec, "-write_xing", "0", "-id3v2_version", "0")
	}
	a, b, path := "a."+extension, "b."+extension, "s."+extension
	m.ffmpeg(append(append(append(toned(",atrim=end="+at), first...), codec...), a)...)
	m.ffmpeg(append(append(append(toned(",atrim=start="+at+",asetpts=PTS-STARTPTS"), second...), codec...), b)...)
	switch extension {
	case "ac3", "mp2":
		path = "s.mkv"
		m.join(a, b, path)
	case "ts":
		m.join(a, b, path)
	default:
		m.paste(a, b, path)
	}
	return path
}

// paste writes the bytes of two files to another one.
func (m maker) paste(first, second, path string) {
	var all []byte
	for _, name := range []string{first, second} {
		part, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			m.Fatal(err)
		}
		all = append(all, part...)
	}
	if err := os.WriteFile(filepath.Join(m.dir, path), all, 0o600); err != nil {
		m.Fatal(err)
	}
}

// delay makes a medium whose sound or pictures begin late, and returns by how many seconds beeps come after flashes.
func (m maker) delay(f Medium, path string) (late float64) {
	m.ffmpeg(append(append(m.filmed(""), picturesOf(f.video)...), "p.mkv")...)
	m.ffmpeg(append(append(toned(""), "-c:a", f.audio, "-ar", "48000"), "s.mkv")...)
	p, s := []string{"-i", "p.mkv"}, []string{"-i", "s.mkv"}
	delay := fmt.Sprintf("%.3f", f.at/4)
	if late = f.at / 4; f.change == "late sound" {
		s = append([]string{"-itsoffset", delay}, s...)
	} else {
		p, late = append([]string{"-itsoffset", delay}, p...), -late
	}
	m.ffmpeg(append(append(p, s...), "-c", "copy", path)...)
	switch { // a copy has the silence that its codec begins with as sound
	case f.audio == "aac":
		late += 1024. / 48000
	case f.audio == "libmp3lame" && f.container == "flv":
		late += 1105. / 48000
	}
	return late
}

// Events returns the times of flashes and of beeps in an output, in seconds, and its length by each of them.
func Events(t testing.TB, path string) (flashes, beeps []float64, shown, heard float64) {
	t.Helper()
	tools := Tools(t)
	in, err := tools.Probe(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := tools.OpenFrames(t.Context(), in, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	rate, frames, before := in.Video.Rate.Float(), 0, false
	frame := in.Video.NewFrame()
	for ; ; frames++ {
		if err := reader.Read(frame); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		bright := frame.Y[frame.YOffset(in.Video.Width*3/10, in.Video.Height*7/10)] > 140
		if bright && !before {
			flashes = append(flashes, float64(frames)/rate)
		}
		before = bright
	}
	sound, err := tools.OpenSound(t.Context(), in, 3*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	pcm, err := io.ReadAll(sound)
	if err != nil {
		t.Fatal(err)
	}
	last := -1.
	for i := range len(pcm) / 2 {
		at := float64(i) / ffmpeg.PCMRate
		if s := int16(uint16(pcm[2*i]) | uint16(pcm[2*i+1])<<8); s > 4000 || s < -4000 {
			if last < 0 || at-last > .2 {
				beeps = append(beeps, at)
			}
			last = at
		}
	}
	return flashes, beeps, float64(frames) / rate, float64(len(pcm)/2) / ffmpeg.PCMRate
}

// Check compares when flashes and beeps come in an output that has the medium's whole video and speech. late is that of Write.
func (f Medium) Check(t testing.TB, output string, late float64) {
	t.Helper()
	flashes, beeps, shown, heard := Events(t, output)
	if len(flashes) != 2 || len(beeps) != 2 {
		t.Fatalf("flashes at %.3f and beeps at %.3f, want two", flashes, beeps)
	}
	allowed := .02
	if late == blocks {
		late, allowed = blocks/2, blocks/2
	}
	if f.container == "avi" && f.change == "joined" {
		allowed = frameOfAVI
	}
	for i, flash := range flashes {
		if wrong := beeps[i] - flash - late; math.Abs(wrong) > allowed+.001 {
			t.Errorf("beep %d is wrong by %.3f s (flashes at %.3f, beeps at %.3f, by %.3f s)", i, wrong, flashes, beeps, late)
		}
	}
	apart := lastFlash - firstFlash
	if f.change == "joined" && f.container == "flv" && f.video == "libx264" {
		apart += startOfFLV
	}
	if between := flashes[1] - flashes[0]; math.Abs(between-apart) > .041 {
		t.Errorf("%.3f s between flashes", between)
	}
	if math.Abs(shown-heard) > .041 || shown < mediumSeconds-.25 || shown > mediumSeconds+.6 {
		t.Errorf("%.3f s of pictures and %.3f s of sound", shown, heard)
	}
}
