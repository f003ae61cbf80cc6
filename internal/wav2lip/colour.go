package wav2lip

// Frames are of limited range. The networks were trained on what OpenCV decodes:
// by the matrix of BT.601, whatever the video says. What it does to colours is
// undone on the way back.
const (
	redByCr, greenByCb, greenByCr, blueByCb = 1.402, -.344136, -.714136, 1.772
	redInY, greenInY, blueInY               = .299, .587, .114
	black, lumaRange, grey, chromaRange     = 16, 219, 128, 224
)

// toBGR turns levels of a frame into what the network sees: 0 to 1.
func toBGR(y, cb, cr float32) (b, g, r float32) {
	y = (y - black) / lumaRange
	cb, cr = (cb-grey)/chromaRange, (cr-grey)/chromaRange
	return unit(y + blueByCb*cb), unit(y + greenByCb*cb + greenByCr*cr), unit(y + redByCr*cr)
}

// fromBGR is the way back.
func fromBGR(b, g, r float32) (y, cb, cr float32) {
	y = redInY*r + greenInY*g + blueInY*b
	return black + lumaRange*y, grey + chromaRange*(b-y)/blueByCb, grey + chromaRange*(r-y)/redByCr
}

func unit(x float32) float32 { return min(max(x, 0), 1) }
