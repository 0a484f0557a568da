/**
 * The command `members portal-link`: a link to the portal of a workspace, for a host that runs the service as a server.
 */
import { Id, Member, PlainText, Portal, Portals, Time } from "@wac/core"
import { Console, Duration, Effect, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as OperatorCommand from "./OperatorCommand.ts"
import { publicUrlFromEnvironment } from "./ServerConfig.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

const longest = Duration.toSeconds(Portal.longestLink)

/** Makes a link; see `wac.portal.link` of the façade. */
export const portalLink = Command.make(
  "portal-link",
  {
    workspace: WorkspaceChoice.flag,
    role: Flag.Literals("role", Member.Role.literals).pipe(
      Flag.withDescription("The visitor's role: member reads, developer also changes"),
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
    const { id } = yield* WorkspaceChoice.chosen(workspace)
    const { expiresAt, token } = yield* Portals.Portals.use((portals) =>
      portals.link({ workspaceId: Id.WorkspaceId.make(id), role, visitor, lifetime: Duration.seconds(expiresIn) })
    )
    const base = publicUrl.href.replace(/\/$/, "")
    const url = `${base}${Portal.pathOf(id)}${path}#token=${Redacted.value(token)}`
    yield* OperatorCommand.printed({ url, expiresAt: Time.iso(expiresAt) }, url)
    yield* Console.error(`works once, until ${Time.iso(expiresAt)}: whoever opens it first is let in`)
  })
).pipe(Command.withDescription("Make a link that shows a workspace's webhook, deliveries and keys, and nothing else"))
