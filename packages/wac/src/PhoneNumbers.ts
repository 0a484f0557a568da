/**
 * The numbers that a workspace sends from.
 */
import { type Id, PhoneNumbers as Service } from "@wac/core"
import { PhoneNumbersHandlers } from "@wac/http"
import { Effect } from "effect"
import * as Listing from "./Listing.ts"
import type { Running } from "./Running.ts"
import type { ProviderDetail } from "./WacError.ts"

/** A number of the workspace, and what is in force of it at this moment. */
export interface PhoneNumber {
  readonly id: string
  /** In E.164 format. */
  readonly phoneNumber: string
  /** Whether sends that name no number go out from it. */
  readonly isDefault: boolean
  /** The provider's own name for it. */
  readonly providerNumberId: string
  readonly providerAccountId: string
  /** `disabled` is the operator's doing, `blocked` upstream's. */
  readonly status: "available" | "blocked" | "disabled"
  readonly tier: string
  readonly messagesPerSecond: number
  /** Unique customers written to outside a window per rolling 24 hours; `null`: no limit. */
  readonly messagingLimit: number | null
  /** Why upstream lets nothing be sent from it. */
  readonly block: {
    readonly reason: "quality" | "restricted" | "credentials" | "registration" | "payment" | "display_name"
    /** Of `outside_window`, customers may be answered within their service window. */
    readonly scope: "all" | "outside_window"
    readonly message: string
    readonly since: string
    readonly until: string | null
    readonly provider: ProviderDetail | null
  } | null
  /** Its rating, in the provider's words. */
  readonly quality: string | null
}

/** The numbers that a workspace sends from. */
export interface PhoneNumbers {
  /** Newest first. */
  readonly list: () => Listing.Listing<PhoneNumber>
}

export const make = Effect.map(
  Service.PhoneNumbers,
  (numbers) => (running: Running, workspaceId: Id.WorkspaceId): PhoneNumbers => ({
    list: () => Listing.make(running, (page) => numbers.list(workspaceId, page), PhoneNumbersHandlers.shown)
  })
)
