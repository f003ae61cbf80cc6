package dashboard

import (
	"net/http"
	"strings"

	"lipsync/internal/domain/failure"
	"lipsync/internal/http/signin"
)

// peoplePage has the people whom owners of the account invited, and the link for the one who was just invited.
type peoplePage struct {
	People        []signin.Person
	Link          string // shown only once
	Invited       string // whom Link is for
	Name          string // as the person sent it, if it could not be used
	Problem, CSRF string
}

// owned lets only owners of the account through.
func (p *pages) owned(h handler) handler {
	return func(v *visit) error {
		if !v.session.Owns() {
			return signin.Refused("only an owner of the account may do this")
		}
		return h(v)
	}
}

func (p *pages) listPeople(v *visit) error { return p.showPeople(v, http.StatusOK, peoplePage{}) }

func (p *pages) showPeople(v *visit, status int, page peoplePage) (err error) {
	if p.People == nil {
		return missing()
	}
	if page.People, err = p.People.People(v.session.Account); err != nil {
		return err
	}
	page.CSRF = v.session.CSRF
	return v.show(status, "people", "People", page)
}

// invite shows the link in the answer itself, as createKey does with a key.
func (p *pages) invite(v *visit) error {
	if p.People == nil {
		return missing()
	}
	who := signin.Person{Account: v.session.Account, Name: strings.TrimSpace(v.PostForm.Get("name")), Role: signin.Role(v.PostForm.Get("role"))}
	link, err := p.People.Invite(who)
	switch failure.CodeOf(err) {
	case "":
		return p.showPeople(v, http.StatusOK, peoplePage{Link: p.base(v.Request).String() + p.Prefix + link.String(), Invited: who.Name})
	case failure.Invalid:
		return p.showPeople(v, http.StatusBadRequest, peoplePage{Name: who.Name, Problem: failure.MessageOf(err)})
	default:
		return err
	}
}

func (p *pages) removePerson(v *visit) error {
	if p.People == nil {
		return missing()
	}
	if err := p.People.Remove(v.session.Account, v.PostForm.Get("name")); err != nil {
		return err
	}
	return v.leadTo(p.root + "/settings/people")
}
