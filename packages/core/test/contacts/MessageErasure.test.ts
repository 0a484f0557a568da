import { assert, describe, it } from "@effect/vitest"
import { erase } from "../../src/contacts/MessageErasure.ts"
import { type KeyedMessage, report } from "../../src/messages/KeyedMessage.ts"
import * as Message from "../../src/messages/Message.ts"
import * as SendBinding from "../../src/messages/SendBinding.ts"
import * as samples from "../samples.ts"

const campaignId = samples.id("cmp")

const send = (
  n: number,
  message: Partial<KeyedMessage["message"]>,
  send: Partial<Omit<KeyedMessage, "message">> = {}
): KeyedMessage => ({
  message: samples.message({ id: samples.id("msg", n), ...message }),
  binding: samples.binding({ messageId: samples.id("msg", n), claim: null }),
  quotaMonth: null,
  returnedMonth: null,
  ...send
})

const error = { code: "rejected", message: "the number +12025550123 is not on WhatsApp" } as const

describe("erase", () => {
  it("messages that were not sent are removed, and give each month's quota back once", () => {
    const months = ["2026-01", "2026-02", "2026-01", null]
    const { erased, writes } = erase(months.map((quotaMonth, n) => send(n, { status: "sending" }, { quotaMonth })))
    assert.strictEqual(erased, 4)
    assert.strictEqual(writes.removed.length, 4)
    assert.deepStrictEqual(writes.quotas.map(({ messages, month }) => [month, messages]), [
      ["2026-01", -2],
      ["2026-02", -1]
    ])
  })

  it("a message that is being sent, or that waits in a campaign, is left alone", () => {
    const claim = { token: "t", leaseUntil: samples.start }
    const { busy, erased, queued, writes } = erase([
      send(1, { status: "sending" }, { binding: samples.binding({ claim }) }),
      send(2, { status: "queued", campaignId }, { binding: null })
    ])
    assert.deepStrictEqual([busy, queued, erased], [1, [samples.id("msg", 2)], 0])
    assert.deepStrictEqual([writes.sends, writes.removed], [[], []])
  })

  it("a sent message answers repeats by its key and the provider's identifier, and names nobody", () => {
    const answer = SendBinding.sent(samples.message(), "wamid.1")
    const before = send(1, { status: "failed", failedAt: samples.start, providerMessageId: "wamid.1", error }, {
      binding: samples.binding({ claim: null, answer, lastFailure: answer })
    })
    const { rekeyed, unnamed, writes: { sends: [after] } } = erase([before])
    assert.deepInclude(after!.message, { status: "failed", providerMessageId: "wamid.1" })
    assert.strictEqual(after!.message.content.to, "")
    assert.notInclude(JSON.stringify(after!.message.error), "+1202")
    assert.deepInclude(after!.binding, { answer, lastFailure: null })
    assert.deepStrictEqual([rekeyed, unnamed], [[], []])
    assert.strictEqual(erase([after!]).erased, 0)
  })

  it("a failure that was concluded from silence can still be changed by a report", () => {
    const failed = send(1, { status: "failed", failedAt: samples.start, error: Message.deliveryUnknown })
    const { writes: { sends: [erased] } } = erase([failed])
    const { send: { message } } = report(
      erased!,
      samples.report("delivered", samples.start),
      {
        events: [samples.id("evt", 1), samples.id("evt", 2)],
        deliveries: [samples.id("dlv", 1), samples.id("dlv", 2)]
      },
      samples.start
    )
    assert.strictEqual(message.status, "delivered")
  })

  it("an emptied message loses the provider's identifier once its key is gone", () => {
    const { writes: { sends: [emptied] } } = erase([send(1, { status: "read", providerMessageId: "wamid.1" })])
    const { erased, unnamed, writes: { sends: [after] } } = erase([{ ...emptied!, binding: null }])
    assert.strictEqual(erased, 1)
    assert.strictEqual(after!.message.providerMessageId, null)
    assert.deepStrictEqual(unnamed, [{ providerMessageId: "wamid.1", messageId: samples.id("msg", 1) }])
    assert.strictEqual(erase([after!]).erased, 0)
  })

  it("a campaign's message gets a key of its own, which is no customer", () => {
    const sent = [1, 2].map((n) => send(n, { status: "sent", campaignId, providerMessageId: `wamid.${n}` }))
    const { rekeyed, unnamed, writes: { sends } } = erase(sent)
    assert.strictEqual(new Set(rekeyed.map(({ key }) => key)).size, 2)
    assert.isTrue(rekeyed.every(({ key }) => !key.includes(samples.customer)))
    assert.deepStrictEqual(unnamed.map(({ messageId }) => messageId), sent.map(({ message }) => message.id))
    assert.isTrue(sends.every(({ binding }) => binding?.answer === null))
    assert.strictEqual(erase(sends).erased, 0)
  })
})
