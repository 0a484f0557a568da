/**
 * Phone numbers as they are stored.
 */
import type { PhoneNumber } from "@wac/core"
import { columns, type Fields } from "../Columns.ts"
import type { Row } from "../Statement.ts"

const own = columns(
  {
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
  } satisfies Fields<Omit<PhoneNumber.PhoneNumber, "block" | "learned">>
)

/** The number of a row of `phone_numbers` in JSON. */
export const numberOf = (row: Row): PhoneNumber.PhoneNumber =>
  ({
    ...own.read(row),
    block: row["block_reason"] === null ? null : {
      reason: row["block_reason"],
      scope: row["block_scope"],
      since: row["blocked_since"],
      until: row["blocked_until"],
      provider: row["block_provider"]
    },
    learned: {
      tier: row["learned_tier"],
      messagingLimit: row["learned_messaging_limit"],
      quality: row["learned_quality"]
    }
  }) as PhoneNumber.PhoneNumber
