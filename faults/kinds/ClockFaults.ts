/**
 * Clocks of processes that are wrong.
 */
import type { Fault } from "../Fault.ts"

const moved = (name: string, about: string, by: string): Fault => ({
  name,
  about,
  programs: ["faketime"],
  setting: { areClocksMovable: true },
  begin: (stage) => {
    stage.moveClock("a", by)
    return Promise.resolve(() => stage.moveClock("a", "+0s"))
  }
})

/** The faults of clocks. */
export const all: ReadonlyArray<Fault> = [
  moved("clock-ahead", "The clock of one process jumps 10 minutes ahead, and back at the end", "+10m"),
  moved("clock-behind", "The clock of one process jumps 10 minutes back, and ahead at the end", "-10m")
]
