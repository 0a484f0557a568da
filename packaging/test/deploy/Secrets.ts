/**
 * How a file for deploying gives the server its variables and secrets.
 */
import * as Program from "@wac/testbed/Program"
import { Effect, Redacted } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert } from "vitest"
import { fromEnvironment } from "../../../apps/server/src/ServerConfig.ts"
import * as Variable from "../../../apps/server/src/Variable.ts"
import type * as VariableText from "../../../apps/server/src/VariableText.ts"

/** The options of tests that run the commands by which operators make secrets. */
export const needed = Program.needed({
  programs: [["openssl", "version"]],
  untested: "the commands that make secrets for a deployment",
  install: "apt-get install openssl"
})

/**
 * Has the server read the variables that a file for deploying sets, and returns what it read of the secrets. The
 * variables must contain no secret themselves, and the master key among their files. `placed` is where a path of the
 * deployment is here.
 */
export const read = async (variables: VariableText.Environment, placed: (path: string) => string) => {
  const inEnvironment = Variable.secrets.filter((name) => variables[name] !== undefined)
  assert.deepEqual(inEnvironment.filter((name) => !/^(?:pglite|memory):/.test(variables[name]!)), [])
  const files = Variable.secrets.map((name) => `${name}_FILE`).filter((name) => variables[name] !== undefined)
  assert.include(files, "WAC_MASTER_KEY_FILE")
  assert.deepEqual(Variable.unknown(Object.keys(variables)), [])
  // without the variable, a start that fails ends with a line of text among the lines of JSON
  assert.strictEqual(variables["LOG_FORMAT"], "json")
  const config = await Effect.runPromise(
    fromEnvironment({ ...variables, ...Object.fromEntries(files.map((name) => [name, placed(variables[name]!)])) })
  )
  assert.isDefined(config.masterKey)
  return {
    database: config.storage._tag === "Server" ? Redacted.value(config.storage.url) : config.storage._tag,
    metricsToken: config.metricsToken && Redacted.value(config.metricsToken)
  }
}

/** Writes the secrets of the server to files of a folder, each named as its variable, and returns where each is. */
export const write = (folder: string, values: { readonly [name in Variable.Secret]?: string }) => (path: string) => {
  const name = Object.keys(values).find((name) => path.endsWith(`/${name}`))
  assert.isDefined(name, `${path} is a part of the secret`)
  writeFileSync(join(folder, name!), values[name as Variable.Secret]!)
  return join(folder, name!)
}
