import type { Mutant } from "./Mutants.ts"

/** A mutant that no test can kill, because it decides the same, with the reason. */
export type Equivalent = Omit<Mutant, "id" | "line"> & { readonly reason: string }

/** Every mutant that survives for a reason. One that is killed or gone leaves the list. */
export const equivalents: ReadonlyArray<Equivalent> = []

/** Whether the mutant is in the list. */
export const isNamed = (mutant: Mutant, named: ReadonlyArray<Equivalent>): boolean =>
  named.some(({ after, before, file, mutator }) =>
    mutant.file === file && mutant.mutator === mutator && mutant.before === before && mutant.after === after
  )
