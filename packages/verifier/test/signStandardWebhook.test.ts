import { assert, describe, it } from "vitest"
import { signStandardWebhook, STANDARD_WEBHOOK_HEADERS } from "../src/index.ts"
import { rejection } from "./rejection.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, standardWebhookId: id, timestamp } = vectors
const delivery = { id, timestamp, body: "{}", secret }
const loose = signStandardWebhook as (input: unknown) => Promise<string>

describe("signStandardWebhook", () => {
  it("names the headers as the specification does", () => {
    assert.deepEqual(STANDARD_WEBHOOK_HEADERS, {
      id: "webhook-id",
      timestamp: "webhook-timestamp",
      signature: "webhook-signature"
    })
  })

  it("writes one v1 for every secret, in the order given, separated by a space", async () => {
    const newest = await signStandardWebhook(delivery)
    const oldest = await signStandardWebhook({ ...delivery, secret: previousSecret })
    assert.match(newest, /^v1,[A-Za-z0-9+/]{43}=$/)
    assert.strictEqual(
      await signStandardWebhook({ ...delivery, secret: [secret, previousSecret] }),
      `${newest} ${oldest}`
    )
  })

  it("rejects a secret that other libraries would read as another key, and does not tell it", async () => {
    for (
      const bad of [
        "",
        [],
        undefined,
        "whsec_",
        "whsec_====",
        "whsec_abcde",
        "whsec_abc",
        "whsec_ab-_",
        "whsec_abcd\n",
        "whsec_ab cd",
        secret.slice("whsec_".length),
        [secret, "whsec_ab-_"]
      ]
    ) {
      const error = await rejection(loose({ ...delivery, secret: bad }))
      assert.instanceOf(error, TypeError)
      assert.notInclude(String(error), "ab-_")
    }
  })

  it("rejects an id, a timestamp and a body that cannot be signed", async () => {
    for (const bad of ["", "a.b", "a b", "a\n", "é", undefined, 1]) {
      assert.instanceOf(await rejection(loose({ ...delivery, id: bad })), TypeError)
    }
    for (const bad of [undefined, NaN, -1, 1.5, "1"]) {
      assert.instanceOf(await rejection(loose({ ...delivery, timestamp: bad })), RangeError)
    }
    for (const bad of [undefined, null, {}]) {
      assert.instanceOf(await rejection(loose({ ...delivery, body: bad })), TypeError)
    }
  })
})
