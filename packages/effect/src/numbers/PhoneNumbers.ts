/**
 * The numbers that a workspace sends from.
 */
import { Errors, type Id, PhoneNumbers as Service, PhoneNumberStore, PlainText, SenderCredentials } from "@wac/core"
import { PhoneNumbersHandlers } from "@wac/http"
import { Effect, Redacted, Schema } from "effect"
import type { CallOptions } from "../generated/Messaging.ts"
import type { PhoneNumber } from "../generated/Resources.ts"
import * as Input from "../Input.ts"
import * as Listing from "../Listing.ts"
import type { Running } from "../Running.ts"

/** Credentials of a single number, for a number that the configured credentials do not cover. */
export interface NumberCredentials {
  readonly accessToken: string
  /** The base URL of the provider's API for this number. Defaults to the provider's. */
  readonly baseUrl?: string
  /** Such as `v25.0`. Defaults to the provider's. */
  readonly apiVersion?: string
}

/** The numbers that a workspace sends from. */
export interface PhoneNumbers {
  /** Newest first. */
  readonly list: (options?: CallOptions) => Listing.Listing<PhoneNumber>
  /**
   * Gives a number an access token of its own, stored encrypted; with `null` it uses the provider's again. Every
   * process uses it from the next send, and a block for `credentials` is lifted. Rejects with `not_found` if the
   * workspace has no such number.
   */
  readonly setCredentials: (id: string, credentials: NumberCredentials | null, options?: CallOptions) => Promise<void>
  /**
   * Sets a number's business portfolio. The numbers of a portfolio share the messaging limit, even across workspaces;
   * with `null` the number shares it with the numbers of its workspace that have no portfolio. In force from the next
   * send. Rejects with `not_found` if the workspace has no such number.
   */
  readonly setPortfolio: (id: string, portfolioId: string | null, options?: CallOptions) => Promise<void>
}

/** Decodes {@link NumberCredentials}. Errors use the host's field names. */
export const Credentials = Schema.Struct({
  accessToken: Schema.String.check(Schema.isPattern(/^[\x21-\x7e]+$/, { message: "must be an access token" })),
  baseUrl: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter((text: string) =>
        /^https?:$/.test(URL.parse(text)?.protocol ?? "") || "must be an http or https URL"
      )
    )
  ),
  apiVersion: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^v[0-9]{1,3}\.[0-9]{1,2}$/, { message: "must look like v25.0" }))
  )
})

/** Converts to the core's credentials. */
export const credentialsOf = ({ accessToken, ...rest }: typeof Credentials.Type): SenderCredentials.Credentials => ({
  ...rest,
  accessToken: Redacted.make(accessToken)
})

const read = Input.read(Credentials)

/** The provider's id of a portfolio. */
const portfolioId = PlainText.between(1, 255)

const readPortfolio = Input.read(Schema.NullOr(portfolioId))

export const make = Effect.gen(function*() {
  const numbers = yield* Service.PhoneNumbers
  const store = yield* PhoneNumberStore.PhoneNumberStore
  const own = yield* SenderCredentials.SenderCredentials

  const unknown = new Errors.NotFound({ message: "the workspace has no such phone number" })
  const find = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, id: string) {
    return (yield* store.list(workspaceId)).find((one) => one.id === id) ?? (yield* unknown)
  })

  return (running: Running, workspaceId: Id.WorkspaceId): PhoneNumbers => ({
    list: (options) =>
      Listing.make(running, "pn", (page) => numbers.list(workspaceId, page), PhoneNumbersHandlers.shown, options),
    setCredentials: (id, credentials, options) =>
      running.run(
        Effect.gen(function*() {
          const given = credentials === null ? undefined : credentialsOf(yield* read(credentials))
          if (!(yield* own.set((yield* find(workspaceId, id)).id, given))) return yield* unknown
        }),
        { options }
      ),
    setPortfolio: (id, portfolioId, options) =>
      running.run(
        Effect.gen(function*() {
          const given = yield* readPortfolio(portfolioId)
          yield* store.assign((yield* find(workspaceId, id)).id, { portfolioId: given })
        }),
        { options }
      )
  })
})
