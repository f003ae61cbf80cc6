// Command lipsync is the lip sync service of one machine, and its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"lipsync/internal/rest"
	"lipsync/internal/sandbox"
	"lipsync/internal/settings"
	"lipsync/internal/version"
)

// commands is the command line.
type commands struct {
	Serve     serveCommand     `cmd:"" help:"Serve the HTTP API and do the requests that it takes."`
	Dashboard dashboardCommand `cmd:"" help:"Print a link that signs in to the dashboard of a server that runs. It works once, for 10 minutes."`
	Keys      struct {
		Create createKeyCommand `cmd:"" help:"Make an API key and print it. It is shown this once."`
		List   listKeysCommand  `cmd:"" help:"List the API keys."`
		Revoke revokeKeyCommand `cmd:"" help:"Revoke an API key. It is refused at once, also by a server that runs."`
	} `cmd:"" help:"Make, list and revoke the API keys of a data folder, or of a table on AWS."`
	Backup  backupCommand  `cmd:"" help:"Copy a data folder into one file, also while a server uses it."`
	Restore restoreCommand `cmd:"" help:"Make a data folder of such a file."`
	Models  struct {
		Check checkModelsCommand `cmd:"" help:"Tell which models there are, whether they load, and which shapes they have."`
		Add   addModelCommand    `cmd:"" help:"Copy a model into the folder of models."`
	} `cmd:"" help:"Check and add the models of a folder: networks that engines and detectors run."`
	Sync    syncCommand      `cmd:"" help:"Make one video's lips follow a speech track, without a server."`
	Demo    demoCommand      `cmd:"" help:"Try the service: draw a sample video, send it through the HTTP API, show the result."`
	Version kong.VersionFlag `help:"Print the version."`
}

// streams are where a command's words go.
type streams struct{ out, err io.Writer }

// Exit statuses.
const (
	ok     = 0
	failed = 1
	usage  = 2
)

func main() {
	if err := sandbox.Hide(); err != nil {
		fmt.Fprintf(os.Stderr, "lipsync: %v\n", err)
		os.Exit(failed)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // pictures fill the heap: collecting earlier costs little time and saves a tenth of the memory
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdout, os.Stderr}))
}

// run runs the command line's arguments and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	exited := -1 // by --help and --version
	parser := kong.Must(new(commands),
		kong.Name("lipsync"),
		kong.Description("Make the lips of a video follow a speech track. The API is described at "+rest.Base+rest.DocumentPath+" of a server."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(s.out, s.err),
		kong.Exit(func(status int) { exited = status }),
		kong.Vars{"version": "lipsync " + version.String(), "account": defaultAccount},
		describeFlags(map[string]string{settings.Data.Name: defaultData(), settings.Models.Name: defaultModels()}),
		kong.Resolvers(kong.ResolverFunc(fromEnvironment)),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
	)
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		say := err
		if bad, is := errors.AsType[badValue](err); is {
			say = bad
		}
		fmt.Fprintf(s.err, "lipsync: %v\nTry: %s --help\n", say, mistaken(err))
		return usage
	}
	if err := command.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(s.err, "lipsync: %v\n", explain(err))
		return failed
	}
	return ok
}

// mistaken returns the command whose help tells more of a mistake in the command line.
func mistaken(err error) string {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		return parse.Context.Selected().FullPath()
	}
	return "lipsync"
}

// explain says of an error what to do about it, where that is known.
func explain(err error) error {
	if missing, ok := errors.AsType[*exec.Error](err); ok && errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s not found in PATH; install it, such as by: apt install ffmpeg", missing.Name)
	}
	return err
}

// defaultData is where the data lie unless told otherwise: the place that the
// XDG base directory specification names for a user's data.
func defaultData() string {
	if base := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "lipsync")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "lipsync-data"
	}
	return filepath.Join(home, ".local", "share", "lipsync")
}
