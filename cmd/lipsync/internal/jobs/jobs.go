// Package jobs has what the commands that make outputs share: which speech tracks there are, what their outputs are called, and what is
// said about those.
package jobs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/order"
)

// StandardOutput is the name of the output that means standard output.
const StandardOutput = "-"

// Job is one speech track with its output.
type Job struct{ Audio, Output string }

// Order says what a command is to make.
type Order struct {
	Command      string // its name, for sentences
	Video, Audio string // Audio may be a folder
	Output       string // "" for a name that comes from the video's
	Extension    string // of outputs
	Others       []flags.Input
}

// IsFolder reports whether there is a folder at the path.
func IsFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Jobs returns the jobs of an order, at least one, after it has checked their files. It says on said which files of a folder are no speech
// tracks. An output without a name from the user replaces no file.
func (o Order) Jobs(out, said io.Writer) ([]Job, error) {
	named, folder := o.Output != "", IsFolder(o.Audio)
	if !named {
		o.Output = stem(o.Video) + "-lipsync"
		if !folder {
			o.Output += o.Extension
		}
	}
	all := []Job{{o.Audio, o.Output}}
	if folder {
		var err error
		if all, err = o.folder(named, said); err != nil {
			return nil, err
		}
	}
	for _, j := range all {
		if err := o.check(j, named, out); err != nil {
			return nil, err
		}
	}
	if !named && folder {
		return all, os.MkdirAll(o.Output, 0o755)
	}
	return all, nil
}

func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// folder returns a job for each speech track in the folder, in the order of their names. named says that the user named the output.
func (o Order) folder(named bool, said io.Writer) (all []Job, err error) {
	if _, err := os.Stat(o.Output); !IsFolder(o.Output) && (named || err == nil) {
		return nil, fmt.Errorf("%s is a folder of speech tracks, so the output must be a folder too: make the folder %s", o.Audio, o.Output)
	}
	files, err := os.ReadDir(o.Audio)
	if err != nil {
		return nil, err
	}
	from := map[string]string{} // the speech track of each output
	for _, f := range files {
		path := filepath.Join(o.Audio, f.Name())
		switch {
		case f.IsDir() || strings.HasPrefix(f.Name(), "."):
			continue
		case !isSound(path):
			fmt.Fprintf(said, "%s is no audio: left out\n", path)
			continue
		}
		output := filepath.Join(o.Output, stem(f.Name())+o.Extension)
		if other := from[output]; other != "" {
			return nil, fmt.Errorf("%s and %s would have the same output %s: rename one", other, f.Name(), output)
		}
		from[output] = f.Name()
		all = append(all, Job{path, output})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no audio files", o.Audio)
	}
	return all, nil
}

// sounds are the extensions of files that may have a speech track, in addition to those that begin like one: those of the formats of sounds, others
// for the same sounds, and those of videos.
var sounds = append(order.SoundExtensions(), strings.Fields(".m4b .oga .opus .aif .amr .ac3 .mka "+
	".mp4 .m4v .mov .webm .mkv .avi .ts .mts .m2ts .mpg .mpeg .flv .wmv .3gp .mxf")...)

// isSound reports whether a file may have a speech track, by its name or by how it begins.
func isSound(path string) bool {
	if slices.Contains(sounds, strings.ToLower(filepath.Ext(path))) {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 512)
	n, _ := io.ReadFull(file, begin) // a short file has fewer
	kind := http.DetectContentType(begin[:n])
	return strings.HasPrefix(kind, "audio/") || strings.HasPrefix(kind, "video/") || kind == "application/ogg"
}

// check refuses inputs that are no local files, and an output that can't be written.
func (o Order) check(j Job, named bool, out io.Writer) error {
	if j.Output == StandardOutput && screen.IsTerminal(out) {
		return errors.New("the output is a video, and standard output is a terminal: send it to a file or a program")
	}
	var written fs.FileInfo // nil if there is no file at the output's path
	if j.Output != StandardOutput {
		written, _ = os.Stat(j.Output)
	}
	for _, input := range append(slices.Clone(o.Others), flags.Input{Kind: "video", Path: o.Video}, flags.Input{Kind: "audio", Path: j.Audio}) {
		if input.Path == "" {
			continue
		}
		in, err := Stat(o.Command, input.Kind, input.Path)
		if err != nil {
			return err
		}
		if written != nil && os.SameFile(in, written) {
			return fmt.Errorf("%s is an input: it would be overwritten", j.Output)
		}
	}
	switch {
	case written == nil:
		return nil
	case !written.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", j.Output)
	case !named:
		return fmt.Errorf("%s exists: to replace it, name it with -o", j.Output)
	}
	return nil
}

// Stat returns the facts about an input of a command. It returns an error unless the input is a local file.
func Stat(command, kind, path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil && strings.Contains(path, "://"):
		return nil, fmt.Errorf("%s takes local files; download %s first", command, path)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s %s not found", kind, path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return info, err
}

// Scratch makes a folder for the unfinished output. It is beside the output file, if that is one,
// so that the output can be moved to its place.
func (j Job) Scratch() (string, error) {
	if j.Output == StandardOutput {
		return os.MkdirTemp("", "lipsync-")
	}
	folder := filepath.Dir(j.Output)
	scratch, err := os.MkdirTemp(folder, ".lipsync-")
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("the output folder %s does not exist", folder)
	}
	return scratch, err
}

// Deliver moves a finished output to its place, or copies it to out.
func (j Job) Deliver(finished string, out, said io.Writer) error {
	if j.Output == StandardOutput {
		return copyFile(out, finished)
	}
	if err := os.Rename(finished, j.Output); err != nil {
		return err
	}
	_, err := fmt.Fprintf(said, "The output is %s\n", j.Output)
	return err
}

func copyFile(w io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}
