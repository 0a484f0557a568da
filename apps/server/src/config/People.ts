/**
 * Reads who signs in and how, mail to people, the portal's origins, and where vulnerabilities are reported.
 */
import { SessionApi } from "@wac/api"
import { Password, Portal, Workspace } from "@wac/core"
import { Effect, Option, Redacted, Schema } from "effect"
import { BadVariable } from "../VariableText.ts"
import { needed, optional, read, secret, WebAddress } from "./Reading.ts"

/** The first workspace and its owner; `undefined` if neither variable of the owner is set. */
export const owner = Effect.gen(function*() {
  const email = yield* optional("WAC_OWNER_EMAIL", SessionApi.SetUp.fields.email, "an e-mail address")
  const password = yield* optional("WAC_OWNER_PASSWORD", Password.Password, "a password of 8 to 256 characters")
  const workspaceName = yield* read("WAC_WORKSPACE_NAME", Workspace.Name, "1 to 100 characters", "wac")
  if (email === undefined && password === undefined) return undefined
  if (email === undefined) {
    return yield* new BadVariable({
      variable: "WAC_OWNER_EMAIL",
      expected: "an e-mail address, together with WAC_OWNER_PASSWORD"
    })
  }
  if (password === undefined) {
    return yield* new BadVariable({
      variable: "WAC_OWNER_PASSWORD",
      expected: "a password, together with WAC_OWNER_EMAIL"
    })
  }
  return { email, password, workspaceName }
})

/** The issuer at which people sign in, if any (contract §12 `AUTH`). */
export const auth = Effect.gen(function*() {
  const method = yield* read("AUTH", Schema.Literals(["local", "oidc"]), "local or oidc", "local")
  if (method === "local") return undefined
  const required = needed("AUTH=oidc")
  return {
    issuer: yield* required("OIDC_ISSUER", WebAddress, "the issuer's http or https URL"),
    clientId: yield* required("OIDC_CLIENT_ID", Schema.NonEmptyString, "the client id of this service at the issuer"),
    clientSecret: Redacted.make(
      yield* required("OIDC_CLIENT_SECRET", Schema.NonEmptyString, "the secret for that client id")
    ),
    roleClaim: yield* read("OIDC_ROLE_CLAIM", Schema.NonEmptyString, "the name of a claim", "wac_roles")
  }
})

const smtpExpected = "smtp://USER:PASSWORD@HOST:PORT, or smtps://…"

const SmtpUrl = Schema.String.check(
  Schema.makeFilter((text: string) =>
    (/^smtps?:\/\//.test(text) && URL.canParse(text) && new URL(text).hostname !== "") || "must be an SMTP URL"
  )
)

const readEmail = Schema.decodeUnknownOption(SessionApi.SetUp.fields.email)

/** The origins that may show the portal in a frame (contract §12 `PORTAL_ORIGINS`). */
export const portalOrigins = Effect.gen(function*() {
  const variable = "PORTAL_ORIGINS"
  const expected = "origins separated by commas, such as https://app.example.com"
  const text = yield* read(variable, Schema.String, expected, "")
  const origins = text.split(",").map((origin) => origin.trim()).filter((origin) => origin !== "")
  return origins.every(Portal.isOrigin) ? origins : yield* new BadVariable({ variable, expected })
})

/** Where to report a vulnerability: a URL, or an e-mail address. */
export const securityContact = Effect.gen(function*() {
  const variable = "SECURITY_CONTACT"
  const expected = "an e-mail address, or a mailto: or https: address"
  const text = yield* optional(variable, Schema.String, expected)
  if (text === undefined || text === "") return undefined
  const url = Option.isSome(readEmail(text)) && !text.startsWith("mailto:") ? `mailto:${text}` : text
  return /^(mailto:|https:\/\/)[!-~]+$/.test(url) && URL.canParse(url)
    ? url
    : yield* new BadVariable({ variable, expected })
})

/** The mail server and the sender's address; `undefined` if mail is not configured (contract §12 `SMTP_URL`). */
export const mail = Effect.fnUntraced(function*(publicHost: string) {
  const url = yield* secret("SMTP_URL", SmtpUrl, smtpExpected)
  const from = yield* read("SMTP_FROM", Schema.String, "an e-mail address", `wac@${publicHost}`)
  if (url === undefined) return undefined
  if (Option.isNone(readEmail(from)) || /[<>\r\n]/.test(from)) {
    return yield* new BadVariable({ variable: "SMTP_FROM", expected: "an e-mail address" })
  }
  return { url, from }
})
