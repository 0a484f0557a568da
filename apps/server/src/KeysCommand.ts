/**
 * The commands `keys list | create | revoke`: the API keys of a workspace.
 */
import {
  type ApiKey,
  ApiKeys,
  ApiScope,
  Id,
  Idempotency,
  KeyBinding,
  Page,
  PhoneNumberStore,
  PlainText,
  Time
} from "@wac/core"
import { Clock, Duration, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** The key as `--json` prints it; `create` adds its secrets. */
const toJson = (key: ApiKey.ApiKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scopes: key.scopes,
  requireSignature: key.requireSignature,
  phoneNumberIds: key.phoneNumberIds,
  allowedCidrs: key.allowedCidrs,
  createdAt: Time.iso(key.createdAt),
  expiresAt: Time.isoOrNull(key.expiresAt),
  lastUsedAt: Time.isoOrNull(key.lastUsedAt)
})

const describe = (key: ApiKey.ApiKey): string =>
  `${key.id}  ${key.prefix}…  ${key.name}  ` +
  `${key.lastUsedAt === null ? "never used" : `last used ${Time.iso(key.lastUsedAt)}`}` +
  (key.expiresAt === null ? "" : `, expires ${Time.iso(key.expiresAt)}`) +
  (key.requireSignature ? ", requires signatures" : "") + `, ${key.scopes.join(" ")}` +
  (key.phoneNumberIds === null ? "" : `, from ${key.phoneNumberIds.join(" ")} only`) +
  (key.allowedCidrs === null ? "" : `, used from ${key.allowedCidrs.join(" ")} only`)

const list = Command.make(
  "list",
  { workspace: WorkspaceChoice.flag },
  Effect.fnUntraced(function*({ workspace }) {
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const service = yield* ApiKeys.ApiKeys
    const all: Array<ApiKey.ApiKey> = []
    let after: string | null = null
    do {
      const page: Page.Page<ApiKey.ApiKey> = yield* service.list(id, { limit: Page.maxLimit, after })
      all.push(...page.items)
      after = page.next
    } while (after !== null)
    yield* OperatorCommand.printed(
      { keys: all.map(toJson) },
      all.length === 0 ? "the workspace has no active key" : all.map(describe).join("\n")
    )
  })
).pipe(Command.withDescription("List the active keys of a workspace, newest first"))

/** A number of the workspace by the service's id, the provider's id or its digits. */
const numberOf = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, name: string) {
  const all = yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.list(workspaceId))
  const found = all.find((one) => one.id === name || one.providerNumberId === name || one.phoneNumber === name)
  return found?.id ?? (yield* new OperatorCommand.CannotDo({ message: `the workspace has no number ${name}` }))
})

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription("What the key is for: 1 to 100 characters"),
      Argument.withSchema(PlainText.trimmed(100))
    ),
    workspace: WorkspaceChoice.flag,
    expiresInDays: Flag.Int("expires-in-days").pipe(
      Flag.withDescription("Days that the key is valid; if omitted, it never expires"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3650 }))),
      Flag.optional
    ),
    requireSignature: Flag.Boolean("require-signature").pipe(
      Flag.withDescription("Refuse requests with this key that are not signed"),
      Flag.withDefault(false)
    ),
    scopes: Flag.Literals("scope", ApiScope.all).pipe(
      Flag.withDescription(
        `What the key may do, one flag for each; messages:send is always added. If omitted: ${
          ApiScope.defaults.join(", ")
        }`
      ),
      Flag.between(0, ApiScope.all.length)
    ),
    from: Flag.String("from").pipe(
      Flag.withDescription(
        "A number that the key may send from, by its digits, its id here (pn_…) or the provider's id, one flag for " +
          "each. If omitted: all of the workspace"
      ),
      Flag.between(0, KeyBinding.maxEntries)
    ),
    cidrs: Flag.String("cidr").pipe(
      Flag.withDescription(
        "A network that the key may be used from (203.0.113.0/24) or a single address, one flag for each. If omitted: " +
          "anywhere"
      ),
      Flag.withSchema(KeyBinding.Network),
      Flag.between(0, KeyBinding.maxEntries)
    )
  },
  Effect.fnUntraced(function*({ cidrs, expiresInDays, from, name, requireSignature, scopes, workspace }) {
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const random = yield* SecureRandom.SecureRandom
    const now = yield* Clock.currentTimeMillis
    const service = yield* ApiKeys.ApiKeys
    const { key, secrets } = yield* service.issue({
      workspaceId,
      caller: "the operator",
      name,
      expiresAt: Option.match(expiresInDays, {
        onNone: () => null,
        onSome: (days) => now + Duration.toMillis(Duration.days(days))
      }),
      requireSignature,
      scopes: scopes.length === 0 ? undefined : scopes,
      phoneNumberIds: from.length === 0
        ? undefined
        : yield* Effect.forEach(from, (number) => numberOf(workspaceId, number)),
      allowedCidrs: cidrs.length === 0 ? undefined : cidrs,
      // every run of the command creates a key
      idempotencyKey: yield* Effect.fromResult(Idempotency.parseKey(yield* random.uuidV4({})))
    })
    yield* OperatorCommand.audited(workspaceId, { action: "api_key.create", target: key.id, detail: { name } })
    const [apiKey, signingSecret] = [Redacted.value(secrets!.token), Redacted.value(secrets!.signingSecret)]
    yield* OperatorCommand.printed(
      { ...toJson(key), apiKey, signingSecret },
      `created ${key.id} ${name}\nkey, shown this once: ${apiKey}\nsigning secret, shown this once: ${signingSecret}`
    )
  })
).pipe(Command.withDescription("Create a key, which is shown once"))

const revoke = Command.make(
  "revoke",
  {
    key: Argument.String("key").pipe(
      Argument.withDescription("The key's id (key_…)"),
      Argument.withSchema(Id.ApiKeyId)
    ),
    workspace: WorkspaceChoice.flag
  },
  Effect.fnUntraced(function*({ key, workspace }) {
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    yield* ApiKeys.ApiKeys.use((keys) => keys.revoke(workspaceId, key))
    yield* OperatorCommand.audited(workspaceId, { action: "api_key.revoke", target: key })
    yield* OperatorCommand.printed(
      { id: key, revoked: true },
      `revoked ${key}: every server refuses it within 2 seconds`
    )
  })
).pipe(Command.withDescription("Revoke a key"))

const opened = Layer.provideMerge(ApiKeys.ApiKeys.layer, OperatorCommand.opened)

export const keys = Command.make("keys").pipe(
  Command.withDescription("The API keys of a workspace, in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(list, opened),
    Command.provide(create, opened),
    Command.provide(revoke, opened)
  ])
)
