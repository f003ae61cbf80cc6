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

	"lipsync/internal/sandbox"
)

// process is a running child. Exactly one of in and out is set: our end of the
// pipe to its standard input, or from its standard output.
type process struct {
	ctx     context.Context // at whose end it is killed
	cmd     *exec.Cmd
	name    string
	in, out *os.File
	stderr  tail
	ended   func() error // waits for its end
}

// startReader starts a program whose standard output is read. memory is the most that it
// may have, in bytes.
func (t *Tools) startReader(ctx context.Context, path string, args []string, media sandbox.Files, memory uint64) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p := newProcess(ctx, path, args)
	p.out, p.cmd.Stdout = r, w
	return p.start(t, media, w, memory)
}

// startWriter starts a program whose standard input is written.
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

// start starts the child and closes our copy of its end of the pipe. Files that the child
// will write are made here, so that it needs no right to make any.
func (p *process) start(t *Tools, media sandbox.Files, theirs *os.File, memory uint64) (*process, error) {
	defer theirs.Close()
	// As large as an ordinary user may make it: fewer switches for a frame.
	_, _ = unix.FcntlInt(theirs.Fd(), unix.F_SETPIPE_SZ, 1<<20)
	err := create(media.Write)
	if err == nil {
		p.ended, err = t.Sandbox.Start(p.cmd, t.files(p.cmd.Path).And(media))
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

// files returns what a program needs whatever it does.
func (t *Tools) files(path string) sandbox.Files {
	files := t.needs.And(sandbox.Files{Run: []string{path}})
	if t.NVIDIA {
		files = files.And(nvidia())
	}
	return files
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

// limit bounds the child's memory and the size of what it writes. It comes a
// moment after the start, before the child can have read much.
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

// read fills b, or fails if the child makes nothing for too long. io.EOF means
// that nothing was left.
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

// skipLine reads a line, of which it takes most bytes at the most.
func (p *process) skipLine(most int) error {
	var b [1]byte
	for range most {
		if err := p.read(b[:]); err != nil || b[0] == '\n' {
			return err
		}
	}
	return fmt.Errorf("no line ends in %d bytes", most)
}

// Read is read for streams of any length.
func (p *process) Read(b []byte) (int, error) {
	_ = p.out.SetReadDeadline(time.Now().Add(stallTime))
	return p.out.Read(b)
}

// Write passes b on, or fails if the child takes nothing for too long.
func (p *process) Write(b []byte) (int, error) {
	_ = p.in.SetWriteDeadline(time.Now().Add(stallTime))
	return p.in.Write(b)
}

// wait closes the pipe and waits for the child's end. Its error holds the last
// lines that the child wrote to standard error: they are only for logs. Some versions of
// ffmpeg end with status 0 where the end of a file could not be written, but say so.
func (p *process) wait() error {
	p.closePipe()
	if err := errors.Join(p.explain(p.ended()), p.stderr.unwritten()); err != nil {
		return fmt.Errorf("%s: %w: %s", p.name, err, p.stderr.String())
	}
	return nil
}

// noLibrary is the status of a child that ends since a library of it can't be loaded.
const noLibrary = 127

// explain adds ErrKilled to the error of a child that was killed, unless we did it, and
// ErrNotRun to that of one whose libraries are not there.
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

// late stops a child that was waited for in vain for so long, by err. It adds ErrStarved if
// the child has had a processor for less than half as long, in all its life: before, it may
// have slept because nobody read what it made.
func (p *process) late(err error, waited time.Duration) error {
	p.stop()
	if used := p.cmd.ProcessState; used.UserTime()+used.SystemTime() < waited/2 {
		return fmt.Errorf("%w: %w", ErrStarved, err)
	}
	return err
}

// stop ends the child at once; how it ends doesn't matter.
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

// tail keeps the end of what is written to it.
type tail struct{ b []byte }

const tailSize = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b[max(0, len(b)-tailSize):]...)
	t.b = t.b[max(0, len(t.b)-tailSize):]
	return len(b), nil
}

func (t *tail) String() string { return string(t.b) }

// unwritten returns why the child could not write a file, if it says so: the file that it
// read is not at fault then. The words count only at the end of a line, since texts of the
// file may hold them too. Damaged files give errors of input and output, too: those count
// only where the line tells of the output.
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

// tellsOfOutput reports whether a line of ffmpeg is about a file that it writes, behind
// the name of what says it.
func tellsOfOutput(line string) bool {
	if _, said, named := strings.Cut(line, " @ 0x"); named && line[0] == '[' {
		_, line, _ = strings.Cut(said, "] ")
	}
	return slices.ContainsFunc([]string{
		"Could not write header", "av_interleaved_write_frame()", "Error submitting a packet to the muxer", "Error muxing a packet",
		"Error writing trailer", "Error closing file",
	}, func(start string) bool { return strings.HasPrefix(line, start) })
}
