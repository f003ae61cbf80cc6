// Command lipsync is the lip sync service for one machine, with its command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"

	"lipsync/cmd/lipsync/internal/flags"
	"lipsync/cmd/lipsync/internal/models"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
	"lipsync/internal/http/rest"
	"lipsync/internal/media/sandbox"
)

// commands is the command line.
type commands struct {
	Serve     serveCommand     `cmd:"" help:"Serve the HTTP API and the dashboard, and render requests."`
	Dashboard dashboardCommand `cmd:"" help:"Print a link that signs in to the dashboard of a running server. It works once, within 10 minutes."`
	Keys      struct {
		Create createKeyCommand `cmd:"" help:"Make an API key and print it. It is shown only once."`
		List   listKeysCommand  `cmd:"" help:"List the API keys."`
		Revoke revokeKeyCommand `cmd:"" help:"Revoke an API key. A running server refuses it at once too."`
	} `cmd:"" help:"Make, list and revoke the API keys of a data folder, or of a table on AWS."`
	Users struct {
		EndSessions endSessionsCommand `cmd:"" help:"End all sessions of an account in the dashboard, in all browsers. API keys still work."`
	} `cmd:"" help:"End sessions of the dashboard, of a data folder or of a table on AWS."`
	Backup  backupCommand  `cmd:"" help:"Copy a data folder into one file. A server may use the folder meanwhile."`
	Restore restoreCommand `cmd:"" help:"Make a data folder from a backup."`
	Doctor  doctorCommand  `cmd:"" help:"Check the folder, the database, the media, the clock, the disk, the engines and ffmpeg that a server would use."`
	Health  healthCommand  `cmd:"" help:"Ask a server on this machine whether it answers: for the health checks of containers."`
	Models  struct {
		Check models.Check `cmd:"" help:"List the models, with their shapes, and check that they load."`
		Add   models.Add   `cmd:"" help:"Copy a model into the folder of models."`
	} `cmd:"" help:"Check and add the models of a folder: networks that engines and detectors run."`
	Sync     syncCommand    `cmd:"" help:"Make one video's lips follow a speech track, without a server."`
	Send     sendCommand    `cmd:"" help:"Make one video's lips follow a speech track, or each of several, by a service on another machine."`
	Erase    eraseCommand   `cmd:"" help:"Delete requests that are finished, with their media and records, by a service on this or another machine."`
	MCP      mcpCommand     `cmd:"" name:"mcp" help:"Give an assistant tools that call a service: the Model Context Protocol on standard input and output."`
	Analyze  analyzeCommand `cmd:"" help:"List the people in a video, for --face of sync."`
	Requests struct {
		List listRequestsCommand `cmd:"" help:"List requests, the newest first, with the reasons of those that failed."`
	} `cmd:"" help:"List the requests of a data folder, or of a table on AWS."`
	Completion completionCommand `cmd:"" help:"Print the script by which a shell completes this command line."`
	Man        manCommand        `cmd:"" help:"Print the manual page, for man."`
	Demo       demoCommand       `cmd:"" help:"Try the service: draw a sample video, and make its lips follow a speech through the HTTP API."`
	Version    kong.VersionFlag  `help:"Print the version."`
}

func newCommands() *commands {
	return &commands{Sync: syncCommand{Choices: flags.NewChoices()}, Send: sendCommand{Choices: flags.NewChoices()}}
}

// streams is short for screen.Streams.
type streams = screen.Streams

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
		debug.SetGCPercent(50) // pictures fill the heap; earlier collections cost little time and save a tenth of the memory
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], streams{Out: os.Stdout, Err: os.Stderr, In: os.Stdin}))
}

// run runs the command line's arguments and returns the exit status.
func run(ctx context.Context, args []string, s streams) int {
	exited := -1 // the status with which --help or --version ended; -1: neither was given
	parser := kong.Must(newCommands(),
		kong.Name("lipsync"),
		kong.Description("Make the lips of a video follow a speech track. The API is described at "+rest.Base+rest.DocumentPath+" of a server."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(s.Out, s.Err),
		kong.Exit(func(status int) { exited = status }),
		kong.Vars{"version": "lipsync " + version.String(), "account": defaultAccount, "segment_options": flags.SegmentOptions()},
		flags.Describe(map[string]string{settings.Data.Name: defaultData(), settings.Models.Name: defaultModels()}),
		examples.Describe(),
		kong.Resolvers(flags.Environment(os.LookupEnv)),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(s),
	)
	command, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		say := err
		if bad, is := errors.AsType[flags.BadValue](err); is {
			say = bad
		}
		fmt.Fprintf(s.Err, "lipsync: %v\nTry: %s --help\n", say, mistaken(err))
		return usage
	}
	if err := command.Run(); err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = errors.New("interrupted")
		}
		fmt.Fprintf(s.Err, "lipsync: %v\n", explain(err))
		return failed
	}
	return ok
}

// mistaken returns the command whose --help explains a mistake in the command line.
func mistaken(err error) string {
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context.Selected() != nil {
		return parse.Context.Selected().FullPath()
	}
	return "lipsync"
}

// explain turns the error of a missing program into one that says how to install it.
func explain(err error) error {
	if missing, ok := errors.AsType[*exec.Error](err); ok && errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s not found in PATH; install it, such as by: apt install ffmpeg", missing.Name)
	}
	return err
}

// defaultData returns the default data folder: the one for a user's data by the XDG base directory
// specification.
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
