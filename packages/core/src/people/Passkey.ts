/**
 * Passkeys (WebAuthn) of a person's second factor (contract §17): the model, the options with which a browser makes or
 * uses one, and the relying party that asks for it. Pure.
 */
import { Duration, Option, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import type { PasskeyId, UserId } from "../Id.ts"
import type { Instant } from "../Time.ts"
import type { Person } from "./Member.ts"

/** A person's passkey. */
export interface Passkey {
  readonly id: PasskeyId
  readonly userId: UserId
  /** The name that the person gave it. */
  readonly name: string
  /** The authenticator's id of the credential, in base64url; unique. */
  readonly credentialId: string
  /** The public key, as COSE. */
  readonly publicKey: Uint8Array
  /** The authenticator's count of its signatures; always 0 if the authenticator does not count. */
  readonly counter: number
  /** How a browser reaches the authenticator, as the browser named it. */
  readonly transports: ReadonlyArray<string>
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

/** How many passkeys a person may have. */
export const maxPerPerson = 20

/** How long a person has to use their authenticator. */
export const lifetime = Duration.minutes(5)

/** {@link lifetime} in words. */
export const lasts = `${Duration.toMinutes(lifetime)} minutes`

/** The service as browsers know it: an authenticator signs for it alone. */
export interface RelyingParty {
  /** The domain name. */
  readonly id: string
  readonly origin: string
}

const isAddress = (hostname: string): boolean => /^\[|^\d+(\.\d+){3}$/.test(hostname)

const isLocal = (hostname: string): boolean => hostname === "localhost" || hostname.endsWith(".localhost")

/**
 * The service at its configured address or, if that is only a guess, at the `localhost` of the page that asks. Returns
 * `undefined` if it has no domain name, which passkeys need.
 */
export const relyingPartyOf = (
  { isGiven, origin, publicUrl }: {
    readonly publicUrl: URL
    /** Whether the address is configured. */
    readonly isGiven: boolean
    /** The origin of the page that asks, if it is one of ours. */
    readonly origin: string | undefined
  }
): RelyingParty | undefined => {
  const page = origin !== undefined && URL.canParse(origin) ? new URL(origin) : undefined
  const url = isGiven ? publicUrl : page
  if (url === undefined || isAddress(url.hostname) || (!isGiven && !isLocal(url.hostname))) return undefined
  return { id: url.hostname, origin: url.origin }
}

/** The token of a challenge as an authenticator signs it. */
export const challengeOf = (token: Redacted.Redacted): string => Base64Url.encode(Redacted.value(token))

const ClientData = Schema.fromJsonString(Schema.Struct({ challenge: Schema.String }))

/** The token of the challenge that a browser's `clientDataJSON` names; `undefined` if it names none. */
export const tokenIn = (clientData: string): Redacted.Redacted | undefined => {
  const challenge = Result.getOrUndefined(Base64Url.decodeString(clientData))
  const named = challenge === undefined
    ? undefined
    : Option.getOrUndefined(Schema.decodeUnknownOption(ClientData)(challenge))
  const token = named === undefined ? undefined : Result.getOrUndefined(Base64Url.decodeString(named.challenge))
  return token === undefined ? undefined : Redacted.make(token)
}

/** What a browser reports of a new credential, each part in base64url. */
export interface Registration {
  readonly id: string
  readonly clientDataJSON: string
  readonly attestationObject: string
  readonly transports: ReadonlyArray<string>
}

/** What a browser reports of a credential's use, each part in base64url. */
export interface Assertion {
  readonly id: string
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
}

/** Names a credential in the options: one that the browser may use, or one that it must not make again. */
export interface Descriptor {
  readonly type: "public-key"
  readonly id: string
  readonly transports: ReadonlyArray<string>
}

const descriptorOf = ({ credentialId, transports }: Passkey): Descriptor => ({
  type: "public-key",
  id: credentialId,
  transports
})

/** The algorithms of keys, by their numbers in COSE, the preferred first: Ed25519, ES256, RS256. */
export const algorithms = [-8, -7, -257] as const

const timeout = Duration.toMillis(lifetime)

/** The options with which a browser makes a credential (`PublicKeyCredentialCreationOptionsJSON`). */
export const creationOf = (
  party: RelyingParty,
  { email, userId }: Pick<Person, "userId" | "email">,
  present: ReadonlyArray<Passkey>,
  token: Redacted.Redacted
) => ({
  challenge: challengeOf(token),
  rp: { id: party.id, name: "wac" },
  user: { id: Base64Url.encode(userId), name: email, displayName: email },
  pubKeyCredParams: algorithms.map((alg) => ({ type: "public-key" as const, alg })),
  excludeCredentials: present.map(descriptorOf),
  authenticatorSelection: { residentKey: "preferred" as const, userVerification: "preferred" as const },
  attestation: "none" as const,
  timeout
})

/** The options of {@link creationOf}. */
export type Creation = ReturnType<typeof creationOf>

/** The options with which a browser uses a credential (`PublicKeyCredentialRequestOptionsJSON`). */
export const requestOf = (party: RelyingParty, present: ReadonlyArray<Passkey>, token: Redacted.Redacted) => ({
  challenge: challengeOf(token),
  rpId: party.id,
  allowCredentials: present.map(descriptorOf),
  userVerification: "preferred" as const,
  timeout
})

/** The options of {@link requestOf}. */
export type Request = ReturnType<typeof requestOf>
