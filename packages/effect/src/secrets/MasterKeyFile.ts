/**
 * The master key file beside an embedded database (contract §8): created on first run, readable only by its owner.
 * Without this file, no secret in the data can be opened.
 */
import { Effect, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64 } from "effect/encoding"
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs"
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
 * Writes the file, whole or not at all: a first start on a full disk must leave nothing that a later one takes for the
 * key. It is flushed to disk, because secrets are sealed with the key from then on. The directory's lock keeps other
 * processes away.
 */
const write = (directory: string, path: string, text: string): void => {
  const temporary = `${path}.new`
  const file = openSync(temporary, "w", ownerOnly)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temporary, path)
  const names = openSync(directory, "r")
  try {
    fsyncSync(names)
  } finally {
    closeSync(names)
  }
}

/**
 * Reads the key in a data directory. If there is none, creates one, unless the storage has secrets (`isUsed`): they are
 * sealed under another key.
 */
export const load = Effect.fnUntraced(function*<E, R>(directory: string, isUsed: Effect.Effect<boolean, E, R>) {
  const path = join(directory, "master.key")
  const attempt = <A>(what: string, run: () => A) =>
    Effect.try({ try: run, catch: (error) => new MasterKeyFileError({ path, why: `${what} (${codeOf(error)})` }) })
  const present = (yield* attempt("cannot read the master key", () => read(path)))?.trim() ?? ""
  if (present === "") {
    if (yield* isUsed) {
      return yield* new MasterKeyFileError({
        path,
        why:
          "is missing, and the secrets in the data are sealed under another master key: put the file back, or give " +
          "the key (WAC_MASTER_KEY, or masterKey of createWac)"
      })
    }
    const random = yield* SecureRandom.SecureRandom
    const fresh = yield* random.randomBytes(keyLength)
    yield* attempt("cannot keep the master key", () => write(directory, path, `${Base64.encode(fresh)}\n`))
    return Redacted.make(fresh)
  }
  const key = Base64.decode(present)
  if (Result.isFailure(key) || key.success.length !== keyLength) {
    return yield* new MasterKeyFileError({ path, why: "does not hold a master key" })
  }
  return Redacted.make(key.success)
})
