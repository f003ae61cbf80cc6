// Package models has the commands that check and add networks, and the flags for their folder.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/network/catalog"
	"lipsync/internal/network/onnx"
	"lipsync/internal/render/engines"
)

// Flags are the options for the folder of networks, and for what runs them.
type Flags struct {
	Models      string
	Providers   []onnx.Provider
	ONNXRuntime string `name:"onnxruntime"`
}

// options returns the options with which serve loads a network. A try with the same options has
// the same result.
func (f *Flags) options(role catalog.Role) onnx.Options {
	return onnx.Options{Providers: f.Providers, Threads: engines.Threads(role)}
}

// Add is the command models add.
type Add struct {
	Flags
	Role    string `arg:"" help:"The model's role: wav2lip, musetalk, musetalk-hearing, musetalk-encoder, musetalk-decoder, face-detector, face-landmarks or active-speaker."`
	File    string `arg:"" help:"The model, an ONNX file. It is copied."`
	Licence string `default:"not stated" placeholder:"TEXT" help:"The model's licence. The command models check shows it."`
}

func (c *Add) Run(ctx context.Context, s screen.Streams) error {
	role, err := catalog.ParseRole(c.Role)
	if err != nil {
		return err
	}
	runtime, err := onnx.Open(c.ONNXRuntime)
	if err != nil {
		return err
	}
	content, err := onnx.ReadModel(c.File)
	if err != nil {
		return err
	}
	if size := content.Large(); size > 0 {
		fmt.Fprintf(s.Err, "The model has %d MB: without a GPU, loading and trying it takes a minute.\n", size/1_000_000)
	}
	session, err := runtime.LoadModel(content, c.options(role))
	if err != nil {
		return err
	}
	defer session.Close()
	if err := engines.Try(ctx, role, session); err != nil {
		return err
	}
	model, err := catalog.Add(c.Models, catalog.Model{Role: role, Licence: c.Licence, InputSize: session.InputSize()}, c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Out, "The model of the role %s is now %s\n", role, model.Path())
	return err
}

// Check is the command models check.
type Check struct {
	Flags
	JSON bool `help:"Print a JSON array."`
}

func (c *Check) Run(ctx context.Context, s screen.Streams) error {
	models, err := catalog.Read(c.Models)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("no models in %s; add some with lipsync models add (warp needs none)", c.Models)
	}
	if err != nil {
		return err
	}
	runtime, err := onnx.Open(c.ONNXRuntime)
	found := make([]model, len(models.Models))
	bad := 0
	for i, m := range models.Models {
		found[i] = c.check(ctx, runtime, err, m)
		if found[i].Problem != "" {
			bad++
		}
	}
	print := printTable
	if c.JSON {
		print = printJSON
	}
	if err := print(s.Out, found); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("of %d models %d cannot be used", len(found), bad)
	}
	return engines.Incomplete(models)
}

// model is one in the output of models check --json.
type model struct {
	Role     catalog.Role  `json:"role"`
	File     string        `json:"file"`
	Size     int           `json:"input_size,omitempty"` // side of the square pictures that it takes, in pixels
	Licence  string        `json:"licence"`
	Digest   bool          `json:"digest"` // the file is the one that models.json names
	Loads    bool          `json:"loads"`
	Provider onnx.Provider `json:"provider,omitempty"`
	Inputs   []onnx.Info   `json:"inputs"` // size -1: any
	Outputs  []onnx.Info   `json:"outputs"`
	Problem  string        `json:"problem,omitempty"`
}

// check tries a model. If the runtime is nil, missing is the reason.
func (c *Check) check(ctx context.Context, runtime *onnx.Runtime, missing error, m catalog.Model) model {
	found := model{Role: m.Role, File: m.File, Size: m.InputSize, Licence: m.Licence, Inputs: []onnx.Info{}, Outputs: []onnx.Info{}}
	problem := func(err error) model {
		found.Problem = err.Error()
		return found
	}
	content, err := m.Read()
	if err != nil {
		return problem(err)
	}
	found.Digest = true
	if missing != nil {
		return problem(missing)
	}
	session, err := m.LoadRead(runtime, content, c.options(m.Role))
	if err != nil {
		return problem(err)
	}
	defer session.Close()
	found.Loads, found.Provider = true, session.Provider()
	found.Inputs, found.Outputs = session.Inputs(), session.Outputs()
	if err := engines.Try(ctx, m.Role, session); err != nil {
		return problem(err)
	}
	return found
}

func printJSON(w io.Writer, found []model) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}

func printTable(w io.Writer, found []model) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ROLE\tFILE\tSIZE\tLICENCE\tDIGEST\tLOADS\tPROVIDER\tINPUTS\tOUTPUTS")
	for _, m := range found {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.Role, m.File, pixels(m.Size), m.Licence,
			yes(m.Digest, "ok", "wrong"), yes(m.Loads, "yes", "no"), m.Provider, tensors(m.Inputs), tensors(m.Outputs))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, m := range found {
		if m.Problem != "" {
			fmt.Fprintf(w, "%s: %s\n", m.Role, m.Problem)
		}
	}
	return nil
}

func yes(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}

// pixels returns a model's input size as people read it.
func pixels(size int) string {
	if size == 0 {
		return "-"
	}
	return fmt.Sprintf("%d×%[1]d", size)
}

func tensors(infos []onnx.Info) string {
	texts := make([]string, len(infos))
	for i, info := range infos {
		texts[i] = info.String()
	}
	return strings.Join(texts, ", ")
}
