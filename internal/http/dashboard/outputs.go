package dashboard

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode"

	"lipsync/internal/domain/batches"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

// downloadBatch sends the outputs of a batch as one archive, in the order of its lines, as it reads them. An account gets one archive at a time.
// A function on AWS can't answer with so much, so there is no such page.
func (p *pages) downloadBatch(v *visit) error {
	if p.Storage != nil {
		return missing()
	}
	b, err := p.service.Batch(v.Context(), v.caller(), v.PathValue("id"))
	if err != nil {
		return err
	}
	lines, _, err := p.service.Lines(v.Context(), b, batches.LineQuery{State: string(lipsync.Completed), Limit: lipsync.MostLines})
	if err != nil {
		return err
	}
	if v.Method == http.MethodGet {
		if _, busy := p.archiving.LoadOrStore(v.session.Account, true); busy {
			return failure.New(failure.RateLimited, "another archive is being downloaded: wait until it has ended")
		}
		defer p.archiving.Delete(v.session.Account)
	}
	v.Header().Set("Content-Type", "application/zip")
	v.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "batch-" + b.ID[:8] + ".zip"}))
	v.WriteHeader(http.StatusOK)
	if v.Method == http.MethodHead {
		return nil
	}
	archive := zip.NewWriter(v)
	for _, l := range lines {
		if err := p.packOutput(v.Context(), archive, l); err != nil {
			return errors.Join(err, http.ErrAbortHandler) // so that the browser sees that the archive isn't whole
		}
	}
	return archive.Close()
}

// packOutput adds the output of a line to the archive, without compressing it, unless it is no longer kept.
func (p *pages) packOutput(ctx context.Context, archive *zip.Writer, l lipsync.LineView) error {
	if l.Record.Output == "" || !p.service.Now().Before(p.service.OutputExpires(l.Record)) {
		return nil
	}
	object, _, err := p.service.Objects.Open(ctx, l.Record.Output)
	if err != nil {
		return failure.Unless(failure.NotFound, err)
	}
	defer object.Close()
	w, err := archive.CreateHeader(&zip.FileHeader{
		Name: fmt.Sprintf("%04d %s", l.Number, fileName(l.Record)), Method: zip.Store, Modified: l.Record.FinishedAt,
	})
	if err == nil {
		_, err = io.Copy(w, object)
	}
	return err
}

// mostName is the most bytes of a name in an archive. With a line's number before it, file systems take it.
const mostName = 240

// fileName returns the name of an output in an archive: the client's name for the request, if there is one.
func fileName(r lipsync.Request) string {
	if r.ReferenceID == "" {
		return r.OutputName()
	}
	safe := strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || strings.ContainsRune(`/\:*?"<>|`, c) {
			return '_'
		}
		return c
	}, r.ReferenceID)
	ext := path.Ext(r.OutputName())
	return strings.ToValidUTF8(safe[:min(len(safe), mostName-len(ext))], "") + ext
}
