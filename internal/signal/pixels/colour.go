package pixels

import "image/color"

// The matrix of BT.601, and limited range: luma of 16 to 235, chroma of 16 to 240
// around 128. Networks were trained on frames that OpenCV decoded, and OpenCV uses
// this matrix for each video, no matter which matrix the video names.
const (
	redByCr, greenByCb, greenByCr, blueByCb = 1.402, -.344136, -.714136, 1.772
	redInY, greenInY, blueInY               = .299, .587, .114
	black, lumaRange, neutral, chromaRange  = 16, 219, 128, 224
)

// ToRGB returns red, green and blue of a pixel, each from 0 to 1.
func ToRGB(y, cb, cr float32) (r, g, b float32) {
	y = lumaInRGB(y)
	r, g, b = chromaInRGB(cb, cr)
	return Unit(y + r), Unit(y + g), Unit(y + b)
}

// Colour returns the colour of red, green and blue, each from 0 to 1.
func Colour(r, g, b float32) color.RGBA {
	return color.RGBA{R: uint8(255*r + .5), G: uint8(255*g + .5), B: uint8(255*b + .5), A: 255}
}

// lumaInRGB returns what luma is in each of red, green and blue.
func lumaInRGB(y float32) float32 { return (y - black) * (1. / lumaRange) }

// chromaInRGB returns what chroma adds to red, green and blue.
func chromaInRGB(cb, cr float32) (r, g, b float32) {
	cb, cr = (cb-neutral)*(1./chromaRange), (cr-neutral)*(1./chromaRange)
	return redByCr * cr, greenByCb*cb + greenByCr*cr, blueByCb * cb
}

// FromRGB returns luma and chroma of a colour. Red, green and blue are from 0 to 1.
func FromRGB(r, g, b float32) (y, cb, cr float32) {
	y = redInY*r + greenInY*g + blueInY*b
	return black + lumaRange*y, neutral + chromaRange*(b-y)/blueByCb, neutral + chromaRange*(r-y)/redByCr
}

// Unit returns x, or 0 or 1 if x is beyond. It compares, since the builtin min and max take three times as long for the sake of NaN.
func Unit(x float32) float32 {
	if x <= 0 {
		return 0
	}
	if x > 1 {
		return 1
	}
	return x
}
