/**
 * The state of a sign-in at an issuer while its person is there, which their browser keeps: authenticated, so that the
 * service completes only sign-ins that it began, and valid for a short time. Pure cryptography; nothing is stored.
 */
import { Duration, Effect, Option, Schema } from "effect"
import { Mac } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { WorkspaceId } from "../Id.ts"
import type { Vault } from "../secrets/Vault.ts"
import type { Instant } from "../Time.ts"

/** How long a person may take at the issuer. */
export const lifetime = Duration.minutes(10)

/**
 * The state of a sign-in: the secrets of the flow (state, nonce, PKCE verifier), the page to which the person returns,
 * the workspace that they asked for, whether they have to prove again who they are, and when the state expires.
 */
export const IssuerState = Schema.Struct({
  state: Schema.String,
  nonce: Schema.String,
  codeVerifier: Schema.String,
  page: Schema.String,
  workspaceId: Schema.optionalKey(WorkspaceId),
  isFresh: Schema.optionalKey(Schema.Boolean),
  until: Schema.Finite
})
export type IssuerState = typeof IssuerState.Type

const Text = Schema.fromJsonString(IssuerState)
const encode = Schema.encodeSync(Text)
const decode = Schema.decodeUnknownOption(Text)

// no part contains a space, and no other input that is hashed with the pepper begins with this word
const mac = (vault: Vault["Service"], body: string) => vault.fingerprint(`issuer ${body}`)

/** The value that the browser keeps: `<body>.<mac>`. Its length is bounded if the page's length is. */
export const seal = Effect.fnUntraced(function*(vault: Vault["Service"], state: IssuerState) {
  const body = Base64Url.encode(encode(state))
  return `${body}.${yield* mac(vault, body)}`
})

/** Reads the state from a value; `undefined` if {@link seal} did not make the value, or if the state has expired. */
export const open = Effect.fnUntraced(function*(vault: Vault["Service"], value: string, now: Instant) {
  const [, body, given] = /^([0-9A-Za-z_-]+)\.([0-9a-f]{64})$/.exec(value) ?? []
  if (body === undefined || given === undefined) return undefined
  const bytes = (text: string) => new TextEncoder().encode(text)
  if (!Mac.timingSafeEqual(bytes(given), bytes(yield* mac(vault, body)))) return undefined
  const state = Option.flatMap(Option.getSuccess(Base64Url.decodeString(body)), decode)
  return Option.getOrUndefined(Option.filter(state, ({ until }) => now < until))
})
