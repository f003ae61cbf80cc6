// Package http groups what speaks HTTP: the API, the dashboard and its sign-in, the tools of assistants,
// the pages of documentation, a client of the API, and the client that fetches users' URLs.
//
// May import: docs for rest, domain.
//
// Inside: agents → client, rest, slots; client → rest; dashboard → reference, shown, signin, static; openid → signin; rest → fields, slots;
// site → static.
package http
