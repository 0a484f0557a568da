/** Which templates a number can send. Pure. */
import type { PhoneNumber } from "@wac/client/internal"
import { numberOf } from "../numbers/NumberOf.ts"

/**
 * The templates that a number can send: those of its account, of which no two have the same name and language. The
 * number is named as in `numberOf`; if it is not one of these, all templates.
 */
export const sendableFrom = <Template extends { readonly providerAccountId: string }>(
  templates: ReadonlyArray<Template>,
  numbers: ReadonlyArray<PhoneNumber>,
  from: string
): ReadonlyArray<Template> => {
  const number = numberOf(numbers, from)
  return number === undefined
    ? templates
    : templates.filter(({ providerAccountId }) => providerAccountId === number.providerAccountId)
}
