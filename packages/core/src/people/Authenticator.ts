/**
 * Port: how a dashboard session is established (contract §5): by our own accounts (`LocalAuthenticator`), or by the
 * application that embeds us.
 */
import { Context, Effect, Layer, type Option, type Redacted } from "effect"
import { NotFound, type RateLimited, type Unauthorized } from "../Errors.ts"
import type { UserId, WorkspaceId } from "../Id.ts"
import type { StoreError } from "../StoreError.ts"
import type { Session } from "./Session.ts"

/** What a request brings. */
export interface Credentials {
  /** The value of our own session cookie. */
  readonly token: Redacted.Redacted | undefined
  /** All headers, in lower case, for a host that has its own way. */
  readonly headers: { readonly [name: string]: string | undefined }
}

/** How a session is opened. */
export interface Opening {
  /** The session that the request brings: it ends when the new one begins. */
  readonly current?: Redacted.Redacted | undefined
  /** In which workspace; the one that the person joined first when left out. */
  readonly workspaceId?: WorkspaceId | undefined
  /** The client's address. */
  readonly address?: string | undefined
  /** `User-Agent`. */
  readonly agent?: string | undefined
}

/** What a person signs in with. */
export interface SignIn extends Opening {
  readonly email: string
  readonly password: Redacted.Redacted
  /** The client's address, by which failures are limited. */
  readonly address: string
  /** The value of the device cookie: where somebody signed in to this account before, strangers' failures do not count. */
  readonly device?: Redacted.Redacted | undefined
}

/** A session that was opened just now, and the token that its cookie carries. */
export interface SignedIn {
  readonly session: Session
  readonly token: Redacted.Redacted
  /** The device cookie's new value. */
  readonly device: Redacted.Redacted
}

export class Authenticator extends Context.Service<Authenticator, {
  /** The session of a request, if it has a live one. */
  readonly session: (credentials: Credentials) => Effect.Effect<Option.Option<Session>, StoreError>
  /**
   * Opens a session under a new token. Failures are limited per account and per address; on a device that signed in to
   * the account before, they are limited for that device alone.
   */
  readonly signIn: (
    attempt: SignIn
  ) => Effect.Effect<SignedIn, Unauthorized | RateLimited | NotFound | StoreError>
  /** Opens a session for a person who has proved themselves in another way, such as by the set-up link. No limit. */
  readonly open: (
    userId: UserId,
    opening?: Opening
  ) => Effect.Effect<SignedIn, NotFound | StoreError>
  /** Ends a session; one that is unknown is passed over. */
  readonly signOut: (token: Redacted.Redacted) => Effect.Effect<void, StoreError>
}>()("@wac/core/people/Authenticator") {}

/** Sessions come from the embedding application, which signs people in and out itself. */
export const layerHost = (
  session: (headers: Credentials["headers"]) => Effect.Effect<Option.Option<Session>, StoreError>
): Layer.Layer<Authenticator> => {
  const elsewhere = () =>
    Effect.fail(new NotFound({ message: "people sign in at the application that embeds this service" }))
  return Layer.succeed(
    Authenticator,
    Authenticator.of({
      session: ({ headers }) => session(headers),
      signIn: elsewhere,
      open: elsewhere,
      signOut: () => Effect.void
    })
  )
}
