/**
 * Turns one mutant on at a time, and notes which mutants a run reaches. The sources from `Mutants` call two functions by
 * the names that the instrumenter has fixed.
 */

declare global {
  var stryCov_9fa48: (...ids: ReadonlyArray<string>) => void
  var stryMutAct_9fa48: (id: string) => boolean
}

/** The sources have been reached more often than the mutant may: it probably never ends. */
class Endless extends Error {}

let active: string | undefined
let reached = new Set<string>()
let hits = 0
let limit = Infinity

globalThis.stryCov_9fa48 = (...ids) => {
  for (const id of ids) reached.add(id)
}

globalThis.stryMutAct_9fa48 = (id) => {
  if (++hits > limit) throw new Endless()
  return id === active
}

/** The mutants that were reached since the last call. */
export const takeReached = (): ReadonlySet<string> => {
  const taken = reached
  reached = new Set()
  return taken
}

/** How often any mutant was asked for since the last {@link turn}. */
export const count = (): number => hits

/** Turns on one mutant and no other, or none, until mutants have been asked for `most` times. */
export const turn = (id: string | undefined, most = Infinity): void => {
  active = id
  hits = 0
  limit = most
}
