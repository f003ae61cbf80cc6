package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// readContext returns the context that the CDK app will have, from cdk.json and the command line.
func readContext(written []byte, arguments []string) (map[string]any, error) {
	var cdk struct{ Context map[string]any }
	if err := json.Unmarshal(written, &cdk); err != nil {
		return nil, fmt.Errorf("cdk.json: %w", err)
	}
	if cdk.Context == nil {
		cdk.Context = map[string]any{}
	}
	for i, argument := range arguments {
		pair, ok := "", false
		for _, name := range []string{"-c", "--context"} {
			if argument == name && i+1 < len(arguments) {
				pair, ok = arguments[i+1], true
			} else if after, found := strings.CutPrefix(argument, name+"="); found {
				pair, ok = after, true
			}
		}
		if key, value, pairs := strings.Cut(pair, "="); ok && pairs {
			cdk.Context[key] = value
		}
	}
	return cdk.Context, nil
}

// option returns the value of an option, or "" if it is missing.
func option(arguments []string, name string) string {
	for i, argument := range arguments {
		if argument == name && i+1 < len(arguments) {
			return arguments[i+1]
		}
		if value, ok := strings.CutPrefix(argument, name+"="); ok {
			return value
		}
	}
	return ""
}

// unasked returns an error that names the settings of the deployed stack that would change
// although neither cdk.json nor the command line names them. Settings that the deployed stack does
// not know are new, and may change.
func unasked(deployed, now map[string]string, given map[string]any) error {
	var changes, keep []string
	for _, key := range slices.Sorted(maps.Keys(deployed)) {
		value, known := now[key]
		if _, asked := given[key]; asked || !known || value == deployed[key] {
			continue
		}
		changes = append(changes, fmt.Sprintf("%s is %q in the deployed stack and would become %q.", key, deployed[key], value))
		keep = append(keep, fmt.Sprintf("-c %s=%s", key, deployed[key]))
	}
	if changes == nil {
		return nil
	}
	return fmt.Errorf("%s\nSay which is meant, in cdk.json under context or by -c. To keep what is deployed: %s",
		strings.Join(changes, "\n"), strings.Join(keep, " "))
}
