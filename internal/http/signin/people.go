package signin

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/order"
)

// Role is what an invited person may do.
type Role string

// The roles. Members see the requests of the account and make some; owners also change keys, webhooks and people.
const (
	Owner  Role = "owner"
	Member Role = "member"
)

const (
	// inviteLife is the time for which an invitation works.
	inviteLife = 7 * 24 * time.Hour
	mostPeople = 100 // of an account
)

// People invites people to accounts.
type People interface {
	// People returns the people whom owners of the account invited, by their names.
	People(account string) ([]Person, error)
	// Invite returns a link, relative to the service's address, by which a person signs in once, within a week. A person with the name gets the
	// role, and another link. Invite returns Invalid for a name or a role that can't be used.
	Invite(who Person) (*url.URL, error)
	// Remove removes a person, whose sessions and unused links end. A missing one is no error.
	Remove(account, name string) error
}

var _ People = (*Folder)(nil)

func personFile(account, name string) string {
	return path.Join(people, digest(account)+"."+digest(name))
}

// person returns the invited person. The error is Unauthorized if they were removed.
func (f *Folder) person(account, name string) (who Person, err error) {
	text, err := f.root.ReadFile(personFile(account, name))
	if errors.Is(err, fs.ErrNotExist) {
		return Person{}, Refused("You are no longer invited: ask an owner of the account.")
	}
	if err == nil {
		err = json.Unmarshal(text, &who)
	}
	return who, err
}

func (f *Folder) People(account string) (all []Person, err error) {
	entries, err := fs.ReadDir(f.root.FS(), people)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), digest(account)+".") {
			continue
		}
		text, err := f.root.ReadFile(path.Join(people, entry.Name()))
		var who Person
		if err == nil {
			err = json.Unmarshal(text, &who)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, who)
	}
	slices.SortFunc(all, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *Folder) Invite(who Person) (*url.URL, error) {
	switch all, err := f.People(who.Account); {
	case err != nil:
		return nil, err
	case !order.ValidName(who.Name) || who.Name == who.Account:
		return nil, failure.New(failure.Invalid, "name must be 1 to 255 characters with no control characters, and not that of the account")
	case who.Role != Owner && who.Role != Member:
		return nil, failure.New(failure.Invalid, "role must be one of: owner, member")
	case len(all) >= mostPeople && !slices.ContainsFunc(all, func(p Person) bool { return p.Name == who.Name }):
		return nil, failure.New(failure.Invalid, "an account has at most 100 people")
	}
	text, err := json.Marshal(who)
	if err == nil {
		err = f.forget(invited(who.Account, who.Name))
	}
	if err == nil {
		err = f.write(personFile(who.Account, who.Name), text)
	}
	if err != nil {
		return nil, err
	}
	return f.newLink(invited(who.Account, who.Name), inviteLife)
}

// forget ends the sessions of an invited person, and removes the links that they haven't used.
func (f *Folder) forget(person string) error {
	entries, err := fs.ReadDir(f.root.FS(), links)
	for _, entry := range entries {
		link := path.Join(links, entry.Name())
		of, readErr := f.root.ReadFile(link)
		if readErr = ignore(readErr, fs.ErrNotExist); readErr == nil && string(of) == person {
			readErr = ignore(f.root.Remove(link), fs.ErrNotExist)
		}
		err = errors.Join(err, readErr)
	}
	return errors.Join(err, f.EndAll(context.Background(), person))
}

func (f *Folder) Remove(account, name string) error {
	if err := f.root.Remove(personFile(account, name)); err != nil {
		return ignore(err, fs.ErrNotExist)
	}
	return errors.Join(f.sync(people), f.forget(invited(account, name)))
}
