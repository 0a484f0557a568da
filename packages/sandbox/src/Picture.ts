/**
 * The picture that a customer of the sandbox sends: one pixel. Pure.
 */
import type { InboundMessage } from "@wac/core"
import { Result } from "effect"
import { Base64 } from "effect/encoding"

/** The picture as a PNG. */
export const bytes: Uint8Array = Result.getOrThrow(
  Base64.decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
  )
)

/** The digest of {@link bytes}, in hexadecimal. */
const sha256 = "6b7fa434f92a8b80aab02d9bf1a12e49ffcae424e4013a1c4f68b67e3d2bbcd0"

/** The type, content and file of the customer's message. */
export const message = (
  providerMediaId: string
): Pick<InboundMessage.InboundMessage, "type" | "content" | "file"> => ({
  type: "image",
  content: { mime_type: "image/png", sha256, caption: "Here it is" },
  file: { providerMediaId, sha256, filename: null }
})
