package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"lipsync/internal/domain/settings"
)

// Settings are the operator's settings in CDK's context, from cdk.json or -c KEY=VALUE.
type Settings struct {
	*settings.Values
	// InEffect has, by key and as text, all settings that stay in effect after a deployment.
	InEffect map[string]string

	ignored []string // paths of the repository that the image is built without
}

// ReadSettings reads the settings from the app's context and checks that the files that they name
// exist. An error has one sentence.
func ReadSettings(app awscdk.App) (Settings, error) {
	all, _ := app.Node().GetAllContext(nil).(map[string]any)
	s, err := ParseSettings(all)
	if err != nil {
		return Settings{}, err
	}
	functions := settings.FunctionsFolder.In(s.Values)
	if _, err := os.Stat(filepath.Join(functions, "health", "bootstrap")); err != nil {
		return Settings{}, fmt.Errorf("%s has no functions: run make build", functions)
	}
	if s.ignored, err = readIgnored(settings.Repository.In(s.Values)); err != nil {
		return Settings{}, fmt.Errorf("%s: %w", settings.Repository.Context(), err)
	}
	return s, nil
}

// ParseSettings reads the settings from a context. An unknown or invalid setting is an error.
func ParseSettings(context map[string]any) (Settings, error) {
	values, err := settings.Context(context)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{Values: values, InEffect: map[string]string{}}
	for _, e := range settings.At(settings.Stack) {
		s.InEffect[e.Line().Context()] = e.ContextValue(values)
	}
	if settings.NVIDIAEncode.In(values) && settings.Image.In(values) == "cpu" {
		return Settings{}, fmt.Errorf("%s is true, but %s is cpu", settings.NVIDIAEncode.Context(), settings.Image.Context())
	}
	if settings.Image.In(values) == "cuda" && !settings.NeedsNetwork(values) {
		return Settings{}, fmt.Errorf("%s is cuda, but none of %s needs a network", settings.Image.Context(), settings.Engines.Context())
	}
	for _, f := range s.Fleets() {
		if max(f.Spot.In(values), f.OnDemand.In(values)) < JobVCPUs {
			return Settings{}, fmt.Errorf("%s and %s are both less than the %d that one job takes", f.Spot.Context(), f.OnDemand.Context(), JobVCPUs)
		}
	}
	if names := settings.ZoneNames.In(values); len(names) > 0 && len(names) != settings.Zones.In(values) {
		return Settings{}, fmt.Errorf("%s has %d names, but %s is %d", settings.ZoneNames.Context(), len(names), settings.Zones.Context(), settings.Zones.In(values))
	}
	if settings.RequireProvenance.In(values) && settings.ProvenanceSecret.In(values) == "" {
		return Settings{}, fmt.Errorf("%s needs %s too", settings.RequireProvenance.Context(), settings.ProvenanceSecret.Context())
	}
	small, quota := settings.SmallWorkers.In(values), settings.LambdaQuota.In(values)
	most := quota / 2
	if quota >= settings.ReservingQuota {
		most = quota - settings.Unreserved
	}
	if small > most {
		return Settings{}, fmt.Errorf("%s is %d, but of the %d calls of %s the API needs some: at most %d",
			settings.SmallWorkers.Context(), small, quota, settings.LambdaQuota.Context(), most)
	}
	if err := checkDomains(values); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// protected reports whether AWS refuses to delete the parts with data.
func (s Settings) protected() bool {
	return settings.KeepData.In(s.Values) && !settings.FirstDeploy.In(s.Values)
}
