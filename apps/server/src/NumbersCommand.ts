/**
 * The commands `numbers list | add | token | set | remove`: the operator manages the numbers of all workspaces. The
 * commands work on `DATABASE_URL` directly, while servers run on it (only one process at a time can use an embedded
 * database).
 */
import {
  E164,
  Id,
  Limits,
  PhoneNumber,
  PhoneNumbers,
  PhoneNumberStore,
  PlainText,
  SenderBlock,
  SenderCredentials,
  Time,
  WorkspaceStore
} from "@wac/core"
import { Clock, Effect, Option, type PlatformError, Redacted, Schema, type Stdio } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as OperatorCommand from "./OperatorCommand.ts"
import type { BadVariable } from "./VariableText.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

const { CannotDo, opened, secretFrom } = OperatorCommand

// the description of a number

const credentialsSource = ({ credentialsVersion }: PhoneNumber.PhoneNumber) =>
  `credentials ${credentialsVersion === null ? "from the configuration" : "its own"}`

const describe = ({ block, messagesPerSecond, messagingLimit, number, status, tier }: PhoneNumbers.PhoneNumberState) =>
  [
    `${number.phoneNumber}${number.isDefault ? " (default)" : ""}`,
    `  ${number.id}, ${number.providerNumberId} of account ${number.providerAccountId} with ${number.provider}`,
    `  ${status}${
      block === null
        ? ""
        : `: ${SenderBlock.describe(block)}, since ${Time.iso(block.since)}` +
          (block.until === null ? "" : `, tried again at ${Time.iso(block.until)}`)
    }`,
    `  tier ${tier} (${messagesPerSecond}/s), ` +
    `messaging limit ${messagingLimit ?? "none"}, portfolio ${number.portfolioId ?? "not told"}, quality ${
      number.learned.quality ?? "not reported"
    }, ${credentialsSource(number)}`
  ].map((line) => `  ${line}`).join("\n")

/** The number as `--json` prints it. */
const toJson = ({ block, messagesPerSecond, messagingLimit, number, status, tier }: PhoneNumbers.PhoneNumberState) => ({
  id: number.id,
  phoneNumber: number.phoneNumber,
  isDefault: number.isDefault,
  workspaceId: number.workspaceId,
  provider: number.provider,
  providerNumberId: number.providerNumberId,
  providerAccountId: number.providerAccountId,
  portfolioId: number.portfolioId,
  status,
  block: block === null
    ? null
    : { reason: block.reason, since: Time.iso(block.since), until: Time.isoOrNull(block.until) },
  tier,
  messagesPerSecond,
  messagingLimit,
  quality: number.learned.quality,
  hasOwnCredentials: number.credentialsVersion !== null
})

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function*() {
    const workspaces = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
    const limits = yield* Limits.CurrentLimits
    const now = yield* Clock.currentTimeMillis
    const store = yield* PhoneNumberStore.PhoneNumberStore
    const all = yield* Effect.forEach(workspaces, (workspace) =>
      Effect.map(store.list(workspace.id), (found) => ({
        workspace,
        numbers: found.map((number) => PhoneNumbers.stateOf(limits, number, now))
      })))
    yield* OperatorCommand.printed(
      { numbers: all.flatMap(({ numbers }) => numbers.map(toJson)) },
      all.length === 0
        ? "there is no workspace yet"
        : all.flatMap(({ numbers, workspace: { id, name } }) => [`${id} ${name}`, ...numbers.map(describe)]).join("\n")
    )
  })
).pipe(Command.withDescription("List the numbers of every workspace, with the limits and blocks in force"))

/** A number by the service's id, by the provider's id, or by its digits if they are unique. */
const find = Effect.fnUntraced(function*(name: string) {
  const workspaces = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
  const store = yield* PhoneNumberStore.PhoneNumberStore
  const all = (yield* Effect.forEach(workspaces, ({ id }) => store.list(id))).flat()
  const found = all.filter((one) => one.id === name || one.providerNumberId === name || one.phoneNumber === name)
  return found.length === 1 ? found[0]! : yield* new CannotDo({
    message: found.length === 0 ? `there is no number ${name}` : `several workspaces have ${name}: use its id`
  })
})

const number = Argument.String("number").pipe(
  Argument.withDescription("A number: by its digits (+15551234567), its id here (pn_…), or the provider's id")
)

// credentials

/** An access token, from standard input or a variable. */
const accessTokenFrom = Effect.fnUntraced(function*(source: string) {
  const found = Redacted.value(yield* secretFrom(source, "token")).trim()
  if (!/^[\x21-\x7e]+$/.test(found)) {
    return yield* new CannotDo({ message: "the token contains characters that an access token cannot have" })
  }
  return Redacted.make(found)
})

const tokenFrom = Flag.String("token-from").pipe(
  Flag.withDescription("The source of the number's own access token: - for standard input, or the name of a variable")
)
const baseUrl = Flag.String("base-url").pipe(
  Flag.withDescription("The provider's address for this number, if it differs from the configured one"),
  Flag.withSchema(
    Schema.String.check(
      Schema.makeFilter((text: string) =>
        /^https?:$/.test(URL.parse(text)?.protocol ?? "") || "must be an http or https URL"
      )
    )
  ),
  Flag.optional
)
const apiVersion = Flag.String("api-version").pipe(
  Flag.withDescription("The version of the provider's API, such as v25.0, if it differs from the configured one"),
  Flag.withSchema(Schema.String.check(Schema.isPattern(/^v[0-9]+\.[0-9]+$/, { message: "must look like v25.0" }))),
  Flag.optional
)

interface CredentialFlags {
  readonly tokenFrom: string
  readonly baseUrl: Option.Option<string>
  readonly apiVersion: Option.Option<string>
}

const credentialsOf = (given: CredentialFlags): Effect.Effect<
  SenderCredentials.Credentials,
  BadVariable | OperatorCommand.CannotDo | PlatformError.PlatformError,
  Stdio.Stdio | OperatorCommand.Variables
> =>
  Effect.map(accessTokenFrom(given.tokenFrom), (accessToken) => ({
    accessToken,
    ...(Option.isSome(given.baseUrl) ? { baseUrl: given.baseUrl.value } : {}),
    ...(Option.isSome(given.apiVersion) ? { apiVersion: given.apiVersion.value } : {})
  }))

const token = Command.make(
  "token",
  {
    number,
    tokenFrom: tokenFrom.pipe(Flag.withDefault("-")),
    baseUrl,
    apiVersion,
    remove: Flag.Boolean("remove").pipe(
      Flag.withDescription("Remove the number's own credentials: the configured ones apply again"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ number, remove, ...given }) {
    const { id, phoneNumber, workspaceId } = yield* find(number)
    const credentials = remove ? undefined : yield* credentialsOf(given)
    yield* SenderCredentials.SenderCredentials.use((own) => own.set(id, credentials))
    yield* OperatorCommand.audited(workspaceId, {
      action: "number.change",
      target: id,
      detail: { credentials: remove ? "the configuration's" : "its own" }
    })
    yield* OperatorCommand.printed(
      { id, phoneNumber, hasOwnCredentials: !remove },
      `${phoneNumber} now uses ${remove ? "the configured credentials" : "its own credentials"}`
    )
  })
).pipe(Command.withDescription("Give a number its own access token, from standard input or a variable"))

// adding

/**
 * The default provider of a new number: the one that servers run with, or the provider of the workspace's newest
 * number.
 */
const providerOf = Effect.fnUntraced(function*(id: Id.WorkspaceId) {
  const { PROVIDER } = yield* OperatorCommand.Variables
  if (PROVIDER !== undefined && PROVIDER !== "") return PROVIDER
  // the newest decides: a workspace with numbers of several providers has moved from the sandbox to a real one
  const all = yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.list(id))
  const newest = all.reduce<PhoneNumber.PhoneNumber | undefined>(
    (one, other) => one === undefined || one.id < other.id ? other : one,
    undefined
  )
  return newest?.provider ?? (yield* new CannotDo({ message: "the workspace has no number yet: give --provider" }))
})

const add = Command.make(
  "add",
  {
    number: Argument.String("number").pipe(
      Argument.withDescription("In E.164 format, such as +15551234567"),
      Argument.withSchema(E164.E164)
    ),
    id: Flag.String("id").pipe(
      Flag.withDescription("The provider's id of the number: a phone number id"),
      Flag.withSchema(Schema.NonEmptyString)
    ),
    account: Flag.String("account").pipe(
      Flag.withDescription("The provider's id of the account: a WhatsApp Business account id"),
      Flag.withSchema(Schema.NonEmptyString)
    ),
    workspace: WorkspaceChoice.flag,
    provider: Flag.String("provider").pipe(
      Flag.withDescription(
        "The number's provider; defaults to PROVIDER, then to the provider of the workspace's newest number"
      ),
      Flag.withSchema(Schema.NonEmptyString),
      Flag.optional
    ),
    isDefault: Flag.Boolean("default").pipe(
      Flag.withDescription("Make it the default number, which sends without `from` use"),
      Flag.withDefault(false)
    ),
    tokenFrom: Flag.optional(tokenFrom),
    baseUrl,
    apiVersion
  },
  Effect.fnUntraced(function*({ account, isDefault, provider, tokenFrom, ...given }) {
    const workspace = yield* WorkspaceChoice.chosen(given.workspace)
    const isOwn = Option.isSome(tokenFrom)
    if (!isOwn && (Option.isSome(given.baseUrl) || Option.isSome(given.apiVersion))) {
      return yield* new CannotDo({ message: "--base-url and --api-version require --token-from" })
    }
    // read before anything is written, because this may fail
    const credentials = isOwn ? yield* credentialsOf({ ...given, tokenFrom: tokenFrom.value }) : undefined
    const random = yield* SecureRandom.SecureRandom
    const store = yield* PhoneNumberStore.PhoneNumberStore
    const added = PhoneNumber.fresh({
      id: yield* Id.generate(random, "pn"),
      workspaceId: workspace.id,
      provider: Option.getOrUndefined(provider) ?? (yield* providerOf(workspace.id)),
      phoneNumber: given.number,
      providerNumberId: given.id,
      providerAccountId: account,
      learned: PhoneNumber.unlearned,
      isDefault
    })
    const sealed = credentials &&
      (yield* SenderCredentials.SenderCredentials.use((own) => own.seal(added.id, credentials)))
    if (!(yield* store.add(added, sealed))) {
      const named = yield* store.named({ providerNumberId: given.id })
      const known = [...named, ...yield* store.list(workspace.id)].find((number) =>
        number.providerNumberId === given.id || number.phoneNumber === given.number
      )
      // an earlier run of the command may have added it, and its answer been lost
      return yield* new CannotDo({
        message: known === undefined
          ? `${given.id} was removed meanwhile: repeat the command`
          : `${known.providerNumberId} of ${known.phoneNumber} already belongs to ${known.workspaceId} as ${known.id}, ` +
            `${credentialsSource(known)}: see \`wac numbers list\``
      })
    }
    yield* OperatorCommand.audited(workspace.id, {
      action: "number.add",
      target: added.id,
      detail: { phoneNumber: added.phoneNumber }
    })
    yield* OperatorCommand.printed(
      { id: added.id, phoneNumber: added.phoneNumber, workspaceId: workspace.id },
      `added ${added.phoneNumber} to ${workspace.id} ${workspace.name} as ${added.id}`
    )
  })
).pipe(Command.withDescription("Add a number to a workspace"))

// settings

/** `default` restores a setting to what the provider reports, or to the configured default. */
const orDefault = <A>(read: (text: string) => A | undefined, expected: string) =>
  Schema.String.check(
    Schema.makeFilter((text: string) =>
      text === "default" || read(text) !== undefined || `must be ${expected} or default`
    )
  )

const limitOf = (text: string): number | undefined =>
  text === "unlimited" ? PhoneNumber.unlimited : /^[0-9]{1,9}$/.test(text) ? Number(text) : undefined

const set = Command.make(
  "set",
  {
    number,
    tier: Flag.String("tier").pipe(
      Flag.withDescription("The number's tier, or default"),
      Flag.optional
    ),
    messagingLimit: Flag.String("messaging-limit").pipe(
      Flag.withDescription("The limit of customers outside a service window within 24 hours, unlimited, or default"),
      Flag.withSchema(orDefault(limitOf, "a whole number, unlimited")),
      Flag.optional
    ),
    portfolio: Flag.String("portfolio").pipe(
      Flag.withDescription(
        "The provider's id of the business portfolio, whose numbers share the messaging limit, or default"
      ),
      Flag.withSchema(PlainText.between(1, 255)),
      Flag.optional
    ),
    sending: Flag.Literals("sending", ["on", "off"]).pipe(
      Flag.withDescription("Whether messages can be sent from the number"),
      Flag.optional
    ),
    unblock: Flag.Boolean("unblock").pipe(
      Flag.withDescription("Lift the number's block: the next send is tried immediately"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function*({ messagingLimit, number, portfolio, sending, tier, unblock }) {
    const { id, providerNumberId, workspaceId } = yield* find(number)
    const limits = yield* Limits.CurrentLimits
    if (Option.isSome(tier) && tier.value !== "default" && !Object.hasOwn(limits.phoneNumberTiers, tier.value)) {
      return yield* new CannotDo({
        message: `--tier must be one of ${Object.keys(limits.phoneNumberTiers).join(", ")}`
      })
    }
    const store = yield* PhoneNumberStore.PhoneNumberStore
    yield* store.configure(id, {
      ...(Option.isSome(tier) ? { tier: tier.value === "default" ? null : tier.value } : {}),
      ...(Option.isSome(messagingLimit) ? { messagingLimit: limitOf(messagingLimit.value) ?? null } : {}),
      ...(Option.isSome(sending) ? { available: sending.value === "on" } : {})
    })
    if (Option.isSome(portfolio)) {
      yield* store.assign(id, { portfolioId: portfolio.value === "default" ? null : portfolio.value })
    }
    const now = yield* Clock.currentTimeMillis
    if (unblock) yield* store.observe({ name: { providerNumberId }, now, at: now, change: { block: null } })
    yield* OperatorCommand.audited(workspaceId, {
      action: "number.change",
      target: id,
      detail: {
        ...(Option.isSome(tier) ? { tier: tier.value } : {}),
        ...(Option.isSome(messagingLimit) ? { messagingLimit: messagingLimit.value } : {}),
        ...(Option.isSome(portfolio) ? { portfolio: portfolio.value } : {}),
        ...(Option.isSome(sending) ? { sending: sending.value } : {}),
        ...(unblock ? { block: "lifted" } : {})
      }
    })
    const state = PhoneNumbers.stateOf(limits, yield* find(id), now)
    yield* OperatorCommand.printed(toJson(state), describe(state))
  })
).pipe(Command.withDescription("Change the operator's settings of a number; omitted settings stay as they are"))

const remove = Command.make(
  "remove",
  { number },
  Effect.fnUntraced(function*({ number }) {
    const { id, phoneNumber, provider, workspaceId } = yield* find(number)
    yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.remove(id))
    yield* OperatorCommand.audited(workspaceId, { action: "number.remove", target: id, detail: { phoneNumber } })
    yield* OperatorCommand.printed(
      { id, phoneNumber, workspaceId },
      `removed ${phoneNumber} (${id}, with ${provider}) from ${workspaceId}`
    )
  })
).pipe(
  Command.withDescription(
    "Remove a number with its contacts and windows; its messages and events stay. The contacts join a customer's " +
      "names, so first erase the customers who asked for it. A configured number is added again at the next start"
  )
)

export const numbers = Command.make("numbers").pipe(
  Command.withDescription("The phone numbers of all workspaces, in the storage of DATABASE_URL"),
  // provided for each subcommand: without a subcommand, only the help is shown and no storage is opened
  Command.withSubcommands([
    Command.provide(list, opened),
    Command.provide(add, opened),
    Command.provide(token, opened),
    Command.provide(set, opened),
    Command.provide(remove, opened)
  ])
)
