/**
 * The variables of a campaign's values (contract §11): `{{name}}` in a text. The same for the service and its pages, so
 * it imports nothing. Pure.
 */

/** The name of a variable may have spaces within, as columns of files have. */
const place = /\{\{\s*([^{}\s](?:[^{}]{0,62}[^{}\s])?)\s*\}\}/g

/** A text with each variable replaced by what `valueOf` returns for its name; the variable stays if it has no value. */
export const filled = (text: string, valueOf: (name: string) => string | undefined): string =>
  text.replace(place, (whole, name: string) => valueOf(name) ?? whole)

/** The names of the variables in a value, at any depth, each once. */
export const namesIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === "string"
    ? [...new Set([...value.matchAll(place)].map(([, name]) => name!))]
    : typeof value === "object" && value !== null
    ? [...new Set(Object.values(value).flatMap(namesIn))]
    : []

/** The value that is a variable and nothing else. */
export const only = (name: string): string => `{{${name}}}`

const whole = new RegExp(`^${place.source}$`)

/** The name of the variable that a text is, if it is nothing else. */
export const onlyIn = (text: string): string | undefined => whole.exec(text)?.[1]

/** Whether {@link only} makes a variable of a name. */
export const isName = (name: string): boolean => onlyIn(only(name)) === name
