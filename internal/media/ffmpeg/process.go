package ffmpeg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lipsync/internal/media/sandbox"
)

// process is a running child. Exactly one of in and out is set: our end of the pipe to its standard
// input, or from its standard output.
type process struct {
	ctx     context.Context // when it ends, the child is killed
	cmd     *exec.Cmd
	name    string
	in, out *os.File
	stderr  tail
	ended   func() error // waits for the child's end
}

// startReader starts a program to read its standard output. memory is its limit in bytes.
func (t *Tools) startReader(ctx context.Context, path string, args []string, media sandbox.Files, memory uint64) (*process, error) {
	p, theirs, err := newReader(ctx, path, args)
	if err != nil {
		return nil, err
	}
	return p.start(t, media, theirs, memory)
}

// newReader returns a program whose standard output will be read, and its end of the pipe.
func newReader(ctx context.Context, path string, args []string) (*process, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	p := newProcess(ctx, path, args)
	p.out, p.cmd.Stdout = r, w
	return p, w, nil
}

// startWriter starts a program to write to its standard input.
func (t *Tools) startWriter(ctx context.Context, path string, args []string, media sandbox.Files) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := newProcess(ctx, path, args)
	p.in, p.cmd.Stdin = w, r
	return p.start(t, media, r, memorySize)
}

func newProcess(ctx context.Context, path string, args []string) *process {
	p := &process{ctx: ctx, cmd: exec.CommandContext(ctx, path, args...), name: filepath.Base(path)}
	p.cmd.Env = []string{"LC_ALL=C", "AV_LOG_FORCE_NOCOLOR=1"}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	return p
}

// start starts the child, and closes this process's copy of the child's end of the pipe. It
// creates the files that the child will write, so that the child needs no right to create any.
func (p *process) start(t *Tools, media sandbox.Files, theirs *os.File, memory uint64) (*process, error) {
	defer theirs.Close()
	// The pipe gets the largest size that ordinary users may set, which needs the fewest context
	// switches for a frame.
	_, _ = unix.FcntlInt(theirs.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	err := create(media.Write)
	if err == nil {
		layers := t.Sandbox
		if media.NVIDIA {
			layers = t.gpu.layers
		}
		p.ended, err = layers.Start(p.cmd, t.files(p.cmd.Path).And(media))
	}
	if err != nil {
		p.closePipe()
		return nil, fmt.Errorf("start %s: %w: %w", p.name, ErrNotRun, err)
	}
	if err := p.limit(memory); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// files returns the files that a program needs for any step.
func (t *Tools) files(path string) sandbox.Files {
	return t.needs.And(sandbox.Files{Run: []string{path}})
}

func create(paths []string) error {
	for _, path := range paths {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// limit bounds the child's memory and the size of the files that it writes. It runs right after
// the start, before the child can have read much.
func (p *process) limit(memory uint64) error {
	for resource, n := range map[int]uint64{
		unix.RLIMIT_DATA: memory, unix.RLIMIT_FSIZE: fileSize, unix.RLIMIT_CORE: 0,
	} {
		l := unix.Rlimit{Cur: n, Max: n}
		if err := unix.Prlimit(p.cmd.Process.Pid, resource, &l, nil); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("limit %s: %w", p.name, err)
		}
	}
	return nil
}

// read fills b. It fails if the child writes nothing for too long, and returns io.EOF if nothing
// is left.
func (p *process) read(b []byte) error {
	for n := 0; n < len(b); {
		_ = p.out.SetReadDeadline(time.Now().Add(stallTime))
		m, err := p.out.Read(b[n:])
		n += m
		if err == io.EOF && n > 0 && n < len(b) {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipLine skips a line of at most most bytes.
func (p *process) skipLine(most int) error {
	var b [1]byte
	for range most {
		if err := p.read(b[:]); err != nil || b[0] == '\n' {
			return err
		}
	}
	return fmt.Errorf("no line ends in %d bytes", most)
}

// Read is like read, for streams of any length. It need not fill b.
func (p *process) Read(b []byte) (int, error) {
	_ = p.out.SetReadDeadline(time.Now().Add(stallTime))
	return p.out.Read(b)
}

// Write writes b to the child. It fails if the child reads nothing for too long.
func (p *process) Write(b []byte) (int, error) {
	_ = p.in.SetWriteDeadline(time.Now().Add(stallTime))
	return p.in.Write(b)
}

// readAll returns all that the child writes until it ends. After most bytes it stops the child and
// returns these without an error.
func (p *process) readAll(most int64) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(p, most))
	if err != nil || int64(len(all)) == most {
		p.stop()
		return all, err
	}
	return all, p.wait()
}

// wait closes the pipe and waits until the child ends. Its error has the last lines that the child
// wrote to standard error; these are only for logs. Some versions of ffmpeg exit with status 0
// although they could not write the end of a file, but they say so.
func (p *process) wait() error {
	p.closePipe()
	if err := errors.Join(p.explain(p.ended()), p.stderr.unwritten()); err != nil {
		return fmt.Errorf("%s: %w: %s", p.name, err, p.stderr.String())
	}
	return nil
}

// noLibrary is the exit status of a child if one of its libraries can't be loaded.
const noLibrary = 127

// explain adds ErrKilled to the error of a child that this process didn't kill, and ErrNotRun to the
// error of a child whose libraries are missing.
func (p *process) explain(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || p.ctx.Err() != nil {
		return err
	}
	if exit.ExitCode() == noLibrary {
		return fmt.Errorf("%w: %w", ErrNotRun, err)
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || status.Signal() != unix.SIGKILL {
		return err
	}
	return fmt.Errorf("%w: %w", ErrKilled, err)
}

// late stops a child that stalled for the given time, with err as the cause. It adds ErrStarved if
// the child got less than half that much CPU time in its whole life. (Before, it may have slept
// because nobody read its output.)
func (p *process) late(err error, waited time.Duration) error {
	p.stop()
	if used := p.cmd.ProcessState; used.UserTime()+used.SystemTime() < waited/2 {
		return fmt.Errorf("%w: %w", ErrStarved, err)
	}
	return err
}

// stop kills the child. Its exit status does not matter.
func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.wait()
}

func (p *process) closePipe() {
	if p.in != nil {
		_ = p.in.Close()
	}
	if p.out != nil {
		_ = p.out.Close()
	}
}

// tail keeps the end of the log of a child.
type tail struct{ sandbox.Tail }

// unwritten returns the error because of which the child could not write a file, if its log has one.
// Then the file that it read is not at fault. The words count only at the end of a line, because texts
// in the file may also contain them. Damaged input also causes I/O errors, so these count only in lines
// about the output.
func (t *tail) unwritten() error {
	for line := range strings.Lines(t.String()) {
		line = strings.TrimRight(line, "\n")
		for _, number := range []unix.Errno{unix.ENOSPC, unix.EDQUOT, unix.EIO} {
			if strings.HasSuffix(strings.ToLower(line), ": "+number.Error()) && (number != unix.EIO || tellsOfOutput(line)) {
				return number
			}
		}
	}
	return nil
}

// tellsOfOutput reports whether a line of ffmpeg's log, after the name of the component, is about
// a file that it writes.
func tellsOfOutput(line string) bool {
	if _, said, named := strings.Cut(line, " @ 0x"); named && line[0] == '[' {
		_, line, _ = strings.Cut(said, "] ")
	}
	return slices.ContainsFunc([]string{
		"Could not write header", "av_interleaved_write_frame()", "Error submitting a packet to the muxer", "Error muxing a packet",
		"Error writing trailer", "Error closing file",
	}, func(start string) bool { return strings.HasPrefix(line, start) })
}
