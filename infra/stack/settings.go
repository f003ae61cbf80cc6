package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"

	"lipsync/internal/settings"
)

// Settings are what an operator decides, in CDK's context: given in cdk.json or as -c KEY=VALUE.
type Settings struct {
	*settings.Values
	// InEffect has all settings that outlive a deployment, as text, by their keys.
	InEffect map[string]string

	ignored []string // paths of the repository that the image is not built of
}

// ReadSettings takes the settings from the app's context, and looks whether what
// they name is there. What is wrong is an error of one sentence.
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

// ParseSettings takes the settings from a context. An unknown or bad one is an
// error.
func ParseSettings(context map[string]any) (Settings, error) {
	values, err := settings.Context(context)
	if err != nil {
		return Settings{}, err
	}
	s := Settings{Values: values, InEffect: map[string]string{}}
	for _, e := range settings.At(settings.Stack) {
		s.InEffect[e.Line().Context()] = e.ContextValue(values)
	}
	for _, e := range settings.ForOneDeployment() {
		delete(s.InEffect, e.Line().Context())
	}
	if settings.NVIDIA.In(values) && settings.Image.In(values) == "cpu" {
		return Settings{}, fmt.Errorf("%s is true, but %s is cpu", settings.NVIDIA.Context(), settings.Image.Context())
	}
	if max(settings.SpotVCPUs.In(values), settings.OnDemandVCPUs.In(values)) < JobVCPUs {
		return Settings{}, fmt.Errorf("%s and %s are both less than the %d that one job takes",
			settings.SpotVCPUs.Context(), settings.OnDemandVCPUs.Context(), JobVCPUs)
	}
	return s, nil
}

// protected tells whether AWS refuses to delete what keeps data.
func (s Settings) protected() bool {
	return settings.KeepData.In(s.Values) && !settings.FirstDeploy.In(s.Values)
}
