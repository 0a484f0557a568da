import * as Equivalents from "./Equivalents.ts"
import type { Verdict } from "./Trial.ts"

/** What became of the mutants of a file, or of all. Mutants of constants and equivalent mutants are left out. */
export interface Figures {
  readonly killed: number
  readonly survived: number
  readonly uncovered: number
  /** How many of a hundred are killed. */
  readonly score: number
}

/** The verdicts that count. */
const counted = (
  verdicts: ReadonlyArray<Verdict>,
  named: ReadonlyArray<Equivalents.Equivalent>
): ReadonlyArray<Verdict> =>
  verdicts.filter(({ fate, mutant }) => fate !== "static" && (fate === "killed" || !Equivalents.isNamed(mutant, named)))

/** Counts the fates of mutants. */
export const figures = (
  verdicts: ReadonlyArray<Verdict>,
  named: ReadonlyArray<Equivalents.Equivalent> = Equivalents.equivalents
): Figures => {
  const all = counted(verdicts, named)
  const count = (fate: Verdict["fate"]) => all.filter((verdict) => verdict.fate === fate).length
  const killed = count("killed")
  return {
    killed,
    survived: count("survived"),
    uncovered: count("uncovered"),
    score: all.length === 0 ? 100 : 100 * killed / all.length
  }
}

const short = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ")
  return line.length > 100 ? `${line.slice(0, 99)}…` : line
}

/** A table with a line for each file, and the mutants that live with their place and change. */
export const of = (
  verdicts: ReadonlyArray<Verdict>,
  named: ReadonlyArray<Equivalents.Equivalent> = Equivalents.equivalents
): string => {
  const line = (name: string, { killed, score, survived, uncovered }: Figures) =>
    `| ${name.padEnd(60)} | ${[killed, survived, uncovered].map((count) => String(count).padStart(9)).join(" | ")} | ${
      score.toFixed(1).padStart(5)
    } |\n`
  const byFile = Map.groupBy(verdicts, ({ mutant }) => mutant.file)
  const living = counted(verdicts, named).filter(({ fate }) => fate !== "killed").map(({ fate, mutant }) =>
    `${mutant.file}:${mutant.line} ${fate} ${mutant.mutator}: ${short(mutant.before)} → ${short(mutant.after)}\n`
  )
  return [
    `| ${"File".padEnd(60)} |    Killed |  Survived | Uncovered | Score |\n`,
    `| ${"-".repeat(60)} | --------: | --------: | --------: | ----: |\n`,
    ...[...byFile].map(([file, ofFile]) => line(file, figures(ofFile, named))),
    line("All", figures(verdicts, named)),
    "\n",
    ...living
  ].join("")
}
