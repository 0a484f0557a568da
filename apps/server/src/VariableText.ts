/**
 * The text of an environment variable: from the environment, or from the file of a secret. Refuses names that are
 * probably misspelled variables.
 */
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"
import * as Misspelled from "./Misspelled.ts"
import * as Variable from "./Variable.ts"

/** A variable whose value is missing or invalid. The message names the variable and never its value. */
export class BadVariable extends Schema.TaggedError<BadVariable>()("BadVariable", {
  variable: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `${this.variable}: expected ${this.expected}`
  }
}

/** The variables of a process; an empty variable counts as not set. */
export interface Environment {
  readonly [name: string]: string | undefined
}

/** Text without its last line break, which editors and `echo` add. Spaces may be part of a password. */
export const withoutLineBreak = (text: string): string => text.replace(/\r?\n$/, "")

const given = (environment: Environment, name: string): string | undefined =>
  Object.hasOwn(environment, name) && environment[name] !== "" ? environment[name] : undefined

const removedOf = (environment: Environment): BadVariable | undefined => {
  for (const [name, { accepted, holds }] of Object.entries(Variable.removed)) {
    const variable = [name, Variable.fileOf(name)].find((name) =>
      ![undefined, accepted].includes(given(environment, name))
    )
    if (variable !== undefined) {
      return new BadVariable({ variable, expected: `no value: this variable is gone, because ${holds}` })
    }
  }
  return undefined
}

const misspelledOf = (environment: Environment, read: ReadonlyArray<string>): BadVariable | undefined => {
  const set = Object.keys(environment).filter((name) => given(environment, name) !== undefined)
  const found = Misspelled.find(set, Variable.known, read)
  return found && new BadVariable({
    variable: found.name,
    expected: `the name ${found.meant}, which is not set; if ${found.name} is right, set ${found.meant} too`
  })
}

const refused = (bad: BadVariable | undefined): Effect.Effect<void, BadVariable> =>
  bad === undefined ? Effect.void : Effect.fail(bad)

/**
 * Fails for a set variable that no longer exists, and for a set name that is probably a misspelled variable: without
 * this, the server would run with a default instead of the intended value.
 */
export const checkNames = (environment: Environment): Effect.Effect<void, BadVariable> =>
  refused(removedOf(environment) ?? misspelledOf(environment, Variable.ofServer))

/** Fails for a set name that is probably a misspelled variable of the command `mcp`. */
export const checkClientNames = (environment: Environment): Effect.Effect<void, BadVariable> =>
  refused(misspelledOf(environment, Variable.ofClients))

const read = (name: string, path: string) => {
  const bad = (why: string) =>
    new BadVariable({
      variable: Variable.fileOf(name),
      expected: `the path of a file with the value of ${name}; ${path} ${why}`
    })
  return Effect.gen(function*() {
    const bytes = yield* Effect.tryPromise({
      try: () => readFile(path),
      catch: (error) => bad(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
    })
    const text = yield* Effect.try({
      try: () => withoutLineBreak(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
      catch: () => bad("is not UTF-8 text")
    })
    // an empty text would count as not set, so that a default would apply
    return text === "" ? yield* bad("is empty") : text
  })
}

/**
 * The value of a secret: of the variable, or the content of the file that the variable with `_FILE` names, without its
 * last line break; `undefined` if neither is set. Fails if both are set or the file cannot be used.
 */
export const secret = (environment: Environment, name: string): Effect.Effect<string | undefined, BadVariable> => {
  const [value, path] = [given(environment, name), given(environment, Variable.fileOf(name))]
  if (path === undefined) return Effect.succeed(value)
  return value === undefined
    ? read(name, path)
    : Effect.fail(new BadVariable({ variable: `${name}, ${Variable.fileOf(name)}`, expected: "only one of them" }))
}

/** The value of a variable, `undefined` if it is not set. */
export const text = (environment: Environment, name: Variable.Name): Effect.Effect<string | undefined, BadVariable> =>
  Variable.isSecret(name) ? secret(environment, name) : Effect.succeed(given(environment, name))

/** Makes an error about a variable's value name the file that the value came from, if it came from a file. */
export const located = (environment: Environment, error: BadVariable): BadVariable => {
  const path = given(environment, Variable.fileOf(error.variable))
  return Variable.isSecret(error.variable) && path !== undefined
    ? new BadVariable({
      variable: Variable.fileOf(error.variable),
      expected: `a file with ${error.expected}; it is ${path}`
    })
    : error
}
