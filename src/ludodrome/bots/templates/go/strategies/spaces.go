// Which move to play in Spaces: the part to make better. The rules: ludodrome rules spaces

package main

import (
	"encoding/json"
	"math/rand"
)

// State is the position, as far as choose reads it.
type State struct {
	Mode string `json:"mode"`
	Size int    `json:"size"`
}

// Position is a square of the grid; row -1 is the goal.
type Position struct {
	Row int `json:"row"`
	Col int `json:"col"`
}

// Step is one step of a board.
type Step struct {
	Position Position `json:"position"`
	Type     string   `json:"type"`
	Order    int      `json:"order"`
}

// Board is a plan for one round.
type Board struct {
	BoardSize int    `json:"boardSize"`
	Sequence  []Step `json:"sequence"`
}

// choose makes a board, or ten of them: there are too many legal ones to list.
func choose(turn Message, dice *rand.Rand) any {
	var state State
	json.Unmarshal(turn.State, &state)
	if state.Mode != "deck" {
		return straightRun(state.Size, dice)
	}
	var deck [10]Board
	for number := range deck {
		deck[number] = straightRun(state.Size, dice)
	}
	return map[string]any{"deck": deck}
}

// straightRun goes from the bottom row straight up to the goal, in any column: legal at every size, under both rule sets.
func straightRun(size int, dice *rand.Rand) Board {
	column := dice.Intn(size)
	board := Board{BoardSize: size}
	for order := 1; order <= size; order++ {
		board.Sequence = append(board.Sequence, Step{Position{size - order, column}, "piece", order})
	}
	board.Sequence = append(board.Sequence, Step{Position{-1, column}, "final", size + 1})
	return board
}
