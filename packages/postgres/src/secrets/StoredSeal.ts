/**
 * The stored form of sealed secrets.
 */
import type { Sealed } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of a sealed secret. */
export const sealed = columns<Sealed.Sealed>({ keyId: "text", nonce: "bytea", ciphertext: "bytea" })
