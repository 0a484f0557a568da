/**
 * The shared parts of the operator's commands: the variables of the process, the storage that they name, the source of
 * a secret, the audit, and how a result is printed. The commands work on `DATABASE_URL` directly, while servers run on
 * it; but only one process at a time can use an embedded database.
 */
import { Audit, AuditStore, Heartbeats, type Id, SenderCredentials } from "@wac/core"
import { Composition } from "@wac/effect"
import { Console, Context, Effect, Layer, Redacted, Schema, Stdio, Stream } from "effect"
import { Flag, GlobalFlag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import {
  isRestoredFromEnvironment,
  mailFromEnvironment,
  storageConfigFromEnvironment,
  storageFromEnvironment
} from "./ServerConfig.ts"
import { BadVariable, type Environment } from "./VariableText.ts"
import * as VariableText from "./VariableText.ts"

/** The error of a command that cannot be carried out. Its message is for the operator. */
export class CannotDo extends Schema.TaggedError<CannotDo>()("CannotDo", { message: Schema.String }) {}

/** The variables of the process. */
export class Variables extends Context.Service<Variables, Environment>()("@wac/server/OperatorCommand/Variables") {}

/** The flag `--json` of every command: results and errors are printed as JSON. */
export const Json = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withDescription("Print the result as one line of JSON, and an error as JSON on standard error"),
    Flag.withDefault(false)
  )
})

/** Prints a command's result: as text for people, with `--json` as one line of JSON. */
export const printed = Effect.fnUntraced(function*(result: object, text: string) {
  yield* Console.log((yield* Json) ? JSON.stringify(result) : text)
})

/** Prints, on standard error, what people should know about a result; with `--json`, the result itself says it. */
export const noted = Effect.fnUntraced(function*(text: string) {
  if (!(yield* Json)) yield* Console.error(text)
})

/** The maximum number of records that a search prints. */
export const mostFound = 10_000

/** Notes that a search found more records than it prints, and what shows them. */
export const notedMore = (limit: number) =>
  noted(`more than ${limit}: ${limit < mostFound ? "give --limit, or " : ""}narrow the search`)

const durable = (storage: Composition.BuiltInStorage): Effect.Effect<void, BadVariable> =>
  storage._tag !== "Memory" ? Effect.void : Effect.fail(
    new BadVariable({
      variable: "DATABASE_URL",
      expected: "postgres://… or pglite:DIRECTORY; memory belongs to one process"
    })
  )

/**
 * The storage as it is found: a command neither migrates the database, under servers of another version or at a wrong
 * address, nor makes a new one. The server and `migrate` do.
 */
export const asFound = (storage: Composition.BuiltInStorage): Composition.BuiltInStorage =>
  storage._tag === "Memory" ? storage : { ...storage, migrate: false }

/** The services of the storage, with the keys for its secrets. */
export const opened = Layer.unwrap(Effect.gen(function*() {
  const variables = yield* Variables
  const config = yield* storageConfigFromEnvironment(variables)
  yield* durable(config.storage)
  return SenderCredentials.SenderCredentials.layer.pipe(
    Layer.provideMerge(Composition.layerOpened({ ...config, storage: asFound(config.storage) })),
    // a command may run before the first server, whose heartbeat stores the hold of a restored copy
    Layer.provide(Heartbeats.layerRestored(yield* isRestoredFromEnvironment(variables)))
  )
}))

/** The services of the storage without its keys, for commands that need no secret: the master key may be missing. */
export const unopened = Layer.unwrap(Effect.gen(function*() {
  const storage = yield* storageFromEnvironment(yield* Variables)
  yield* durable(storage)
  return Composition.layerUnopened(asFound(storage))
}))

/** The mailer, for commands that notify people; none unless `SMTP_URL` is set. */
export const mailing = Layer.unwrap(Effect.gen(function*() {
  const mail = yield* mailFromEnvironment(yield* Variables)
  if (mail === undefined) return Layer.empty
  const { layer } = yield* Effect.promise(() => import("./MailerSmtp.ts"))
  return layer(mail)
}))

const fromInput = Effect.map(
  Stdio.Stdio.use(({ stdin }) => Stream.mkString(Stream.decodeText(stdin))),
  VariableText.withoutLineBreak
)

/**
 * Reads a secret from the variable `source`, from the file that the variable with `_FILE` names or, for `-`, from
 * standard input; an argument would appear in the list of processes. `name` is for the error message.
 */
export const secretFrom = Effect.fnUntraced(function*(source: string, name: string) {
  const found = source === "-" ? yield* fromInput : (yield* VariableText.secret(yield* Variables, source)) ?? ""
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
