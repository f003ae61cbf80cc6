// Package mouth makes one mouth of one frame. It reads the lips of a face (Observe), says which shape they need for an articulation
// (Person.Shape), and paints them in that shape, or the mouth of another frame in their place (Paint). Package warp decides which mouth each frame
// shows. The page docs/engine.md explains the steps with pictures.
//
// The files read the lips (lips, observation, outline) and how a face looks (look, light, blur), bend a mouth (field, column), and lay it on the
// frame (paint, rules, patch, tones), with what is seen between the lips (inside).
package mouth
