/**
 * The database schema that holds all objects of wac. Statements write its name as `wac`; `named` replaces that name
 * before a statement is sent, if the schema has a different one (docs/decisions/0051-schema.md).
 */
import { Context } from "effect"
import { createHash } from "node:crypto"
import { longest } from "./SchemaName.ts"

/** The name of a table, view or sequence of wac, as statements write it. */
export type Relation = `wac.${string}`

/** The schema's name unless the options name another. */
export const standard = "wac"

/** The schema in which versions without a choice of schema made the tables. */
export const former = "public"

/**
 * An SQL expression to add to the number of an advisory lock, so that two schemas do not share locks. Its value is a
 * multiple of 2^42.
 */
export const lockOffset = "((hashtextextended('wac', 0) & 262143) << 42)"

/** The schema of the open database. */
export class Schema extends Context.Service<Schema, {
  readonly name: string
  /** The name as a quoted identifier. */
  readonly quoted: string
  /**
   * Replaces the schema's name in the text of a statement. `wac.` begins the name of a relation or another object,
   * `wac:` begins the name of an advisory lock or of a channel, and {@link lockOffset} is part of a lock's number.
   */
  readonly named: (text: string) => string
}>()("@wac/postgres/Schema") {}

const part = /\bwac\.|\bwac:(\w+)|hashtextextended\('wac', 0\)/g

/** Makes the service for a schema of this name. */
export const make = (name: string): Schema["Service"] => {
  const quoted = `"${name}"`
  // versions without a choice of schema use locks and channels without its name, and both run during an upgrade
  const isFormer = name === former
  const channel = (own: string): string => {
    const whole = `${name}:${own}`
    return isFormer
      ? own
      : Buffer.byteLength(whole) <= longest
      ? whole
      : createHash("sha256").update(whole).digest("hex").slice(0, longest)
  }
  const offset = isFormer ? "0::bigint" : `hashtextextended('${name}', 0)`
  const renamed = new Map<string, string>()
  return Schema.of({
    name,
    quoted,
    named: name === standard ? (text) => text : (text) => {
      let own = renamed.get(text)
      if (own === undefined) {
        own = text.replaceAll(
          part,
          (found: string, named: string | undefined) =>
            named === undefined ? found === "wac." ? `${quoted}.` : offset : channel(named)
        )
        renamed.set(text, own)
      }
      return own
    }
  })
}
