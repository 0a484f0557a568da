/**
 * Exports and erases the records of one customer of a workspace.
 */
import { CustomerNames, Customers as Service, Errors, type Id } from "@wac/core"
import { Effect, Stream } from "effect"
import type { CallOptions } from "../generated/Messaging.ts"
import type { Running } from "../Running.ts"

/** A record of a customer, as it is stored. Times are in milliseconds since 1970, except in events and posts. */
export interface CustomerRecord {
  readonly kind:
    | "contact"
    | "opt_out"
    | "enqueued_message"
    | "message"
    | "inbound_message"
    | "event"
    | "delivery"
    | "file"
    | "campaign_row"
    | "provider_post"
  readonly record: object
}

/** How many records of each kind were erased. */
export interface Erasure {
  readonly deliveries: number
  readonly events: number
  /** Messages that were enqueued in transactions of the host. */
  readonly outbox: number
  readonly messages: number
  readonly campaignRows: number
  readonly inboundMessages: number
  readonly conversations: number
  readonly posts: number
  readonly contacts: number
  readonly files: number
}

/** Requests of customers about what is stored of them. A customer is named by phone number (E.164) or user id. */
export interface Customers {
  /**
   * Everything that is stored of a customer, under all of their names: contacts, opt-outs of names, messages, events,
   * deliveries with their attempts, files without their bytes, rows of campaigns and provider posts. Reads the workspace
   * from end to end; a call that ends early stops this.
   */
  readonly export: (customer: string, options?: CallOptions) => Promise<ReadonlyArray<CustomerRecord>>
  /**
   * Erases what `export` returns, and returns the number of records of each kind. Messages keep their id, status and
   * times, so that counts stay right; messages that wait in a campaign are skipped. The audit gets an entry without
   * personal data. An opt-out stays, under a keyed hash of each name. Rejects with `in_progress` if a send to the
   * customer does not end. Calling it again is safe.
   */
  readonly erase: (customer: string, options?: CallOptions) => Promise<Erasure>
}

/** A name in another form finds nothing, and an erasure must not seem to succeed. */
const named = (customer: unknown): Effect.Effect<string, Errors.InvalidBody> =>
  typeof customer === "string" && CustomerNames.isName(customer)
    ? Effect.succeed(customer)
    : Effect.fail(
      new Errors.InvalidBody({
        reason: "invalid_field",
        param: "customer",
        message: "customer must be a phone number with its country code, such as +14155550123, or a user id"
      })
    )

export const make = Effect.map(
  Service.Customers,
  (customers) => (running: Running, workspaceId: Id.WorkspaceId): Customers => ({
    export: (customer, options) =>
      running.run(
        Effect.flatMap(named(customer), (name) => Stream.runCollect(customers.export(workspaceId, name))),
        { options, stops: true }
      ),
    erase: (customer, options) =>
      running.run(Effect.flatMap(named(customer), (name) => customers.erase(workspaceId, name)), { options })
  })
)
