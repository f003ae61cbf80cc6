package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"lipsync/cmd/lipsync/internal/manual"
	"lipsync/internal/domain/settings"
	"lipsync/internal/domain/version"
)

// aService says which service a command calls, in examples.
var aService = " " + settings.ServiceURL.Flag() + " https://lipsync.example.com " + settings.KeyFile.Flag() + " key"

// examples has two calls of each command.
var examples = manual.Examples{
	"serve":              {"lipsync serve", "lipsync serve --check " + settings.Addr.Flag() + " 0.0.0.0:8080"},
	"dashboard":          {"lipsync dashboard", "lipsync dashboard --account bob"},
	"keys create":        {"lipsync keys create --name laptop", "lipsync keys create --name reports --read-only --expires 2160h"},
	"keys list":          {"lipsync keys list", "lipsync keys list --json"},
	"keys revoke":        {"lipsync keys revoke 0190d5c8-5f0a-7a3d-8a52-6e1f3b9c2d47", "lipsync keys revoke ID --table lipsync"},
	"users end-sessions": {"lipsync users end-sessions", "lipsync users end-sessions --table lipsync --account SUB"},
	"backup":             {"lipsync backup backup.tar", "lipsync backup /mnt/lipsync-$(date +%F).tar"},
	"restore":            {"lipsync restore backup.tar " + settings.Data.Flag() + " new", "lipsync restore backup.tar --trial " + settings.Data.Flag() + " try"},
	"doctor":             {"lipsync doctor", "lipsync doctor --json " + settings.Data.Flag() + " /var/lib/lipsync"},
	"health":             {"lipsync health", "lipsync health " + settings.Addr.Flag() + " 127.0.0.1:9000"},
	"models check":       {"lipsync models check", "lipsync models check --json"},
	"models add":         {"lipsync models add wav2lip wav2lip.onnx", "lipsync models add face-detector faces.onnx --licence MIT"},
	"sync":               {"lipsync sync talk.mp4 speech.wav", "lipsync sync talk.mp4 speech.wav -o german.mp4 --original-gain 0.3 --duck"},
	"send":               {"lipsync send talk.mp4 speeches" + aService, "lipsync send talk.mp4 speech.wav --json"},
	"erase":              {"lipsync erase 0190d5c8-5f0a-7a3d-8a52-6e1f3b9c2d47", "lipsync erase --all --json"},
	"mcp":                {"lipsync mcp" + aService, settings.Key.Env() + "=KEY lipsync mcp"},
	"analyze":            {"lipsync analyze talk.mp4", "lipsync analyze talk.mp4 --json"},
	"requests list":      {"lipsync requests list --failed --all-accounts", "lipsync requests list --account bob --json"},
	"completion":         {"lipsync completion bash > ~/.local/share/bash-completion/completions/lipsync", "lipsync completion fish > ~/.config/fish/completions/lipsync.fish"},
	"man":                {"lipsync man | man -l -", "lipsync man > ~/.local/share/man/man1/lipsync.1"},
	"demo":               {"lipsync demo", "lipsync demo -o try"},
}

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

func (c *completionCommand) Run(k *kong.Context, s streams) error {
	_, err := fmt.Fprint(s.Out, manual.Completion(k.Model, c.Shell))
	return err
}

type manCommand struct{}

func (*manCommand) Run(k *kong.Context, s streams) error {
	_, err := fmt.Fprint(s.Out, manual.Page(k.Model, version.String(), examples))
	return err
}
