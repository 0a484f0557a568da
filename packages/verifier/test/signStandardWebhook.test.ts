import { assert, describe, it } from "vitest"
import { signStandardWebhook, STANDARD_WEBHOOK_HEADERS } from "../src/index.ts"
import { rejection } from "./rejection.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, standardWebhookId: id, timestamp } = vectors
const delivery = { id, timestamp, body: "{}", secret }
const loose = signStandardWebhook as (input: unknown) => Promise<string>

describe("signStandardWebhook", () => {
  it("the headers have the specified names", () => {
    assert.deepEqual(STANDARD_WEBHOOK_HEADERS, {
      id: "webhook-id",
      timestamp: "webhook-timestamp",
      signature: "webhook-signature"
    })
  })

  it("the header has one v1 for every secret, in the given order, separated by a space", async () => {
    const newest = await signStandardWebhook(delivery)
    const oldest = await signStandardWebhook({ ...delivery, secret: previousSecret })
    assert.match(newest, /^v1,[A-Za-z0-9+/]{43}=$/)
    assert.strictEqual(
      await signStandardWebhook({ ...delivery, secret: [secret, previousSecret] }),
      `${newest} ${oldest}`
    )
  })

  it("a secret that other libraries would read as a different key is rejected, without revealing it", async () => {
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

  it("an id, a timestamp or a body that cannot be signed is rejected", async () => {
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
