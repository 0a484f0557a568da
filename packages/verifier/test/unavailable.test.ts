import { assert, it, vi } from "vitest"
import { type Verification, verify } from "../src/index.ts"
import { vectors } from "./vectors.ts"

vi.mock("#hmac", () => import("../src/HmacWebCrypto.ts"))

it("without a working WebCrypto or SubtleCrypto, the reason is crypto_unavailable", async () => {
  const { deliveries: [delivery], secret, timestamp } = vectors
  const broken = {
    subtle: {
      importKey: () => {
        throw new Error("refused")
      }
    }
  }
  const refused: Verification = { ok: false, reason: "crypto_unavailable" }
  for (const crypto of [undefined, {}, broken]) {
    vi.stubGlobal("crypto", crypto)
    try {
      assert.deepEqual(await verify(delivery!.text!, delivery!.header, secret, { now: timestamp }), refused)
    } finally {
      vi.unstubAllGlobals()
    }
  }
})
