package render

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lipsync/internal/domain/order"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/rendertest"
)

// shelf keeps pieces in memory.
type shelf struct {
	mu     sync.Mutex
	pieces map[int][]byte
	used   int // number of pieces that were read and could be used
}

func (s *shelf) Find(_ context.Context, n int, read func(io.Reader) error) error {
	s.mu.Lock()
	content, ok := s.pieces[n]
	s.mu.Unlock()
	if !ok {
		return errors.New("there is none")
	}
	err := read(bytes.NewReader(content))
	if err == nil {
		s.used++
	}
	return err
}

func (s *shelf) Keep(_ context.Context, n int, r io.Reader, size int64) error {
	content, err := io.ReadAll(r)
	if err == nil && int64(len(content)) != size {
		err = fmt.Errorf("got %d bytes, want %d", len(content), size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.pieces[n] = content
	}
	return err
}

// await waits until n pieces are kept.
func (s *shelf) await(ctx context.Context, n int) {
	for ctx.Err() == nil {
		s.mu.Lock()
		kept := len(s.pieces)
		s.mu.Unlock()
		if kept >= n {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// inPiece is the smallest number of frames of a piece.
const inPiece = 8

// attempt renders a job whose pieces have some frames. Before the end it waits until a number of pieces are kept. It returns the path of the output, and
// the first frame that was rendered.
func attempt(t *testing.T, j Job, frames, kept int) (output string, first int, result Result, err error) {
	t.Helper()
	r := newRenderer(t, &numberer{})
	r.Media = mediaOf(t, j.Video)
	now, looks := time.Unix(0, 0), 0
	r.Now = func() time.Time { // the recorder looks when a piece begins and, from a number of frames on, after each frame
		if looks++; kept > 0 && looks == kept*(frames-inPiece+2)+1 {
			j.Pieces.(*shelf).await(t.Context(), kept)
		}
		now = now.Add(time.Second)
		return now
	}
	if j.Sums == nil {
		j.Sums = sumsOf(t, j.Video, j.Audio)
	}
	j.Scratch = t.TempDir()
	j.Output = filepath.Join(j.Scratch, "it's"+j.Options.Output.Extension())
	j.PieceTime = time.Duration(frames-inPiece+1) * time.Second
	result, err = r.Render(t.Context(), j, nil)
	if s, ok := j.Pieces.(*shelf); ok {
		first = s.used * frames
	}
	if err == nil && !result.Again && result.Reused.Frames != first {
		t.Errorf("told of %d frames of earlier attempts, want %d", result.Reused.Frames, first)
	}
	left, _ := os.ReadDir(j.Scratch)
	if want := map[bool]int{true: 1, false: 0}[err == nil]; len(left) != want {
		t.Errorf("files left: %v, want %d", left, want)
	}
	result.Reused = Reused{}
	return j.Output, first, result, err
}

func sumsOf(t *testing.T, paths ...string) (all [][sha256.Size]byte) {
	t.Helper()
	for _, path := range paths {
		sum, err := sumOf(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sum)
	}
	return all
}

// kept renders a job in pieces, and returns the first n of them.
func kept(t *testing.T, j Job, frames, n int) (output string, pieces map[int][]byte) {
	t.Helper()
	s := &shelf{pieces: map[int][]byte{}}
	j.Pieces = s
	output, _, _, err := attempt(t, j, frames, n)
	if err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(s.pieces, func(i int, _ []byte) bool { return i >= n })
	if len(s.pieces) != n {
		t.Fatalf("got %d pieces, want %d", len(s.pieces), n)
	}
	return output, s.pieces
}

const seconds, frames = "1.12", 28 // of outputs at 25 frames/s

// TestPieces renders an output at once, in pieces, and in pieces of two attempts. All must have the same frames at the same times, and the same
// sound. The outputs in pieces must have the same pixels.
func TestPieces(t *testing.T) {
	sdr := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("25", 20))
	ntsc := ffmpegtest.Make(t, "in.mp4", "-f", "lavfi", "-i", ffmpegtest.Numbered("30000/1001", 20))
	deep, clear := deepVideo(t, false, hdrTags("smpte2084")...), deepVideo(t, true, "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709")
	for _, c := range []struct {
		name, video string
		output      order.Output
	}{
		{"H.264", sdr, order.Output{}},
		{"H.264, 29.97", ntsc, order.Output{}},
		{"H.264, MOV, 17.345", sdr, order.Output{Format: order.MOV, FPS: 17345}},
		{"HEVC, PQ", deep, order.Output{Codec: order.HEVC}},
		{"VP9, WebM", ntsc, order.Output{Format: order.WebM}},
		{"VP9, MP4", sdr, order.Output{Codec: order.VP9}},
		{"VP9, alpha", clear, order.Output{Format: order.WebM}},
		{"ProRes, alpha", clear, order.Output{Format: order.MOV, Codec: order.ProRes}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := Job{Video: c.video, Audio: sound(t, "a.wav", seconds), Options: order.Options{Output: c.output}}
			whole, _, wantResult, err := attempt(t, j, inPiece, 0)
			if err != nil {
				t.Fatal(err)
			}
			pieces, first := kept(t, j, inPiece, 1)
			if got, want := streams(t, pieces), streams(t, whole); got != want {
				t.Errorf("got in pieces\n%s\nwant\n%s", got, want)
			}
			j.Pieces = &shelf{pieces: first}
			resumed, from, result, err := attempt(t, j, inPiece, 0)
			if err != nil {
				t.Fatal(err)
			}
			if from != inPiece || fmt.Sprint(result) != fmt.Sprint(wantResult) {
				t.Errorf("went on with frame %d, and told %+v, want %d and %+v", from, result, inPiece, wantResult)
			}
			if got, want := frameSums(t, resumed), frameSums(t, pieces); got != want {
				t.Errorf("the frames of two attempts are not those of one:\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// streams returns what ffprobe says about the streams of a file, and the times of its packets and frames.
func streams(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("ffprobe", "-v", "error", "-of", "compact", "-show_entries",
		"stream=codec_name,profile,codec_tag_string,width,height,pix_fmt,level,color_range,color_space,color_transfer,color_primaries,"+
			"r_frame_rate,avg_frame_rate,time_base,start_pts,duration_ts,nb_frames,sample_rate,channels:stream_tags=alpha_mode:"+
			"frame=stream_index,pts,pkt_duration,nb_samples:frame_side_data=nothing:format=start_time,duration", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	// ffmpeg 7 ends the line of a frame with side data by another "|".
	text := strings.NewReplacer("|side_data|", "", "|\n", "\n", "ALPHA_MODE", "alpha_mode").Replace(string(out))
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" })
	slices.Sort(lines) // the order in which the file has pictures and sound doesn't matter
	return strings.Join(lines, "\n")
}

// frameSums returns the checksum of each frame of a file.
func frameSums(t *testing.T, path string) string {
	t.Helper()
	args := []string{"-v", "error"}
	if strings.HasSuffix(path, ".webm") {
		args = append(args, "-c:v", "libvpx-vp9") // it decodes alpha
	}
	out, err := exec.Command("ffmpeg", append(args, "-i", path, "-f", "framemd5", "-")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestBadPieces goes on after pieces that can't be used. The output must be as if there were none.
func TestBadPieces(t *testing.T) {

	video := numbered(t, "25", 20)
	j := Job{Video: video, Audio: tone(t, seconds)}
	_, good := kept(t, j, inPiece, 2)
	changed := func(n int, change func([]byte) []byte) map[int][]byte {
		all := maps.Clone(good)
		all[n] = change(slices.Clone(all[n]))
		return all
	}
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			b[(at+len(b))%len(b)] ^= 1
			return b
		}
	}
	louder, options := j, j
	louder.Audio = rendertest.Clip{Samples: rendertest.Tone(1.12, .2)}.File(t, "louder")
	options.Options.Mask.Feather = 200
	largest, another := j, j
	largest.LargestFace = true
	another.Sums = sumsOf(t, j.Audio, j.Audio)
	for _, c := range []struct {
		name   string
		job    Job
		pieces map[int][]byte
		first  int
	}{
		{"good", j, good, 2 * inPiece},
		{"another speech track", louder, good, 0},
		{"another video", another, good, 0},
		{"other options", options, good, 0},
		{"another choice of faces", largest, good, 0},
		{"the first is damaged", j, changed(0, flip(-1)), 0},
		{"the second is damaged", j, changed(1, flip(-100)), inPiece},
		{"the second is cut off", j, changed(1, func(b []byte) []byte { return b[:len(b)-1] }), inPiece},
		{"the first is missing", j, map[int][]byte{1: good[1]}, 0},
		{"the first is a later one", j, map[int][]byte{0: good[1]}, 0},
		{"the second is that of another boundary", j, map[int][]byte{0: good[0], 1: good[0]}, inPiece},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.job.Pieces = &shelf{pieces: maps.Clone(c.pieces)}
			output, first, _, err := attempt(t, c.job, inPiece, 0)
			if err != nil || first != c.first {
				t.Fatalf("went on with frame %d (%v), want %d", first, err, c.first)
			}
			_, painted, _ := numbers(t, output)
			for i, got := range painted {
				if got != i {
					t.Fatalf("frame %d is painted %d", i, got)
				}
			}
			if len(painted) != frames {
				t.Errorf("got %d frames, want %d", len(painted), frames)
			}
		})
	}
}

// TestUnjoinablePieces finds pieces that are whole, and of the right plan, but no videos. The output is then rendered from its start, without
// pieces.
func TestUnjoinablePieces(t *testing.T) {
	j := Job{Video: numbered(t, "25", 20), Audio: tone(t, seconds)}
	_, good := kept(t, j, 8, 1)
	facts, _, _ := bytes.Cut(good[0][sha256.Size:], []byte("\n"))
	content := append(facts, "\nno video"...)
	sum := sha256.Sum256(content)
	j.Pieces = &shelf{pieces: map[int][]byte{0: append(sum[:], content...)}}
	output, first, _, err := attempt(t, j, 8, 0)
	if err != nil || first != 8 {
		t.Fatalf("went on with frame %d: %v", first, err)
	}
	if source, _, _ := numbers(t, output); len(source) != frames {
		t.Errorf("got %d frames, want %d", len(source), frames)
	}
}

// TestShortJobs checks that a job that takes less than the time of a piece makes the same file as one without pieces, and keeps nothing.
func TestShortJobs(t *testing.T) {
	j := Job{Video: numbered(t, "25", 20), Audio: tone(t, seconds)}
	var files [2][]byte
	for i, s := range []*shelf{nil, {pieces: map[int][]byte{}}} {
		if s != nil {
			j.Pieces = s
		}
		output, _, _, err := attempt(t, j, 100, 0)
		if err == nil {
			files[i], err = os.ReadFile(output)
		}
		if err != nil || s != nil && len(s.pieces) > 0 {
			t.Fatalf("kept %v (%v), want nothing", s, err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the files differ")
	}
}

// TestPlanOfAnotherBuild wants the plan of the same job to be another one if the program or a network is.
func TestPlanOfAnotherBuild(t *testing.T) {
	t.Parallel()
	video := numbered(t, "25", 2)
	planOf := func(program string) string {
		r := inMemory(t, &numberer{})
		r.Basis = basis(program)
		info, err := r.Media.Probe(t.Context(), video)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := work{Renderer: r}.planSum(input{job: Job{Video: video, Audio: video}, video: info}, 2)
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	if one := planOf("a build"); planOf("a build") != one || planOf("another build") == one {
		t.Error("the plan doesn't depend on just the build")
	}
}
