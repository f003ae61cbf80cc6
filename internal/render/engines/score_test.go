package engines_test

import (
	"bytes"
	"context"
	"flag"
	"image"
	"math"
	"os/exec"
	"path/filepath"
	"testing"

	"lipsync/internal/domain/order"
	"lipsync/internal/face/alignment"
	"lipsync/internal/render"
	"lipsync/internal/render/engines"
	"lipsync/internal/sound/score"
	"lipsync/internal/test/sharedtest"
	"lipsync/internal/test/tracktest"
)

var everyVoice = flag.Bool("voices", false, "TestSyncScore_long renders with all voices")

// voices make the speech tracks of TestSyncScore_long: 16 kHz, mono. The first ones are enough to see that scores are right.
var voices = []struct{ name, file, voice, text string }{
	{name: "reader", file: "librivox"},
	{name: "speech", file: "speech.wav"},
	{"espeak en", "", "en-us", "Good morning. My name is Barbara, and I am happy to show you a map of the harbour before we leave."},
	{name: "own sound", file: "talking_man.mp4"},
	{"espeak en 2", "", "en-us", "Who would choose five wooden shoes? You should move above the waves. Few of us have ever seen such food so far from home."},
	{"espeak de", "", "de", "Guten Morgen. Mein Name ist Barbara, und ich höre früh am Abend fünf schöne Vögel über dem Hafen."},
	{"espeak es", "", "es", "Buenos días. Me llamo Bárbara y vivo cerca del mar, donde las olas mueven un barco pequeño."},
	{"flite rms", "flite", "rms", "The old clock on the wall had stopped long before anybody in the village could remember."},
	{"flite slt", "flite", "slt", "Every evening they walked along the river, and talked about the books that both had read."},
	{"flite awb", "flite", "awb", "Please put the parcels beside the door, and tell your brother that we will be back at five."},
}

// makeVoice returns a speech track, and its samples.
func makeVoice(t *testing.T, i int) (path string, samples []byte) {
	v := voices[i]
	path = filepath.Join(t.TempDir(), "voice.wav")
	from := path
	var err error
	switch v.file {
	case "":
		err = exec.Command("espeak-ng", "-v", v.voice, "-w", path, v.text).Run()
	case "flite":
		err = exec.Command("flite", "-voice", v.voice, "-t", v.text, "-o", path).Run()
	case "librivox":
		from = filepath.Join(sharedtest.Root(t), "internal", "sound", "speech", "testdata", "human-librivox.wav")
	default:
		from = sharedtest.Path(t, "media", v.file)
	}
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	samples, err = exec.Command("ffmpeg", "-v", "error", "-nostdin", "-i", from, "-vn", "-ac", "1", "-ar", "16000", "-f", "s16le", "-").Output()
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	return from, samples
}

// counted counts scores that say what they should.
type counted struct{ right, all int }

func (c *counted) add(right bool) {
	c.all++
	if right {
		c.right++
	}
}

// TestSyncScore_long renders people with several voices. It decodes each output, and scores it against its speech, against the same speech 5 frames earlier
// and later, and against other speeches. The render must say of its frames what the decoded output says, within a confidence of .05 and an offset
// of a frame, or both say that they are not in sync: then the lag at which they agree most is one of chance, which less than the noise of a codec
// changes, and the confidence with it.
func TestSyncScore_long(t *testing.T) {
	sharedtest.Path(t, "media")
	few := 3
	if *everyVoice {
		few = len(voices)
	}
	paths, tracks := make([]string, few), make([][]byte, few)
	for i := range few {
		paths[i], tracks[i] = makeVoice(t, i)
	}
	s, _ := openWith(t, engines.Options{})
	var in, moved, alarm, wrong counted
	for _, name := range []string{"woman.mp4", "talking_man.mp4", "two_people.mp4"} {
		for i := range few {
			told, mouths, fps := renderAndLook(t, s, sharedtest.Path(t, "media", name), paths[i])
			scored := func(samples []byte) order.SyncScore { return scoreOf(t, mouths, samples, fps) }
			got := scored(tracks[i])
			near := math.Abs(told.Confidence-got.Confidence) <= .05 && max(told.Offset-got.Offset, got.Offset-told.Offset) <= 1
			if !told.Known || !near && (told.InSync() || got.InSync()) {
				t.Errorf("%s, %s: the render told %+v, its output has %+v", name, voices[i].name, told, got)
			}
			in.add(got.InSync())
			t.Logf("%s, %s: %+v", name, voices[i].name, got)
			frame := 2 * int(16000/fps+.5)
			late, early := scored(tracks[i][5*frame:]), scored(append(make([]byte, 5*frame), tracks[i]...))
			moved.add(late.Offset >= 4 && late.Offset <= 6)
			moved.add(early.Offset >= -6 && early.Offset <= -4)
			alarm.add(!late.InSync())
			alarm.add(!early.InSync())
			for k := range few {
				if k != i {
					other := scored(tracks[k])
					wrong.add(other.Known && other.Confidence < order.Synced)
				}
			}
		}
	}
	kinds := map[string]counted{"in sync": in, "5 frames off, and by how many": moved, "5 frames off: not in sync": alarm, "the wrong speech": wrong}
	if !*everyVoice { // too few of each kind for a share
		kinds["all"] = counted{in.right + moved.right + wrong.right, in.all + moved.all + wrong.all}
	}
	for what, c := range kinds {
		t.Logf("%s: said so of %d of %d", what, c.right, c.all)
		if 10*c.right < 9*c.all && (*everyVoice || what == "all") {
			t.Errorf("%s: said so of %d of %d, want 90 %%", what, c.right, c.all)
		}
	}
}

// scoreOf returns the score of mouths with samples.
func scoreOf(t *testing.T, mouths []score.Frame, samples []byte, fps float64) order.SyncScore {
	t.Helper()
	sound, err := score.Read(bytes.NewReader(samples))
	if err != nil {
		t.Fatal(err)
	}
	got, known := score.Of(mouths, sound, fps)
	return order.SyncScore{Known: known, Confidence: got.Confidence, Offset: got.Offset}
}

// renderAndLook renders a video with a speech track. It returns the score that the render told, and the mouths of the leftmost face in the file
// that it made.
func renderAndLook(t *testing.T, s *engines.Set, video, audio string) (told order.SyncScore, mouths []score.Frame, fps float64) {
	t.Helper()
	scratch := t.TempDir()
	job := render.Job{Video: video, Audio: audio, Output: filepath.Join(scratch, "out.mp4"), Scratch: scratch, Engine: "warp"}
	made, err := s.Render(t.Context(), job, nil)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Tools.Probe(t.Context(), job.Output)
	if err != nil {
		t.Fatal(err)
	}
	fps = info.Video.Rate.Float()
	all := framesOf(t, job.Output)
	for _, f := range alignedFrames(t, s, all, fps) {
		left := -1
		for i, face := range f.Faces {
			if left < 0 || face.Box.X < f.Faces[left].Box.X {
				left = i
			}
		}
		if left >= 0 {
			mouths = append(mouths, score.Frame{Number: f.Index, Person: f.Faces[left].Person, Mouth: score.MouthOf(all[f.Index], f.Faces[left].ToMouth())})
		}
	}
	return made.Sync, mouths, fps
}

// alignedFrames finds and aligns the faces of frames.
func alignedFrames(t *testing.T, s *engines.Set, all []*image.YCbCr, fps float64) (aligned []alignment.Frame) {
	t.Helper()
	tracker, aligner := s.NewTracker(fps), alignment.NewAligner(fps)
	for _, frame := range all {
		faces, cut, err := tracktest.Add(context.Background(), tracker, frame)
		if err != nil {
			t.Fatal(err)
		}
		aligned = append(aligned, aligner.Add(faces, cut)...)
	}
	if aligned = append(aligned, aligner.End()...); len(aligned) != len(all) {
		t.Fatalf("%d of %d frames are aligned", len(aligned), len(all))
	}
	return aligned
}
