package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/cmd/lipsync/internal/screen"
	"lipsync/internal/domain/service"
	"lipsync/internal/domain/settings"
	"lipsync/internal/http/dashboard"
	"lipsync/internal/http/rest"
	"lipsync/internal/http/signin"
	"lipsync/internal/http/site"
)

// defaultAccount is the account whose requests the dashboard of one machine shows. A new key
// is of this account unless an option names another.
const defaultAccount = "default"

type dashboardCommand struct {
	dataFlag
	Account string `default:"${account}" help:"Account whose requests the dashboard shows (default: ${default})."`
	JSON    bool   `help:"Print the link as JSON."`
}

// Run prints a link to the server that uses the data folder now.
func (c *dashboardCommand) Run(_ context.Context, s streams) error {
	nobody := fmt.Errorf("no server uses the data folder %s: start one with lipsync serve", c.Data)
	if served, err := datafolder.Locked(c.Data); err != nil || !served {
		return cmp.Or(err, nobody)
	}
	base, err := os.ReadFile(datafolder.AddressFile(c.Data))
	if errors.Is(err, fs.ErrNotExist) {
		return nobody // no server has used the folder yet
	}
	if err != nil {
		return err
	}
	folder, err := datafolder.OpenSignIn(c.Data)
	if err != nil {
		return err
	}
	defer folder.Close()
	link, err := folder.NewLink(c.Account)
	switch {
	case err != nil:
		return sentence(err)
	case c.JSON:
		return json.NewEncoder(s.Out).Encode(map[string]string{"account": c.Account, "url": string(base) + link.String()})
	}
	return printLink(s.Out, string(base), link)
}

// announce writes the server's address to the address file, and says where it listens, how to sign in to its dashboard, and how to make a
// key if there is none. It prints the sign-in link only to a terminal, since others may read a log.
func (c *serveCommand) announce(s streams, log *slog.Logger, folder *signin.Folder, address net.Addr, hasKey bool) error {
	at, base := "http://"+address.String(), c.dashboardURL(address)
	if err := os.WriteFile(datafolder.AddressFile(c.Data), []byte(base), 0o600); err != nil {
		return err
	}
	data := fmt.Sprintf(" %s %q", settings.Data.Flag(), c.Data)
	makeKey := "lipsync keys create" + data + " --name NAME"
	if c.LogFormat == "json" || !screen.IsTerminal(s.Err) {
		if !hasKey {
			log.Warn("there is no API key yet", "to_make_one", makeKey)
		}
		log.Info("listening", "address", at, "dashboard", base+dashboard.Root, "to_sign_in", "lipsync dashboard"+data)
		return nil
	}
	if !hasKey {
		fmt.Fprintf(s.Err, "There is no API key yet. Make one with: %s\n", makeKey)
	}
	fmt.Fprintf(s.Err, "listening on %s\n", at)
	link, err := folder.NewLink(defaultAccount)
	if err != nil {
		return err
	}
	return printLink(s.Err, base, link)
}

// dashboardURL returns the address of the service for the pages of the dashboard.
func (c *serveCommand) dashboardURL(address net.Addr) string {
	u := c.base(address)
	return (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
}

func printLink(w io.Writer, base string, link *url.URL) error {
	_, err := fmt.Fprintf(w, "dashboard: %s%s\n", base, link)
	return err
}

// reachable returns an address at which this machine can call the server. A server that listens
// on all interfaces has no host in its own address.
func reachable(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok && (tcp.IP == nil || tcp.IP.IsUnspecified()) {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return address.String()
}

// newDashboard returns the handler of the dashboard's pages for one machine.
func newDashboard(service *service.Service, folder *signin.Folder, publicURL *url.URL, log *slog.Logger) (http.Handler, error) {
	secret, err := folder.Secret()
	if err != nil {
		return nil, err
	}
	return dashboard.New(service, dashboard.Options{
		Log: log, SignIn: folder, Sessions: folder, People: folder, Secret: secret, PublicURL: publicURL, Document: rest.Document(), Docs: site.Root,
	})
}
