package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// constants reads whole numbers from the source of packages, so that those that no other package needs can stay their own.
type constants struct {
	root string
	read map[string]map[string]int64 // by folder and name
	err  error                       // of the first constant that isn't there
}

// of returns the constant of the package in the folder; a time is in nanoseconds.
func (c *constants) of(folder, name string) int64 {
	if c.read[folder] == nil {
		all, err := readConstants(filepath.Join(c.root, folder))
		c.read[folder], c.err = all, errors.Join(c.err, err)
	}
	n, ok := c.read[folder][name]
	if !ok {
		c.err = errors.Join(c.err, fmt.Errorf("%s has no constant %s", folder, name))
	}
	return n
}

func (c *constants) number(folder, name string) string { return fmt.Sprint(c.of(folder, name)) }

func (c *constants) time(folder, name string) string { return spell(c.of(folder, name)) }

// readConstants returns those constants of a package that are whole numbers, and need no other package but time.
func readConstants(folder string) (map[string]int64, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	var sources []*ast.File
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		sources = append(sources, source)
	}
	checker := types.Config{Importer: onlyTime{}, IgnoreFuncBodies: true, Error: func(error) {}} // what others define is unknown
	pkg, _ := checker.Check(folder, set, sources, nil)
	all := make(map[string]int64)
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() != constant.Unknown {
			if n, exact := constant.Int64Val(constant.ToInt(c.Val())); exact {
				all[name] = n
			}
		}
	}
	return all, nil
}

// onlyTime imports the constants of the package time, and nothing of others.
type onlyTime struct{}

func (onlyTime) Import(name string) (*types.Package, error) {
	pkg := types.NewPackage(name, path.Base(name))
	for unit, d := range map[string]time.Duration{"Millisecond": time.Millisecond, "Second": time.Second, "Minute": time.Minute, "Hour": time.Hour} {
		if name == "time" {
			pkg.Scope().Insert(types.NewConst(token.NoPos, pkg, unit, types.Typ[types.Int64], constant.MakeInt64(int64(d))))
		}
	}
	pkg.MarkComplete()
	return pkg, nil
}
