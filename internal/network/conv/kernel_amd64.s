// Kernels for processors with AVX2 and FMA. They do what plain does in kernel.go, for 8 channels at once.

#include "go_asm.h"
#include "textflag.h"

// INPUT multiplies float d of three pixels, from the one at R on, by the weights in Y12. R12 is the distance of two pixels.
#define INPUT(d, R, A, B, C) \
	VBROADCASTSS d(R), Y13          \
	VFMADD231PS  Y12, Y13, A        \
	VBROADCASTSS d(R)(R12*1), Y14   \
	VFMADD231PS  Y12, Y14, B        \
	VBROADCASTSS d(R)(R12*2), Y15   \
	VFMADD231PS  Y12, Y15, C

// STEP multiplies float d of all 12 pixels by its weights, which are w bytes after SI.
#define STEP(d, w) \
	VMOVUPS w(SI), Y12         \
	INPUT(d, R8, Y0, Y1, Y2)   \
	INPUT(d, R9, Y3, Y4, Y5)   \
	INPUT(d, R10, Y6, Y7, Y8)  \
	INPUT(d, R11, Y9, Y10, Y11)

// ADD adds 8 floats at R13 to a pixel, and goes on to the next pixel.
#define ADD(Y) \
	VADDPS (R13), Y, Y \
	ADDQ   BX, R13

// STORE multiplies what is below 0 by the slopes in Y12, writes 8 floats to R13, and goes on to the next pixel. Y13 is 0.
// A NaN stays one, since it is the second operand of minimum and maximum.
#define STORE(Y) \
	VMINPS      Y, Y13, Y14   \
	VMAXPS      Y, Y13, Y     \
	VFMADD231PS Y12, Y14, Y   \
	VMOVUPS     Y, (R13)      \
	ADDQ        BX, R13

// func multiplyVectors(p *product)
TEXT ·multiplyVectors(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), DI

	// R8 to R11 are each third of the 12 pixels.
	MOVQ product_in(DI), R8
	MOVQ product_inPitch(DI), R12
	SHLQ $2, R12
	LEAQ (R12)(R12*2), R13
	LEAQ (R8)(R13*1), R9
	LEAQ (R9)(R13*1), R10
	LEAQ (R10)(R13*1), R11
	MOVQ product_weights(DI), SI
	MOVQ product_addPanels(DI), DX
	XORQ AX, AX                    // bytes of the panels that are done, of a pixel

panel:
	MOVQ    product_bias(DI), R13
	VMOVUPS (R13)(AX*1), Y0
	VMOVAPS Y0, Y1
	VMOVAPS Y0, Y2
	VMOVAPS Y0, Y3
	VMOVAPS Y0, Y4
	VMOVAPS Y0, Y5
	VMOVAPS Y0, Y6
	VMOVAPS Y0, Y7
	VMOVAPS Y0, Y8
	VMOVAPS Y0, Y9
	VMOVAPS Y0, Y10
	VMOVAPS Y0, Y11
	MOVQ    product_depth(DI), CX

step:
	STEP(0, 0)
	STEP(4, 32)
	STEP(8, 64)
	STEP(12, 96)
	ADDQ $128, SI
	ADDQ $16, R8
	ADDQ $16, R9
	ADDQ $16, R10
	ADDQ $16, R11
	SUBQ $4, CX
	JNZ  step

	MOVQ product_depth(DI), CX
	SHLQ $2, CX
	SUBQ CX, R8
	SUBQ CX, R9
	SUBQ CX, R10
	SUBQ CX, R11

	TESTQ DX, DX
	JZ    store
	DECQ  DX
	MOVQ  product_add(DI), R13
	ADDQ  AX, R13
	MOVQ  product_addPitch(DI), BX
	SHLQ  $2, BX
	ADD(Y0)
	ADD(Y1)
	ADD(Y2)
	ADD(Y3)
	ADD(Y4)
	ADD(Y5)
	ADD(Y6)
	ADD(Y7)
	ADD(Y8)
	ADD(Y9)
	ADD(Y10)
	ADD(Y11)

store:
	MOVQ    product_slopes(DI), R13
	VMOVUPS (R13)(AX*1), Y12
	VXORPS  Y13, Y13, Y13
	MOVQ    product_out(DI), R13
	ADDQ    AX, R13
	MOVQ    product_outPitch(DI), BX
	SHLQ    $2, BX
	STORE(Y0)
	STORE(Y1)
	STORE(Y2)
	STORE(Y3)
	STORE(Y4)
	STORE(Y5)
	STORE(Y6)
	STORE(Y7)
	STORE(Y8)
	STORE(Y9)
	STORE(Y10)
	STORE(Y11)

	ADDQ $32, AX
	MOVQ product_panels(DI), CX
	SHLQ $5, CX
	CMPQ AX, CX
	JLT  panel
	VZEROUPPER
	RET

// func slideVectors(w *window)
TEXT ·slideVectors(SB), NOSPLIT, $0-8
	MOVQ w+0(FP), DI
	MOVQ window_weights(DI), SI
	MOVQ window_panels(DI), DX
	MOVQ window_pitch(DI), R12
	SHLQ $2, R12
	MOVQ window_step(DI), R13
	SHLQ $2, R13
	XORQ AX, AX                 // bytes of the panels that are done, of a pixel

channels:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	VMOVUPS 128(SI), Y4
	VMOVUPS 160(SI), Y5
	VMOVUPS 192(SI), Y6
	VMOVUPS 224(SI), Y7
	VMOVUPS 256(SI), Y8
	VMOVUPS 288(SI), Y9
	ADDQ    $320, SI
	MOVQ    window_above(DI), R8
	MOVQ    window_centre(DI), R9
	MOVQ    window_below(DI), R10
	MOVQ    window_out(DI), R11
	ADDQ    AX, R8
	ADDQ    AX, R9
	ADDQ    AX, R10
	ADDQ    AX, R11
	MOVQ    window_pixels(DI), CX

pixel:
	VMOVAPS     Y9, Y10
	VFMADD231PS (R8), Y0, Y10
	VFMADD231PS (R8)(R12*1), Y1, Y10
	VFMADD231PS (R8)(R12*2), Y2, Y10
	VFMADD231PS (R9), Y3, Y10
	VFMADD231PS (R9)(R12*1), Y4, Y10
	VFMADD231PS (R9)(R12*2), Y5, Y10
	VFMADD231PS (R10), Y6, Y10
	VFMADD231PS (R10)(R12*1), Y7, Y10
	VFMADD231PS (R10)(R12*2), Y8, Y10
	VMOVUPS     Y10, (R11)
	ADDQ        R13, R8
	ADDQ        R13, R9
	ADDQ        R13, R10
	ADDQ        R12, R11
	DECQ        CX
	JNZ         pixel

	ADDQ $32, AX
	DECQ DX
	JNZ  channels
	VZEROUPPER
	RET
