// Kernels for 64-bit Arm. They do what plain does in kernel.go, for 8 channels at once, in two registers of 4.

#include "go_asm.h"
#include "textflag.h"

// The assembler doesn't know these instructions for vectors. Arguments are numbers of registers.
// FMLA0 and FMLA1 add to d the products of n with element 0 or 1 of m.
#define FMLA0(m, n, d) WORD $(0x4f801000 | m<<16 | n<<5 | d)
#define FMLA1(m, n, d) WORD $(0x4fa01000 | m<<16 | n<<5 | d)
#define FADD(m, n, d) WORD $(0x4e20d400 | m<<16 | n<<5 | d)
#define FMAX(m, n, d) WORD $(0x4e20f400 | m<<16 | n<<5 | d)
#define FMIN(m, n, d) WORD $(0x4ea0f400 | m<<16 | n<<5 | d)

// INPUT multiplies two floats of a pixel by their weights in V24 to V27, adds them to a and b, and goes on to the next floats.
#define INPUT(R, F, f, a, b) \
	FMOVD.P 8(R), F  \
	FMLA0(f, 24, a)  \
	FMLA0(f, 25, b)  \
	FMLA1(f, 26, a)  \
	FMLA1(f, 27, b)

// ADD8 adds 8 floats at R14 to a pixel, and goes on to the next pixel.
#define ADD8(a, b) \
	VLD1.P (R14)(R25), [V28.S4, V29.S4] \
	FADD(28, a, a)                      \
	FADD(29, b, b)

// STORE multiplies what is below 0 by the slopes in V24 and V25, writes 8 floats to R14, and goes on to the next pixel. V26 is 0.
#define STORE(A, B, a, b) \
	FMIN(26, a, 28)                        \
	FMIN(26, b, 29)                        \
	FMAX(26, a, a)                         \
	FMAX(26, b, b)                         \
	VFMLA  V24.S4, V28.S4, A.S4            \
	VFMLA  V25.S4, V29.S4, B.S4            \
	VST1.P [A.S4, B.S4], (R14)(R23)

// func multiplyVectors(p *product)
TEXT ·multiplyVectors(SB), NOSPLIT, $0-8
	MOVD p+0(FP), R0

	// R1 to R12 are the pixels.
	MOVD product_in(R0), R1
	MOVD product_inPitch(R0), R19
	LSL  $2, R19
	ADD  R19, R1, R2
	ADD  R19, R2, R3
	ADD  R19, R3, R4
	ADD  R19, R4, R5
	ADD  R19, R5, R6
	ADD  R19, R6, R7
	ADD  R19, R7, R8
	ADD  R19, R8, R9
	ADD  R19, R9, R10
	ADD  R19, R10, R11
	ADD  R19, R11, R12
	MOVD product_weights(R0), R13
	MOVD product_panels(R0), R15
	MOVD product_depth(R0), R17
	MOVD product_bias(R0), R20
	MOVD product_slopes(R0), R21
	MOVD product_out(R0), R22
	MOVD product_outPitch(R0), R23
	LSL  $2, R23
	MOVD product_add(R0), R24
	MOVD product_addPitch(R0), R25
	LSL  $2, R25
	MOVD product_addPanels(R0), R26

panel:
	VLD1.P 32(R20), [V0.S4, V1.S4]
	VMOV   V0.B16, V2.B16
	VMOV   V1.B16, V3.B16
	VMOV   V0.B16, V4.B16
	VMOV   V1.B16, V5.B16
	VMOV   V0.B16, V6.B16
	VMOV   V1.B16, V7.B16
	VMOV   V0.B16, V8.B16
	VMOV   V1.B16, V9.B16
	VMOV   V0.B16, V10.B16
	VMOV   V1.B16, V11.B16
	VMOV   V0.B16, V12.B16
	VMOV   V1.B16, V13.B16
	VMOV   V0.B16, V14.B16
	VMOV   V1.B16, V15.B16
	VMOV   V0.B16, V16.B16
	VMOV   V1.B16, V17.B16
	VMOV   V0.B16, V18.B16
	VMOV   V1.B16, V19.B16
	VMOV   V0.B16, V20.B16
	VMOV   V1.B16, V21.B16
	VMOV   V0.B16, V22.B16
	VMOV   V1.B16, V23.B16
	MOVD   R17, R14

step:
	VLD1.P 64(R13), [V24.S4, V25.S4, V26.S4, V27.S4]
	INPUT(R1, F28, 28, 0, 1)
	INPUT(R2, F29, 29, 2, 3)
	INPUT(R3, F30, 30, 4, 5)
	INPUT(R4, F31, 31, 6, 7)
	INPUT(R5, F28, 28, 8, 9)
	INPUT(R6, F29, 29, 10, 11)
	INPUT(R7, F30, 30, 12, 13)
	INPUT(R8, F31, 31, 14, 15)
	INPUT(R9, F28, 28, 16, 17)
	INPUT(R10, F29, 29, 18, 19)
	INPUT(R11, F30, 30, 20, 21)
	INPUT(R12, F31, 31, 22, 23)
	SUB    $2, R14
	CBNZ   R14, step

	LSL $2, R17, R14
	SUB R14, R1
	SUB R14, R2
	SUB R14, R3
	SUB R14, R4
	SUB R14, R5
	SUB R14, R6
	SUB R14, R7
	SUB R14, R8
	SUB R14, R9
	SUB R14, R10
	SUB R14, R11
	SUB R14, R12

	CBZ  R26, store
	SUB  $1, R26
	MOVD R24, R14
	ADD  $32, R24
	ADD8(0, 1)
	ADD8(2, 3)
	ADD8(4, 5)
	ADD8(6, 7)
	ADD8(8, 9)
	ADD8(10, 11)
	ADD8(12, 13)
	ADD8(14, 15)
	ADD8(16, 17)
	ADD8(18, 19)
	ADD8(20, 21)
	ADD8(22, 23)

store:
	VLD1.P 32(R21), [V24.S4, V25.S4]
	VEOR   V26.B16, V26.B16, V26.B16
	MOVD   R22, R14
	ADD    $32, R22
	STORE(V0, V1, 0, 1)
	STORE(V2, V3, 2, 3)
	STORE(V4, V5, 4, 5)
	STORE(V6, V7, 6, 7)
	STORE(V8, V9, 8, 9)
	STORE(V10, V11, 10, 11)
	STORE(V12, V13, 12, 13)
	STORE(V14, V15, 14, 15)
	STORE(V16, V17, 16, 17)
	STORE(V18, V19, 18, 19)
	STORE(V20, V21, 20, 21)
	STORE(V22, V23, 22, 23)
	SUB    $1, R15
	CBNZ   R15, panel
	RET

// TAP multiplies 8 floats of a window by their weights, and goes on to the next window.
#define TAP(R, A, B, X, Y) \
	VLD1.P (R)(R13), [X.S4, Y.S4]  \
	VFMLA  A.S4, X.S4, V20.S4      \
	VFMLA  B.S4, Y.S4, V21.S4

// func slideVectors(w *window)
TEXT ·slideVectors(SB), NOSPLIT, $0-8
	MOVD w+0(FP), R0
	MOVD window_weights(R0), R14
	MOVD window_panels(R0), R15
	MOVD window_pitch(R0), R12
	LSL  $2, R12
	MOVD window_step(R0), R13
	LSL  $2, R13
	MOVD ZR, R16                // bytes of the panels that are done, of a pixel

channels:
	VLD1.P 64(R14), [V0.S4, V1.S4, V2.S4, V3.S4]
	VLD1.P 64(R14), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R14), [V8.S4, V9.S4, V10.S4, V11.S4]
	VLD1.P 64(R14), [V12.S4, V13.S4, V14.S4, V15.S4]
	VLD1.P 64(R14), [V16.S4, V17.S4, V18.S4, V19.S4]

	// R1 to R9 are the pixels of the window.
	MOVD window_above(R0), R1
	ADD  R16, R1
	ADD  R12, R1, R2
	ADD  R12, R2, R3
	MOVD window_centre(R0), R4
	ADD  R16, R4
	ADD  R12, R4, R5
	ADD  R12, R5, R6
	MOVD window_below(R0), R7
	ADD  R16, R7
	ADD  R12, R7, R8
	ADD  R12, R8, R9
	MOVD window_out(R0), R10
	ADD  R16, R10
	MOVD window_pixels(R0), R11

pixel:
	VMOV   V18.B16, V20.B16
	VMOV   V19.B16, V21.B16
	TAP(R1, V0, V1, V22, V23)
	TAP(R2, V2, V3, V24, V25)
	TAP(R3, V4, V5, V26, V27)
	TAP(R4, V6, V7, V28, V29)
	TAP(R5, V8, V9, V30, V31)
	TAP(R6, V10, V11, V22, V23)
	TAP(R7, V12, V13, V24, V25)
	TAP(R8, V14, V15, V26, V27)
	TAP(R9, V16, V17, V28, V29)
	VST1.P [V20.S4, V21.S4], (R10)(R12)
	SUB    $1, R11
	CBNZ   R11, pixel

	ADD  $32, R16
	SUB  $1, R15
	CBNZ R15, channels
	RET
