import { assert, describe, it } from "@effect/vitest"
import { InboundMessage } from "@wac/core"
import type { ReceivedContentByType } from "@wac/verifier"
import { ana, change, entry, type Json, now, number, post, product, readPost, secondsAgo, skipped } from "./posts.ts"

describe("a call", () => {
  const called = (fields: { readonly [name: string]: Json }, contacts: ReadonlyArray<Json> = [ana]) => {
    const call = {
      id: "wacid.1",
      from: ana.wa_id,
      to: "15557010002",
      event: "connect",
      direction: "USER_INITIATED",
      timestamp: secondsAgo(60),
      ...fields
    }
    return readPost(post(entry([change("calls", { ...product, contacts, calls: [call] })])))
  }

  it("a call is unsupported, keeps Meta's content and opens no window", () => {
    const [item] = called({ session: { sdp_type: "offer", sdp: "v=0" } })
    assert(item?._tag === "Message")
    assert.deepStrictEqual<unknown>(item.message, {
      providerNumberId: number,
      providerMessageId: "wacid.1",
      customer: { phone: `+${ana.wa_id}`, userId: ana.user_id },
      at: now - 60_000,
      type: "unsupported",
      content: {
        type: "call",
        errors: [],
        content: {
          id: "wacid.1",
          event: "connect",
          direction: "USER_INITIATED",
          session: { sdp_type: "offer", sdp: "v=0" }
        }
      } satisfies ReceivedContentByType["unsupported"],
      context: null,
      preference: undefined,
      profile: { name: "Ana" },
      isAside: true
    })
    assert.isFalse(InboundMessage.opensWindow(item.message))
  })

  it("the begin and the end of a call are two messages", () => {
    const ids = ["connect", "terminate"].map((event) => {
      const [item] = called({ event })
      return item?._tag === "Message" && item.message.providerMessageId
    })
    assert.deepStrictEqual(ids, ["wacid.1", "wacid.1:terminate"])
  })

  it("a call is the customer's, even if Meta names the business as the caller", () => {
    // as in an example of its documentation: a call of the user, with the numbers the other way round
    const [item] = called({ event: "terminate", from: "15557010002", to: ana.wa_id })
    assert(item?._tag === "Message")
    assert.strictEqual(item.message.customer.phone, `+${ana.wa_id}`)
  })

  it("a call is ignored if the business made it, or if it has no id or customer", () => {
    assert.deepStrictEqual(called({ direction: "BUSINESS_INITIATED" }), [skipped("call:outgoing")])
    assert.deepStrictEqual(called({ id: null }), [skipped("call:without_id")])
    assert.deepStrictEqual(called({ from: null, to: null }, []), [skipped("call:without_sender")])
  })
})
