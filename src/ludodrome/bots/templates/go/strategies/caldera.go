// Which move to play in Caldera: the part to make better. The rules: ludodrome rules caldera

package main

import (
	"encoding/json"
	"math/rand"
)

// Piece is a piece on its cell.
type Piece struct {
	Type string `json:"type"`
	R    int    `json:"r"`
	C    int    `json:"c"`
}

// State is the position, as far as score reads it.
type State struct {
	P0 []Piece `json:"p0"`
	P1 []Piece `json:"p1"`
}

// Move is a move of a piece, or a smith's forging.
type Move struct {
	Action string `json:"action"`
	To     [2]int `json:"to"`
}

var worth = map[string]int{"crown": 100, "lancer": 3, "smith": 2}

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

// score: take what can be taken, the crown above all.
func score(state State, seat int, move Move) int {
	enemies := state.P1
	if seat == 1 {
		enemies = state.P0
	}
	for _, piece := range enemies {
		if move.Action == "move" && move.To == [2]int{piece.R, piece.C} {
			return worth[piece.Type]
		}
	}
	return 0
}
