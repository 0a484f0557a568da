/**
 * The stored form of phone numbers.
 */
import type { PhoneNumber, PhoneNumberStep, SenderBlock, Time } from "@wac/core"
import { columns, type Reader, result } from "../Columns.ts"
import { sealed } from "../secrets/StoredSeal.ts"

/** The columns of a number, except the provider's reports. */
export const own = columns<Omit<PhoneNumber.PhoneNumber, "block" | "learned">>({
  id: "text",
  workspaceId: "text",
  provider: "text",
  phoneNumber: "text",
  providerNumberId: "text",
  providerAccountId: "text",
  tier: "text",
  messagingLimit: "integer",
  portfolioId: "text",
  available: "boolean",
  credentialsVersion: "text",
  isDefault: "boolean"
})

/** A provider's reports about a number, as columns. */
interface Reported {
  readonly blockReason: SenderBlock.SenderBlockReason | null
  readonly blockScope: SenderBlock.SenderBlockScope | null
  readonly blockBasis: SenderBlock.SenderBlockBasis | null
  readonly blockBasisUntil: Time.Instant | null
  readonly blockedSince: Time.Instant | null
  readonly blockedUntil: Time.Instant | null
  readonly blockProvider: SenderBlock.SenderBlock["provider"]
  readonly learnedTier: string | null
  readonly learnedMessagingLimit: number | null
  readonly learnedQuality: string | null
}

/** The columns of a provider's reports about a number: why the number is blocked, and its tier, limit and quality. */
export const reported = columns<Reported>({
  blockReason: "text",
  blockScope: "text",
  blockBasis: "text",
  blockBasisUntil: "bigint",
  blockedSince: "bigint",
  blockedUntil: "bigint",
  // JSON, since it may contain escapes that PostgreSQL can store but not convert to text
  blockProvider: "json",
  learnedTier: "text",
  learnedMessagingLimit: "integer",
  learnedQuality: "text"
})

/** The stored form of the reports about a number ({@link reported}). */
export const reportedOf = (
  { block, learned }: Pick<PhoneNumber.PhoneNumber, "block" | "learned">
): Reported => ({
  blockReason: block && block.reason,
  blockScope: block && block.scope,
  blockBasis: block && block.basis,
  blockBasisUntil: block && block.until,
  blockedSince: block && block.since,
  blockedUntil: block && block.until,
  blockProvider: block && block.provider,
  learnedTier: learned.tier,
  learnedMessagingLimit: learned.messagingLimit,
  learnedQuality: learned.quality
})

/** Reads a number from a row of `phone_numbers` in JSON. */
export const number: Reader<PhoneNumber.PhoneNumber> = {
  read: (row) => {
    const {
      blockBasis,
      blockBasisUntil,
      blockProvider,
      blockReason,
      blockScope,
      blockedSince,
      blockedUntil,
      ...learned
    } = reported.read(row)
    return {
      ...own.read(row),
      block: blockReason === null ? null : {
        reason: blockReason,
        scope: blockScope!,
        // the previous version, which may run beside this one, leaves that of a block before
        basis: blockBasisUntil === blockedUntil && blockBasis !== null ? blockBasis : "report",
        since: blockedSince!,
        until: blockedUntil,
        provider: blockProvider
      },
      learned: {
        tier: learned.learnedTier,
        messagingLimit: learned.learnedMessagingLimit,
        quality: learned.learnedQuality
      }
    }
  }
}

/** A row of a statement that returns numbers. */
export const numberRow = result<{ readonly number: PhoneNumber.PhoneNumber }>({ number })

/** The columns of a number's own credentials, except their version. */
export const credentials = sealed.and(
  columns<Pick<PhoneNumberStep.SealedCredentials, "baseUrl" | "apiVersion">>({ baseUrl: "text", apiVersion: "text" })
)
