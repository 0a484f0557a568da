/**
 * Values of JSON.
 */

/** Whether a value is an object. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Sorts the fields of every object in a value, so that equal values have equal JSON. */
export const canonical = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(canonical)
    : isRecord(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]))
    : value

/** Parses a JSON object. Returns an empty object for `null` and for any other text. */
export const parsed = (text: string | null): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(text ?? "")
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}
