package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lipsync/internal/test/browsertest"
	"lipsync/internal/test/ffmpegtest"
	"lipsync/internal/test/sharedtest"
)

var keepWalks = flag.Bool("keep-walks", false, "TestWalks_long writes what it prints to docs/measurements/walks.txt")

// walksPage is the file in which a run keeps its table.
const walksPage = "docs/measurements/walks.txt"

// walk is a way from an empty data folder to an output: what a person did, one after the other.
type walk struct {
	t       *testing.T
	way     string
	steps   []string
	began   time.Time
	seconds float64
}

// step notes what the person does next.
func (w *walk) step(what string) { w.steps = append(w.steps, what) }

// ended notes the time.
func (w *walk) ended() { w.seconds = time.Since(w.began).Seconds() }

// dub has the files of a walk.
type dub struct{ video, ana, ben string }

// newDub makes a video of two people with music, and a speech for each.
func newDub(t *testing.T) dub {
	t.Helper()
	return dub{
		video: ffmpegtest.Make(t, "two.mp4", "-stream_loop", "20", "-i", fixtures.video, "-f", "lavfi", "-i", "sine=f=330:d=4", "-filter_complex", "[0:v]split[a][b];[b]hflip[c];[a][c]hstack[v]",
			"-map", "[v]", "-map", "1:a", "-t", "4", "-pix_fmt", "yuv420p"),
		ana: ffmpegtest.Make(t, "ana.wav", "-f", "lavfi", "-i", "sine=f=200:d=1.5"),
		ben: ffmpegtest.Make(t, "ben.wav", "-f", "lavfi", "-i", "sine=f=120:d=1.5"),
	}
}

// TestWalks_long goes from an empty data folder to a video of two people who each speak another speech, with the video's music kept: by the
// mouse and by the keyboard in the dashboard, by curl, and by the command line. It prints the steps and seconds of each way.
func TestWalks_long(t *testing.T) {
	d := newDub(t)
	var table, lists strings.Builder
	for _, way := range []struct {
		name string
		most int // steps
		walk func(*walk, dub)
	}{{"the mouse in the dashboard", 17, byMouse}, {"the keyboard in the dashboard", 16, byKeyboard}, {"curl", 9, byCurl}, {"the command line", 3, byCommand}} {
		w := &walk{t: t, way: way.name, began: time.Now()}
		way.walk(w, d)
		if w.seconds == 0 || len(w.steps) > way.most {
			t.Errorf("%s: got %d steps in %.1f s, want at most %d", w.way, len(w.steps), w.seconds, way.most)
		}
		fmt.Fprintf(&table, "| %s | %d | %.0f |\n", w.way, len(w.steps), w.seconds)
		fmt.Fprintf(&lists, "\nBy %s:\n\n", way.name)
		for i, s := range w.steps {
			fmt.Fprintf(&lists, "%d. %s\n", i+1, s)
		}
	}
	text := "Printed by make walks: from an empty data folder to a video of 4 s in which two people speak for .8 s each, with the video's music kept.\n" +
		"A step is a click, a drag, a scroll, a field that is typed, a file that is chosen, a command or a call; asking until a request is finished is one, and so is a way\n" +
		"by Tab with what is pressed at its end. The seconds are those of the machine, most of them for rendering, of a test that does the steps without a pause.\n\n| Way | Steps | Seconds |\n|---|---|---|\n" + table.String() + lists.String()
	t.Log("\n" + text)
	if *keepWalks {
		if err := os.WriteFile(filepath.Join(sharedtest.Root(t), filepath.FromSlash(walksPage)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// byMouse dubs in the dashboard.
func byMouse(w *walk, d dub) {
	data := w.t.TempDir()
	w.step("lipsync serve")
	s := startServer(w.t, data)
	b := browsertest.New(w.t)
	b.Look(1280, "light")
	click := func(selector, what string) {
		w.t.Helper()
		w.step("click " + what)
		b.Do(chromedp.Click(selector))
	}
	choose := func(field, file, what string) {
		w.t.Helper()
		w.step("choose the file of " + what)
		b.Do(chromedp.SetUploadFiles(field+" [data-file]", []string{file}))
	}
	w.step("open the link that serve prints on a terminal")
	w.step("click Sign in")
	b.SignIn(s.link(w.t), "Requests")
	click("a[href$='/new'].primary", "New request")
	b.WaitText("h1", "New request")
	choose("[data-drop=video]", d.video, "the video")
	choose("[data-drop=audio]", d.ana, "Ana's speech")
	b.Wait(`document.querySelectorAll(".people [type=radio]").length === 3`)
	click("[data-add-audio]", "Add a speech")
	choose(".more fieldset:not([hidden])", d.ben, "Ben's speech")
	w.step("scroll to the slider of the video's own sound, which Start is in front of")
	browsertest.Eval[bool](b, `(document.querySelector("[name=original_gain]").scrollIntoView({ block: "center" }), true)`)
	click("[name=original_gain]", "the middle of the slider, a gain of 1; the other ways take .5")
	for i, face := range []string{"2", "3"} {
		click("[data-add-segment]", "Add a segment")
		b.Wait(fmt.Sprintf(`document.querySelectorAll(".timeline button").length === %d && document.querySelector("[data-segment] .people")`, i+1))
		if i == 1 {
			w.step("choose the second speech in the list")
			browsertest.Eval[bool](b, `(() => {
				const list = document.querySelector("[data-of=audio]");
				list.selectedIndex = 1;
				return list.dispatchEvent(new Event("input", { bubbles: true })) && list.dispatchEvent(new Event("change", { bubbles: true }));
			})()`)
		}
		click(".people label:nth-child("+face+") img", "a face")
	}
	click("[data-start]", "Start")
	b.Wait(`document.querySelector("[data-output]")?.readyState >= 2`)
	id := browsertest.Eval[string](b, `location.pathname.split("/").pop()`)
	click("a[download]", "Download")
	w.ended()
	w.wantDub(details(w.t, s, newKey(w.t, data), id), 1)
}

// byKeyboard dubs in the dashboard by keys only.
func byKeyboard(w *walk, d dub) {
	data := w.t.TempDir()
	w.step("lipsync serve")
	s := startServer(w.t, data)
	b := browsertest.New(w.t)
	b.Look(1280, "light")
	k := browsertest.Keyboard{Browser: b}
	enter := func(selector, what string) {
		w.t.Helper()
		w.step("Tab to " + what + ", Enter")
		k.To(selector)
		k.Press(kb.Enter)
	}
	choose := func(field, file, what string) {
		w.t.Helper()
		w.step("Tab to the file of " + what + ", Space, and choose it")
		k.To(field + " [data-file]")
		k.Choose(file)
	}
	w.step("open the link that serve prints on a terminal")
	b.Open(s.link(w.t))
	w.step("Enter, on Sign in")
	b.Wait(`document.activeElement.matches("form[action$=sign-in] button")`) // which has the focus once the page is drawn
	k.Press(kb.Enter)
	b.WaitText("h1", "Requests")
	enter("a[href$='/new'].primary", "New request")
	b.WaitText("h1", "New request")
	choose("[data-drop=video]", d.video, "the video")
	choose("[data-drop=audio]", d.ana, "Ana's speech")
	b.Wait(`document.querySelectorAll(".people [type=radio]").length === 3`)
	enter("[data-add-audio]", "Add a speech")
	choose(".more fieldset:not([hidden])", d.ben, "Ben's speech")
	w.step("Shift and Tab to Add a segment, Enter")
	k.BackTo("[data-add-segment]")
	k.Press(kb.Enter)
	b.Wait(`document.querySelectorAll(".timeline button").length === 1`)
	w.step("Tab to the gain of the video's own sound, .5")
	k.To("[data-of=original_gain]")
	k.Press("\b.5")
	w.step("Tab to the faces, Arrow down to the first")
	k.To(".people [type=radio]")
	k.Press(kb.ArrowDown)
	enter("[data-add-segment]", "Add a segment")
	b.Wait(`document.querySelectorAll(".timeline button").length === 2`)
	w.step("Tab to the list of speeches, Arrow down")
	k.To("[data-of=audio]")
	k.Press(kb.ArrowDown)
	w.step("Tab to the faces, Arrow down to the second")
	k.To(".people [type=radio]")
	k.Press(kb.ArrowDown + kb.ArrowDown)
	enter("[data-start]", "Start")
	b.Wait(`document.querySelector("[data-output]")?.readyState >= 2`)
	id := browsertest.Eval[string](b, `location.pathname.split("/").pop()`)
	enter("a[download]", "Download")
	w.ended()
	w.way += fmt.Sprintf(", with %d keys", k.Pressed)
	if k.Pressed > 100 {
		w.t.Errorf("%d keys were pressed, want at most 100", k.Pressed)
	}
	w.wantDub(details(w.t, s, newKey(w.t, data), id), .5)
}

// wantDub checks the details of a request: each half has the face of another person, and keeps the music by the gain.
func (w *walk) wantDub(text string, gain float64) {
	w.t.Helper()
	var got struct {
		Status   string
		Frames   struct{ Synced int }
		Segments []struct {
			Start, End float64
			Audio      *struct{ Ref string }
			Options    struct {
				Gain float64         `json:"original_gain"`
				Face json.RawMessage `json:"face"`
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		w.t.Fatalf("%s: %v: %s", w.way, err, text)
	}
	if len(got.Segments) != 2 || got.Status != "completed" || got.Frames.Synced < 20 {
		w.t.Fatalf("%s: got %s", w.way, text)
	}
	first, second := got.Segments[0], got.Segments[1]
	if first.Options.Gain != gain || second.Options.Gain != gain || string(first.Options.Face) == string(second.Options.Face) || second.Audio == nil || second.Audio.Ref == "" {
		w.t.Errorf("%s: got %s", w.way, text)
	}
}

// details returns the details of a request, by curl.
func details(t *testing.T, s *server, key, id string) string {
	t.Helper()
	return shell(t, `curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "$API/lipsync/requests/$ID/details"`, "KEY="+key, "API="+s.url+"/api/v1", "ID="+id)
}

// shell runs a script with variables, and returns what it prints.
func shell(t *testing.T, script string, variables ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", script)
	c.Env = append(os.Environ(), variables...)
	var said strings.Builder
	c.Stderr = &said
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s%s", script, err, out, said.String())
	}
	return strings.TrimSpace(string(out))
}

// segmentsOf returns the two segments as JSON, of two faces in the text of an analysis.
func segmentsOf(t *testing.T, analysis string) string {
	t.Helper()
	faces := regexp.MustCompile(`(?m)(?:"id":"|^)(\d+,\d+,\d+)`).FindAllStringSubmatch(analysis, 2)
	if len(faces) != 2 {
		t.Fatalf("got the faces %q in %.500s", faces, analysis)
	}
	return fmt.Sprintf(`[{"start": 0, "end": 0.8, "options": {"face": {"id": %q}, "original_gain": 0.5}},
		{"start": 0.8, "end": 1.6, "audio": {"ref": "ben"}, "options": {"face": {"id": %q}, "original_gain": 0.5}}]`, faces[0][1], faces[1][1])
}

// byCurl dubs by calls of the API.
func byCurl(w *walk, d dub) {
	data := w.t.TempDir()
	w.step("lipsync serve")
	s := startServer(w.t, data)
	w.step("lipsync keys create")
	variables := []string{"KEY=" + newKey(w.t, data), "API=" + s.url + "/api/v1"}
	const call = `call() { curl -sS --fail-with-body -H "Authorization: Bearer $KEY" "$@"; }; `
	do := func(what, script string, more ...string) string {
		w.t.Helper()
		w.step(what)
		return shell(w.t, call+script, append(more, variables...)...)
	}
	field := func(answer, name string) string {
		w.t.Helper()
		found := regexp.MustCompile(`"` + name + `":"([^"]*)"`).FindStringSubmatch(answer)
		if found == nil {
			w.t.Fatalf("no %s in %s", name, answer)
		}
		return found[1]
	}
	made := do("POST /v1/uploads for the video", `call "$API/uploads" -H "Content-Type: application/json" -d '{"type": "video", "size": '"$(wc -c < "$VIDEO")"'}'`, "VIDEO="+d.video)
	do("PUT the video", `curl -sS --fail-with-body -T "$VIDEO" "$TO"`, "VIDEO="+d.video, "TO="+field(made, "upload_url"))
	analysis := do("POST /v1/lipsync/analyze", `call "$API/lipsync/analyze" -H "Content-Type: application/json" -d '{"url": "'"$URL"'"}'`, "URL="+field(made, "url"))
	const untilDone = `while :; do answer=$(call "$API/$AT"); case $answer in *'"status":"completed"'*) break ;; *'"status":"failed"'*) echo "$answer" >&2; exit 1 ;; esac; sleep .2; done; echo "$answer"`
	faces := do("GET the analysis until it is finished", untilDone, "AT=lipsync/analyses/"+field(analysis, "id"))
	started := do("POST /v1/lipsync/generate-with-media", `call "$API/lipsync/generate-with-media" -F video=@"$VIDEO" -F audio=@"$ANA" -F "audio[ben]=@$BEN" -F "segments=$SEGMENTS"`,
		"VIDEO="+d.video, "ANA="+d.ana, "BEN="+d.ben, "SEGMENTS="+segmentsOf(w.t, faces))
	id := field(started, "request_id")
	done := do("GET the request until it is finished", untilDone, "AT=lipsync/requests/"+id)
	output := filepath.Join(w.t.TempDir(), "output.mp4")
	do("GET the output", `curl -sS --fail-with-body -o "$OUTPUT" "$FROM"`, "OUTPUT="+output, "FROM="+field(done, "output_url"))
	if info, err := os.Stat(output); err != nil || info.Size() < 1000 {
		w.t.Fatalf("the output: %v, %v", info, err)
	}
	w.ended()
	w.wantDub(details(w.t, s, strings.TrimPrefix(variables[0], "KEY="), id), .5)
}

// byCommand dubs without a server.
func byCommand(w *walk, d dub) {
	folder := w.t.TempDir()
	do := func(what string, args ...string) string {
		w.t.Helper()
		w.step(what)
		out, said, status := command(w.t, args...)
		if status != ok {
			w.t.Fatalf("%s: status %d: %s", what, status, said)
		}
		return out
	}
	found := do("lipsync analyze two.mp4", "analyze", "--quiet", d.video)
	list, output := filepath.Join(folder, "segments.json"), filepath.Join(folder, "output.mp4")
	w.step("write segments.json, with the faces that analyze printed")
	if err := os.WriteFile(list, []byte(segmentsOf(w.t, found)), 0o600); err != nil {
		w.t.Fatal(err)
	}
	said := do("lipsync sync two.mp4 ana.wav --ref ben=ben.wav --segments segments.json -o output.mp4",
		"sync", d.video, d.ana, "--ref", "ben="+d.ben, "--segments", list, "-o", output, "--json", "--quiet")
	w.ended()
	if info, err := os.Stat(output); err != nil || info.Size() < 1000 || !strings.Contains(said, "{") {
		w.t.Errorf("the output: %v, %v; it says %s", info, err, said)
	}
}
