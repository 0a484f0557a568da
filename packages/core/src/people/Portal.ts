/**
 * The portal: a host's customer sees one workspace's webhook, deliveries and keys by a single-use link (contract §12).
 * The model and its rules; pure.
 */
import { Duration, Redacted, Schema } from "effect"
import type { SessionId, WorkspaceId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Role } from "./Member.ts"
import * as PortalLanguage from "./PortalLanguage.ts"
import * as PortalTheme from "./PortalTheme.ts"

/** How long a link is valid by default. */
export const linkLifetime = Duration.hours(1)

/** The longest that a host may let a link be valid. */
export const longestLink = Duration.days(7)

/** How long a portal session lasts. Use does not extend it. */
export const sessionLifetime = Duration.hours(1)

/** The name in the audit if the host gives none. */
export const nobodyNamed = "portal"

/** A portal link, or the session that it has become. Only the hash of its token is stored. */
export interface Portal {
  readonly id: SessionId
  readonly tokenHash: string
  readonly workspaceId: WorkspaceId
  readonly role: Role
  /** The visitor's name from the host, for the pages and the audit. */
  readonly visitor: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** The path of a workspace's portal, relative to where the routes are mounted. */
export const pathOf = (workspaceId: string): string => `/portal/${workspaceId}`

/** Whether the text is the origin of an http or https URL, in the form that browsers use. Pure. */
export const isOrigin = (text: string): boolean =>
  // URLs allow other characters, which would change the meaning of a Content-Security-Policy
  /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::[0-9]+)?$/.test(text) && URL.canParse(text) &&
  new URL(text).origin === text

/** Whether a path, appended to {@link pathOf}, leads to a page of the portal and nowhere else. Pure. */
export const isPath = (path: string): boolean => {
  const base = `https://portal.invalid${pathOf("ws")}`
  if (path !== "" && !path.startsWith("/") || /[\\#\p{Cc}]/u.test(path) || !URL.canParse(base + path)) return false
  const { pathname } = new URL(base + path)
  return pathname === pathOf("ws") || pathname.startsWith(`${pathOf("ws")}/`)
}

const checked = (isValid: (text: string) => boolean, message: string) =>
  Schema.String.check(Schema.makeFilter((text: string) => isValid(text) || message))

/**
 * The schema of a theme. Its logo is an image in the theme itself, or at one of the origins that may frame the portal.
 */
export const themeOf = (origins: ReadonlyArray<string>) =>
  Schema.Struct({
    accent: Schema.optionalKey(checked(PortalTheme.isAccent, "must be a colour such as #0b7446")),
    logo: Schema.optionalKey(
      checked(
        (text) => PortalTheme.isLogo(text, origins),
        "must be the URL of an image at an origin that may show the portal, or an image as a base64 data: URL of at most " +
          `${PortalTheme.maxLogo} characters`
      )
    ),
    radius: Schema.optionalKey(
      Schema.Number.check(
        Schema.makeFilter((pixels: number) =>
          PortalTheme.isRadius(pixels) || `must be a whole number of pixels from 0 to ${PortalTheme.maxRadius}`
        )
      )
    ),
    font: Schema.optionalKey(
      checked(
        (text) => PortalTheme.familiesOf(text) !== undefined,
        "must be names of fonts separated by commas, such as Inter, system-ui"
      )
    ),
    scheme: Schema.optionalKey(Schema.Literals(PortalTheme.schemes))
  })

/** The language of the pages. */
export const Language = Schema.Literals(PortalLanguage.choices)

/**
 * The address of a link. Its token, id, theme and language are behind `#`, which browsers do not send to a server. By the
 * id, a page that is loaded again finds whether the browser's session is that of its own link. Pure.
 */
export const addressOf = ({ base, id, language, path = "", theme = {}, token, workspaceId }: {
  /** The public URL with the path at which the routes are mounted, without a slash at the end. */
  readonly base: string
  readonly workspaceId: string
  readonly path?: string | undefined
  readonly token: Redacted.Redacted
  readonly id: SessionId
  readonly theme?: PortalTheme.PortalTheme | undefined
  readonly language?: PortalLanguage.LanguageChoice | undefined
}): string => {
  const fields = new URLSearchParams([["token", Redacted.value(token)], ["id", id], ...PortalTheme.fieldsOf(theme)])
  if (language !== undefined) fields.set("language", language)
  return `${base}${pathOf(workspaceId)}${path}#${fields}`
}
