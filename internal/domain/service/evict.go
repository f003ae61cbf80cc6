package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
)

// finding is an object of findings.
type finding struct {
	key      string
	modified time.Time
	size     int64
}

// tidyFindings deletes the findings that are too old, and then the oldest ones of the account that has the most bytes, as long as all together are
// larger than MaxFindings. So no account deletes those of one that has less. It returns how many it deleted.
func (s *Service) tidyFindings(ctx context.Context) (deleted int, err error) {
	s.kept.mu.Lock()
	before := s.kept.bytes
	s.kept.mu.Unlock()
	all, err := s.listFindings(ctx)
	if err != nil {
		return 0, err
	}
	trusted := s.Trusted()
	old := func(o finding) bool { return trusted && s.Now().Sub(o.modified) >= s.Limits.Keep.Findings }
	accounts, sizes := make(map[string][]finding), make(map[string]int64) // by the prefix of an account, oldest first
	var total int64
	var errs []error
	for _, o := range all {
		if old(o) {
			errs, deleted = append(errs, s.Objects.Delete(ctx, o.key)), deleted+1
			continue
		}
		account := accountOf(o.key)
		accounts[account], sizes[account], total = append(accounts[account], o), sizes[account]+o.size, total+o.size
	}
	most := total
	if s.MaxFindings > 0 && total > s.MaxFindings {
		most = s.MaxFindings - s.MaxFindings/10 // a tenth more goes, so that not each later request looks at all
	}
	for total > most {
		largest := ""
		for account, size := range sizes {
			if largest == "" || cmp.Or(cmp.Compare(size, sizes[largest]), cmp.Compare(account, largest)) > 0 {
				largest = account
			}
		}
		oldest := accounts[largest][0]
		accounts[largest], sizes[largest], total = accounts[largest][1:], sizes[largest]-oldest.size, total-oldest.size
		errs, deleted = append(errs, s.Objects.Delete(ctx, oldest.key)), deleted+1
	}
	s.kept.look(before, total)
	return deleted, errors.Join(errs...)
}

// accountOf returns the part of a key of findings that stands for their account.
func accountOf(key string) string {
	account, _, _ := strings.Cut(strings.TrimPrefix(key, findings), "/")
	return account
}

// listFindings returns all findings, oldest first.
func (s *Service) listFindings(ctx context.Context) (all []finding, err error) {
	err = s.Objects.List(ctx, findings, func(key string, modified time.Time) error {
		all = append(all, finding{key: key, modified: modified})
		return nil
	})
	for i := range all {
		var sizeErr error
		all[i].size, sizeErr = s.Objects.Size(ctx, all[i].key)
		err = errors.Join(err, failure.Unless(failure.NotFound, sizeErr))
	}
	slices.SortFunc(all, func(a, b finding) int { return cmp.Or(a.modified.Compare(b.modified), cmp.Compare(a.key, b.key)) })
	return all, err
}
