package main

import (
	"lipsync/internal/ffmpeg"
	"lipsync/internal/render"
	"lipsync/internal/warp"
)

// newRenderer returns a renderer whose jobs use a number of cores each.
func newRenderer(cores int) (*render.Renderer, error) {
	tools, err := ffmpeg.Find(cores)
	if err != nil {
		return nil, err
	}
	return &render.Renderer{
		Tools:   tools,
		Engines: map[string]render.Engine{"warp": warp.Engine{Cores: cores}},
		Limits:  render.DefaultLimits(),
	}, nil
}
