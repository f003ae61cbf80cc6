package dashboard

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/order"
	"lipsync/internal/test/browsertest"
	"lipsync/internal/test/ffmpegtest"
)

// TestStudioInBrowser chooses a video, which is shown at once with the face that is found on it, and a speech, whose loudness is drawn. It
// gives the face a name, chooses it by its mark, plays 5 seconds, and starts with what the form remembers of the last time.
func TestStudioInBrowser(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	clip, speech := filepath.Join(dir, "clip.mp4"), ffmpegtest.Make(t, "speech.wav", "-f", "lavfi", "-i", "sine=d=1")
	if err := os.WriteFile(clip, newClip(t), 0o600); err != nil {
		t.Fatal(err)
	}
	a := album{t: t, b: f.signedIn(t)}
	b := a.b
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{clip}), chromedp.SetUploadFiles("[data-drop=audio] [data-file]", []string{speech}))
	b.Wait(`document.querySelector(".screen video").videoWidth === 320 && document.querySelector(".sound path").getAttribute("d")?.length > 500`)
	b.WaitText("[data-found]", "waiting for its turn")
	err := f.service.CompleteAnalysis(t.Context(), f.start(t, "", lipsync.Progress{}), order.Analysis{
		Video: order.AnalyzedVideo{Seconds: 1, FPS: 25, Width: 320, Height: 180, Frames: 25},
		Faces: []order.AnalyzedFace{{ID: "0,160,45", Last: 1, JPEG: newPoster(t), Boxes: []order.FaceBox{{Frame: 0, Box: [4]int{80, 0, 240, 90}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Wait(`document.querySelector(".screen button")?.textContent === "1"`)
	b.Do(chromedp.SendKeys(".people [type=text]", "Ana <b>"), chromedp.Click(".screen button"))
	b.Wait(`document.querySelector("[name=face]").value === "0,160,45" && document.activeElement.matches(".screen button") && document.activeElement.textContent === "Ana <b>" && document.querySelector(".people :checked").value === "0,160,45"`)
	if got := browsertest.Eval[string](b, `["left", "top", "width", "height"].map((s) => document.querySelector(".screen button").style[s]).join()`); got != "25%,0%,50%,50%" {
		t.Errorf("the face is marked at %s", got)
	}
	b.Do(chromedp.Click("[name=duck]"), chromedp.Focus("[name=original_gain]"), chromedp.KeyEvent(kb.End))
	b.WaitText(".slide:has([name=original_gain]) output", "200 %")
	for _, a.Scheme = range []string{"light", "dark"} {
		for _, a.Width = range []int64{390, 1280} {
			b.Look(a.Width, a.Scheme)
			a.look("new-studio")
		}
	}
	b.Do(chromedp.Click("[data-preview]"))
	b.WaitText("[data-trying]", "waits for its turn")
	made := f.made(t)
	if len(made) != 1 || made[0].Options.Preview.String() != "0,5" || made[0].Options.Face.String() != "0,160,45" {
		t.Fatalf("got %+v, want one preview of the chosen face", made)
	}
	f.output(t, made[0].ID, newClip(t), nil)
	b.Wait(`document.querySelector("[data-tried] figure + figure video").readyState >= 2 && document.querySelector("[data-tried] video").readyState >= 2`)
	b.Do(chromedp.Click("[data-start]"))
	b.Wait(`document.querySelector(".facts code")`)
	if made = f.made(t); len(made) != 2 || made[0].Options.Text() != `{"original_gain":2,"duck":true,"face":{"frame":0,"point":[160,45]}}` || made[0].Audio.Name != "speech.wav" {
		t.Errorf("got %s, %+v", made[0].Options.Text(), made[0].Audio)
	}
	b.Open(f.URL + "/dashboard/new")
	b.Wait(`document.querySelector("[name=duck]").checked && document.querySelector("[name=original_gain]").value === "2" && document.querySelector("[name=face]").value === "auto"`)
}

// TestSeveralInBrowser makes a batch of two speeches, and one of a list.
func TestSeveralInBrowser(t *testing.T) {
	f := newFixture(t)
	dir := t.TempDir()
	var speeches []string
	for _, name := range []string{"talk-de.wav", "talk-fr.wav"} {
		speeches = append(speeches, filepath.Join(dir, name))
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a speech"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(list, []byte("audio,reference_id\nhttps://example.com/1.wav,one\nhttps://example.com/2.wav,two\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SendKeys("input[name=video]", "https://example.com/v.mp4"), chromedp.SetUploadFiles("[data-drop=audio] [data-file]", speeches))
	b.Wait(`document.querySelector("[data-several]").innerText === "talk-de.wav\ntalk-fr.wav" && document.querySelector("[data-start]").textContent === "Start 2 requests"`)
	b.Do(chromedp.Click("[data-start]"))
	b.WaitText("h1", "Batch")
	for _, name := range []string{"talk-de", "talk-fr"} {
		b.WaitText("#lines", name)
	}
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SendKeys("input[name=video]", "https://example.com/v.mp4"), chromedp.Click("#several summary"), chromedp.SetUploadFiles("[data-list]", []string{list}))
	b.Wait(`document.querySelector("[name=list]").value.includes("2.wav,two")`)
	b.Do(chromedp.Click("[data-start-list]"))
	b.WaitText("h1", "Batch")
	b.WaitText("#lines", "two")
	if n := len(f.made(t)); n != 4 {
		t.Errorf("got %d requests, want 4", n)
	}
}

// TestChosenPictureInBrowser chooses a picture as video, which is shown at once too.
func TestChosenPictureInBrowser(t *testing.T) {
	f := newFixture(t)
	file := filepath.Join(t.TempDir(), "photo.jpg")
	if err := os.WriteFile(file, newPoster(t), 0o600); err != nil {
		t.Fatal(err)
	}
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	b.Do(chromedp.SetUploadFiles("[data-drop=video] [data-file]", []string{file}))
	b.Wait(`!document.querySelector("[data-still]").hidden && document.querySelector(".screen img").checkVisibility() && document.querySelector(".screen img").naturalWidth === 480`)
}

// TestRecordInBrowser records a speech from a microphone that hums, and is then refused one.
func TestRecordInBrowser(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(t)
	b.Open(f.URL + "/dashboard/new")
	browsertest.Eval[bool](b, `(() => {
		const context = new AudioContext(), hum = context.createOscillator(), out = context.createMediaStreamDestination();
		hum.connect(out);
		hum.start();
		navigator.mediaDevices.getUserMedia = () => Promise.resolve(out.stream);
		return true;
	})()`)
	b.Do(chromedp.Click("[data-record]"))
	b.WaitText("[data-record]", "Stop recording")
	time.Sleep(300 * time.Millisecond)
	b.Do(chromedp.Click("[data-record]"))
	b.Wait(`document.querySelector("[data-drop=audio] [data-file]").files[0]?.name === "recording.webm" && document.querySelector("[data-drop=audio] [data-file]").files[0].size > 0`)
	browsertest.Eval[bool](b, `(navigator.mediaDevices.getUserMedia = () => Promise.reject(new Error("no")), true)`)
	b.Do(chromedp.Click("[data-record]"))
	b.WaitText("[data-problem]", "The microphone can’t be used")
}
