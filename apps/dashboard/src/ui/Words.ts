/** Adapts English words and sentences to their place in a page. Pure. */
import { grouped } from "./Language.ts"

/**
 * A count with its noun: `12,401 events`, `1 event`. Pages of the portal, which are translated, use `plural` instead.
 */
export const counted = (count: number, one: string, many: string): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** A rate as text: `12 a second`, `0.4 a second`, `0.01 a second`. */
export const asRate = (perSecond: number): string => {
  const shown = perSecond >= 10
    ? grouped(Math.round(perSecond))
    : perSecond >= 0.1
    ? perSecond.toFixed(1)
    : perSecond.toPrecision(1)
  return `${shown} a second`
}

/** A message of the service as a sentence: `answered 422` becomes `Answered 422.` */
export const asSentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? "" : "."}`

/**
 * A constant of the provider as a word: `APPROVED` and `approved` become `Approved`, `order_update` becomes `Order
 * update`.
 */
export const capitalized = (word: string): string =>
  word === "" ? "" : `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase().replaceAll("_", " ")}`

/** A name for the middle of a sentence: `Signing secret` becomes `signing secret`; `API key` does not change. */
export const withinSentence = (name: string): string =>
  /^\p{Lu}\p{Lu}/u.test(name) ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`
