// Which move to play in Dots and Boxes: the part to make better. The rules: ludodrome rules dots

package main

import (
	"encoding/json"
	"math/rand"
)

// State is the position, as far as score reads it.
type State struct {
	Rows int      `json:"rows"`
	Cols int      `json:"cols"`
	H    [][]bool `json:"h"`
	V    [][]bool `json:"v"`
}

// Move is an edge.
type Move struct {
	Orient string `json:"orient"`
	R      int    `json:"r"`
	C      int    `json:"c"`
}

// choose gives the legal move with the highest score; among equals the dice decide. nil: there is nothing to choose from.
func choose(turn Message, dice *rand.Rand) any {
	var state State
	json.Unmarshal(turn.State, &state)
	var best []json.RawMessage
	highest := 0
	for _, text := range turn.LegalMoves { // there are none if the match does not show them
		var move Move
		json.Unmarshal(text, &move)
		points := score(state, turn.Seat, move)
		if len(best) == 0 || points > highest {
			best, highest = nil, points
		}
		if points == highest {
			best = append(best, text)
		}
	}
	if len(best) == 0 {
		return nil
	}
	return best[dice.Intn(len(best))]
}

// score: close boxes, and do not draw third sides.
func score(state State, seat int, move Move) int {
	sides := [2]int{sidesDrawn(state, move.R, move.C)}
	if move.Orient == "H" {
		sides[1] = sidesDrawn(state, move.R-1, move.C)
	} else {
		sides[1] = sidesDrawn(state, move.R, move.C-1)
	}
	points := 0
	for _, n := range sides {
		if n == 3 {
			points += 2
		} else if n == 2 {
			points--
		}
	}
	return points
}

// sidesDrawn counts the sides of a box that are drawn; 0 for a box that is not on the board.
func sidesDrawn(state State, r, c int) int {
	if r < 0 || r >= state.Rows || c < 0 || c >= state.Cols {
		return 0
	}
	count := 0
	for _, drawn := range []bool{state.H[r][c], state.H[r+1][c], state.V[r][c], state.V[r][c+1]} {
		if drawn {
			count++
		}
	}
	return count
}
