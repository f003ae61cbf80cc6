// Package archive stores files in one tar file. Its last entry, SHA256SUMS, has the checksum of
// each file, so a truncated or damaged archive is recognised. The programs tar and sha256sum can
// read the archive.
package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// sumsName is the name of the last entry. It has a line for each other entry, in sha256sum's
// format.
const sumsName = "SHA256SUMS"

// Writer writes an archive.
type Writer struct {
	tar  *tar.Writer
	sums map[string]string // in hexadecimal, by name
}

// NewWriter begins an archive. Close completes it.
func NewWriter(w io.Writer) *Writer { return &Writer{tar.NewWriter(w), make(map[string]string)} }

// Add adds a file of size bytes. The name must be a clean relative path, and new in the archive.
func (w *Writer) Add(name string, r io.Reader, size int64) error {
	if !valid(name) || name == sumsName || w.sums[name] != "" || strings.Contains(name, "\n") {
		return fmt.Errorf("%q can't be the name of a file in an archive", name)
	}
	if err := w.header(name, size); err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w.tar, sum), io.LimitReader(r, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("add %s: %w", name, err)
	}
	w.sums[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

func (w *Writer) header(name string, size int64) error {
	return w.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatPAX})
}

// Close writes the checksums and ends the archive.
func (w *Writer) Close() error {
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(w.sums)) {
		fmt.Fprintf(&text, "%s  %s\n", w.sums[name], name)
	}
	if err := w.header(sumsName, int64(text.Len())); err != nil {
		return err
	}
	_, err := w.tar.Write(text.Bytes())
	return errors.Join(err, w.tar.Close())
}

// Read calls f with each file of an archive. f must not rely on the files before Read has returned
// nil: only then is it certain that they are unchanged.
func Read(r io.Reader, f func(name string, content io.Reader) error) error {
	entries, sums := tar.NewReader(bufio.NewReaderSize(r, 1<<20)), make(map[string]string)
	for {
		entry, err := entries.Next()
		switch {
		case err == io.EOF:
			return errors.New("the archive is not complete: it has no sums")
		case err != nil:
			return damaged(err)
		case entry.Name == sumsName:
			return compare(entries, sums)
		case sparse(entry):
			return fmt.Errorf("the archive has the entry %q with holes, which no backup has", entry.Name)
		case entry.Typeflag != tar.TypeReg || !valid(entry.Name) || sums[entry.Name] != "":
			return fmt.Errorf("the archive has the entry %q, which is not part of a backup", entry.Name)
		}
		sum := sha256.New()
		content := &content{io.TeeReader(entries, sum), nil}
		err = f(entry.Name, content)
		if err == nil {
			_, err = io.Copy(io.Discard, content) // the rest that f did not read
		}
		if content.err != nil {
			return damaged(content.err)
		}
		if err != nil {
			return err
		}
		sums[entry.Name] = hex.EncodeToString(sum.Sum(nil))
	}
}

// sparse reports whether the entry may have far more bytes than the archive has of it.
func sparse(entry *tar.Header) bool {
	for name := range entry.PAXRecords {
		if strings.HasPrefix(name, "GNU.sparse.") {
			return true
		}
	}
	return entry.Typeflag == tar.TypeGNUSparse
}

// content is a file of an archive. It keeps the error that ended the reading.
type content struct {
	r   io.Reader
	err error
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

func damaged(err error) error {
	return fmt.Errorf("the archive is incomplete or damaged: %w", err)
}

// compare compares the checksums of what was read with those in the archive.
func compare(r io.Reader, read map[string]string) error {
	written := make(map[string]string)
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		sum, name, _ := strings.Cut(lines.Text(), "  ")
		written[name] = sum
	}
	if err := lines.Err(); err != nil {
		return damaged(err)
	}
	for _, names := range []map[string]string{read, written} {
		for name := range names {
			if read[name] != written[name] {
				return fmt.Errorf("the archive is damaged: the checksum of %s is wrong", name)
			}
		}
	}
	return nil
}

func valid(name string) bool { return fs.ValidPath(name) && name != "." }
