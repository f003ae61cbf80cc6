package sqlite_test

import (
	"archive/tar"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lipsync/internal/test/sharedtest"
)

// TestSchemaOfVersions migrates a file of each version and compares its schema with that of a new one. So nobody changes a migration
// after its version has made files.
func TestSchemaOfVersions(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "lipsync.db")
	open(t, fresh)
	want := schemaOf(t, fresh)
	made, err := filepath.Glob(filepath.Join(sharedtest.Root(t), "cmd", "lipsync", "testdata", "data-*.tar.gz"))
	if err != nil || len(made) == 0 {
		t.Fatalf("got the files %q (%v), want some", made, err)
	}
	for _, file := range made {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".tar.gz"), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lipsync.db")
			unpack(t, file, path)
			open(t, path)
			got := schemaOf(t, path)
			for _, line := range want {
				if !slices.Contains(got, line) {
					t.Errorf("missing: %s", line)
				}
			}
			for _, line := range got {
				if !slices.Contains(want, line) {
					t.Errorf("not in a new file: %s", line)
				}
			}
		})
	}
}

// TestMigrationNumbers checks that each migration is named after its version.
func TestMigrationNumbers(t *testing.T) {
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if number := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(filepath.Base(file), number) {
			t.Errorf("got %s, want a name that begins with %s", file, number)
		}
	}
}

// unpack writes the database of a packed data folder to the path.
func unpack(t *testing.T, file, path string) {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(plain); ; {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("%s: no database (%v)", file, err)
		}
		if header.Name != "lipsync.db" {
			continue
		}
		database, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(path, database, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
}

// schemaQueries select the schema of a database, in any order: columns with their types and
// defaults, the columns of constraints, and the statements of indexes and triggers.
var schemaQueries = []string{
	`SELECT 'version ' || user_version FROM pragma_user_version`,
	`SELECT 'table ' || name || ' without rowid ' || wr || ' strict ' || strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'`,
	`SELECT 'column ' || m.name || '.' || c.name || ' ' || c.type || ' not null ' || c."notnull" ||
		' default ' || ifnull(c.dflt_value, 'none') || ' key ' || c.pk || ' hidden ' || c.hidden
		FROM sqlite_schema m, pragma_table_xinfo(m.name) c WHERE m.type = 'table'`,
	`SELECT 'index on ' || m.name || ' (' || group_concat(c.name) || ') unique ' || i."unique" || ' origin ' || i.origin || ' partial ' || i.partial
		FROM sqlite_schema m, pragma_index_list(m.name) i, pragma_index_info(i.name) c WHERE m.type = 'table' GROUP BY m.name, i.name`,
	`SELECT sql FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL`,
}

var space = regexp.MustCompile(`\s+`)

// schemaOf describes the schema of a file.
func schemaOf(t *testing.T, path string) (all []string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range schemaQueries {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			all = append(all, space.ReplaceAllString(line, " "))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
