/**
 * The command `members portal-link`: a link to the portal of a workspace, for a host that runs the service as a server.
 */
import { Member, PlainText, Portal, Portals, Time } from "@wac/core"
import { InvalidInput } from "@wac/http"
import { Console, Duration, Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as LinkAddress from "./LinkAddress.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import { portalOriginsFromEnvironment } from "./ServerConfig.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

const longest = Duration.toSeconds(Portal.longestLink)

/** Reads a theme from JSON, or fails with the name of the field that is wrong. */
const themeFrom = Effect.fnUntraced(function*(json: string, origins: ReadonlyArray<string>) {
  const decode = Schema.decodeEffect(Schema.fromJsonString(Portal.themeOf(origins)), { onExcessProperty: "error" })
  return yield* Effect.mapError(decode(json), ({ issue }) => {
    const { message } = InvalidInput.of({ kind: "Payload", issue }, {})
    return new OperatorCommand.CannotDo({ message: `--theme: ${message}` })
  })
})

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
    ),
    theme: Flag.String("theme").pipe(
      Flag.withDescription(
        "The look of the pages as JSON, of the fields accent, logo, radius, font and scheme: '{\"accent\":\"#0b7446\"}'"
      ),
      Flag.withDefault("{}")
    ),
    language: Flag.Literals("language", Portal.Language.literals).pipe(
      Flag.withDescription("The language of the pages; auto: the visitor's own, if the pages have it"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ expiresIn, language, path, role, theme, visitor, workspace }) {
    const variables = yield* OperatorCommand.Variables
    const base = yield* LinkAddress.base
    const look = yield* themeFrom(theme, yield* portalOriginsFromEnvironment(variables))
    const { id: workspaceId } = yield* WorkspaceChoice.chosen(workspace)
    const { expiresAt, id, token } = yield* Portals.Portals.use((portals) =>
      portals.link({ workspaceId, role, visitor, lifetime: Duration.seconds(expiresIn) })
    )
    // before the link is known, so that no link works that the audit does not have
    yield* OperatorCommand.audited(workspaceId, { action: "portal.link", target: id, detail: { role, visitor } })
    const url = Portal.addressOf({
      base,
      workspaceId,
      path,
      token,
      id,
      theme: look,
      language: Option.getOrUndefined(language)
    })
    yield* OperatorCommand.printed({ url, expiresAt: Time.iso(expiresAt) }, url)
    yield* Console.error(`works once, until ${Time.iso(expiresAt)}: whoever opens it first is let in`)
    yield* LinkAddress.guessed
  })
).pipe(Command.withDescription("Make a link that shows a workspace's webhook, deliveries and keys, and nothing else"))
