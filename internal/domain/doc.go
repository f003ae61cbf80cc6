// Package domain groups what the product is, without HTTP, stores or media: requests and their rules,
// the ports to everything outside, the table of settings, and the version.
//
// May import: nothing.
//
// Inside: lipsync/page → lipsync; settings/page → settings.
package domain
