package onnx

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// leastDriver is the oldest series of NVIDIA's driver that CUDA 13 works with. The build of ONNX
// Runtime for GPUs that make onnxruntime installs is for CUDA 13.
const leastDriver = 580

// kernelDriver is the folder in which the kernel tells about NVIDIA's driver, where there is one.
const kernelDriver = "/proc/driver/nvidia"

// driverVersion matches the driver's version in the kernel's sentence about it.
var driverVersion = regexp.MustCompile(`Kernel Module.*?\s((\d+)\.[\d.]+)\s`)

// HasGPU tells whether this process may use an NVIDIA GPU, and its driver is new enough.
func HasGPU() bool {
	_, err := os.Stat("/dev/nvidiactl") // a container on a machine with a GPU may lack it
	return err == nil && CheckDriver() == nil
}

// CheckDriver returns an error, a sentence for operators, if the driver of this machine's NVIDIA GPU is
// too old for CUDA. It returns nil where there is no driver.
func CheckDriver() error { return checkDriver(kernelDriver) }

func checkDriver(folder string) error {
	said, err := os.ReadFile(filepath.Join(folder, "version"))
	if err != nil {
		return nil // then CUDA itself fails if it is asked for
	}
	found := driverVersion.FindSubmatch(said)
	if found == nil {
		return nil
	}
	if series, err := strconv.Atoi(string(found[2])); err != nil || series >= leastDriver {
		return nil
	}
	return fmt.Errorf("the driver of the NVIDIA GPU is of version %s, and CUDA 13 needs %d or later", found[1], leastDriver)
}

// engineFolder returns the path of the folder in root with the engines that TensorRT compiled of a
// network for the GPUs of this machine. ONNX Runtime names engines by TensorRT's version and the
// network's operators, but not by its weights, which network does: it is the digest of the file.
func engineFolder(root, driver, library string, network [sha256.Size]byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "ONNX Runtime %s, %x\n", library, network)
	gpus, _ := filepath.Glob(filepath.Join(driver, "gpus", "*", "information")) // the pattern is valid
	for _, gpu := range gpus {
		about, _ := os.ReadFile(gpu)
		fmt.Fprintf(sum, "%s\n", gpuModel.Find(about))
	}
	return filepath.Join(root, fmt.Sprintf("%x", sum.Sum(nil)[:16]))
}

// gpuModel matches the line with the name of a GPU. Other lines tell its serial number and its place.
var gpuModel = regexp.MustCompile(`(?m)^Model:.*$`)
