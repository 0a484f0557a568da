/**
 * Checks the values of options. A value that is `undefined` counts as omitted.
 */
import { Predicate } from "effect"
import { badOption } from "./WacError.ts"

/** Throws unless the option is true, false or omitted: `"false"` would count as true. */
export const checkBoolean = (name: string, value: unknown): void => {
  if (value !== undefined && typeof value !== "boolean") throw badOption(name, `${name} must be true or false`)
}

/** Throws unless the option is text or omitted. */
export const checkText = (name: string, value: unknown): void => {
  if (value !== undefined && typeof value !== "string") throw badOption(name, `${name} must be text`)
}

/** Throws unless the option is a whole number from 1, or omitted. */
export const checkCount = (name: string, value: unknown): void => {
  if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) >= 1)) {
    throw badOption(name, `${name} must be a whole number from 1`)
  }
}

/** The values of an option with several settings, and the defaults of those omitted; what is no object stays. */
export const over = <A extends object>(defaults: A, value: unknown = {}): unknown =>
  Predicate.isObject(value)
    ? { ...defaults, ...Object.fromEntries(Object.entries(value).filter(([, setting]) => setting !== undefined)) }
    : value
