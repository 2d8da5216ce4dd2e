// Random whole numbers (SplitMix64): the same numbers for the same seed.

let seed: u64 = 0;

export function setSeed(start: i64): void {
  seed = <u64>start;
}

// A number from 0 to n - 1.
export function dice(n: i32): i32 {
  seed += 0x9e3779b97f4a7c15;
  let x = seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return <i32>((x ^ (x >> 31)) % <u64>n);
}
