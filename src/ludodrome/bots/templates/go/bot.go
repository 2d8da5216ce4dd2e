// The conversation with the arena: one JSON object a line, in on stdin, out on stdout. Moves are chosen in strategy.go.
// Whatever else is printed must go to stderr: fmt.Fprintln(os.Stderr, "..."). The arena keeps it with the record.
package main

import (
	"bufio"
	"encoding/json"
	"math/rand"
	"os"
)

// Message is what the arena sends, as far as this bot reads it.
type Message struct {
	Type       string            `json:"type"`
	Seed       int64             `json:"seed"`
	Seat       int               `json:"seat"`
	Turn       int               `json:"turn"`
	State      json.RawMessage   `json:"state"`
	LegalMoves []json.RawMessage `json:"legal_moves"`
	DeadlineMs float64           `json:"deadline_ms"`
}

func main() {
	dice := rand.New(rand.NewSource(0))
	in := bufio.NewReader(os.Stdin) // not a Scanner: lines may be long
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return // the arena has closed stdin
		}
		var message Message
		json.Unmarshal(line, &message)
		switch message.Type {
		case "hello": // a game begins; what came before is forgotten
			dice = rand.New(rand.NewSource(message.Seed))
		case "turn":
			if move := choose(message, dice); move != nil {
				out.Encode(map[string]any{"type": "move", "move": move, "turn": message.Turn})
			} else {
				out.Encode(map[string]any{"type": "error", "error": "I found no move"})
			}
		} // Others want no answer: "observe", "refused" (a new "turn" follows), "over", and any new ones.
	}
}
