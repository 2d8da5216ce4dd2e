"""How a game's learned evaluation is made: self-play, training, quantisation. docs/how-to/networks.md is the guide.

samples.py    positions of self-play in files, resumable
training.py   PyTorch on the CPU: float weights from samples, then integers
"""
