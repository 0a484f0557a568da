/**
 * Converts between the names of programs, in camelCase, and the names of the wire, in snake_case. Contents of messages
 * and templates have the same names in both.
 */
import { renamed } from "./generated/Names.ts"

const times = /(At|After|Until)$|^(since|until)$/

/** A time as text. An invalid time becomes empty text, which the service refuses. */
const text = (time: Date | number): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString()
}

/**
 * The other form of a name: `_a` for `A`, and `A` for `_a`. A program's field that already has its name on the wire
 * thus gets a name that the service does not know.
 */
const swapped = (name: string): string =>
  name.replace(/_[a-z]|[A-Z]/g, (part) => part[1]?.toUpperCase() ?? `_${part.toLowerCase()}`)

/** Converts a program's input for the wire: without fields that are `undefined`, and with times as text. */
export const toWire = (given: unknown = {}): never =>
  (typeof given !== "object" || given === null || Array.isArray(given) ? given : Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined).map(([name, value]: [string, unknown]) => [
      swapped(name),
      value instanceof Date || typeof value === "number" && times.test(name) ? text(value) : value
    ])
  )) as never

/** The program's name of a field on the wire; of a path, only the first field is converted. */
export const nameOf = (wire: string): string =>
  Object.hasOwn(renamed, wire)
    ? renamed[wire as keyof typeof renamed]
    : wire.replace(/^[a-z]\w*/, swapped)

/** Converts a result to the names of programs; `isDeep`: the objects in it too. */
export const fromWire = (answer: object, isDeep = false): object =>
  Object.fromEntries(
    Object.entries(answer).map(([name, value]: [string, unknown]) => [
      // a customer's message has its content under its type, whose name stays
      name === (answer as { readonly type?: string }).type ? name : nameOf(name),
      isDeep && !name.startsWith("template") && typeof value === "object" && value !== null
        ? Array.isArray(value) ? value.map((one: object) => fromWire(one, true)) : fromWire(value, true)
        : value
    ])
  )
