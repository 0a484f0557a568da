/**
 * Sealed secrets as they are stored.
 */
import type { Sealed } from "@wac/core"
import { columns } from "../Columns.ts"

/** A sealed secret. */
export const sealed = columns<Sealed.Sealed>({ keyId: "text", nonce: "bytea", ciphertext: "bytea" })
