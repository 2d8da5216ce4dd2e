SAMPLE_FILE="sample_game.json"
