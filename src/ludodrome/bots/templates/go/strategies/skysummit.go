// Which move to play in Skysummit: the part to make better. The rules: ludodrome rules skysummit

package main

import (
	"encoding/json"
	"math/rand"
)

// State is the position, as far as score reads it.
type State struct {
	Board [25]int `json:"board"`
}

// Move is a placement on two cells, or a step to one.
type Move struct {
	T  string          `json:"t"`
	To json.RawMessage `json:"to"`
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

// score: begin near the middle, then climb: the higher the better, and level 3 wins.
func score(state State, seat int, move Move) int {
	if move.T == "place" {
		var cells [2]int
		json.Unmarshal(move.To, &cells)
		return -distance(cells[0]) - distance(cells[1])
	}
	var cell int
	json.Unmarshal(move.To, &cell)
	return state.Board[cell]
}

func distance(cell int) int {
	return abs(cell/5-2) + abs(cell%5-2)
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}
