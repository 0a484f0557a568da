/**
 * The master key file beside an embedded database (contract §8): created on first run, readable only by its owner.
 * Without this file, no secret in the data can be opened.
 */
import { Effect, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"

const ownerOnly = 0o600
const keyLength = 32

/** The file cannot be read or created, or does not hold a key. */
export class MasterKeyFileError extends Schema.TaggedError<MasterKeyFileError>()("MasterKeyFileError", {
  path: Schema.String,
  why: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.why}`
  }
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown error"

const read = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/**
 * Creates the file. Throws if another process has created it meanwhile. The file is flushed to disk, because secrets
 * are sealed with the key from then on.
 */
const write = (path: string, text: string): void => {
  const file = openSync(path, "wx", ownerOnly)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Reads the key in a data directory, or creates one if there is none. */
export const load = Effect.fnUntraced(function*(directory: string) {
  const path = join(directory, "master.key")
  const random = yield* SecureRandom.SecureRandom
  const fresh = Base64.encode(yield* random.randomBytes(keyLength))
  const text = yield* Effect.try({
    try: () => {
      const present = read(path)
      if (present === undefined) write(path, `${fresh}\n`)
      return present ?? fresh
    },
    catch: (error) => new MasterKeyFileError({ path, why: `cannot keep the master key (${codeOf(error)})` })
  })
  const key = Base64.decode(text.trim())
  if (Result.isFailure(key) || key.success.length !== keyLength) {
    return yield* new MasterKeyFileError({ path, why: "does not hold a master key" })
  }
  return Redacted.make(key.success)
})
