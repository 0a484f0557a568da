/**
 * How the properties of steps split commands: a batch decides the same as its commands one by one.
 */
import { between, upTo } from "./checks.ts"

/** Sizes of batches. */
export const sizes = upTo(between(1, 8), 10)

/**
 * Carries out commands in batches of these sizes and then one by one. Each batch has commands of one kind. Returns the
 * answers.
 */
export const inBatches = <Command, Answer>(
  commands: ReadonlyArray<Command>,
  sizes: ReadonlyArray<number>,
  kindOf: (command: Command) => string,
  carryOut: (kind: string, batch: ReadonlyArray<Command>) => ReadonlyArray<Answer>
): ReadonlyArray<Answer> => {
  const answers: Array<Answer> = []
  let left = [...commands]
  for (let i = 0; left.length > 0; i++) {
    const kind = kindOf(left[0]!)
    const other = left.findIndex((command) => kindOf(command) !== kind)
    const batch = left.slice(0, Math.min(sizes[i] ?? 1, other < 0 ? left.length : other))
    answers.push(...carryOut(kind, batch))
    left = left.slice(batch.length)
  }
  return answers
}
