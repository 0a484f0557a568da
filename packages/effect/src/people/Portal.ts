/**
 * The portal: our pages for the host's own customers (contract §12).
 */
import { Errors, Id, Member, PlainText, Portal as Core, Portals, Time, Url } from "@wac/core"
import { Duration, Effect, Option, Schema } from "effect"
import type { CallOptions } from "../generated/Messaging.ts"
import type { Role } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import type { Running } from "../Running.ts"

/** The look of the host's own pages. Omitted fields keep the portal's own look. */
export interface PortalTheme {
  /**
   * The colour of buttons and links: `#0b7446` or `#074`. Buttons have exactly this colour, with black or white text;
   * where it would be hard to read as text, its shade is darkened or lightened.
   */
  readonly accent?: string
  /**
   * An image at the head of the pages: a URL at one of the `portalOrigins`, or a `data:` URL in base64 of at most
   * 32,768 characters (PNG, JPEG, GIF, WebP, AVIF or SVG).
   */
  readonly logo?: string
  /** The corners of cards in CSS pixels, 0 to 24; those of fields and buttons are in proportion. Defaults to 10. */
  readonly radius?: number
  /** Font families of the visitor's device, most preferred first: `"Inter, system-ui"`. Fonts are not loaded. */
  readonly font?: string
  /** Defaults to the visitor's own choice. `auto` follows their device. */
  readonly scheme?: "auto" | "light" | "dark"
}

/** The properties of a portal link. */
export interface NewPortalLink {
  /** The workspace whose webhook, deliveries and keys it shows. Defaults to the default workspace. */
  readonly workspaceId?: string
  /** The visitor's role: `member` reads, `developer` also changes. */
  readonly role: Role
  /** The first page: `/settings/webhook` (the default), `/deliveries` or `/api-keys`. */
  readonly path?: string
  /** How long the link is valid, in seconds: up to 7 days. Defaults to an hour. */
  readonly expiresIn?: number
  /** Identifies the visitor, such as by e-mail address; shown to them and in the audit. 1 to 254 characters. */
  readonly visitor?: string
  /** The look of the pages. Its fields replace those of the option `portalTheme`. */
  readonly theme?: PortalTheme
  /**
   * The language of the pages' texts, dates and numbers: English (the default), Spanish or Portuguese. `auto` takes the
   * first of the visitor's own languages that is among them. Error messages of the service stay in English.
   */
  readonly language?: "auto" | "en" | "es" | "pt"
}

/** A link to the portal. It is a secret: the first to open it is let in. */
export interface PortalLink {
  /** For the `src` of an `<iframe>`, or for a new tab. */
  readonly url: string
  readonly expiresAt: string
}

/** Links to pages that show the webhook, the deliveries and the keys of one workspace, and nothing else. */
export interface Portal {
  /**
   * Creates a link that can be used once, for a session of an hour. Create one each time you show the pages. Requires
   * the options `publicUrl` and `dashboard`, and `portalOrigins` for a frame. Rejects with `not_found` for an unknown
   * workspace.
   */
  readonly link: (link: NewPortalLink, options?: CallOptions) => Promise<PortalLink>
}

const longest = Duration.toSeconds(Core.longestLink)

const newLink = {
  workspaceId: Schema.optionalKey(PlainText.between(1, 64)),
  role: Member.Role,
  path: Schema.optionalKey(
    PlainText.between(1, Url.maxLength).check(
      Schema.makeFilter((path: string) => Core.isPath(path) || "must be a path of the portal, such as /deliveries")
    )
  ),
  expiresIn: Schema.optionalKey(
    Schema.Number.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: longest }))
  ),
  visitor: Schema.optionalKey(PlainText.trimmed(254)),
  language: Schema.optionalKey(Core.Language)
}

/** The settings that all links of an instance share. */
export interface PortalSettings {
  /** The public URL with the path at which the routes are mounted; `undefined` if unknown. */
  readonly base: string | undefined
  /** The origins whose pages may show the portal. */
  readonly origins: ReadonlyArray<string>
  readonly theme: PortalTheme
}

export const make = ({ base, origins, theme }: PortalSettings, defaultWorkspace: Id.WorkspaceId) =>
  Effect.map(Portals.Portals, (portals) => ({ run }: Running): Portal => {
    const readLink = Input.read(Schema.Struct({ ...newLink, theme: Schema.optionalKey(Core.themeOf(origins)) }))
    return {
      link: (given, options) =>
        run(
          Effect.gen(function*() {
            const link = yield* readLink(given)
            if (base === undefined) {
              return yield* new Errors.InvalidBody({
                reason: "invalid_field",
                param: "publicUrl",
                message: "links need the option publicUrl and the option dashboard: true"
              })
            }
            const workspaceId = Option.getOrUndefined(
              Id.parse(Id.WorkspaceId, link.workspaceId ?? defaultWorkspace)
            )
            if (workspaceId === undefined) return yield* new Errors.NotFound({ message: "there is no such workspace" })
            const { expiresAt, id, token } = yield* portals.link({
              workspaceId,
              role: link.role,
              visitor: link.visitor ?? Core.nobodyNamed,
              lifetime: link.expiresIn === undefined ? Core.linkLifetime : Duration.seconds(link.expiresIn)
            })
            return {
              url: Core.addressOf({
                base,
                workspaceId,
                path: link.path,
                token,
                id,
                theme: { ...theme, ...link.theme },
                language: link.language
              }),
              expiresAt: Time.iso(expiresAt)
            }
          }),
          { options }
        )
    }
  })
