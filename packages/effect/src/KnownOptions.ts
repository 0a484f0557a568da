/**
 * Refuses options that do not exist: a misspelt one would silently have its default.
 */
import { badOption } from "./WacError.ts"

/** Throws on the first name that is not one of these; `within` is the path before it. */
export const check = (given: object, names: { readonly [name: string]: true }, within = ""): void => {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name))
  if (unknown !== undefined) {
    throw badOption(`${within}${unknown}`, `there is no option ${within}${unknown}`)
  }
}
