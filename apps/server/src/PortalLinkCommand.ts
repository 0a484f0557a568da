/**
 * The command `members portal-link`: a link to the portal of a workspace, for a host that runs the service as a server.
 */
import { Id, Member, PlainText, Portal, Portals, Time, WorkspaceStore } from "@wac/core"
import { Console, Duration, Effect, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { publicUrlFromEnvironment } from "./ServerConfig.ts"

/** The workspace of that id, or the only workspace. */
const workspaceOf = Effect.fnUntraced(function*(given: Option.Option<string>) {
  const all = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
  const chosen = Option.isNone(given) ? all : all.filter(({ id }) => id === given.value)
  return chosen.length === 1 ? chosen[0]! : yield* new OperatorCommand.CannotDo({
    message: Option.isSome(given)
      ? `there is no workspace ${given.value}`
      : `there are ${all.length} workspaces: name one with --workspace`
  })
})

const longest = Duration.toSeconds(Portal.longestLink)

/** Makes a link; see `wac.portal.link` of the façade. */
export const portalLink = Command.make(
  "portal-link",
  {
    workspace: Flag.String("workspace").pipe(
      Flag.withDescription("Whose webhook, deliveries and keys it shows (ws_…); the only workspace by default"),
      Flag.optional
    ),
    role: Flag.Literals("role", Member.Role.literals).pipe(
      Flag.withDescription("What the visitor may do: member reads, developer also changes"),
      Flag.withDefault("member")
    ),
    path: Flag.String("path").pipe(
      Flag.withDescription("The first page: /settings/webhook, /deliveries or /api-keys"),
      Flag.withSchema(
        Schema.String.check(
          Schema.makeFilter((path: string) =>
            Portal.isPath(path) || "must be a path of the portal, such as /deliveries"
          )
        )
      ),
      Flag.withDefault("")
    ),
    expiresIn: Flag.Int("expires-in").pipe(
      Flag.withDescription("Seconds that the link is good for"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: longest }))),
      Flag.withDefault(Duration.toSeconds(Portal.linkLifetime))
    ),
    visitor: Flag.String("visitor").pipe(
      Flag.withDescription("Who the visitor is, for the pages and the audit"),
      Flag.withSchema(PlainText.trimmed(254)),
      Flag.withDefault(Portal.nobodyNamed)
    )
  },
  Effect.fnUntraced(function*({ expiresIn, path, role, visitor, workspace }) {
    const publicUrl = yield* publicUrlFromEnvironment(yield* OperatorCommand.Variables)
    const { id } = yield* workspaceOf(workspace)
    const { expiresAt, token } = yield* Portals.Portals.use((portals) =>
      portals.link({ workspaceId: Id.WorkspaceId.make(id), role, visitor, lifetime: Duration.seconds(expiresIn) })
    )
    const base = publicUrl.href.replace(/\/$/, "")
    const url = `${base}${Portal.pathOf(id)}${path}#token=${Redacted.value(token)}`
    yield* OperatorCommand.printed({ url, expiresAt: Time.iso(expiresAt) }, url)
    yield* Console.error(`works once, until ${Time.iso(expiresAt)}: whoever opens it first is let in`)
  })
).pipe(Command.withDescription("Make a link that shows a workspace's webhook, deliveries and keys, and nothing else"))
