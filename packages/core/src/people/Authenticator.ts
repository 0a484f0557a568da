/**
 * Port: opens, finds and ends dashboard sessions (contract §5), for the built-in accounts (`LocalAuthenticator`) or for
 * people whom the host signs in.
 */
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { type Forbidden, NotFound, type RateLimited, type ServerError, type Unauthorized } from "../Errors.ts"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Assertion, RelyingParty, Request } from "./Passkey.ts"
import type { Roles, Session } from "./Session.ts"

/** The parts of a request that can authenticate a person. */
export interface Credentials {
  /** The value of our session cookie. */
  readonly token: Redacted.Redacted | undefined
  /** All headers, with names in lower case, for a host with its own sessions. */
  readonly headers: { readonly [name: string]: string | undefined }
}

/** The circumstances of a new session. */
export interface Opening {
  /** The token of the request's current session, which ends when the new one begins. */
  readonly current?: Redacted.Redacted | undefined
  /**
   * Whether only the current session proves who the person is. Then the new session begins only if the current one has
   * not ended since; it is as fresh as that one, and ends when that one would have ended.
   */
  readonly isContinuing?: boolean | undefined
  /** The workspace. Defaults to the one that the person joined first. */
  readonly workspaceId?: WorkspaceId | undefined
  /** The roles that an issuer has assigned. They are the session's own: a later sign-in does not raise them. */
  readonly roles?: Roles | undefined
  /** The client's address. */
  readonly address?: string | undefined
  /** The `User-Agent` header. */
  readonly agent?: string | undefined
  /** The password hash that was verified. The session begins only if it is still the person's. */
  readonly passwordHash?: string | undefined
  /** When the person proved their presence. Defaults to the time of the opening. */
  readonly provenAt?: Instant | undefined
  /**
   * The value of the device cookie. On a device that has signed in to this account before, failures of strangers do not
   * limit the sign-in.
   */
  readonly device?: Redacted.Redacted | undefined
}

/** A sign-in attempt. */
export interface SignIn extends Opening {
  readonly email: string
  readonly password: Redacted.Redacted
  /** The client's address, by which failures are limited. */
  readonly address: string
}

/** A proof by the second factor: a code of the authenticator app or a recovery code, or a passkey. */
export type FactorProof =
  | { readonly code: Redacted.Redacted }
  | { readonly credential: Assertion; readonly party: RelyingParty }

/** The second step of a sign-in. */
export interface FactorAttempt extends Opening {
  readonly challenge: Redacted.Redacted
  readonly proof: FactorProof
  /** The client's address, by which failures are limited. */
  readonly address: string
}

/** A newly opened session, and the token for its cookie. */
export interface SignedIn {
  readonly session: Session
  readonly token: Redacted.Redacted
  /** The device cookie's new value. */
  readonly device: Redacted.Redacted
  /** Whether the device had not signed in to the account before. */
  readonly isNewDevice: boolean
}

export class Authenticator extends Context.Service<Authenticator, {
  /** Whether people have accounts here. False if the host has the people: then nobody can be invited to an account. */
  readonly hasAccounts: boolean
  /** The request's session, if it has a live one. */
  readonly session: (credentials: Credentials) => Effect.Effect<Option.Option<Session>, StoreError>
  /**
   * Whether the person of the request's session proved their presence a short time ago (`Session.freshFor`). Always
   * true if the host keeps the session.
   */
  readonly isFresh: (credentials: Credentials) => Effect.Effect<boolean, StoreError>
  /**
   * Opens a session with a new token. Failures are limited per account and per address. On a device that has signed in
   * to the account before, they are limited for that device only. If the person has a second factor, the right password
   * opens no session: it fails with the reason `second_factor_required` and a challenge for `completeSignIn`. A person
   * without a workspace is {@link Forbidden}. If too many sign-ins on new devices wait, another one fails with
   * `overloaded`.
   */
  readonly signIn: (
    attempt: SignIn
  ) => Effect.Effect<SignedIn, Unauthorized | Forbidden | RateLimited | NotFound | ServerError | StoreError>
  /**
   * The options with which a browser uses a passkey for `completeSignIn`; the passkey signs the sign-in's challenge.
   * They allow no credential if the person has no passkey. Challenges that are not valid are limited per address.
   */
  readonly requestPasskey: (
    asked: { readonly challenge: Redacted.Redacted; readonly party: RelyingParty; readonly address: string }
  ) => Effect.Effect<Request, Unauthorized | RateLimited | NotFound | StoreError>
  /**
   * Opens the session of a sign-in whose password was right. Wrong codes and passkeys are limited per challenge, and
   * also in the same way as wrong passwords. If the person has no workspace any more, it is {@link Forbidden}, and the
   * proof is not used up.
   */
  readonly completeSignIn: (
    attempt: FactorAttempt
  ) => Effect.Effect<SignedIn, Unauthorized | Forbidden | RateLimited | NotFound | ServerError | StoreError>
  /** The e-mail address of the account that a live challenge is for. */
  readonly challengedEmail: (challenge: Redacted.Redacted) => Effect.Effect<Option.Option<string>, StoreError>
  /**
   * Opens a session for a person who has authenticated in another way, such as by the set-up link. Not limited. Fails
   * with {@link Unauthorized} if the proof that the opening names has become invalid since.
   */
  readonly open: (
    userId: UserId,
    opening?: Opening
  ) => Effect.Effect<SignedIn, NotFound | Unauthorized | StoreError>
  /** Ends a session. An unknown token is ignored. */
  readonly signOut: (token: Redacted.Redacted) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/Authenticator") {}

const elsewhere = () =>
  Effect.fail(new NotFound({ message: "people sign in at the application that embeds this service" }))

/** Fails if people have no accounts here, before something is made that would need one. */
export const needAccounts = ({ hasAccounts }: Pick<Authenticator["Service"], "hasAccounts">) =>
  hasAccounts ? Effect.void : elsewhere()

/** An authenticator whose sessions come from the host, which signs people in and out itself. */
export const layerHost = (
  session: (headers: Credentials["headers"]) => Effect.Effect<Option.Option<Session>, StoreError>
): Layer.Layer<Authenticator> =>
  Layer.succeed(
    Authenticator,
    Authenticator.of({
      hasAccounts: false,
      session: ({ headers }) => session(headers),
      isFresh: () => Effect.succeed(true),
      signIn: elsewhere,
      requestPasskey: elsewhere,
      completeSignIn: elsewhere,
      challengedEmail: () => Effect.succeed(Option.none()),
      open: elsewhere,
      signOut: () => Effect.void
    })
  )
