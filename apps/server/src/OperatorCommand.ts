/**
 * What the operator's commands share (`numbers`, `members`): the variables of the process, the storage that they name,
 * the source of a secret, and the end of a command line. They work on `DATABASE_URL` directly, while servers run on it;
 * only one process at a time can use an embedded database.
 */
import { Audit, AuditStore, type Id, SenderCredentials } from "@wac/core"
import { Version } from "@wac/http"
import { Context, Effect, Layer, Predicate, Redacted, Schema, Stdio, Stream } from "effect"
import { Command } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import { Composition } from "wac/effect"
import {
  BadVariable,
  type Environment,
  keptFromEnvironment,
  storageFromEnvironment,
  wrongMasterKey
} from "./ServerConfig.ts"

/** The command cannot be carried out. */
export class CannotDo extends Schema.TaggedError<CannotDo>()("CannotDo", { message: Schema.String }) {}

/** The variables of the process. */
export class Variables extends Context.Service<Variables, Environment>()("@wac/server/OperatorCommand/Variables") {}

const durable = (storage: Composition.BuiltInStorage): Effect.Effect<void, BadVariable> =>
  storage._tag !== "Memory" ? Effect.void : Effect.fail(
    new BadVariable({
      variable: "DATABASE_URL",
      expected: "postgres://… or pglite:DIRECTORY; memory belongs to one process"
    })
  )

/** The storage, and the keys for the secrets in it. */
export const kept = Layer.unwrap(Effect.gen(function*() {
  const config = yield* keptFromEnvironment(yield* Variables)
  yield* durable(config.storage)
  return SenderCredentials.SenderCredentials.layer.pipe(Layer.provideMerge(Composition.layerKept(config)))
}))

/** Only the storage, for commands that need no secret from it: the master key may be missing. */
export const unopened = Layer.unwrap(Effect.gen(function*() {
  const storage = yield* storageFromEnvironment(yield* Variables)
  yield* durable(storage)
  return Composition.layerUnopened(storage)
}))

const fromInput = Effect.map(
  Stdio.Stdio.use(({ stdin }) => Stream.mkString(Stream.decodeText(stdin))),
  // removes the line end that `echo` adds; spaces may be part of a password
  (text) => text.replace(/\r?\n$/, "")
)

/** A secret from a variable or, for `-`, from standard input; an argument would appear in the list of processes. */
export const secretFrom = Effect.fnUntraced(function*(source: string, name: string) {
  const found = source === "-" ? yield* fromInput : (yield* Variables)[source] ?? ""
  if (found.trim() === "") {
    return yield* new CannotDo({
      message: source === "-" ? `no ${name} came on standard input` : `the variable ${source} is not set`
    })
  }
  return Redacted.make(found)
})

/** Records the operator's change in the audit of a workspace. */
export const audited = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, change: Audit.Change) {
  const random = yield* SecureRandom.SecureRandom
  const entry = yield* Audit.entry(random, workspaceId, null, change)
  yield* AuditStore.AuditStore.use((store) => store.record([entry]))
})

/** Adds to the error of an embedded database in use what to do about it. */
const said = <E>(error: E): E | CannotDo | BadVariable =>
  Predicate.isTagged(error, "UnreadableSecret")
    ? wrongMasterKey
    : Predicate.isTagged(error, "OpenError") && error instanceof Error && error.message.includes("is in use")
    ? new CannotDo({
      message: `DATABASE_URL: ${error.message}; only one process can use an embedded database: stop the server first`
    })
    : error

/**
 * Runs a command line. Returns 0, or 1 if the command line is wrong, which has then been reported. If the command
 * cannot be carried out, fails with an error whose message is one line.
 */
export const run = <const Name extends string, Input, E, R>(
  command: Command.Command<Name, Input, {}, E, R>,
  environment: Environment,
  args: ReadonlyArray<string>
) =>
  Command.runWith(command, { version: Version.version ?? "unknown" })(args).pipe(
    Effect.as(0),
    Effect.catchTag("ShowHelp", () => Effect.succeed(1)),
    Effect.mapError(said),
    Effect.provideService(Variables, environment)
  )
