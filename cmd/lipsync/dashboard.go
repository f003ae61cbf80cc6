package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lipsync/internal/dashboard"
	"lipsync/internal/lipsync"
	"lipsync/internal/rest"
)

// defaultAccount is whose requests the dashboard of one machine shows, and whose
// keys are made unless told otherwise.
const defaultAccount = "default"

// answerTime is how long a server may take to say that it is there.
const answerTime = 3 * time.Second

type dashboardCommand struct{ dataFlag }

// Run prints a link to the server that uses the data folder now.
func (c *dashboardCommand) Run(ctx context.Context, s streams) error {
	nobody := fmt.Errorf("no server uses the data folder %s: start one with lipsync serve", c.Data)
	base, err := os.ReadFile(addressFile(c.Data))
	if errors.Is(err, fs.ErrNotExist) {
		return nobody
	}
	if err != nil {
		return err
	}
	address, public, _ := strings.Cut(string(base), "\n")
	if !answers(ctx, address) {
		return nobody
	}
	folder, err := openSignIn(c.Data)
	if err != nil {
		return err
	}
	defer folder.Close()
	return printLink(s, folder, public)
}

// answers tells whether a server of ours is at the address.
func answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/health", nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// addressFile says where the folder's server is: how this machine reaches it, then
// how people do.
func addressFile(data string) string { return filepath.Join(data, "dashboard", "address") }

// announce notes where the server is, and prints a link to its dashboard.
func (c *serveCommand) announce(s streams, folder *dashboard.Folder, address net.Addr) error {
	local := "http://" + reachable(address)
	public := local
	if c.PublicURL != nil {
		public = (&url.URL{Scheme: c.PublicURL.Scheme, Host: c.PublicURL.Host}).String()
	}
	if err := os.WriteFile(addressFile(c.Data), []byte(local+"\n"+public), 0o600); err != nil {
		return err
	}
	return printLink(streams{out: s.err}, folder, public)
}

func printLink(s streams, folder *dashboard.Folder, base string) error {
	link, err := folder.NewLink()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "dashboard: %s%s\n", base, link)
	return err
}

// reachable is the address as this machine can call it: a server that listens
// everywhere has no host in its own.
func reachable(address net.Addr) string {
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return address.String()
}

func openSignIn(data string) (*dashboard.Folder, error) {
	return dashboard.OpenFolder(filepath.Join(data, "dashboard"), defaultAccount, time.Now)
}

// newDashboard returns the pages of one machine.
func newDashboard(service *lipsync.Service, folder *dashboard.Folder, publicURL *url.URL, log *slog.Logger) (http.Handler, error) {
	secret, err := folder.Secret()
	if err != nil {
		return nil, err
	}
	return dashboard.New(service, dashboard.Options{
		Log: log, SignIn: folder, Sessions: folder, Secret: secret, PublicURL: publicURL, Document: rest.Document(),
	})
}
