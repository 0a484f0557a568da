/**
 * Port: how a dashboard session is established (contract §5): by our own accounts (`LocalAuthenticator`), or by the
 * application that embeds us.
 */
import { Context, Effect, Layer, type Option, type Redacted } from "effect"
import { NotFound, type RateLimited, type Unauthorized } from "./Errors.ts"
import type { Session } from "./Session.ts"
import type { StoreError } from "./StoreError.ts"

/** What a request brings. */
export interface Credentials {
  /** The value of our own session cookie. */
  readonly token: Redacted.Redacted | undefined
  /** All headers, in lower case, for a host that has its own way. */
  readonly headers: { readonly [name: string]: string | undefined }
}

/** What a person signs in with. */
export interface SignIn {
  readonly email: string
  readonly password: Redacted.Redacted
  /** Whence it came, for the limit on failures. */
  readonly address: string
}

/** A session that was opened just now, and the token that its cookie carries. */
export interface SignedIn {
  readonly session: Session
  readonly token: Redacted.Redacted
}

export class Authenticator extends Context.Service<Authenticator, {
  /** The session of a request, if it has a live one. */
  readonly session: (credentials: Credentials) => Effect.Effect<Option.Option<Session>, StoreError>
  /** Opens a session under a new token. Failures are limited per account and per address. */
  readonly signIn: (
    attempt: SignIn
  ) => Effect.Effect<SignedIn, Unauthorized | RateLimited | NotFound | StoreError>
  /** Ends a session; one that is unknown is passed over. */
  readonly signOut: (token: Redacted.Redacted) => Effect.Effect<void, StoreError>
}>()("@wac/core/Authenticator") {}

/** Sessions come from the embedding application, which signs people in and out itself. */
export const layerHost = (
  session: (headers: Credentials["headers"]) => Effect.Effect<Option.Option<Session>, StoreError>
): Layer.Layer<Authenticator> =>
  Layer.succeed(
    Authenticator,
    Authenticator.of({
      session: ({ headers }) => session(headers),
      signIn: () =>
        Effect.fail(new NotFound({ message: "people sign in at the application that embeds this service" })),
      signOut: () => Effect.void
    })
  )
