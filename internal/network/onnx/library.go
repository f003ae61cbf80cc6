//go:build cgo

package onnx

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// The head of OrtApiBase in onnxruntime_c_api.h, which never changes.
typedef struct {
	const void *(*get_api)(uint32_t);
	const char *(*get_version)(void);
} api_base;

// library_version returns the library's version, or NULL and the loader's error.
static const char *library_version(const char *path, char **error) {
	void *library = dlopen(path, RTLD_LAZY);
	const api_base *(*base)(void) = library == NULL ? NULL : dlsym(library, "OrtGetApiBase");
	if (base != NULL) return base()->get_version();
	*error = dlerror(); // of this thread, so it is asked for here
	return NULL;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"lipsync/internal/domain/settings"
)

// libraryName is the name of the library's file, as make onnxruntime installs it.
const libraryName = "libonnxruntime.so"

// wantedMinor is the API that the Go wrapper was written for: it is in version
// 1.24 and in all later ones.
const wantedMinor = 24

// advice returns the end of a sentence, which explains how to get a library that can be used.
func advice() string {
	return "make onnxruntime installs the one that is wanted; " + settings.ONNXRuntime.Env() + " names another"
}

// places returns the paths at which the library is searched for: beside the program, in lib
// beside the program's folder, and in the places of the system's loader.
func places() []string {
	var found []string
	if program, err := os.Executable(); err == nil {
		dir := filepath.Dir(program)
		found = append(found, filepath.Join(dir, libraryName), filepath.Join(dir, "..", "lib", libraryName))
	}
	return append(found, libraryName+".1", libraryName)
}

// find returns the path of the library, and its version.
func find(path string) (string, string, error) {
	if path != "" {
		version, err := libraryVersion(path)
		return path, version, err
	}
	for _, path := range places() {
		if filepath.IsAbs(path) && !exists(path) {
			continue
		}
		version, err := libraryVersion(path)
		if err == nil || filepath.IsAbs(path) {
			return path, version, err
		}
	}
	return "", "", errors.New("ONNX Runtime is not installed: " + advice())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// libraryVersion loads the library, until the process ends. It fails if the version of the
// library can't be used.
func libraryVersion(path string) (string, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var reason *C.char
	text := C.library_version(name, &reason)
	if text == nil {
		return "", fmt.Errorf("ONNX Runtime cannot be loaded (%s): %s", C.GoString(reason), advice())
	}
	version := C.GoString(text)
	return version, checkVersion(version)
}

func checkVersion(version string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(strings.TrimSpace(version), "%d.%d", &major, &minor); n != 2 || major != 1 || minor < wantedMinor {
		return fmt.Errorf("ONNX Runtime is of version %s, and 1.%d or a later 1.x is wanted: %s", version, wantedMinor, advice())
	}
	return nil
}
