/**
 * The shape of a request's body (contract §17): the names of known fields, and the types and lengths of their values.
 * An unknown field's name is not kept, because it may itself be customer data. Pure.
 */

/** The types of values; `unknown` stands for all fields of an object whose names are not known. */
export const types = ["text", "number", "boolean", "null", "list", "object", "unknown"] as const

/** The type of a value. */
export type Type = (typeof types)[number]

/** A field of a body, without its value. */
export interface Field {
  /** The names from the outermost to the field, such as `template.bodyParams[0]`; empty for the body itself. */
  readonly path: string
  readonly type: Type
  /** Characters of a text, items of a list, fields of an object, or unknown fields; `null` for other values. */
  readonly length: number | null
}

/** The maximum number of described fields of one body. */
export const maxFields = 50

const typeOf = (value: unknown): Type =>
  typeof value === "string"
    ? "text"
    : typeof value === "number"
    ? "number"
    : typeof value === "boolean"
    ? "boolean"
    : value === null
    ? "null"
    : Array.isArray(value)
    ? "list"
    : "object"

const lengthOf = (value: unknown): number | null =>
  typeof value === "string" || Array.isArray(value)
    ? value.length
    : typeof value === "object" && value !== null
    ? Object.keys(value).length
    : null

/** The bounds of {@link walk}. */
export interface Bounds {
  /** The maximum number of visited fields. */
  readonly fields: number
  /** How many items of each list are visited, from its start. */
  readonly items: number
}

/** Visits the known fields of a body with their values, in the body's order, within bounds. */
export const walk = (
  body: unknown,
  known: ReadonlySet<string>,
  bounds: Bounds,
  visit: (field: Field, value: unknown) => void
): void => {
  let count = 0
  const visitField = (field: Field, value: unknown): void => {
    count += 1
    visit(field, value)
  }
  const describe = (path: string, value: unknown, isOutermost = false): void => {
    if (count >= bounds.fields) return
    const isObject = typeOf(value) === "object"
    if (!isOutermost || !isObject) visitField({ path, type: typeOf(value), length: lengthOf(value) }, value)
    if (Array.isArray(value)) {
      for (const [index, item] of value.slice(0, bounds.items).entries()) describe(`${path}[${index}]`, item)
    } else if (isObject) {
      let unknown = 0
      for (const [name, inner] of Object.entries(value as object)) {
        if (known.has(name)) describe(path === "" ? name : `${path}.${name}`, inner)
        else unknown += 1
      }
      if (unknown > 0 && count < bounds.fields) visitField({ path, type: "unknown", length: unknown }, undefined)
    }
  }
  describe("", body, true)
}

/** Describes at most {@link maxFields} fields; of a list, only the first item. */
export const of = (body: unknown, known: ReadonlySet<string>): ReadonlyArray<Field> => {
  const fields: Array<Field> = []
  walk(body, known, { fields: maxFields, items: 1 }, (field) => void fields.push(field))
  return fields
}
