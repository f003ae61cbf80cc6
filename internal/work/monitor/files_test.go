package monitor

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"lipsync/internal/test/sharedtest"
)

// These tests compare the files in the folder monitoring with the service's metrics.

func file(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(sharedtest.Root(t), "monitoring", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// target has the labels that Prometheus adds to each series.
var target = []string{"job", "instance"}

// series returns the labels of each series that a query can name. The series up is Prometheus' own.
func series(t *testing.T) map[string][]string {
	families, err := busy(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{"up": target}
	for _, f := range families {
		known := slices.Clone(target)
		for _, pair := range f.GetMetric()[0].GetLabel() {
			known = append(known, pair.GetName())
		}
		if f.GetMetric()[0].GetHistogram() == nil {
			all[f.GetName()] = known
			continue
		}
		all[f.GetName()+"_sum"], all[f.GetName()+"_count"] = known, known
		all[f.GetName()+"_bucket"] = append(slices.Clone(known), "le")
	}
	return all
}

// checkQuery checks that a query parses, and that its metrics and labels exist. It returns the
// metrics' names.
func checkQuery(t *testing.T, where, query string, known map[string][]string) (names []string) {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v in %s", where, err, query)
		return nil
	}
	var found []string // labels of all metrics of the query
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if s, ok := node.(*parser.VectorSelector); ok {
			names = append(names, s.Name)
			found = append(found, known[s.Name]...)
			if known[s.Name] == nil {
				t.Errorf("%s: unknown metric %q", where, s.Name)
			}
			for _, m := range s.LabelMatchers {
				if m.Name != "__name__" && !slices.Contains(known[s.Name], m.Name) {
					t.Errorf("%s: %s has no label %s", where, s.Name, m.Name)
				}
			}
		}
		return nil
	})
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		if a, ok := node.(*parser.AggregateExpr); ok {
			for _, name := range a.Grouping {
				if !slices.Contains(found, name) {
					t.Errorf("%s: groups by %s, which no metric of the query has", where, name)
				}
			}
		}
		return nil
	})
	return names
}

func TestCheckQuery(t *testing.T) {
	known := map[string][]string{"a_total": {"code"}}
	for _, query := range []string{"rate(a_total[5m]", "b_total", `a_total{status="x"}`, "sum by (status) (a_total)"} {
		quiet := new(testing.T)
		if checkQuery(quiet, "", query, known); !quiet.Failed() {
			t.Errorf("%s: got no error", query)
		}
	}
	if checkQuery(t, "", `sum by (code) (rate(a_total{code!=""}[5m]))`, known); t.Failed() {
		t.Error("got an error")
	}
}

// TestAlerts reads the rules as Prometheus does. Each must be explained in the README.
func TestAlerts(t *testing.T) {
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(file(t, "alerts.yaml")))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	if len(rules.Groups) != 1 || len(rules.Groups[0].Rules) < 10 {
		t.Fatalf("got %+v", rules)
	}
	known, readme, period := series(t), string(file(t, "README.md")), regexp.MustCompile(`^(\d+[mh])?$`)
	for _, r := range rules.Groups[0].Rules {
		checkQuery(t, r.Alert, r.Expr, known)
		if !period.MatchString(r.For) || r.Labels["severity"] == "" || r.Annotations["summary"] == "" {
			t.Errorf("%s: got %+v, want how long, how severe and what", r.Alert, r)
		}
		if !strings.Contains(readme, "`"+r.Alert+"`") {
			t.Errorf("README.md does not explain %s", r.Alert)
		}
	}
}

// TestDashboard checks that every query of the dashboard is valid, and that each metric of the
// service is on it.
func TestDashboard(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
		Templating struct{ List []struct{ Name string } }
	}
	if err := json.Unmarshal(file(t, "dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", "lipsync", "$instance", ".*")
	known := series(t)
	var shown []string
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			query := variables.Replace(target.Expr)
			if strings.Contains(query, "$") {
				t.Errorf("%s: unknown variable in %s", p.Title, target.Expr)
			}
			shown = append(shown, checkQuery(t, p.Title, query, known)...)
		}
	}
	for name := range known {
		base := regexp.MustCompile(`_(sum|count|bucket)$`).ReplaceAllString(name, "")
		if strings.HasPrefix(name, "lipsync_") && !slices.ContainsFunc(shown, func(s string) bool { return strings.HasPrefix(s, base) }) {
			t.Errorf("no panel shows %s", base)
		}
	}
}

// TestDocumented compares the metrics in the README with those of the service.
func TestDocumented(t *testing.T) {
	families, err := busy(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range families {
		if strings.HasPrefix(f.GetName(), "lipsync_") {
			names = append(names, f.GetName())
		}
	}
	told := regexp.MustCompile("`lipsync_[a-z_]+`").FindAllString(string(file(t, "README.md")), -1)
	for i := range told {
		told[i] = strings.Trim(told[i], "`")
	}
	slices.Sort(told)
	if !slices.Equal(told, names) {
		t.Errorf("README.md has %q, want %q", told, names)
	}
}
