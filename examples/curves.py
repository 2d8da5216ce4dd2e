"""Learning curves as SVG, from the curve.json that a training run writes.

python examples/curves.py runs/dots/curve.json docs/pictures/ppo-dots.svg --x minutes --y won --goal 0.8
"""

import argparse
import json
import math
from pathlib import Path

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 28, 48
COLOURS = ("#1f6f8b", "#c8553d", "#6a8d3a")


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers from low to high."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= count)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def draw(points: list[dict], x: str, ys: list[str], goal: float | None, logarithmic: bool, title: str) -> str:
    """Draw columns of a curve over another column."""
    points = [point for point in points if not logarithmic or point[x] > 0]

    def across(value: float) -> float:
        values = [point[x] for point in points]
        low, high = (math.log10(min(values)), math.log10(max(values))) if logarithmic else (0, max(values))
        return LEFT + (WIDTH - LEFT - RIGHT) * ((math.log10(value) if logarithmic else value) - low) / (high - low)

    numbers = [point[y] for point in points for y in ys] + ([] if goal is None else [goal])
    low, high = min(0, *numbers), max(numbers) if max(numbers) > 1 else 1 if goal is not None else max(numbers)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    first, last = min(point[x] for point in points), max(point[x] for point in points)
    marks = (
        [10**k for k in range(math.ceil(math.log10(first)), int(math.log10(last)) + 1)]
        if logarithmic
        else ticks(0, last)
    )
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for value in ticks(low, high):
        parts.append(f'<path d="M{LEFT} {up(value):.1f}H{right}" stroke="#e4e4e4"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end" fill="#444">{value:g}</text>')
    for value in marks:
        at = across(value)
        parts.append(f'<path d="M{at:.1f} {bottom}v5" stroke="#888"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle" fill="#444">{value:,g}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle" fill="#222">{x}</text>')
    if goal is not None:
        parts.append(f'<path d="M{LEFT} {up(goal):.1f}H{right}" stroke="#999" stroke-dasharray="6 4"/>')
    for number, y in enumerate(ys):
        way = " ".join(f"{across(point[x]):.1f},{up(point[y]):.1f}" for point in points)
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{LEFT + 8 + 200 * number}" y="18" fill="{colour}">{y}</text>')
    parts.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#888"/>')
    return "\n".join([*parts, "</svg>", ""])


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Draw a learning curve.")
    parser.add_argument("curve", help="a curve.json")
    parser.add_argument("picture", help="the SVG file to write")
    parser.add_argument("--x", default="minutes")
    parser.add_argument("--y", action="append", required=True, help="may be given several times")
    parser.add_argument("--goal", type=float, help="a dashed line at this height")
    parser.add_argument("--logarithmic", action="store_true", help="the x axis in powers of ten")
    parser.add_argument("--title", default="a learning curve")
    args = parser.parse_args()
    points = json.loads(Path(args.curve).read_text("utf-8"))["points"]
    Path(args.picture).write_text(draw(points, args.x, args.y, args.goal, args.logarithmic, args.title), "utf-8")


if __name__ == "__main__":
    main()
