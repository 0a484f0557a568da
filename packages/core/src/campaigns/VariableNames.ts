/**
 * The variables in a campaign's values (contract §11): `{{name}}` in a text. The service and its pages share this file,
 * so it imports nothing. Pure.
 */

/** A variable in a text. Its name may contain spaces, as columns of files do. */
const place = /\{\{\s*([^{}\s](?:[^{}]{0,62}[^{}\s])?)\s*\}\}/g

/**
 * Replaces each variable in a value, at any depth, by what `valueOf` returns for its name. A variable without a value
 * stays.
 */
export const filled = <A>(value: A, valueOf: (name: string) => string | undefined): A => {
  const fill = (part: unknown): unknown =>
    typeof part === "string"
      ? part.replace(place, (whole, name: string) => valueOf(name) ?? whole)
      : Array.isArray(part)
      ? part.map(fill)
      : typeof part === "object" && part !== null
      ? Object.fromEntries(Object.entries(part).map(([name, inner]) => [name, fill(inner)]))
      : part
  return fill(value) as A
}

/** The names of the variables in a value, at any depth, each once. */
export const namesIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [...new Set([...value.matchAll(place)].map(([, name]) => name!))]
    : typeof value === "object" && value !== null
    ? [...new Set(Object.values(value).flatMap(namesIn))]
    : []

/** A text that consists of this variable only. */
export const only = (name: string): string => `{{${name}}}`

const whole = new RegExp(`^${place.source}$`)

/** The name of the variable of which a text consists; `undefined` if the text is anything else. */
export const onlyIn = (text: string): string | undefined => whole.exec(text)?.[1]

/** Whether a name is valid for a variable. */
export const isName = (name: string): boolean => onlyIn(only(name)) === name
