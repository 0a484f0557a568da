/** Words as pages in English have them. Pure. */
import { grouped } from "./Language.ts"

/** `12,401 events`, `1 event`. What is in the portal too has `plural` instead. */
export const counted = (count: number, one: string, many: string): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** Words of the service as a sentence: `answered 422` becomes `Answered 422.` */
export const asSentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${/[.!?…]$/.test(words) ? "" : "."}`

/** An upstream word for people: `order_update` stays, `APPROVED` and `approved` become `Approved`. */
export const capitalized = (word: string): string =>
  word === "" ? "" : `${word.charAt(0).toUpperCase()}${word.slice(1).toLowerCase().replaceAll("_", " ")}`

/** A name in the middle of a sentence: `Signing secret` becomes `signing secret`, and `API key` stays. */
export const withinSentence = (name: string): string =>
  /^\p{Lu}\p{Lu}/u.test(name) ? name : `${name.charAt(0).toLowerCase()}${name.slice(1)}`
