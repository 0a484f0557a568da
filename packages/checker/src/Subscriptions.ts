/**
 * The promises about durable subscriptions (contract §16).
 */
import { type Blame, endOf, grouped } from "./Broken.ts"
import type { HandlerCall, ListedEvent, SetAside } from "./History.ts"
import { checkOrder, knownBy, type Passage } from "./Passage.ts"

const checkRepetitions = (attempts: ReadonlyArray<HandlerCall>, clockError: number, blame: Blame): void => {
  for (const entry of attempts) {
    if (entry.attempt !== 1) continue
    const before = attempts.find((other) => endOf(other) + clockError < entry.begun)
    if (before !== undefined) blame("repetition-is-told", "a repetition is told to be the first attempt", before, entry)
  }
}

/**
 * Checks the handler calls of one subscription, and returns its events by id. The order of an event that is not listed
 * is not judged.
 */
export const checkHandled = (
  handled: ReadonlyArray<HandlerCall>,
  setAside: ReadonlyArray<SetAside>,
  listed: ReadonlyMap<string, ListedEvent>,
  clockError: number,
  blame: Blame
): ReadonlyMap<string, Passage> => {
  const attemptsOf = grouped(handled, (entry) => entry.event_id)
  const asideOf = grouped(setAside, (entry) => entry.event_id)
  const passages = new Map<string, Passage>()
  for (const id of new Set([...attemptsOf.keys(), ...asideOf.keys()])) {
    const attempts = attemptsOf.get(id) ?? []
    checkRepetitions(attempts, clockError, blame)
    const entry = listed.get(id)
    const overs = [...attempts.filter(({ ok }) => ok), ...asideOf.get(id) ?? []]
    passages.set(id, { event: knownBy(entry?.event ?? {}, id, entry), attempts, overs, isAccounted: overs.length > 0 })
  }
  checkOrder(passages.values(), "handled-in-order", clockError, blame)
  return passages
}
