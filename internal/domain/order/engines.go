package order

import "slices"

// Engine is a row of the table of engines.
type Engine struct {
	Name  string // as requests give it as their model
	Needs string // what the service needs for it, for people to read; "" if it needs no network
}

// Warp is the engine that needs no network.
const Warp = "warp"

// Engines returns the table of all engines. One that needs a network is offered where the network is.
func Engines() []Engine {
	return []Engine{
		{Warp, ""},
		{"wav2lip", "a network of the operator; it is fast on an NVIDIA GPU"},
		{"musetalk", "four networks of the operator, and an NVIDIA GPU"},
	}
}

// EngineNames returns the names of all engines.
func EngineNames() (names []string) {
	for _, e := range Engines() {
		names = append(names, e.Name)
	}
	return names
}

// EngineNeeds returns what the service needs for the engine with a name, "" if it needs no network or has no name.
func EngineNeeds(name string) string {
	all := Engines()
	i := slices.IndexFunc(all, func(e Engine) bool { return e.Name == name })
	if i < 0 {
		return ""
	}
	return all[i].Needs
}

// NeedsNetwork reports whether an engine needs a network.
func NeedsNetwork(name string) bool { return EngineNeeds(name) != "" }
