/**
 * Between the names of programs, in camelCase, and those of the wire. Contents of messages and templates have the same
 * names in both.
 */
import { renamed } from "./generated/Names.ts"

const times = /(At|After|Until)$|^(since|until)$/

/** A time as text; what is no time becomes text that the service refuses. */
const text = (time: Date | number): string => {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? "" : date.toISOString()
}

/** The other form of a name: `_a` for `A`, and `A` for `_a`, so that a name of the wire is unknown there. */
const swapped = (name: string): string =>
  name.replace(/_[a-z]|[A-Z]/g, (part) => part[1]?.toUpperCase() ?? `_${part.toLowerCase()}`)

/** What a program gives, as the wire has it: without fields that are `undefined`, and with times as text. */
export const toWire = (given: unknown = {}): never =>
  (typeof given !== "object" || given === null || Array.isArray(given) ? given : Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined).map(([name, value]: [string, unknown]) => [
      swapped(name),
      value instanceof Date || typeof value === "number" && times.test(name) ? text(value) : value
    ])
  )) as never

/** The name of a field, or of the first field of a path. */
export const nameOf = (wire: string): string =>
  Object.hasOwn(renamed, wire)
    ? renamed[wire as keyof typeof renamed]
    : wire.replace(/^[a-z]\w*/, swapped)

/** A result with the names of programs; `isDeep` if results within it have some too. */
export const fromWire = (answer: object, isDeep = false): object =>
  Object.fromEntries(
    Object.entries(answer).map(([name, value]: [string, unknown]) => [
      // a customer's message has its content under its type
      name === (answer as { readonly type?: string }).type ? name : nameOf(name),
      isDeep && !name.startsWith("template") && typeof value === "object" && value !== null
        ? Array.isArray(value) ? value.map((one: object) => fromWire(one, true)) : fromWire(value, true)
        : value
    ])
  )
