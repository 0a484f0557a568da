/**
 * The commands `workspaces list | create | tier | quota | suspend | unsuspend`: the tenants, and the operator's
 * settings of them.
 */
import { E164, Id, Limits, PhoneNumber, PhoneNumberStore, Time, Workspace, WorkspaceStore } from "@wac/core"
import { Clock, Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as OperatorCommand from "./OperatorCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** The workspace as `--json` prints it, with the tier and quota in force. */
const toJson = (limits: Limits.Limits, workspace: Workspace.Workspace) => {
  const { perSecond, tier } = Limits.workspaceTier(limits, workspace.tier)
  return {
    id: workspace.id,
    name: workspace.name,
    createdAt: Time.iso(workspace.createdAt),
    tier,
    requestsPerSecond: perSecond,
    monthlyQuota: workspace.monthlyQuota ?? limits.defaults.monthlyQuota,
    suspended: workspace.suspended
  }
}

const describe = (limits: Limits.Limits, workspace: Workspace.Workspace): string => {
  const { id, monthlyQuota, name, requestsPerSecond, suspended, tier } = toJson(limits, workspace)
  return `${id} ${name}\n  tier ${tier} (${requestsPerSecond}/s), monthly quota ${monthlyQuota ?? "none"}` +
    (suspended ? ", suspended" : "")
}

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function*() {
    const limits = yield* Limits.CurrentLimits
    const all = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
    yield* OperatorCommand.printed(
      { workspaces: all.map((workspace) => toJson(limits, workspace)) },
      all.length === 0 ? "there is no workspace yet" : all.map((workspace) => describe(limits, workspace)).join("\n")
    )
  })
).pipe(Command.withDescription("List every workspace with its limits, oldest first"))

/** The provider of new numbers: the one that servers run with, or the provider of the newest number. */
const providerOf = Effect.fnUntraced(function*(workspaces: ReadonlyArray<Workspace.Workspace>) {
  const { PROVIDER } = yield* OperatorCommand.Variables
  if (PROVIDER !== undefined && PROVIDER !== "") return PROVIDER
  const numbers = yield* PhoneNumberStore.PhoneNumberStore.use((store) =>
    Effect.forEach(workspaces, ({ id }) => store.list(id))
  )
  const [newest] = numbers.flat().sort((one, other) => one.id < other.id ? 1 : -1)
  return newest?.provider ??
    (yield* new OperatorCommand.CannotDo({ message: "there is no number yet: give --provider" }))
})

const create = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(
      Argument.withDescription(`1 to ${Workspace.maxNameLength} characters`),
      Argument.withSchema(Workspace.Name)
    ),
    number: Flag.String("number").pipe(
      Flag.withDescription("Its first phone number, in E.164 format, such as +15551234567"),
      Flag.withSchema(E164.E164)
    ),
    id: Flag.String("id").pipe(
      Flag.withDescription("The provider's id of the number: a phone number id"),
      Flag.withSchema(Schema.NonEmptyString)
    ),
    account: Flag.String("account").pipe(
      Flag.withDescription("The provider's id of the account: a WhatsApp Business account id"),
      Flag.withSchema(Schema.NonEmptyString)
    ),
    provider: Flag.String("provider").pipe(
      Flag.withDescription("The number's provider; defaults to PROVIDER, then to that of the newest number"),
      Flag.withSchema(Schema.NonEmptyString),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ account, id, name, number, provider }) {
    const store = yield* WorkspaceStore.WorkspaceStore
    const before = yield* store.list
    if (before.length === 0) {
      return yield* new OperatorCommand.CannotDo({
        message: "there is no workspace yet: start the server and set up the first one, with its owner"
      })
    }
    if (
      (yield* PhoneNumberStore.PhoneNumberStore.use((numbers) => numbers.named({ providerNumberId: id }))).length > 0
    ) {
      return yield* new OperatorCommand.CannotDo({ message: `${id} is already known: see \`wac numbers list\`` })
    }
    const random = yield* SecureRandom.SecureRandom
    const workspace: Workspace.Workspace = {
      id: yield* Id.generate(random, "ws"),
      name,
      createdAt: yield* Clock.currentTimeMillis,
      tier: null,
      monthlyQuota: null,
      suspended: false
    }
    yield* store.create({
      workspace,
      phoneNumber: PhoneNumber.fresh({
        id: yield* Id.generate(random, "pn"),
        workspaceId: workspace.id,
        provider: Option.getOrUndefined(provider) ?? (yield* providerOf(before)),
        phoneNumber: number,
        providerNumberId: id,
        providerAccountId: account,
        learned: PhoneNumber.unlearned,
        isDefault: true
      })
    })
    yield* OperatorCommand.audited(workspace.id, { action: "workspace.create", target: workspace.id, detail: { name } })
    yield* OperatorCommand.printed(
      toJson(yield* Limits.CurrentLimits, workspace),
      `created ${workspace.id} ${name} with ${number}\n` +
        `invite its owner: wac members invite EMAIL --role owner --workspace ${workspace.id}`
    )
  })
).pipe(Command.withDescription("Create a further workspace with its first number"))

/** Changes the operator's settings of a workspace, and shows it. */
const configured = Effect.fnUntraced(function*(
  given: string,
  settings: Partial<Pick<Workspace.Workspace, "tier" | "monthlyQuota" | "suspended">>,
  detail: Readonly<Record<string, string>>
) {
  const { id } = yield* WorkspaceChoice.chosen(Option.some(given))
  const store = yield* WorkspaceStore.WorkspaceStore
  yield* store.configure(id, settings)
  yield* OperatorCommand.audited(id, { action: "workspace.change", target: id, detail })
  const workspace = yield* WorkspaceChoice.chosen(Option.some(given))
  const limits = yield* Limits.CurrentLimits
  yield* OperatorCommand.printed(toJson(limits, workspace), describe(limits, workspace))
})

const tier = Command.make(
  "tier",
  {
    workspace: WorkspaceChoice.argument,
    tier: Argument.String("tier").pipe(Argument.withDescription("A tier of WAC_LIMITS, or default"))
  },
  Effect.fnUntraced(function*({ tier, workspace }) {
    const { workspaceTiers } = yield* Limits.CurrentLimits
    if (tier !== "default" && !Object.hasOwn(workspaceTiers, tier)) {
      return yield* new OperatorCommand.CannotDo({
        message: `the tier must be one of ${Object.keys(workspaceTiers).join(", ")} or default`
      })
    }
    yield* configured(workspace, { tier: tier === "default" ? null : tier }, { tier })
  })
).pipe(Command.withDescription("Set the tier of a workspace's requests"))

const quota = Command.make(
  "quota",
  {
    workspace: WorkspaceChoice.argument,
    messages: Argument.String("messages").pipe(
      Argument.withDescription("Messages in a calendar month (UTC), or default"),
      Argument.withSchema(Schema.String.check(
        Schema.isPattern(/^(?:default|[0-9]{1,9})$/, { message: "must be a whole number or default" })
      ))
    )
  },
  ({ messages, workspace }) =>
    configured(workspace, { monthlyQuota: messages === "default" ? null : Number(messages) }, {
      monthlyQuota: messages
    })
).pipe(Command.withDescription("Set how many messages a workspace may send in a month"))

const suspend = Command.make(
  "suspend",
  { workspace: WorkspaceChoice.argument },
  ({ workspace }) => configured(workspace, { suspended: true }, { suspended: "yes" })
).pipe(Command.withDescription("Refuse every send of a workspace, from the next one on; deliveries go on"))

const unsuspend = Command.make(
  "unsuspend",
  { workspace: WorkspaceChoice.argument },
  ({ workspace }) => configured(workspace, { suspended: false }, { suspended: "no" })
).pipe(Command.withDescription("Accept a suspended workspace's sends again"))

export const workspaces = Command.make("workspaces").pipe(
  Command.withDescription("The workspaces in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(list, OperatorCommand.opened),
    Command.provide(create, OperatorCommand.opened),
    Command.provide(tier, OperatorCommand.opened),
    Command.provide(quota, OperatorCommand.opened),
    Command.provide(suspend, OperatorCommand.opened),
    Command.provide(unsuspend, OperatorCommand.opened)
  ])
)
