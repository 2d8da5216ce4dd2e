// Which move to play in Santorini: the part to make better. The rules: ludodrome rules santorini

package main

import (
	"encoding/json"
	"math/rand"
)

// State is the position, as far as score reads it.
type State struct {
	Board [5][5]int `json:"board"`
}

// Move is a text like [N1C2B2C3].
type Move string

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

// score: climb: the higher the better, and level 3 wins. In [N1C2B2C3] the worker goes to B2.
func score(state State, seat int, move Move) int {
	return state.Board[move[5]-'A'][move[6]-'1']
}
