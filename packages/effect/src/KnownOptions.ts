/**
 * Refuses options that do not exist: a misspelt one would silently have its default.
 */
import { Predicate } from "effect"
import { badOption } from "./WacError.ts"

/** Throws on what is no object, and on the first name that is not one of these; `within` is the path before it. */
export const check = (given: unknown, names: { readonly [name: string]: true }, within = ""): void => {
  if (!Predicate.isObject(given)) {
    const name = within.replace(/\.$/, "") || "options"
    throw badOption(name, `${name} must be an object`)
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name))
  if (unknown !== undefined) {
    throw badOption(`${within}${unknown}`, `there is no option ${within}${unknown}`)
  }
}
